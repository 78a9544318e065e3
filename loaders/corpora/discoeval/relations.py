"""DiscoEval's relation files: pairs of arguments, and children of nodes of rhetorical trees.

Chen, Chu and Gimpel 2019, section 3.4, from the Penn Discourse Treebank 2 and the RST Discourse
Treebank, whose text may not be published. A discourse is a row; it is called ``discoeval`` too, and
stands beside the sentence files of :mod:`loaders.corpora.discoeval.documents`:

- ``PDTB/{Explicit,Implicit}``: ``index Arg1 Arg2``; ``labelset.txt`` beside has the senses, one a
  line. The units are the arguments, Arg1 first, whichever comes first in the text. A pair with two
  senses stands there twice, each time with one of them: the other one is the relation's second
  sense, and both rows have the same ``family``.
- ``RST``: a pickle of ``(label, [left units], [right units])``. The units are elementary ones, and
  the tree has one node.

``meta["task"]`` is ``PDTB-E``, ``PDTB-I`` or ``RST``. Text is detokenised.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import (
    Discourse,
    Relation,
    RhetoricalNode,
    RhetoricalTree,
    SourceSpan,
    Span,
    Unit,
)
from coherencegym.loaders.formats.lines import LineError, numbered_lines, shown, text_problem, tidy
from coherencegym.loaders.formats.plain_pickle import read_plain_pickle
from coherencegym.loaders.text.detokenize import detokenize

_LABELS = "labelset.txt"
_NUCLEARITIES = ("NN", "NS", "SN")
_SPLITS = (("train", "train"), ("valid", "validation"), ("test", "test"))


def read_relation_items(
    corpus: Corpus, file: CorpusFile, options: ReadOptions
) -> Iterator[Discourse]:
    """Read a file of arguments or of children."""
    if file.path.suffix.lower() == ".pkl":
        yield from _read_children(corpus, file, options)
    else:
        yield from _read_arguments(corpus, file, options)


def _whole(unit: int, text: str) -> Span:
    return ((unit, 0, len(text)),)


def _read_arguments(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    kind = file.path.parent.name.capitalize()
    senses = _senses(file.path.with_name(_LABELS), file.split)
    rows: list[tuple[int, str, str, str]] = []
    for number, line in numbered_lines(file):
        try:
            rows.append((number, *_arguments(number, line, senses)))
        except LineError as error:
            error.report(file, options)
    if not rows:
        raise CorpusError(f"{file.path}:1: no row, expected index and two arguments between tabs")
    found: dict[tuple[str, str], list[str]] = {}
    first: dict[tuple[str, str], int] = {}
    for number, sense, one, two in rows:
        found.setdefault((one, two), []).append(sense)
        first.setdefault((one, two), number)
    place = f"PDTB/{kind}/{file.path.stem}"
    for number, sense, one, two in rows:
        all_senses = tuple(dict.fromkeys((sense, *found[one, two])))
        source = SourceSpan(file.path.name, number, number)
        first_text, second_text = tidy(detokenize(one)), tidy(detokenize(two))
        spans = _whole(0, first_text), _whole(1, second_text)
        yield Discourse(
            id=f"{place}/{number:06d}",
            corpus=corpus.name,
            units=(Unit(first_text, source=source), Unit(second_text, source=source)),
            relations=(Relation(kind, None, *spans, senses=all_senses),),
            meta={
                "split": file.split,
                "task": f"PDTB-{kind[0]}",
                "family": f"{place}/{first[one, two]:06d}",
            },
        )


def _senses(path: Path, split: str) -> list[str]:
    if not path.is_file():
        raise CorpusError(f"{path}: missing, expected the senses, one a line")
    senses = []
    for number, line in numbered_lines(CorpusFile(path, split)):
        if (problem := text_problem(line)) is not None:
            raise CorpusError(f"{path}:{number}: {problem[0]}")
        senses += [tidy(line)] if line.strip() else []
    return senses


def _arguments(number: int, line: str, senses: list[str]) -> tuple[str, str, str]:
    if (problem := text_problem(line)) is not None:
        raise LineError(number, *problem)
    fields = [tidy(field) for field in line.split("\t")]
    if len(fields) != 3:
        message = f"{len(fields)} fields, expected 3 with tabs between them"
        raise LineError(number, message, "truncated line" if len(fields) < 3 else "too many fields")
    index, one, two = fields
    if not (index.isascii() and index.isdigit() and len(index) < 4 and int(index) < len(senses)):
        message = f"label is {shown(index)}, expected 0 to {len(senses) - 1} as in {_LABELS}"
        raise LineError(number, message, "unknown label")
    for place, text in enumerate((one, two), start=2):
        if not any(map(str.isalnum, text)):
            message = f"field {place} has no word, expected an argument"
            raise LineError(number, message, "empty argument")
    return senses[int(index)], one, two


def _read_children(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    rows = read_plain_pickle(file.path)
    if not isinstance(rows, list) or not rows:
        raise CorpusError(f"{file.path}:1: {type(rows).__name__}, expected a list of rows")
    for number, row in enumerate(rows, start=1):
        try:
            label, left, right = _children(number, row)
        except LineError as error:
            error.report(file, options)
            continue
        nuclearity, _, relation = label.partition("-")
        texts = [detokenize(text) for text in (*left, *right)]
        source = SourceSpan(file.path.name, number, number)
        yield Discourse(
            id=f"RST/{file.path.stem}/{number:06d}",
            corpus=corpus.name,
            units=tuple(Unit(text, source=source) for text in texts),
            tree=RhetoricalTree(
                tuple(_whole(i, text) for i, text in enumerate(texts)),
                (RhetoricalNode(0, len(left), len(texts), nuclearity, relation),),
            ),
            meta={"split": file.split, "task": "RST"},
        )


def _children(number: int, row: Any) -> tuple[str, list[str], list[str]]:
    if not (isinstance(row, tuple) and len(row) == 3 and isinstance(row[0], str)):
        message = f"{shown(type(row).__name__)}, expected a label and two lists of units"
        raise LineError(number, message, "malformed row")
    label, *children = row
    nuclearity, _, relation = label.partition("-")
    if nuclearity not in _NUCLEARITIES or not relation or text_problem(label):
        message = f"label is {shown(tidy(label))}, expected one such as 'NS-Elaboration'"
        raise LineError(number, message, "unknown label")
    for child in children:
        if not (isinstance(child, list) and child and all(isinstance(u, str) for u in child)):
            message = "a child that is no list of units, expected one or more"
            raise LineError(number, message, "malformed row")
        if problem := next(filter(None, map(text_problem, child)), None):
            raise LineError(number, *problem)
        if not all(tidy(unit) for unit in child):
            raise LineError(number, "an empty unit, expected text", "empty unit")
    left, right = ([tidy(unit) for unit in child] for child in children)
    return tidy(label), left, right


def relation_parts(path: Path) -> tuple[Path, ...]:
    """The files that are read for one: the senses stand beside the arguments."""
    labels = path.with_name(_LABELS)
    return (path, labels) if path.suffix == ".txt" and labels.is_file() else (path,)


def relation_patterns() -> Iterator[FilePattern]:
    """The files as the repository has them, with or without its folder ``data``."""
    for folder in ("", "data/"):
        for part, split in _SPLITS:
            for kind in ("Explicit", "Implicit"):
                name = f"PDTB/{kind}/{part}.txt"
                yield FilePattern(folder + name, split, name)
            name = f"RST/RST_{'DEV' if part == 'valid' else part.upper()}.pkl"
            yield FilePattern(folder + name, split, name)
