"""A table as a value: terminal, page, notebook and Markdown are rendered from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

_Choice = TypeVar("_Choice")


@dataclass(frozen=True, slots=True)
class GridRow:
    """Cells of a table, the first one its heading.

    Attributes:
        cells: texts.
        level: 0 for the row of a config, 1 for one of its parts.
        target: config, split and group of a score, by which items are found; None: no score.
        bold: a row that a reader looks for first.
        link: the file that the last cell leads to in Markdown.
    """

    cells: tuple[str, ...]
    level: int = 0
    target: tuple[str, str, str] | None = None
    bold: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; ``numbers`` says of each column whether it is aligned to the right."""

    title: str
    headers: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[GridRow, ...]
    notes: tuple[str, ...] = ()


def made(first: str, names: Sequence[str], rows: Sequence[GridRow], title: str = "") -> Grid:
    """A grid of a column of headings and columns of numbers."""
    numbers = (False, *[True] * len(names))
    return Grid(title, (first, *names), numbers, tuple(rows))


def of_cells(
    first: str,
    headings: Sequence[GridRow],
    cells: Sequence[Mapping[str, str]],
    silent: Collection[str] = ("",),
    always: Collection[str] = (),
) -> Grid:
    """A grid of rows that have only their headings, and of the cells of each by column.

    Columns that have nothing but ``silent`` cells are left out, unless they are there ``always``.
    """
    names = [
        name
        for name in (cells[0] if cells else ())
        if name in always or {own[name] for own in cells} - {*silent}
    ]
    rows = [
        replace(row, cells=(*row.cells, *(own[name] for name in names)))
        for row, own in zip(headings, cells, strict=True)
    ]
    return made(first, names, rows)


def number_cell(value: float | None, form: str = ".3f") -> str:
    """A number in its cell; a dash where there is none."""
    return "–" if value is None else format(value, form)


def with_interval(
    value: float | None,
    low: float | None,
    high: float | None,
    form: str = ".3f",
    shown: bool = True,
) -> str:
    """A number and its interval, where it has one that is shown: ``0.500 [0.400, 0.600]``."""
    if value is None or low is None or high is None or not shown:
        return number_cell(value, form)
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


def rich_table(grid: Grid, *, edge: bool = True, narrowest: int = 20) -> Any:
    """The rows as a rich table, with room at its left and right (``edge``) or without.

    Headings are folded where there is no room, to no less than ``narrowest`` characters.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=edge, pad_edge=False, padding=(0, 1, 0, 0))
    for place, (header, is_number) in enumerate(zip(grid.headers, grid.numbers, strict=True)):
        if is_number:
            table.add_column(_text(header), justify="right", no_wrap=True)
        else:
            least = None if place else narrowest
            table.add_column(_text(header), min_width=least, overflow="fold")
    for row in grid.rows:
        table.add_row(*map(_text, row.cells), style="bold" if row.bold else "")
    return table


def rich_block(grid: Grid) -> Any:
    """A grid under its title, which may be the wider of the two, and its notes below."""
    from rich.console import Group
    from rich.padding import Padding

    notes = map(_text, grid.notes)
    return Padding(Group(_text(grid.title), rich_table(grid, edge=False), *notes), (0, 0, 0, 1))


def that_fits(
    make: Callable[[_Choice], Grid],
    choices: Sequence[_Choice],
    width: int,
    *,
    narrowest: int = 20,
    folded: int | None = None,
) -> Any:
    """The first of several tables that fits into a width (characters), or else the last.

    Headings are folded to so many characters (``folded``) before a narrower table is taken.
    """
    from rich.console import Console

    for choice in choices:
        table = rich_table(make(choice), narrowest=narrowest)
        table.columns[0].max_width = folded
        # Measured on a console that is wide enough for anything.
        needed = Console(width=10_000).measure(table).maximum
        table.columns[0].max_width = None
        if needed <= width:
            break
    return table


def markdown(grid: Grid) -> list[str]:
    """The lines of a Markdown table; a text stays in its cell, whatever it holds."""
    lines = [f"| {' | '.join(grid.headers)} |", "|---" * len(grid.headers) + "|"]
    for row in grid.rows:
        cells = [re.sub(r"([\\|`*_<>\[\]])", r"\\\1", " ".join(c.split())) for c in row.cells]
        if row.link:
            cells[-1] = f"[{cells[-1]}]({row.link})"
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def console_for(console: Any = None, width: int = 160) -> Any:
    """Rich's console, or standard output; as wide as this where it is no terminal."""
    from rich.console import Console

    console = console or Console(highlight=False)
    # In a pipe rich assumes 80 columns and would cut names short.
    is_pipe = not console.is_terminal
    return Console(file=console.file, width=width, highlight=False) if is_pipe else console


def print_notes(console: Any, notes: Sequence[str], signature: str = "") -> None:
    """Print what stands below the tables of a run."""
    for note in notes:
        console.print(f"· {note}", markup=False)
    if signature:
        console.print(signature, markup=False, soft_wrap=True, style="dim")


def _text(content: str) -> Any:
    # A Text: rich would read a formula's square brackets as markup.
    from rich.text import Text

    return Text(content)
