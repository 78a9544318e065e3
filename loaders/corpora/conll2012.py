"""CoNLL-2012, the layout of OntoNotes 5 with coreference.

One word a line, columns by spaces. ``#begin document (bc/cctv/00/cctv_0000); part 000`` begins a
part, which is a discourse; ``#end document`` ends it, empty lines stand between sentences. Of the
columns the fourth is the word, the fifth its part of speech, the tenth the speaker and the last
coreference: ``(12|(3)`` opens a mention of entity 12 and has one of entity 3, ``12)`` closes.
Heads are guessed by part of speech, for there is no tree of words.

OntoNotes: chains of one mention are not annotated, so the mention of one is left out and counted.
So are files whose words were taken out (``[WORD]``). A hyphen is a word of its own (tag ``HYPH``:
``well - known``) and touches the words beside it. No real file was at hand: the reader was made
from the description of the shared task, and says so.

Source: https://conll.cemantix.org/2012/data.html
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Features, Mention, SourceSpan, Unit
from coherencegym.loaders.formats.corefud import brackets
from coherencegym.loaders.formats.lines import (
    CONTROL,
    Line,
    LineError,
    check_text,
    numbered_lines,
    reporting,
)
from coherencegym.loaders.languages.language import Language
from coherencegym.loaders.languages.registry import language

#: The word that stands for each word of the text in the file's skeleton.
_WITHHELD = "[WORD]"

#: Columns of a line at least: ten, any number of predicates' arguments, coreference.
_FEWEST = 12
_BEGIN = re.compile(r"#begin document \((?P<name>[^()\s]+)\);(?: part (?P<part>\d{1,6}))?\s*")
_END = "#end document"

_HYPHEN = "HYPH"
_PRONOUNS = ("PRP", "PRP$", "WP", "WP$")
#: Tags that end the head of a noun phrase, in front of what follows it.
_AFTER_HEAD = ("IN", "WDT", "WP", "WP$", "WRB", ",", ":", "-LRB-", "VBN", "VBG", "TO")
_NUMBERS = dict.fromkeys(("NNS", "NNPS"), "plural") | dict.fromkeys(("NN", "NNP"), "singular")
#: Beginning of a tag -> the Universal Dependencies tag, for the words that matter.
_PARTS_OF_SPEECH = {"NNP": "PROPN", "NN": "NOUN", "VB": "VERB", "DT": "DET"}


@dataclass(frozen=True, slots=True)
class _Word:
    # A line of a sentence.
    line: int
    form: str
    tag: str
    speaker: str
    coreference: str


#: The kind of a mention (``pronoun``, ``nominal`` or ``proper``), the number, from 0, of its head
#: among the words, and its features.
_Phrase = tuple[str, int, Features]


def _head_of(is_noun: Sequence[bool], is_behind: Sequence[bool]) -> int:
    # The number of the head of a noun phrase: its last noun before what may follow a noun.
    head = None
    for index, (noun, behind) in enumerate(zip(is_noun, is_behind, strict=True)):
        if behind and head is not None:
            break
        if noun:
            head = index
    return len(is_noun) - 1 if head is None else head


def _phrase(words: Sequence[_Word], language: Language) -> _Phrase:
    # By the Penn Treebank's parts of speech, and a language's pronouns.
    number = _head_of(
        [word.tag.startswith("NN") or word.tag in (*_PRONOUNS, "CD", "EX") for word in words],
        [word.tag in _AFTER_HEAD for word in words],
    )
    head = words[number]
    pronoun = language.pronoun(head.form)
    is_pronoun = len(words) == 1 and (
        head.tag in _PRONOUNS or (head.tag == "DT" and pronoun is not None)
    )
    known = (pronoun if is_pronoun else None) or Features()
    kind = known.pronoun
    if head.tag == "PRP$":
        kind = "possessive"
    elif head.tag == "PRP" and kind in ("", "possessive"):
        kind = "personal"
    features = Features(
        pos=_pos(head.tag),
        first_pos=_pos(words[0].tag),
        pronoun=kind if is_pronoun else "",
        person=known.person,
        number=_NUMBERS.get(head.tag, known.number),
        gender=known.gender,
    )
    nominal = "proper" if head.tag.startswith("NNP") else "nominal"
    return "pronoun" if is_pronoun else nominal, number, features


def _pos(tag: str) -> str:
    if tag in _PRONOUNS:
        return "PRON"
    return next((pos for start, pos in _PARTS_OF_SPEECH.items() if tag.startswith(start)), "")


def read_conll2012(
    corpus: Corpus,
    file: CorpusFile,
    options: ReadOptions,
    *,
    singletons: bool = False,
) -> Iterator[Discourse]:
    """Read a file of documents. A bad line makes its whole part a bad one.

    Args:
        corpus, file, options: those of any reader.
        singletons: chains of one mention are annotated, too.
    """
    part, own = None, language(corpus.language)
    for part in _read_parts(file, options):
        with reporting(file, options):
            name, sentences = _name_and_sentences(part)
            if not sentences:
                problem = "a document without words, expected some"
                raise LineError(part[0][0], problem, "empty document")
            if all(word.form == _WITHHELD for words in sentences for word in words):
                options.skipped["withheld text"] += 1
                continue
            units: list[Unit] = []
            found: list[Mention] = []
            for number, words in enumerate(sentences):
                text, places = _laid_out(words, own)
                source = SourceSpan(file.path.name, words[0].line, words[-1].line)
                speaker = words[0].speaker
                units.append(Unit(text, None if speaker in ("-", "") else speaker, source))
                found += _mentions(number, words, places, own)
            sizes = Counter(mention.chain for mention in found)
            if not singletons and (alone := sum(size == 1 for size in sizes.values())):
                options.skipped["mentions that are the only one of their chain"] += alone
                found = [mention for mention in found if sizes[mention.chain] > 1]
            # Names of documents that are no path have no genre.
            genre = name.split("/")[0] if name.count("/") > 1 else ""
            meta = {"split": file.split, "genre": genre}
            yield Discourse(name, corpus.name, tuple(units), tuple(found), meta=meta)
    if part is None:
        raise CorpusError(
            f"{file.path}:1: no document, expected '#begin document (<name>); part 000'"
        )


def _read_parts(file: CorpusFile, options: ReadOptions) -> Iterator[list[Line]]:
    # The lines from each beginning to the end, if there is one. Those outside are reported.
    part: list[Line] | None = None
    outside = False
    for number, line in numbered_lines(file):
        if line.startswith("#begin"):
            if part is not None:
                yield part
            part, outside = [(number, line)], False
        elif part is not None:
            part.append((number, line))
            if line.rstrip() == _END:
                yield part
                part = None
        elif line.strip() and not outside:
            outside = True
            message = f"{file.path}:{number}: a line outside a document, expected '#begin document'"
            options.bad(message, "line outside a document")
    if part is not None:
        yield part


def _name_and_sentences(part: Sequence[Line]) -> tuple[str, list[list[_Word]]]:
    for number, line in part:
        check_text(line, number)
    (first, begin), (last, end) = part[0], part[-1]
    if (match := _BEGIN.fullmatch(begin)) is None:
        problem = "a malformed beginning, expected '#begin document (<name>); part 000'"
        raise LineError(first, problem, "malformed beginning")
    if end.rstrip() != _END:
        problem = f"the document of line {first} does not end, expected {_END!r}"
        raise LineError(last, problem, "document cut off")
    sentences: list[list[_Word]] = [[]]
    for number, line in part:
        columns = line.split()
        if columns and not line.startswith("#"):
            if len(columns) < _FEWEST:
                problem = f"{len(columns)} columns, expected {_FEWEST} or more with spaces between"
                raise LineError(number, problem, "wrong number of columns")
            if CONTROL.search(" ".join(columns)):
                problem = "a control character in a column, expected text"
                raise LineError(number, problem, "control character")
            sentences[-1].append(_Word(number, columns[3], columns[4], columns[9], columns[-1]))
        elif not columns:
            sentences.append([])
    name = f"{match['name']}/{int(match['part'] or 0)}"
    return name, [words for words in sentences if words]


def _mentions(
    unit: int, words: Sequence[_Word], places: Sequence[tuple[int, int]], language: Language
) -> list[Mention]:
    # The mentions of a sentence, in order of first words, longer ones first.
    empty = ("-", "_")
    cells = [(word.line, "" if word.coreference in empty else word.coreference) for word in words]
    mentions = []
    for bracket in brackets(cells, ("entity",), "coreference "):
        start, last = bracket.tokens[0], bracket.tokens[-1]
        kind, head, features = _phrase(words[start : last + 1], language)
        span = ((unit, places[start][0], places[last][1]),)
        head_span = ((unit, *places[start + head]),)
        mentions.append(Mention(span, bracket.entity, kind, head_span, features))
    return mentions


def _laid_out(words: Sequence[_Word], own: Language) -> tuple[str, list[tuple[int, int]]]:
    if all(word.tag != _HYPHEN for word in words):
        return own.lay_out([_spelling(word.form) for word in words])
    joined: list[list[str]] = []
    touches = False
    for word in words:
        if joined and (touches or word.tag == _HYPHEN):
            joined[-1].append(_spelling(word.form))
        else:
            joined.append([_spelling(word.form)])
        touches = word.tag == _HYPHEN
    text, around = own.lay_out(["".join(forms) for forms in joined])
    places: list[tuple[int, int]] = []
    for forms, (start, end) in zip(joined, around, strict=True):
        ends = list(accumulate(map(len, forms), initial=start))
        # Signs may be spelled otherwise in the text (``-LRB-``).
        places += pairwise(ends) if ends[-1] == end else [(start, end)] * len(forms)
    return text, places


def _spelling(form: str) -> str:
    # OntoNotes puts signs in front of some words: ``/.``, ``\/``.
    if len(form) > 1 and form[0] == "/" and form[1] in ".?!-,:;":
        return form[1:]
    return form.replace("\\/", "/").replace("\\*", "*")


ONTONOTES = Corpus(
    name="ontonotes",
    title="OntoNotes 5 (CoNLL-2012)",
    homepage="https://conll.cemantix.org/2012/",
    citation="pradhan-etal-2012-conll",
    licence_name="Linguistic Data Consortium user agreement",
    licence_url="https://catalog.ldc.upenn.edu/LDC2013T19",
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
