"""A table as a value: the terminal, a page and a notebook are rendered from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a table, the first one its heading.

    Attributes:
        cells: texts.
        level: 0 for the row of a config, 1 for one of its parts.
        target: config, split and group of a score, by which items are found; None: no score.
        bold: it is one of those that a reader looks for first.
    """

    cells: tuple[str, ...]
    level: int = 0
    target: tuple[str, str, str] | None = None
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; ``numbers`` says of each column whether it is aligned to the right."""

    title: str
    headers: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def made(first: str, names: Sequence[str], rows: Sequence[Row], title: str = "") -> Grid:
    """A grid of a column of headings and columns of numbers."""
    numbers = (False, *[True] * len(names))
    return Grid(title, (first, *names), numbers, tuple(rows))


def rich_table(grid: Grid, *, edge: bool = True) -> Any:
    """The rows as a rich table, with room at its left and right (``edge``) or without."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=edge, pad_edge=False, padding=(0, 1, 0, 0))
    for number, (header, is_number) in enumerate(zip(grid.headers, grid.numbers, strict=True)):
        if is_number:
            table.add_column(_text(header), justify="right", no_wrap=True)
        else:
            table.add_column(_text(header), min_width=None if number else 20, overflow="fold")
    for row in grid.rows:
        table.add_row(*map(_text, row.cells), style="bold" if row.bold else "")
    return table


def rich_block(grid: Grid) -> Any:
    """A grid under its title, which may be the wider of the two, and its notes below."""
    from rich.console import Group
    from rich.padding import Padding

    notes = map(_text, grid.notes)
    return Padding(Group(_text(grid.title), rich_table(grid, edge=False), *notes), (0, 0, 0, 1))


def natural_width(grid: Grid) -> int:
    """How many characters the terminal's table takes where nothing is folded."""
    from rich.console import Console

    # Measured on a console that is wide enough for anything.
    return Console(width=10_000).measure(rich_table(grid)).maximum


def _text(content: str) -> Any:
    # A Text: rich would read a formula's square brackets as markup.
    from rich.text import Text

    return Text(content)
