"""MMAX2, stand-off annotation of words in XML: the corpora ARRAU and ParCorFull.

A document is ``Basedata/<name>_words.xml`` with two levels of markables over its words, in
``Markables/<name>_coref_level.xml`` and ``Markables/<name>_sentence_level.xml`` (the folder may
have a small letter, or all files may lie together). Spans are ``word_1..word_3,word_7``. ARRAU
says which chain a mention is of in ``coref_set``, ParCorFull in ``coref_class``.

Units are the sentences, detokenised by rules; words between sentences are a unit of their own. A
mention of no chain has one for itself, called after the markable.

The reader was run on the English side of ParCorFull. No file of ARRAU was at hand: its declaration
says so. Its second version (LDC2013T22) lies as ``data/<genre>/<split>/MMAX/Basedata`` and
``markables``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter
from pathlib import Path

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Features, Mention, SourceSpan, Unit
from coherencegym.loaders.formats.lines import shown, tidy
from coherencegym.loaders.formats.relations import span_of, united
from coherencegym.loaders.formats.xml_elements import Element, elements
from coherencegym.loaders.languages.language import Language
from coherencegym.loaders.languages.registry import language

_WORDS = "_words.xml"
_LEVELS = ("coref", "sentence")

#: Attributes that name the chain, and what they have where there is none.
_CHAIN = ("coref_set", "coref_class")
_NO_CHAIN = ("", "empty", "none")

_PRONOUN_TYPES = (
    *("personal", "possessive", "reflexive", "reciprocal"),
    *("demonstrative", "relative", "interrogative", "indefinite"),
)
_NUMBERS = {"sing": "singular", "plur": "plural", "they (sg.)": "singular", "they (pl.)": "plural"}
_GENDERS = {"masc": "masculine", "fem": "feminine", "neut": "neuter"}
_FUNCTIONS = {"subj": "nsubj", "obj": "obj", "adjunct": "obl"}

#: The unit, first character, and one after the last, of each word.
_Places = dict[int, tuple[int, int, int]]
#: First word, and the one after the last.
_Range = tuple[int, int]


def read_mmax(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a document. Anything wrong in one of its files makes it a bad one."""
    try:
        discourse = _document(corpus, file, options)
    except CorpusError as error:
        options.bad(str(error), "malformed document")
    else:
        yield discourse


