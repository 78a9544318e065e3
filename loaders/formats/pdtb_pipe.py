"""Relations of the Penn Discourse Treebank's pipe format: one a line, columns parted by ``|``.

Two layouts are read, told apart by the number of columns: that of the third release and of the
corpora that follow it (34 columns or a few more; Webber et al. 2019, Prasad et al. 2019), and that
of the second (48 columns; Prasad et al. 2008). Spans are character offsets into the raw text,
``832..839``; ``;`` joins the parts of a discontinuous one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.corpus import CorpusFile, ReadOptions
from coherencegym.loaders.formats.lines import LineError, numbered_lines, shown, text_problem

#: Parts (start, end) of a span in the raw text, in order.
Offsets = tuple[tuple[int, int], ...]

TYPES = frozenset(("Explicit", "Implicit", "AltLex", "AltLexC", "EntRel", "NoRel", "Hypophora"))
_PART = re.compile(r"(\d{1,9})\.\.(\d{1,9})")


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns of a line (from 0) in which things stand."""

    scheme: str
    connective: int
    words: tuple[int, ...]
    senses: tuple[int, ...]
    arg1: int
    arg2: int


_PDTB3 = _Layout("pdtb3", 1, (7,), (8, 9, 11, 12), 14, 20)
_PDTB2 = _Layout("pdtb2", 3, (5,), (11, 12, 13, 14), 22, 32)
_COLUMNS_OF_PDTB2 = 48
_FEWEST_COLUMNS = 21


@dataclass(frozen=True, slots=True)
class RawRelation:
    """A relation as its line has it.

    Attributes:
        type: ``Explicit``, ``Implicit``, ...
        connective: the place of the connective; empty where it stands nowhere.
        word: the annotated connective as the line spells it; empty where it does not.
        senses: the annotated senses, the first one first.
        arg1, arg2: the places of the arguments.
        scheme: ``pdtb3`` or ``pdtb2``: whose senses they are.
        line: its number.
    """

    type: str
    connective: Offsets
    word: str
    senses: tuple[str, ...]
    arg1: Offsets
    arg2: Offsets
    scheme: str
    line: int


def read_relations(file: CorpusFile, options: ReadOptions) -> Iterator[RawRelation]:
    """The relations of a file; those without a place, or rejected, are counted.

    Raises:
        CorpusError: a bad line, unless bad rows are skipped; or the file is no text in UTF-8.
        OSError: it cannot be read.
    """
    for number, line in numbered_lines(file):
        if not line.strip():
            continue
        try:
            columns = _columns(number, line)
            if "Rejected" in columns[_FEWEST_COLUMNS:]:
                options.skipped["relation that its annotators rejected"] += 1
                continue
            relation = _relation(number, columns)
            if relation.type == "Explicit" and not relation.connective:
                # GUM has some, where several relations share a word that one of them got.
                options.skipped["explicit relation whose connective stands nowhere"] += 1
                continue
            yield relation
        except LineError as error:
            error.report(file, options)


def _columns(number: int, line: str) -> list[str]:
    if (problem := text_problem(line)) is not None:
        raise LineError(number, *problem)
    columns = [column.strip() for column in line.split("|")]
    if len(columns) < _FEWEST_COLUMNS:
        raise LineError(
            number,
            f"{len(columns)} columns parted by '|', expected at least {_FEWEST_COLUMNS} as in the "
            "pipe format of the Penn Discourse Treebank",
            "too few columns",
        )
    if columns[0] not in TYPES:
        raise LineError(
            number,
            f"{shown(columns[0])} is no type of relation, expected one of "
            f"{', '.join(sorted(TYPES))}",
            "unknown type of relation",
        )
    return columns


def _relation(number: int, columns: list[str]) -> RawRelation:
    layout = _PDTB2 if len(columns) >= _COLUMNS_OF_PDTB2 else _PDTB3
    kind = columns[0]
    connective = _offsets(number, columns[layout.connective], "connective")
    senses = (columns[place] for place in layout.senses)
    return RawRelation(
        type=kind,
        # Of other types that column says where an implicit connective would stand, or an AltLex.
        connective=connective if kind == "Explicit" else (),
        word=next((columns[place] for place in layout.words if columns[place]), ""),
        senses=tuple(sense for sense in senses if sense),
        arg1=_offsets(number, columns[layout.arg1], "Arg1"),
        arg2=_offsets(number, columns[layout.arg2], "Arg2"),
        scheme=layout.scheme,
        line=number,
    )


def _offsets(number: int, text: str, name: str) -> Offsets:
    """The parts of a span, in order; a part twice is one."""
    parts = set()
    for part in filter(None, text.split(";")):
        match = _PART.fullmatch(part.strip())
        if match is None or int(match[1]) >= int(match[2]):
            raise LineError(
                number,
                f"{name} has the span {shown(part)}, expected <start>..<end> with numbers of "
                "characters",
                "bad span",
            )
        parts.add((int(match[1]), int(match[2])))
    return tuple(sorted(parts))
