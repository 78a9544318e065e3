"""OpenBoek: coreference in Dutch novels, the first 10,000 tokens of each, in CoNLL-2012.

The column of parts of speech has Alpino's tags. Beside each file ``coref/NOVEL.conll`` stands
``features/NOVEL.tsv``, a table of the entities with their category, number and gender, an entity by
the place of its first mention. That gender is of the person (``m``, ``f``; ``fm``: not told) and
``n`` where it is no person; the grammatical gender of a noun, which its article follows, is in the
tag. A mention of a noun has the grammatical one, that of a pronoun the pronoun's or the person's.

The spelling is that of the novels' time, and differs between them: some inflect articles (*den
man*). Tokens ``<<<``, which mark that a sentence goes on, are left out. ``meta`` has
``sentence_types``: one word a unit, ``frag`` where no verb is finite.

Source: https://github.com/andreasvc/openboek (van Cranenburgh and van Noord 2022)
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coherencegym.loaders.corpora.conll2012 import Phrase, Word, read_conll2012
from coherencegym.loaders.corpus import (
    Corpus,
    CorpusError,
    CorpusFile,
    FilePattern,
    ReadOptions,
    cited,
)
from coherencegym.loaders.discourse import Discourse, Features
from coherencegym.loaders.formats.lines import numbered_lines
from coherencegym.loaders.languages.language import Language

_CONTINUED, _FINITE = "<<<", "WW[pv,"
_COLUMNS = ("filename", "sentno", "begin", "end", "gender", "number", "category")
_GENDERS = {"m": "masculine", "f": "feminine"}
_NUMBERS = {"sg": "singular", "pl": "plural"}
_CATEGORIES = {"PER": "person", "LOC": "place", "ORG": "organization", "OBJ": "object"}

#: Alpino's tags of parts of speech (van Eynde 2004): ``N[soort,ev,basis,zijd,stan]`` is a common
#: noun in the singular that has the article *de*.
_TAG = re.compile(r"(\w+)\[([^\]]*)\]")
_PARTS_OF_SPEECH = {
    "N": "NOUN", "SPEC": "PROPN", "VNW": "PRON", "WW": "VERB", "ADJ": "ADJ", "TW": "NUM",
    "LID": "DET", "VZ": "ADP", "VG": "CCONJ", "BW": "ADV", "LET": "PUNCT", "TSW": "INTJ",
}  # fmt: skip
_PRONOUNS = {
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
_AFTER_HEAD = ("ADP", "CCONJ", "PUNCT", "VERB")

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
        head = _head_of(told)
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
    pos = _PARTS_OF_SPEECH.get(kind, "")
    if kind == "N" and "eigen" in values:
        pos = "PROPN"
    pronoun = _PRONOUNS.get(values[0], "") if kind == "VNW" else ""
    return Features(
        pos=pos,
        pronoun=pronoun,
        person=next((value[0] for value in values if value[:1].isdigit()), "") if pronoun else "",
        number=next((_TAG_NUMBERS[value] for value in values if value in _TAG_NUMBERS), ""),
        gender=next((_TAG_GENDERS[value] for value in values if value in _TAG_GENDERS), ""),
    )


def _head_of(words: Sequence[Features]) -> int:
    """The number of the head of a noun phrase: its last noun before what may follow a noun."""
    head = None
    for index, word in enumerate(words):
        if head is not None and (word.pos in _AFTER_HEAD or word.pronoun == "relative"):
            break
        if word.pos in ("NOUN", "PROPN"):
            head = index
    return len(words) - 1 if head is None else head


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
    for number, line in numbered_lines(file):
        columns = next(csv.reader([line], delimiter="\t"), [])
        if number == 1:
            if tuple(columns[: len(_COLUMNS)]) != _COLUMNS:
                raise CorpusError(f"{file.path}:1: expected the columns {', '.join(_COLUMNS)}, ...")
            continue
        row = dict(zip(_COLUMNS, columns, strict=False))
        place = [row.get(name, "") for name in _COLUMNS[1:4]]
        if len(row) < len(_COLUMNS) or not all(value.isdecimal() for value in place):
            message = f"{file.path}:{number}: expected the place, gender, number and category of"
            options.bad(f"{message} an entity, separated by tabs", "malformed entity")
            continue
        sentence, begin, end = map(int, place)
        found[sentence, begin, end] = _Entity(
            _CATEGORIES.get(row["category"].partition(".")[0], ""),
            _NUMBERS.get(row["number"], ""),
            _GENDERS.get(row["gender"], ""),
        )
    return found


CORPUS = Corpus(
    name="openboek",
    title="OpenBoek",
    homepage="https://github.com/andreasvc/openboek",
    citation=cited("vancranenburgh-vannoord-2022-openboek"),
    licence="CC-BY-4.0",
    licence_name="stated in the README",
    text_licence="CC-BY-4.0",
    text_licence_name="stated for the repository; the novels are in the public domain",
    language="nl",
    obtain="get https://github.com/andreasvc/openboek and take its folders coref and features",
    proven=True,
    patterns=tuple(
        FilePattern(f"{folder}*.conll", "unsplit", "coref/<author>_<title>.conll")
        for folder in ("openboek/coref/", "coref/")
    ),
    parts=lambda path: tuple(filter(Path.is_file, (path, features_beside(path)))),
    reader=read_openboek,
    producers="Dutch novelists, and Dutch translators of French and Russian novelists.",
    limitations=(
        "Novels from before 1940, in the spelling of their time (*zoo*, *menschen*, *den man*).",
        "Nine novels are nine clusters, however many items come from them. Intervals over so few "
        "clusters are wide, so a score is a demonstration rather than a measurement.",
    ),
    public_since=2022,
    public_source="van Cranenburgh and van Noord (2022); the novels were in print long before",
    source_datasets=("original",),
)
