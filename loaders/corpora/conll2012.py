"""CoNLL-2012, the layout of OntoNotes 5 with coreference, and two corpora of novels in it.

One word a line, columns by spaces. ``#begin document (bc/cctv/00/cctv_0000); part 000`` begins a
part, which is a discourse; ``#end document`` ends it, empty lines stand between sentences. Of the
columns the fourth is the word, the fifth its part of speech, the tenth the speaker and the last
coreference: ``(12|(3)`` opens a mention of entity 12 and has one of entity 3, ``12)`` closes.
Heads are guessed by part of speech, for there is no tree of words.

OntoNotes: chains of one mention are not annotated, so the mention of one is left out and counted.
So are files whose words were taken out (``[WORD]``). A hyphen is a word of its own (tag ``HYPH``:
``well - known``) and touches the words beside it. No real file was at hand: the reader was made
from the description of the shared task, and says so.

LitBank: the first 2,000 tokens of English novels. The columns between a word and its coreference
are empty: no part of speech, no speaker. Which mention is a pronoun is told by its form, which is a
name by its capitals. Chains of one mention are annotated. Of six types of entities (people,
facilities, places, geopolitical entities, organisations, vehicles) mentions are annotated; the
files do not say which. Tokens of nothing but ``_``, with which the editions mark italics, are left
out, and mentions that begin or end with one without it. Marks of quotation become straight ones; of
a straight one the side is told by its place: one opens at the start of a sentence, closes at its
end, and inside it does what the one before did not.

OpenBoek: the first 10,000 tokens of Dutch novels. The column of parts of speech has Alpino's tags.
Beside each file ``coref/NOVEL.conll`` stands ``features/NOVEL.tsv``, a table of the entities with
their category, number and gender, an entity by the place of its first mention. That gender is of
the person (``m``, ``f``; ``fm``: not told) and ``n`` where it is no person; the grammatical gender
of a noun, which its article follows, is in the tag. A mention of a noun has the grammatical one,
that of a pronoun the pronoun's or the person's.

The spelling is that of the novels' time, and differs between them: some inflect articles (*den
man*). Tokens ``<<<``, which mark that a sentence goes on, are left out. ``meta`` has
``sentence_types``: one word a unit, ``frag`` where no verb is finite.

Sources: https://conll.cemantix.org/2012/data.html; https://github.com/dbamman/litbank (Bamman et
al. 2020); https://github.com/andreasvc/openboek (van Cranenburgh and van Noord 2022)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Features, Mention, SourceSpan, Unit
from coherencegym.loaders.formats.corefud import brackets
from coherencegym.loaders.formats.lines import (
    CONTROL,
    Line,
    LineError,
    check_text,
    numbered_lines,
    numbered_rows,
    reporting,
)
from coherencegym.loaders.languages.language import ENGLISH, Language
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


def head_of(is_noun: Sequence[bool], is_behind: Sequence[bool]) -> int:
    """The number of the head of a noun phrase: its last noun before what may follow a noun."""
    head = None
    for index, (noun, behind) in enumerate(zip(is_noun, is_behind, strict=True)):
        if behind and head is not None:
            break
        if noun:
            head = index
    return len(is_noun) - 1 if head is None else head


def treebank_phrase(words: Sequence[Word], entity: str, language: Language) -> Phrase:
    """Annotate a mention by the Penn Treebank's parts of speech, and a language's pronouns."""
    number = head_of(
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
    prepare: Callable[[Sequence[Sequence[Word]]], Iterable[Sequence[Word]]] = iter,
    annotate: Annotate = treebank_phrase,
) -> Iterator[Discourse]:
    """Read a file of documents. A bad line makes its whole part a bad one.

    Args:
        singletons: chains of one mention are annotated, too.
        prepare: changes the sentences of a document before anything is made of them.
        annotate: gives the mentions their kind, head and features by their words.
    """
    part, own = None, language(corpus.language)
    for part in _read_parts(file, options):
        with reporting(file, options):
            name, read = _name_and_sentences(part)
            sentences = list(prepare(read))
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
                found += _mentions(number, words, places, own, annotate)
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


def _name_and_sentences(part: Sequence[Line]) -> tuple[str, list[list[Word]]]:
    for number, line in part:
        check_text(line, number)
    (first, begin), (last, end) = part[0], part[-1]
    if (match := _BEGIN.fullmatch(begin)) is None:
        problem = "a malformed beginning, expected '#begin document (<name>); part 000'"
        raise LineError(first, problem, "malformed beginning")
    if end.rstrip() != _END:
        problem = f"the document of line {first} does not end, expected {_END!r}"
        raise LineError(last, problem, "document cut off")
    sentences: list[list[Word]] = [[]]
    for number, line in part:
        columns = line.split()
        if columns and not line.startswith("#"):
            if len(columns) < _FEWEST:
                problem = f"{len(columns)} columns, expected {_FEWEST} or more with spaces between"
                raise LineError(number, problem, "wrong number of columns")
            if CONTROL.search(" ".join(columns)):
                problem = "a control character in a column, expected text"
                raise LineError(number, problem, "control character")
            sentences[-1].append(Word(number, columns[3], columns[4], columns[9], columns[-1]))
        elif not columns:
            sentences.append([])
    name = f"{match['name']}/{int(match['part'] or 0)}"
    return name, [words for words in sentences if words]


def _mentions(
    unit: int,
    words: Sequence[Word],
    places: Sequence[tuple[int, int]],
    language: Language,
    annotate: Annotate,
) -> list[Mention]:
    # The mentions of a sentence, in order of first words, longer ones first.
    empty = ("-", "_")
    cells = [(word.line, "" if word.coreference in empty else word.coreference) for word in words]
    mentions = []
    for bracket in brackets(cells, ("entity",), "coreference "):
        start, last = bracket.tokens[0], bracket.tokens[-1]
        kind, head, features = annotate(words[start : last + 1], bracket.entity, language)
        span = ((unit, places[start][0], places[last][1]),)
        head_span = ((unit, *places[start + head]),)
        mentions.append(Mention(span, bracket.entity, kind, head_span, features))
    return mentions


def _laid_out(words: Sequence[Word], own: Language) -> tuple[str, list[tuple[int, int]]]:
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


#: Words that end the head of a noun phrase, as the reader's rules have it for parts of speech.
_ENDING = frozenset(
    ("of", "in", "on", "at", "for", "with", "from", "by", "to", "about", "near", "who", "which")
)
#: Curly marks, as the rules for spaces know them.
_QUOTES = {"“": "``", "”": "''"}


def with_guesses(sentences: Sequence[Sequence[Word]]) -> Iterator[list[Word]]:
    """Give the words the parts of speech that show heads and names, and quotation marks a side."""
    opened = False
    for words in sentences:
        told: list[Word] = []
        for place, word in enumerate(_without_italics(words)):
            form = _QUOTES.get(word.form, word.form)
            if form == '"':
                opened = place == 0 or (place < len(words) - 1 and not opened)
                form = "``" if opened else "''"
            told.append(replace(word, form=form, tag=_tag(form, place)))
        if told:
            yield told


def _without_italics(words: Sequence[Word]) -> list[Word]:
    left: list[Word] = []
    begun: list[str] = []  # mentions that a mark begins
    for word in words:
        brackets = word.coreference.split("|") if word.coreference != "_" else []
        if word.form != "_":
            told = [*begun, *brackets]
            left.append(replace(word, coreference="|".join(told)) if told else word)
            begun = []
            continue
        begun += [one for one in brackets if not one.endswith(")")]
        ended = [one for one in brackets if not one.startswith("(")]
        if ended and left:
            before = [one for one in left[-1].coreference.split("|") if one != "_"]
            left[-1] = replace(left[-1], coreference="|".join((*before, *ended)))
    return left


def _tag(form: str, place: int) -> str:
    known = ENGLISH.pronoun(form)
    if known is not None and known.pronoun in ("personal", "possessive", "reflexive", ""):
        return "PRP$" if known.pronoun == "possessive" else "PRP"
    if form.lower() in _ENDING or form in (",", ":"):
        return "IN"
    if form.lower() in ENGLISH.articles:
        return "DT"
    # Of neither a number is told; a capital that begins a sentence is no sign of a name.
    return "NNP?" if form[:1].isupper() and place else "NN?" if form[:1].isalpha() else "_"


LITBANK = Corpus(
    name="litbank",
    title="LitBank",
    homepage="https://github.com/dbamman/litbank",
    citation="bamman-etal-2020-litbank",
    licence="CC-BY-4.0",
    licence_name="stated in the README",
    text_licence_name="stated for the repository; the novels are in the public domain",
    obtain="get https://github.com/dbamman/litbank and take its folder coref/conll",
    proven="2026-11-29: 34 of the 100 novels; 34 documents, 2,605 units, 10,034 annotations",
    patterns=tuple(
        FilePattern(f"{folder}*_brat.conll", "unsplit", "<number>_<title>_brat.conll")
        for folder in ("", "conll/", "coref/conll/")
    ),
    reader=partial(read_conll2012, singletons=True, prepare=with_guesses),
    producers="English and American novelists of the years 1719 to 1922.",
    public_since=2020,
    public_source="Bamman et al. (2020); the novels were in print long before, and on the web",
    source_datasets=("original",),
)


_CONTINUED, _FINITE = "<<<", "WW[pv,"
_COLUMNS = ("filename", "sentno", "begin", "end", "gender", "number", "category")
_GENDERS = {"m": "masculine", "f": "feminine"}
_ENTITY_NUMBERS = {"sg": "singular", "pl": "plural"}
_CATEGORIES = {"PER": "person", "LOC": "place", "ORG": "organization", "OBJ": "object"}

#: Alpino's tags of parts of speech (van Eynde 2004): ``N[soort,ev,basis,zijd,stan]`` is a common
#: noun in the singular that has the article *de*.
_TAG = re.compile(r"(\w+)\[([^\]]*)\]")
_ALPINO_PARTS = {
    "N": "NOUN", "SPEC": "PROPN", "VNW": "PRON", "WW": "VERB", "ADJ": "ADJ", "TW": "NUM",
    "LID": "DET", "VZ": "ADP", "VG": "CCONJ", "BW": "ADV", "LET": "PUNCT", "TSW": "INTJ",
}  # fmt: skip
_ALPINO_PRONOUNS = {
    "pers": "personal", "pr": "personal", "bez": "possessive", "refl": "reflexive",
    "recip": "reciprocal", "betr": "relative", "vb": "interrogative", "aanw": "demonstrative",
    "onbep": "indefinite", "excl": "indefinite",
}  # fmt: skip
_TAG_NUMBERS = {"ev": "singular", "mv": "plural"}
_TAG_GENDERS = {
    "zijd": "common",
    "onz": "neuter",
    "masc": "masculine",
    "fem": "feminine",
}
#: Classes that begin what follows the head of a noun phrase.
_ALPINO_AFTER_HEAD = ("ADP", "CCONJ", "PUNCT", "VERB")

#: Sentence, first token and the one after the last, from 0, of the first mention of an entity.
_Place = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Entity:
    # Words of `Features`, empty where nothing is told.

    category: str = ""
    number: str = ""
    gender: str = ""


class _Novel:
    """The words of a novel by their lines, and its entities by the numbers of their chains."""

    def __init__(self, entities: dict[_Place, _Entity]) -> None:
        self._entities = entities
        self._places: dict[int, tuple[int, int]] = {}
        self.sentence_types: list[str] = []
        self._chains: dict[str, _Entity] = {}

    def sentences(self, sentences: Sequence[Sequence[Word]]) -> Iterator[list[Word]]:
        self.sentence_types = []
        for number, words in enumerate(sentences):
            self._places |= {word.line: (number, index) for index, word in enumerate(words)}
            if told := [_with_mark(word) for word in words if word.form != _CONTINUED]:
                is_finite = any(word.tag.startswith(_FINITE) for word in told)
                self.sentence_types.append("decl" if is_finite else "frag")
                yield told

    def annotate(self, words: Sequence[Word], chain: str, language: Language) -> Phrase:
        told = [_tag_features(word.tag) for word in words]
        sentence, begin = self._places[words[0].line]
        first = (sentence, begin, begin + len(words))
        entity = self._chains.setdefault(chain, self._entities.get(first, _Entity()))
        head = head_of(
            [word.pos in ("NOUN", "PROPN") for word in told],
            [word.pos in _ALPINO_AFTER_HEAD or word.pronoun == "relative" for word in told],
        )
        features = told[head]
        is_pronoun = len(words) == 1 and bool(features.pronoun)
        known = language.pronoun(words[head].form, features.pronoun) if is_pronoun else None
        joined = any(one.pos == "CCONJ" for one in told)
        gender = features.gender
        if features.pos == "PROPN" or (is_pronoun and not gender):
            gender = entity.gender
        return (
            "pronoun" if is_pronoun else "proper" if features.pos == "PROPN" else "nominal",
            head,
            replace(
                features,
                entity=entity.category,
                first_pos=told[0].pos,
                number=entity.number if joined else features.number or entity.number,
                gender=gender,
                pronoun=features.pronoun if is_pronoun else "",
                person=features.person if is_pronoun else "",
                case=known.case if known and features.pronoun == "personal" else "",
            ),
        )


def _with_mark(word: Word) -> Word:
    # Two commas open some quotations, which all others close: the places of both tell the side.
    return replace(word, form='"') if word.form == ",," else word


def _tag_features(tag: str) -> Features:
    """The features that a tag shows; those of no word where it is malformed."""
    match = _TAG.fullmatch(tag)
    if match is None:
        return Features()
    kind, values = match[1], match[2].split(",")
    pos = _ALPINO_PARTS.get(kind, "")
    if kind == "N" and "eigen" in values:
        pos = "PROPN"
    pronoun = _ALPINO_PRONOUNS.get(values[0], "") if kind == "VNW" else ""
    return Features(
        pos=pos,
        pronoun=pronoun,
        person=next((value[0] for value in values if value[:1].isdigit()), "") if pronoun else "",
        number=next((_TAG_NUMBERS[value] for value in values if value in _TAG_NUMBERS), ""),
        gender=next((_TAG_GENDERS[value] for value in values if value in _TAG_GENDERS), ""),
    )


def features_beside(path: Path) -> Path:
    """The table of entities of a novel."""
    return path.parent.parent / "features" / f"{path.stem}.tsv"


def read_openboek(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a novel."""
    novel = _Novel(_entities(CorpusFile(features_beside(file.path), file.split), options))
    for discourse in read_conll2012(
        corpus,
        file,
        options,
        singletons=True,
        prepare=novel.sentences,
        annotate=novel.annotate,
    ):
        types = {"sentence_types": " ".join(novel.sentence_types)}
        yield replace(discourse, meta={**discourse.meta, **types})


