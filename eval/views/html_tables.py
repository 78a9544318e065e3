"""The tables of the terminal as plain cells, so that the page says the same in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.results.results import Results
from coherencegym.eval.tasks.score.summary import Score, shown
from coherencegym.eval.views.blocks import blocks
from coherencegym.eval.views.table import all_score_table, score_table

#: Wide enough for every column.
_WIDTH = 10_000


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a table, the first one its heading.

    Attributes:
        cells: texts.
        level: 0 for the row of a config, 1 for one of its parts.
        target: config, split and group of a score, by which items are found; None: no score.
    """

    cells: tuple[str, ...]
    level: int = 0
    target: tuple[str, str, str] | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; ``numbers`` says of each column whether it is aligned to the right."""

    title: str
    headers: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def score_grid(scores: Sequence[Score], everything: bool = False) -> Grid:
    """The table of scores as the terminal shows it, or with ``everything`` that ``scores`` has."""
    rows = list(scores) if everything else shown(scores)
    table = all_score_table(rows) if everything else score_table(scores, _WIDTH)
    grid = _grid("", table)
    return Grid(
        "",
        grid.headers,
        grid.numbers,
        tuple(
            Row(row.cells, int(score.level != "all"), _target(score))
            for row, score in zip(grid.rows, rows, strict=True)
        ),
    )


def _target(score: Score) -> tuple[str, str, str] | None:
    if score.level == "formula":
        return None
    return score.config, score.split, score.group


def block_grids(results: Results) -> Iterator[Grid]:
    """What stands below the table of scores on the terminal."""
    for block in blocks(results):
        title, table, *notes = block.renderable.renderables
        yield _grid(title.plain, table, [note.plain for note in notes])


def _grid(title: str, table: Any, notes: Sequence[str] = ()) -> Grid:
    columns = table.columns
    cells = zip(*(column.cells for column in columns), strict=True)
    return Grid(
        title,
        tuple(_plain(column.header) for column in columns),
        tuple(column.justify == "right" for column in columns),
        tuple(Row(tuple(map(_plain, row))) for row in cells),
        tuple(notes),
    )


def _plain(cell: Any) -> str:
    return str(getattr(cell, "plain", cell))
