"""Coreference in brat standoff: pairs of a text, ``a.txt``, and its annotation, ``a.ann``.

``T`` lines are mentions: type, offsets of characters (``0 5;10 15`` for two parts) and text. They
corefer by a relation whose type has *coref* or a word that begins with *ident*, an equivalence
(``*``), or a type that names their chain (LitBank's ``MARY_LENNOX-0``). Lines over the same
characters are one mention. Units are sentences, split as those of plain texts.

Sources: https://brat.nlplab.org/standoff.html; Bamman, Lewke and Mansoor 2020, for LitBank
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.discourse import Discourse, Features, Mention, SourceSpan, Span, Unit
from coherencegym.loaders.formats.lines import (
    LineError,
    RecordError,
    numbered_lines,
    shown,
    text_problem,
    tidy,
)
from coherencegym.loaders.formats.standoff import Placed, read_raw
from coherencegym.loaders.languages.language import Language
from coherencegym.loaders.languages.registry import language
from coherencegym.loaders.text.sentences import split_sentences

_PART = "[0-9]{1,9} [0-9]{1,9}"
_MENTION = re.compile(rf"(T\w+)\t([^\t ]+) ({_PART}(?:;{_PART})*)\t(.+)")
_LINK = re.compile(r"(?:R[^\t ]+|\*)\t([^\t ]+)((?: [^\t ]+){2,})\s*")
#: Events, attributes, normalisations and notes, which say nothing of coreference.
_OTHER = re.compile(r"[EAMN#][^\t ]*\t")
_COREFERENCE = re.compile(r"coref|(?<![a-z])ident|^equiv$", re.IGNORECASE)  # not President_of
_NAME_OF_CHAIN = re.compile(r".+-[0-9]+")
_VISIBLE = re.compile(r"[^\s\x01-\x1f\x7f-\x9f]")
_KINDS = {"PRON": "pronoun", "PROP": "proper", "NOM": "nominal"}
_ENTITIES = {"ANIMAL": "animal", "EVENT": "event", "OBJECT": "object", "PLACE": "place"}
_ENTITIES |= dict.fromkeys(("LOC", "LOCATION", "GPE", "FAC"), "place")
_ENTITIES |= dict.fromkeys(("ORG", "ORGANIZATION", "ORGANISATION"), "organization")
_ENTITIES |= dict.fromkeys(("PER", "PERSON"), "person")


def brat_files(path: Path) -> tuple[Path, ...]:
    """The files of a document: its annotation, and its text where it is found."""
    text = path.with_suffix(".txt")
    return (path, text) if text.is_file() else (path,)


def read_brat(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a document. Anything wrong in one of its files makes it a bad one."""
    path = file.path.with_suffix(".txt")
    if not file.path.stat().st_size:  # brat makes such a file for every text
        options.skipped["documents that nobody annotated"] += 1
        return
    try:
        if not path.is_file():
            raise CorpusError(f"{file.path}: its text is missing, expected {path}")
        own = language(corpus.language)
        text = _placed(path, own, options)
        mentions = tuple(_mentions(file, text, own, options))
    except LineError as error:
        error.report(file, options)
    except CorpusError as error:
        options.bad(str(error), "malformed document")
    else:
        units = tuple(Unit(unit, source=SourceSpan(path.name, 1, 1)) for unit in text.texts)
        meta = {"split": file.split}
        yield Discourse(tidy(path.stem), corpus.name, units, mentions=mentions, meta=meta)


def _placed(path: Path, language: Language, options: ReadOptions) -> Placed:
    text = Placed(read_raw(path))
    # The splitter changes white space alone.
    visible, first = [match.start() for match in _VISIBLE.finditer(text.raw)], 0
    try:
        for sentence in split_sentences(text.raw, language.code, None, options):
            last = first + len("".join(sentence.split()))
            text.add([(visible[first], visible[last - 1] + 1)])
            first = last
    except RecordError as error:
        raise CorpusError(f"{path}:1: {error}") from None
    if not text.texts:
        raise CorpusError(f"{path}:1: no sentence, expected an annotated text")
    return text


