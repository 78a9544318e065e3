"""DISRPT: discourse relations of many corpora, languages and frameworks in one table.

Zeldes et al. 2019 and later. Each relation has its name in the corpus as its sense, and one of the
17 labels that all corpora share since 2025 (:mod:`loaders.unified`). ``meta["dataset"]`` is the
part (``eng.pdtb.tedm``), ``meta["language"]`` its language.

Where the ``.conllu`` of a table stands beside it, a discourse is a whole document, with the grammar
of its words (:mod:`loaders.corpora.disrpt_documents`). A table alone has those sentences that a
relation is in, in tokens and, of the units of relations, as they are written: where one says that
two tokens touch they do, elsewhere there is a space, or what is usual in English. The direction of
a relation is not kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path

from coherencegym.licence import OTHER
from coherencegym.loaders.corpora.citations import cited
from coherencegym.loaders.corpora.disrpt_documents import read_documents
from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Relation, SourceSpan, Span, Unit
from coherencegym.loaders.formats.disrpt_rels import RelsRow, TokenSpan, read_rels
from coherencegym.loaders.languages.registry import SEVERAL, language
from coherencegym.loaders.text.detokenize import lay_out
from coherencegym.loaders.unified import is_unified, unified_relation

_ENGLISH = "eng"
#: The relations of headings to their texts, which follow.
_HEADS = ("preparation", "organization-heading")


def read_disrpt(
    corpus: Corpus, file: CorpusFile, options: ReadOptions, *, entities: bool = False
) -> Iterator[Discourse]:
    """Read a table: its documents, in its order; with the texts beside it, in theirs.

    Args:
        corpus, file, options: those of any reader.
        entities: read the mentions of entities, too, where a text has them.
    """
    dataset = file.path.name.rpartition("_")[0] or file.path.stem
    if len(file.parts) > 1:
        yield from _with_texts(corpus, file, options, dataset, entities)
        return
    for name, rows in groupby(read_rels(file, options), lambda row: row.document):
        yield _document(corpus, file, options, f"{dataset}/{name}", list(rows))


def _with_texts(
    corpus: Corpus, file: CorpusFile, options: ReadOptions, dataset: str, entities: bool
) -> Iterator[Discourse]:
    rows: dict[str, list[RelsRow]] = defaultdict(list)
    for row in read_rels(file, options, sentences=False):
        rows[row.document].append(row)
    texts = replace(file, path=_texts(file.path))
    own = language(dataset.partition(".")[0])
    headings = {
        name: {(row.units[0][0][0], row.units[0][-1][1]) for row in each if row.original in _HEADS}
        for name, each in rows.items()
    }
    for name, document in read_documents(texts, own, options, headings, entities):
        kept = []
        for row in rows[name]:
            if max(last for unit in row.units for _, last in unit) > len(document.words):
                message = f"{file.path}:{row.line}: tokens that {texts.path.name} has not"
                options.bad(f"{message}, expected those of {name}", "tokens and text differ")
            elif not all(_span(unit, document.places) for unit in row.units):
                options.skipped["relations of a footnote mark"] += 1
            else:
                kept.append(row)
        yield Discourse(
            id=f"{dataset}/{name}",
            corpus=corpus.name,
            units=document.units,
            mentions=document.mentions,
            relations=tuple(_relation(row, document.places) for row in kept),
            meta={
                "split": file.split,
                "dataset": dataset,
                "language": own.code,
                "headings": " ".join(map(str, document.headings)),
            },
        )


def _relation(row: RelsRow, places: Mapping[int, tuple[int, int, int]]) -> Relation:
    own = unified_relation(row.original) or unified_relation(row.label)
    return Relation(
        type=row.kind.capitalize(),
        connective=None,
        arg1=_span(row.units[0], places),
        arg2=_span(row.units[1], places),
        senses=(row.original,),
        unified=row.label if is_unified(row.label) else own,
    )


def _texts(path: Path) -> Path:
    return path.with_suffix(".conllu")


def _parts(path: Path) -> tuple[Path, ...]:
    return (path, _texts(path)) if _texts(path).is_file() else (path,)


def _document(
    corpus: Corpus, file: CorpusFile, options: ReadOptions, name: str, rows: Sequence[RelsRow]
) -> Discourse:
    dataset = name.partition("/")[0]
    words: dict[int, str] = {}
    kept = []
    for row in rows:
        own = {
            first + i: word
            for (first, _), text in zip(row.sentences, row.words, strict=True)
            for i, word in enumerate(text)
        }
        if any(words.get(number, word) != word for number, word in own.items()):
            message = f"{file.path}:{row.line}: a token that another row spells otherwise"
            options.bad(f"{message}, expected the same text", "tokens and text differ")
            continue
        words |= own
        kept.append(row)
    touching = _written(kept, words)
    units, places = _units(kept, words, touching, dataset.startswith(f"{_ENGLISH}."))
    source = SourceSpan(file.path.name, rows[0].line, rows[-1].line)
    return Discourse(
        id=name,
        corpus=corpus.name,
        units=tuple(Unit(text, source=source) for text in units),
        relations=tuple(_relation(row, places) for row in kept),
        meta={
            "split": file.split,
            "dataset": dataset,
            "language": language(dataset.partition(".")[0]).code,
        },
    )


def _written(rows: Sequence[RelsRow], words: dict[int, str]) -> dict[int, bool]:
    # Token -> whether it touches the one before it; ``words`` get their capitals from the texts,
    # too.
    touching: dict[int, bool] = {}
    for row in rows:
        for tokens, raw in zip(row.units, row.raw, strict=True):
            for (first, last), text in zip(tokens, raw, strict=False):
                place, found = 0, {}
                for number in range(first, last + 1):
                    start = place + len(text[place:]) - len(text[place:].lstrip())
                    place = start + len(words[number])
                    if text[start:place].lower() != words[number].lower():
                        break  # the text differs from its tokens
                    found[number] = text[start:place], start and text[start - 1] != " "
                else:
                    for number, (word, touches) in found.items():
                        words[number] = word
                        if number > first:
                            touching[number] = bool(touches)
    return touching


def _units(
    rows: Sequence[RelsRow], words: Mapping[int, str], touching: Mapping[int, bool], english: bool
) -> tuple[list[str], dict[int, tuple[int, int, int]]]:
    # A relation may be between several sentences: they end where any sentence of a row does.
    starts = {first for row in rows for first, _ in row.sentences}
    starts |= {last + 1 for row in rows for _, last in row.sentences}
    starts |= {after for before, after in pairwise(sorted(words)) if after > before + 1}
    units: list[list[int]] = []
    for number in sorted(words):
        if number in starts or not units:
            units.append([])
        units[-1].append(number)
    texts: list[str] = []
    places: dict[int, tuple[int, int, int]] = {}
    for unit, numbers in enumerate(units):
        usual = _usual([words[number] for number in numbers]) if english else [False] * len(numbers)
        text = ""
        for number, touches in zip(numbers, usual, strict=True):
            if not words[number]:
                continue
            # Some texts that should be as they are written have spaces before their commas.
            joined = touches or touching.get(number, False)
            text += "" if joined or not text else " "
            places[number] = (unit, len(text), len(text) + len(words[number]))
            text += words[number]
        texts.append(text)
    return texts, places


def _usual(words: Sequence[str]) -> list[bool]:
    # Whether each word of an English text usually touches the one before it.
    try:
        _, places = lay_out(words)
    except ValueError:  # a token without characters
        return [False] * len(words)
    return [False, *(one[1] == other[0] for one, other in pairwise(places))]


def _span(tokens: TokenSpan, places: Mapping[int, tuple[int, int, int]]) -> Span:
    parts: list[tuple[int, int, int]] = []
    for first, last in tokens:
        fresh = True
        for number in range(first, last + 1):
            if number not in places:  # the mark of a footnote
                continue
            unit, start, end = places[number]
            if not fresh and parts[-1][0] == unit:
                parts[-1] = (unit, parts[-1][1], end)
            else:
                parts.append((unit, start, end))
            fresh = False
    return tuple(parts)


CORPUS = Corpus(
    name="disrpt",
    title="DISRPT: discourse relations of many corpora",
    homepage="https://github.com/disrpt/sharedtask2025",
    citation=cited("disrpt-2025"),
    licence_name="each corpus has its own licence, named in its folder",
    licence_url="https://github.com/disrpt/sharedtask2025",
    text_licence=OTHER,
    text_licence_name="each corpus has its own licence; some corpora have none",
    obtain=(
        "get https://github.com/disrpt/sharedtask2025 and take its folder data, or the folders of "
        "some of its corpora"
    ),
    patterns=tuple(
        FilePattern(f"{folder}*_{part}.rels", split, f"eng.pdtb.tedm/eng.pdtb.tedm_{part}.rels")
        for part, split in (("train", "train"), ("dev", "validation"), ("test", "test"))
        for folder in ("", "*/", "data/*/")
    ),
    reader=read_disrpt,
    language=SEVERAL,
    parts=_parts,
    proven=True,
    public_since=1989,
    public_source="the Wall Street Journal of 1989; each corpus has its own year",
    producers="The producers of the corpora that DISRPT combines, in many languages.",
    source_datasets=("extended|other-disrpt",),
)

#: The same with coreference, which the Potsdam Commentary Corpus has.
DISRPT_ENTITIES = replace(CORPUS, reader=partial(read_disrpt, entities=True))