def _document(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Discourse:
    name = file.path.name.removesuffix(_WORDS)
    levels = {path.name.removeprefix(f"{name}_"): path for path in _document_files(file.path)[1:]}
    for level in _LEVELS:
        if f"{level}_level.xml" not in levels:
            raise CorpusError(
                f"{file.path}:1: there is no {name}_{level}_level.xml for it, "
                "expected one in the folder Markables beside its own"
            )
    order, lines = _read_words(file.path)
    positions = {identifier: position for position, identifier in enumerate(order)}
    sentences = _sentences(levels["sentence_level.xml"], positions, len(order), options)
    places: _Places = {}
    units: list[Unit] = []
    texts = list(order.values())
    own = language(corpus.language)
    for number, (start, end, speaker) in enumerate(sentences):
        text, of_words = own.lay_out(texts[start:end])
        source = SourceSpan(file.path.name, lines[start], lines[end - 1])
        units.append(Unit(text, speaker, source))
        places |= {at: (number, *place) for at, place in enumerate(of_words, start)}
    coref = levels["coref_level.xml"]
    found = []
    for element, ranges in _markables(coref, positions, options):
        minimal: Sequence[_Range] = ()
        if element.attributes.get("min_ids"):
            minimal = _word_ranges(coref, element, "min_ids", positions, options)
        mention = _mention(element, ranges, minimal, texts, places, own)
        found.append(((ranges[0][0], -ranges[-1][1]), mention))
    return Discourse(
        id=name,
        corpus=corpus.name,
        units=tuple(units),
        # In the order of the text, longer ones first.
        mentions=tuple(mention for _, mention in sorted(found, key=itemgetter(0))),
        meta={"split": file.split},
    )


def _document_files(path: Path) -> tuple[Path, ...]:
    """The files of a document: its words, and the two levels over them where they are found."""
    name = path.name.removesuffix(_WORDS)
    above = path.parent.parent
    folders = (above / "Markables", above / "markables", path.parent)
    found = [path]
    for level in _LEVELS:
        candidates = [folder / f"{name}_{level}_level.xml" for folder in folders]
        found += list(filter(Path.is_file, candidates))[:1]
    return tuple(found)


def _read_words(path: Path) -> tuple[dict[str, str], list[int]]:
    """The words by id, in their order, and their lines; ``CorpusError`` for a bad or no word."""
    words: dict[str, str] = {}
    lines: list[int] = []
    for element, identifier in _identified(path, "word"):
        words[identifier] = tidy(element.text)
        if not words[identifier]:
            raise CorpusError(
                f"{path}:{element.line}: word {shown(identifier)} is empty, expected a word"
            )
        lines.append(element.line)
    if not words:
        raise CorpusError(f"{path}:1: no word, expected <word id=...> elements")
    return words, lines


def _identified(path: Path, name: str) -> Iterator[tuple[Element, str]]:
    seen: set[str] = set()
    for element in elements(path):
        if element.name == name:
            identifier = tidy(element.attributes.get("id", ""))
            if not identifier or identifier in seen:
                raise CorpusError(
                    f"{path}:{element.line}: {name} id {shown(identifier)}, expected each once"
                )
            seen.add(identifier)
            yield element, identifier


def _markables(
    path: Path, positions: Mapping[str, int], options: ReadOptions
) -> Iterator[tuple[Element, list[_Range]]]:
    for element, _ in _identified(path, "markable"):
        yield element, _word_ranges(path, element, "span", positions, options)


def _word_ranges(
    path: Path,
    element: Element,
    name: str,
    positions: Mapping[str, int],
    options: ReadOptions,
) -> list[_Range]:
    # A span is a set of words: parts that overlap (a talk of ParCorFull has such a mention) are
    # one.
    where = f"{path}:{element.line}: {name} of {shown(element.attributes['id'])}"
    ranges: list[_Range] = []
    for part in element.attributes.get(name, "").split(","):
        first, dots, last = part.strip().partition("..")
        ends = (first, last if dots else first)
        for identifier in ends:
            if identifier not in positions:
                raise CorpusError(
                    f"{where} has {shown(identifier)}, expected words of the document, "
                    "such as word_1..word_3,word_7"
                )
        start, end = positions[ends[0]], positions[ends[1]] + 1
        if start >= end:
            span = shown(element.attributes[name])
            raise CorpusError(f"{where} is {span}, expected words in their order")
        ranges.append((start, end))
    if any(end > start for (_, end), (start, _) in pairwise(ranges)):
        options.put_right("spans whose parts overlap or are out of order")
        ranges = united(ranges)
    return ranges


def _sentences(
    path: Path, positions: Mapping[str, int], count: int, options: ReadOptions
) -> list[tuple[int, int, str | None]]:
    """First word, after the last word, and speaker of each unit, which together are all words."""
    found = []
    for element, ranges in _markables(path, positions, options):
        speaker = tidy(element.attributes.get("speaker", "")) or None
        found.append((ranges[0][0], ranges[-1][1], speaker, element.line))
    units: list[tuple[int, int, str | None]] = []
    at = 0
    for start, end, speaker, line in sorted(found, key=lambda sentence: sentence[:2]):
        if start < at:
            raise CorpusError(f"{path}:{line}: overlaps another sentence, expected them apart")
        if start > at:
            units.append((at, start, None))
        units.append((start, end, speaker))
        at = end
    if at < count:
        units.append((at, count, None))
    return units


def _mention(
    element: Element,
    ranges: Sequence[_Range],
    minimal: Sequence[_Range],
    texts: Sequence[str],
    places: _Places,
    language: Language,
) -> Mention:
    attributes = {name: tidy(value) for name, value in element.attributes.items()}
    chain = next((attributes[name] for name in _CHAIN if name in attributes), "")
    one_word = len(ranges) == 1 and ranges[0][1] - ranges[0][0] == 1
    # The last word of the minimal span, or the only word; none where nobody said.
    head = minimal[-1][1] - 1 if minimal else ranges[0][0] if one_word else None
    form = texts[head] if head is not None else ""
    name = form or texts[ranges[-1][1] - 1]
    # A capital at the beginning of a sentence is no sign of a name.
    capital = name[:1].isupper() and (places[ranges[0][0]][1] > 0 or not one_word)
    known = language.pronoun(form)
    kind = _kind(attributes.get("mention", ""), one_word and known is not None, capital)
    return Mention(
        span=span_of((range(*each) for each in ranges), places),
        chain=attributes["id"] if chain in _NO_CHAIN else chain,
        kind=kind,
        head=None if head is None else span_of([[head]], places),
        features=_features(attributes, known or Features(), kind == "pronoun"),
    )


def _kind(said: str, is_pronoun: bool, capital: bool) -> str:
    if said == "pronoun" or (not said and is_pronoun):
        return "pronoun"
    return "proper" if capital and said in ("", "np") else "nominal"


def _features(attributes: Mapping[str, str], form: Features, is_pronoun: bool) -> Features:
    def said(name: str) -> str:
        return attributes.get(name, "")

    known = form if is_pronoun else Features()
    if said("type") == "pleonastic" or said("reference") == "non_referring":
        pronoun = "expletive" if is_pronoun else ""
    else:
        pronoun = said("type_of_pronoun")
        pronoun = pronoun if pronoun in _PRONOUN_TYPES else known.pronoun
    person = re.fullmatch(r"per([123])", said("person"))
    is_event = said("antetype") == "event"
    return replace(
        known,
        entity="event" if is_event else said("category").removeprefix("unmarked"),
        status=said("reference").removeprefix("unmarked"),
        link="appos" if "apposition" in said("nptype") else "",
        function=_FUNCTIONS.get(said("gram_fnc"), ""),
        pos="VERB" if said("mention") in ("vp", "clause") else known.pos,
        predicate=said("gram_fnc") == "predicate",
        pronoun=pronoun,
        person=person[1] if person else known.person,
        number=_NUMBERS.get(said("number") or said("agreement"), known.number),
        gender=_GENDERS.get(said("gender"), known.gender),
    )


def _patterns(*folders: str, split: str = "unsplit") -> tuple[FilePattern, ...]:
    return tuple(
        FilePattern(f"{folder}*{_WORDS}", split, f"{folder or 'Basedata/'}<document>{_WORDS}")
        for folder in folders
    )


_HERE = ("Basedata/", "")
#: The English side of ParCorFull's three collections, which are beside one another.
_COLLECTIONS = tuple(
    f"{above}{collection}/EN/Basedata/"
    for above in ("", "corpus/", "parcor-full/", "parcor-full/corpus/")
    for collection in ("DiscoMT", "TED", "news")
)

ARRAU = Corpus(
    name="arrau",
    title="ARRAU",
    homepage="https://catalog.ldc.upenn.edu/LDC2013T22",
    citation="uryupina-etal-2020-arrau",
    licence_name="Linguistic Data Consortium user agreement",
    text_licence_name="under the same agreement",
    obtain=(
        "get LDC2013T22 from the Linguistic Data Consortium; point --data-dir at the folder that "
        "holds data, or at one that holds Basedata and Markables"
    ),
    patterns=(
        *_patterns("data/*/train/MMAX/Basedata/", split="train"),
        *_patterns("data/*/dev/MMAX/Basedata/", split="validation"),
        *_patterns("data/*/test/MMAX/Basedata/", split="test"),
        *_patterns("data/*/*/MMAX/Basedata/", *_HERE),
    ),
    reader=read_mmax,
    parts=_document_files,
    public_since=1989,
    public_source="the Wall Street Journal of 1989, for its news",
    producers="Writers of news, speakers of task dialogues and narrators of stories.",
    source_datasets=("extended|other-arrau",),
)

PARCOR = Corpus(
    name="parcor",
    title="ParCorFull (English)",
    homepage="https://github.com/chardmeier/parcor-full",
    citation="lapshinova-koltunski-etal-2018-parcorfull",
    licence_name="no licence stated in the repository",
    licence_url="http://hdl.handle.net/11372/LRT-2614",
    text_licence_name="TED's talks are CC BY-NC-ND; no licence stated for the news",
    obtain=(
        "get http://hdl.handle.net/11372/LRT-2614; point --data-dir at the folder that holds its "
        "DiscoMT, TED and news, all of which are read, or at the folder EN of one of them"
    ),
    proven="2026-11-23: the whole English side; 39 documents",
    patterns=_patterns(*_COLLECTIONS, *_HERE),
    reader=read_mmax,
    parts=_document_files,
    public_since=2014,
    public_source="Guillou et al. (2014), whose corpus it extends",
    producers="Speakers of TED talks and writers of news.",
    source_datasets=("extended|other-parcorfull",),
)