def _mentions(
    file: CorpusFile, text: Placed, language: Language, options: ReadOptions
) -> list[Mention]:
    places: dict[str, Span] = {}  # of every T
    said: dict[Span, set[str]] = {}  # what the types say of a place
    links: list[tuple[int, list[str]]] = []
    for number, line in numbered_lines(file):
        if (problem := text_problem(line)) is not None:
            raise LineError(number, *problem)
        if mention := _MENTION.fullmatch(line):
            identifier, kind, offsets, words = mention.groups()
            if identifier in places:
                second = f"a second {identifier}, expected every mention once"
                raise LineError(number, second, "duplicate mention")
            places[identifier] = place = _span(number, offsets, words, text)
            types = said.setdefault(place, set())
            if _NAME_OF_CHAIN.fullmatch(kind):
                places.setdefault(kind, place)
                links.append((number, [identifier, kind]))
            else:
                types.update(kind.upper().split("_"))
        elif link := _LINK.fullmatch(line):
            if _COREFERENCE.search(link[1]):
                links.append((number, [one.rpartition(":")[2] for one in link[2].split()]))
            else:
                options.skipped["relations that are no coreference"] += 1
        elif line.strip() and not _OTHER.match(line):
            expected = "expected such as T1<tab>PER 0 3<tab>Ann, R1<tab>Coref Arg1:T1 Arg2:T2"
            raise LineError(number, f"{shown(line)}, {expected}", "malformed line")
    chains = _chains(places, links)
    found = [_mention(place, chains[place], said[place], text, language) for place in said]
    return sorted(found, key=lambda one: (one.span[0][:2], -one.span[-1][2]))


def _span(number: int, offsets: str, words: str, text: Placed) -> Span:
    flat = [int(offset) for offset in re.findall("[0-9]+", offsets)]
    parts = list(zip(flat[::2], flat[1::2], strict=True))
    if flat != sorted(flat) or any(start == end for start, end in parts):
        raise LineError(number, f"the span {offsets}, expected parts in order", "bad span")
    there = tidy(" ".join(text.raw[start:end] for start, end in parts))
    for at in reversed(range(1, len(parts))):  # a part ends at the end of a line, too
        if not text.raw[parts[at - 1][1] : parts[at][0]].strip():
            parts[at - 1 : at + 1] = [(parts[at - 1][0], parts[at][1])]
    try:
        span = text.span(tuple(parts))
    except LookupError:
        problem = f"the span {offsets} lies outside the text of {len(text.raw):,} characters"
        raise LineError(number, problem, "span outside the text") from None
    if there.replace(" ", "") != tidy(words).replace(" ", ""):  # parts may touch
        problem = f"at {offsets} stands {shown(there)}, expected {shown(words)}"
        raise LineError(number, problem, "text elsewhere")
    return span


def _chains(places: Mapping[str, Span], links: Iterable[tuple[int, list[str]]]) -> dict[Span, str]:
    above: dict[Span, Span] = {}

    def top(one: Span) -> Span:
        while (other := above.get(one, one)) != one:
            above[one], one = above.get(other, other), other
        return one

    for number, identifiers in links:
        for one in identifiers:
            if one not in places:
                problem = f"there is no {shown(one)}, expected the T line of a mention"
                raise LineError(number, problem, "unknown mention")
            above[top(places[one])] = top(places[identifiers[0]])
    first: dict[Span, str] = {}
    return {place: first.setdefault(top(place), name) for name, place in places.items()}


def _mention(span: Span, chain: str, said: set[str], text: Placed, language: Language) -> Mention:
    words = " ".join(text.texts[unit][start:end] for unit, start, end in span).split()
    one_word = len(words) == 1
    known = language.pronoun(words[0]) if one_word else None
    # A capital at the beginning of a sentence is no sign of a name.
    capital = words[-1][:1].isupper() and (span[0][1] > 0 or not one_word)
    guess = "pronoun" if known else "proper" if capital else "nominal"
    kind = next((kind for name, kind in _KINDS.items() if name in said), guess)
    entity = next((entity for name, entity in _ENTITIES.items() if name in said), "")
    features = replace((known if kind == "pronoun" else None) or Features(), entity=entity)
    return Mention(span, chain, kind, span if one_word else None, features)
