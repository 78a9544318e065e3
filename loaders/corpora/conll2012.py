"""CoNLL-2012, the layout of OntoNotes 5 with coreference: one word a line, columns by spaces.

``#begin document (bc/cctv/00/cctv_0000); part 000`` begins a part, which is a discourse;
``#end document`` ends it, empty lines stand between sentences. Of the columns the fourth is the
word, the fifth its part of speech, the tenth the speaker and the last coreference:
``(12|(3)`` opens a mention of entity 12 and has one of entity 3, ``12)`` closes.

Chains of one mention are not annotated in OntoNotes, so one is an error. Files whose words were
taken out (``[WORD]``) are left out and counted. No real file was at hand: the reader was made from
the description of the shared task, and says so.

Heads are guessed by part of speech, for there is no tree of words.

Source: https://conll.cemantix.org/2012/data.html
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from coherencegym.licence import OTHER
from coherencegym.loaders.corpus import (
    Corpus,
    CorpusError,
    CorpusFile,
    FilePattern,
    ReadOptions,
    cited,
)
from coherencegym.loaders.discourse import Discourse, Features, Mention, SourceSpan, Unit
from coherencegym.loaders.formats.lines import (
    CONTROL,
    Line,
    LineError,
    numbered_lines,
    shown,
    text_problem,
)
from coherencegym.loaders.languages.language import Language
from coherencegym.loaders.languages.registry import language

#: The word that stands for each word of the text in the file's skeleton.
_WITHHELD = "[WORD]"

#: Columns of a line at least: ten, any number of predicates' arguments, coreference.
_FEWEST = 12
_BEGIN = re.compile(r"#begin document \((?P<name>[^()\s]+)\);(?: part (?P<part>\d{1,6}))?\s*")
_END = "#end document"

_BRACKET = re.compile(r"(?P<opens>\()?(?P<entity>\d{1,9})(?P<closes>\))?")
_PRONOUNS = ("PRP", "PRP$", "WP", "WP$")
#: Tags that end the head of a noun phrase, in front of what follows it.
_AFTER_HEAD = ("IN", "WDT", "WP", "WP$", "WRB", ",", ":", "-LRB-", "VBN", "VBG", "TO")
_NUMBERS = dict.fromkeys(("NNS", "NNPS"), "plural") | dict.fromkeys(("NN", "NNP"), "singular")
#: Beginning of a tag -> the Universal Dependencies tag, for the words that matter.
_PARTS_OF_SPEECH = {"NNP": "PROPN", "NN": "NOUN", "VB": "VERB", "DT": "DET"}


@dataclass(frozen=True, slots=True)
class Word:
    """A line of a sentence."""

    line: int
    form: str
    tag: str
    speaker: str
    coreference: str


#: The kind of a mention (``pronoun``, ``nominal`` or ``proper``), the number, from 0, of its head
#: among the words, and its features.
Phrase = tuple[str, int, Features]
#: Annotates the words of a mention of an entity, in a language.
Annotate = Callable[[Sequence[Word], str, Language], Phrase]


@dataclass(frozen=True, slots=True)
class _Part:
    """The lines between a beginning and an end."""

    name: str
    number: int
    line: int
    lines: tuple[Line, ...]
    last_line: int
    whole: bool


def treebank_phrase(words: Sequence[Word], entity: str, language: Language) -> Phrase:
    """Annotate a mention by the Penn Treebank's parts of speech, and a language's pronouns."""
    head = _head(words)
    word = words[head]
    is_pronoun = len(words) == 1 and (
        word.tag in _PRONOUNS or (word.tag == "DT" and language.pronoun(word.form) is not None)
    )
    kind = "pronoun" if is_pronoun else "proper" if word.tag.startswith("NNP") else "nominal"
    return kind, head, _features(word, words[0], is_pronoun, language)


def read_conll2012(
    corpus: Corpus,
    file: CorpusFile,
    options: ReadOptions,
    *,
    singletons: bool = False,
    prepare: Callable[[Sequence[Sequence[Word]]], Iterable[Sequence[Word]]] = iter,
    annotate: Annotate = treebank_phrase,
) -> Iterator[Discourse]:
    """Read a file of documents. A bad line makes its whole part a bad one.

    Args:
        singletons: chains of one mention are annotated, too.
        prepare: changes the sentences of a document before anything is made of them.
        annotate: gives the mentions their kind, head and features by their words.
    """
    found = False
    for part in _read_parts(file, options):
        found = True
        try:
            _check(part)
            sentences = list(prepare(list(_part_sentences(part))))
            discourse = _document(corpus, file, part, sentences, singletons, annotate)
            if discourse is not None:
                yield discourse
            else:
                options.skipped["withheld text"] += 1
        except LineError as error:
            error.report(file, options)
    if not found:
        raise CorpusError(
            f"{file.path}:1: no document, expected '#begin document (<name>); part 000'"
        )


def _check(part: _Part) -> None:
    for at, line in part.lines:
        if (unusable := text_problem(line)) is not None:
            raise LineError(at, *unusable)
    if not part.name or text_problem(part.name) is not None:
        problem = "a malformed beginning, expected '#begin document (<name>); part 000'"
        raise LineError(part.line, problem, "malformed beginning")
    if not part.whole:
        problem = f"the document of line {part.line} does not end, expected {_END!r}"
        raise LineError(part.last_line, problem, "document cut off")


def _document(
    corpus: Corpus,
    file: CorpusFile,
    part: _Part,
    sentences: Sequence[Sequence[Word]],
    singletons: bool,
    annotate: Annotate,
) -> Discourse | None:
    if not sentences:
        raise LineError(part.line, "a document without words, expected some", "empty document")
    if all(word.form == _WITHHELD for words in sentences for word in words):
        return None
    own = language(corpus.language)
    units: list[Unit] = []
    found: list[tuple[int, Mention]] = []
    for number, words in enumerate(sentences):
        text, places = own.lay_out([_spelling(word.form) for word in words])
        source = SourceSpan(file.path.name, words[0].line, words[-1].line)
        units.append(
            Unit(text, None if words[0].speaker in ("-", "") else words[0].speaker, source)
        )
        found += _mentions(number, words, places, own, annotate)
    sizes = Counter(mention.chain for _, mention in found)
    for at, mention in found:
        if sizes[mention.chain] == 1 and not singletons:
            problem = f"the only mention of entity {mention.chain}, expected two or more in a chain"
            raise LineError(at, problem, "chain with one mention")
    return Discourse(
        id=f"{part.name}/{part.number}",
        corpus=corpus.name,
        units=tuple(units),
        mentions=tuple(mention for _, mention in found),
        # Names of documents that are no path have no genre.
        meta={"split": file.split, "genre": part.name.rpartition("/")[0].split("/")[0]},
    )


def _read_parts(file: CorpusFile, options: ReadOptions) -> Iterator[_Part]:
    """Split a file into its parts; lines outside of them are reported."""
    begun: tuple[str, int, int] | None = None
    lines: list[Line] = []
    outside = False
    number = 0
    for number, line in numbered_lines(file):
        if line.startswith("#begin"):
            if begun is not None:
                yield _Part(*begun, tuple(lines), number - 1, whole=False)
            match = _BEGIN.fullmatch(line)
            begun = (match["name"], int(match["part"] or 0), number) if match else ("", 0, number)
            lines, outside = [], False
        elif line.rstrip() == _END and begun is not None:
            yield _Part(*begun, tuple(lines), number, whole=True)
            begun = None
        elif begun is not None:
            lines.append((number, line))
        elif line.strip() and not outside:
            outside = True
            message = f"{file.path}:{number}: a line outside a document, expected '#begin document'"
            options.bad(message, "line outside a document")
    if begun is not None:
        yield _Part(*begun, tuple(lines), number, whole=False)


def _part_sentences(part: _Part) -> Iterator[list[Word]]:
    """The words of each sentence, between empty lines; ``LineError`` for one of too few columns."""
    words: list[Word] = []
    for number, line in part.lines:
        columns = line.split()
        if columns and not line.startswith("#"):
            if len(columns) < _FEWEST:
                problem = f"{len(columns)} columns, expected {_FEWEST} or more with spaces between"
                raise LineError(number, problem, "wrong number of columns")
            if CONTROL.search(" ".join(columns)):
                problem = "a control character in a column, expected text"
                raise LineError(number, problem, "control character")
            words.append(Word(number, columns[3], columns[4], columns[9], columns[-1]))
        elif not columns and words:
            yield words
            words = []
    if words:
        yield words


def _mentions(
    unit: int,
    words: Sequence[Word],
    places: Sequence[tuple[int, int]],
    language: Language,
    annotate: Annotate = treebank_phrase,
) -> list[tuple[int, Mention]]:
    """The mentions of a sentence with their lines, in order of first words, longer ones first."""
    opened: list[tuple[str, int]] = []
    found: list[tuple[int, int, str]] = []
    for index, word in enumerate(words):
        for bracket in word.coreference.split("|") if word.coreference not in ("-", "_") else ():
            match = _BRACKET.fullmatch(bracket)
            if match is None or not (match["opens"] or match["closes"]):
                problem = f"coreference {shown(word.coreference)}, expected such as (12|(3) or 12)"
                raise LineError(word.line, problem, "malformed coreference")
            if match["opens"]:
                opened.append((match["entity"], index))
            if match["closes"]:
                start = _close(opened, match["entity"], word.line)
                found.append((start, index + 1, match["entity"]))
    for entity, index in opened:
        problem = (
            f"a mention of entity {entity} is opened and not closed in its sentence, "
            "expected a closing bracket"
        )
        raise LineError(words[index].line, problem, "unclosed mention")
    found.sort(key=lambda mention: (mention[0], -mention[1]))
    return [
        (
            words[start].line,
            _mention(annotate(words[start:end], entity, language), entity, unit, places[start:end]),
        )
        for start, end, entity in found
    ]


def _close(opened: list[tuple[str, int]], entity: str, line: int) -> int:
    for position in range(len(opened) - 1, -1, -1):
        if opened[position][0] == entity:
            return opened.pop(position)[1]
    problem = f"'{entity})' closes a mention that is not open, expected it to be opened"
    raise LineError(line, problem, "unopened mention")


def _mention(phrase: Phrase, entity: str, unit: int, places: Sequence[tuple[int, int]]) -> Mention:
    kind, head, features = phrase
    span = ((unit, places[0][0], places[-1][1]),)
    return Mention(span, entity, kind, ((unit, *places[head]),), features)


def _head(words: Sequence[Word]) -> int:
    # A guess: the last noun before what may follow a noun.
    head = None
    for index, word in enumerate(words):
        if word.tag in _AFTER_HEAD and head is not None:
            break
        if word.tag.startswith("NN") or word.tag in (*_PRONOUNS, "CD", "EX"):
            head = index
    return len(words) - 1 if head is None else head


def _features(head: Word, first: Word, is_pronoun: bool, language: Language) -> Features:
    known = (language.pronoun(head.form) if is_pronoun else None) or Features()
    pronoun = known.pronoun
    if head.tag == "PRP$":
        pronoun = "possessive"
    elif head.tag == "PRP" and pronoun in ("", "possessive"):
        pronoun = "personal"
    return Features(
        pos=_pos(head.tag),
        first_pos=_pos(first.tag),
        pronoun=pronoun if is_pronoun else "",
        person=known.person,
        number=_NUMBERS.get(head.tag, known.number),
        gender=known.gender,
    )


def _pos(tag: str) -> str:
    if tag in _PRONOUNS:
        return "PRON"
    return next((pos for start, pos in _PARTS_OF_SPEECH.items() if tag.startswith(start)), "")


def _spelling(form: str) -> str:
    # OntoNotes puts signs in front of some words: ``/.``, ``\/``.
    if len(form) > 1 and form[0] == "/" and form[1] in ".?!-,:;":
        return form[1:]
    return form.replace("\\/", "/").replace("\\*", "*")


CORPUS = Corpus(
    name="ontonotes",
    title="OntoNotes 5 (CoNLL-2012)",
    homepage="https://conll.cemantix.org/2012/",
    citation=cited("pradhan-etal-2012-conll"),
    licence_name="Linguistic Data Consortium user agreement",
    licence_url="https://catalog.ldc.upenn.edu/LDC2013T19",
    text_licence=OTHER,
    text_licence_name="under the same agreement",
    obtain=(
        "get LDC2013T19 from the Linguistic Data Consortium and the CoNLL-2012 skeletons, insert "
        "the words with the scripts of the skeletons, and join the English files of each split"
    ),
    patterns=(
        FilePattern("train*gold_conll", "train", "train.english.v4_gold_conll"),
        FilePattern("dev*gold_conll", "validation", "dev.english.v4_gold_conll"),
        FilePattern("test*gold_conll", "test", "test.english.v4_gold_conll"),
        FilePattern("*gold_conll", "unsplit", "<document>.v4_gold_conll"),
    ),
    reader=read_conll2012,
    public_since=2007,
    public_source="OntoNotes Release 1.0 (LDC2007T21)",
    producers="Writers of news, of the web and of the Bible, and speakers on radio and telephone.",
    source_datasets=("extended|other-ontonotes",),
)