def _entities(file: CorpusFile, options: ReadOptions) -> dict[_Place, _Entity]:
    if not file.path.is_file():
        raise CorpusError(
            f"{file.path}: no such file, expected the table of entities that OpenBoek has in its "
            "folder features"
        )
    found: dict[_Place, _Entity] = {}
    for row in numbered_rows(file, _COLUMNS, options):
        place = [row.values[name] for name in _COLUMNS[1:4]]
        if not all(value.isdecimal() for value in place):
            message = f"{row.place}: sentno, begin and end are {', '.join(place)}, expected numbers"
            options.bad(message, "malformed entity")
            continue
        sentence, begin, end = map(int, place)
        found[sentence, begin, end] = _Entity(
            _CATEGORIES.get(row.values["category"].partition(".")[0], ""),
            _ENTITY_NUMBERS.get(row.values["number"], ""),
            _GENDERS.get(row.values["gender"], ""),
        )
    return found


OPENBOEK = Corpus(
    name="openboek",
    title="OpenBoek",
    homepage="https://github.com/andreasvc/openboek",
    citation="vancranenburgh-vannoord-2022-openboek",
    licence="CC-BY-4.0",
    licence_name="stated in the README",
    text_licence_name="stated for the repository; the novels are in the public domain",
    language="nl",
    obtain="get https://github.com/andreasvc/openboek and take its folders coref and features",
    proven="2026-11-29: 4 of the 9 novels; 4 documents, 2,351 units, 10,091 annotations",
    patterns=tuple(
        FilePattern(f"{folder}*.conll", "unsplit", "coref/<author>_<title>.conll")
        for folder in ("openboek/coref/", "coref/")
    ),
    parts=lambda path: tuple(filter(Path.is_file, (path, features_beside(path)))),
    reader=read_openboek,
    producers="Dutch novelists, and Dutch translators of French and Russian novelists.",
    limitations=(
        "Novels from before 1940, in the spelling of their time (*zoo*, *menschen*, *den man*).",
        "A few novels are a few clusters, however many items come from them. Intervals over so few "
        "clusters are wide, so a score is a demonstration rather than a measurement.",
    ),
    public_since=2022,
    public_source="van Cranenburgh and van Noord (2022); the novels were in print long before",
    source_datasets=("original",),
)
