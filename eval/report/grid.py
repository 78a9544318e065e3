"""A table as a value: terminal, page and Markdown are rendered from it."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeVar

from coherencegym.escapes import SPACES, markdown_table, visible
from coherencegym.eval.data.notes import Note, cautions_first
from coherencegym.eval.statistics.scores import is_correlation
from coherencegym.terminal import shown_console

_T = TypeVar("_T")

#: The end of a header whose cells have intervals.
_INTERVAL = "[95 % interval]"
#: A space at which no line ends.
_UNBROKEN = "\N{NO-BREAK SPACE}"
#: Characters of a line that is printed, where nobody asks for more.
WIDTH = 100


@dataclass(frozen=True, slots=True)
class GridRow:
    """Cells of a table, the first one its heading.

    Attributes:
        cells: texts.
        level: 0 for the row of a config, 1 for one of its parts.
        target: config, split and group of a score, by which items are found; None: no score.
        bold: a row that a reader looks for first.
        is_detail: a row that a terminal shows only to those who ask.
        links: the files that cells lead to in Markdown, by their places.
    """

    cells: tuple[str, ...]
    level: int = 0
    target: tuple[str, str, str] | None = None
    bold: bool = False
    is_detail: bool = False
    links: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table.

    Attributes:
        numbers: for each column, whether it is aligned to the right.
        notes: lines below it.
        optional: headers of columns that a terminal leaves out where it has no room for them, the
            first of them first.
        short: the same table with less in its cells, and words on what those lack, for a terminal
            that has no room for its other columns.
    """

    title: str
    headers: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[GridRow, ...]
    notes: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    short: tuple[Grid, str] | None = None


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
    optional: Sequence[str] = (),
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
    return replace(made(first, names, rows), optional=tuple(optional))


def of_texts(title: str, rows: Sequence[GridRow]) -> Grid:
    """A grid of texts, each with its score and what is said of it."""
    return Grid(title, ("text", "score", ""), (False, True, False), tuple(rows))


def number_cell(value: float | None, form: str = ".3f") -> str:
    """A number in its cell; a dash where there is none."""
    return "–" if value is None else format(value, form)


def with_interval(
    value: float | None, low: float | None, high: float | None, form: str = ".3f"
) -> str:
    """A number and its interval, where it has one: ``0.500 [0.400, 0.600]``."""
    if value is None or low is None or high is None:
        return number_cell(value, form)
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


def share_cell(value: float | None, form: str = ".1f") -> str:
    """A share, which is 0 to 1, in per cent: ``69.7``; a dash where there is none."""
    return number_cell(None if value is None else 100 * value, form)


def shares_cell(values: Iterable[float]) -> str:
    """Shares of several models in per cent: ``59.3 or 62.8``; a dash where there is none."""
    return " or ".join(dict.fromkeys(map(share_cell, values))) or "–"


def counts_cell(counts: Sequence[int]) -> str:
    """Numbers from the fewest to the most: ``483\N{EN DASH}495``; a dash where there is none."""
    return "\N{EN DASH}".join(f"{count:,}" for count in counts) or "–"


def share_of_people(value: float | None, judged: int) -> str:
    """A share of people's right answers and the number of rows that they judged: ``90.0 (50)``."""
    return share_cell(value) + (f" ({judged:,})" if judged else "")


def share_with_interval(
    value: float | None,
    low: float | None,
    high: float | None,
    form: str = ".1f",
) -> str:
    """A share and its interval in per cent: ``69.7 [63.3, 75.5]``; see :func:`with_interval`."""
    value, low, high = (None if each is None else 100 * each for each in (value, low, high))
    return with_interval(value, low, high, form)


def score_with_interval(
    value: float | None, low: float | None, high: float | None, metric: str, unit: str = ""
) -> str:
    """A share in per cent with the unit, or a correlation as it is, each with its interval."""
    if is_correlation(metric):
        return with_interval(value, low, high, "+.2f")
    return share_with_interval(value, low, high) + unit


def rich_table(grid: Grid, breaks_names: bool = False) -> Any:
    """The rows as a rich table.

    Headers are folded to the width of their cells, and headings between words where there is no
    room: no name is broken, as it may be copied, but in a table that ``breaks_names``.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, (header, is_number) in enumerate(zip(grid.headers, grid.numbers, strict=True)):
        if is_number:
            folded = _folded(header, [row.cells[place] for row in grid.rows])
            table.add_column(folded, justify="right", no_wrap=True)
        else:
            least = None if place or breaks_names else _narrowest(grid)
            table.add_column(plain_text(header), min_width=least, overflow="fold")
    for row in grid.rows:
        table.add_row(*map(plain_text, row.cells), style="bold" if row.bold else "")
    return table


def _folded(header: str, cells: Sequence[str]) -> Any:
    from rich.text import Text

    # Units and the words on intervals are not broken.
    whole = re.sub(r" (?=%)|(?<=\[95) | (?=interval\])", _UNBROKEN, header)
    width = max(len(word) for word in (*cells, *whole.split(" ")))
    lines = wrap(whole, width=max(width, 1), break_long_words=False, break_on_hyphens=False)
    return Text("\n").join(plain_text(line.replace(_UNBROKEN, " ")) for line in lines)


def _narrowest(grid: Grid) -> int:
    # The longest name, with the spaces that indent it.
    words = (word for row in grid.rows for word in re.findall(r"^ *\S+|\S+", row.cells[0]))
    return max(map(len, words), default=0)


def in_width(grid: Grid, width: int) -> Any:
    """A table; one that a width (characters) has no room for comes in parts, one below the other,
    each with the next columns and the headings of rows that have something in them."""
    from rich.console import Group

    parts, left, names = list[Any](), [*range(1, len(grid.headers))], _names(grid, width)
    while left or not parts:
        taken = len(left)
        while taken > 1 and not _fits(_of(grid, left[:taken]), width, names):
            taken -= 1
        part = _of(grid, left[:taken])
        if parts:
            part = replace(part, rows=_told(part.rows))
        parts.append(rich_table(part, breaks_names=taken == 1))
        left = left[taken:]
    return Group(*parts)


def _told(rows: Sequence[GridRow]) -> tuple[GridRow, ...]:
    # Those that have something in them, and the rows that they stand below.
    kept, below = list[GridRow](), 0
    for row in reversed(rows):
        if {*row.cells[1:]} - {"", "–"} or row.level < below:
            kept.append(row)
            below = row.level
    return tuple(reversed(kept))


def _names(grid: Grid, width: int) -> int:
    # A long name is folded before a column goes.
    return max(_narrowest(grid), width * 2 // 5)


def _fits(grid: Grid, width: int, names: int) -> bool:
    # With its names folded to so many characters.
    table = rich_table(grid)
    table.columns[0].max_width = names
    # Measured on a console that is wide enough for anything.
    return bool(shown_console(width=10_000).measure(table).maximum <= width)


def fitted(grid: Grid, width: int, most: int | None = None) -> tuple[Grid, list[str]]:
    """A table without rows that are details, and columns for which a width has no room.

    Returns:
        The table with at most so many rows, and words on what it leaves out.
    """
    rows = [row for row in grid.rows if not row.is_detail]
    if most is not None and len(rows) > most:
        # No group of rows is cut in two, if there is another before it.
        starts = [place for place in range(1, most + 1) if not rows[place].level]
        most = max(starts, default=most)
    shown, columns = replace(grid, rows=tuple(rows[:most])), list[str]()
    for place in range(len(shown.headers) - 1, 0, -1) if len(rows) < len(grid.rows) else ():
        if all(row.cells[place].strip() in ("", "–") for row in shown.rows):
            shown = _without(shown, place)
    names = _names(shown, width)
    for name in grid.optional:
        if name in shown.headers and not _fits(shown, width, names):
            columns.append(name.removesuffix(_INTERVAL).strip().removesuffix(", %"))
            shown = _without(shown, shown.headers.index(name))
    if grid.short is not None and not _fits(shown, width, names):
        shown, left = fitted(grid.short[0], width, most)
        return shown, [grid.short[1], *left]
    left = [f"column{'s' * (len(columns) > 1)} {', '.join(columns)}"] * bool(columns)
    for number, what in (
        (len(rows[len(shown.rows) :]), ""),
        (len(grid.rows) - len(rows), "detailed "),
    ):
        left += [f"{number:,} {what}row{'s' * (number > 1)}"] * bool(number)
    return shown, left


def _of(grid: Grid, places: Collection[int]) -> Grid:
    # Its headings, and these of its columns.
    def some(values: tuple[_T, ...]) -> tuple[_T, ...]:
        return values[0], *(values[place] for place in places)

    rows = (replace(row, cells=some(row.cells)) for row in grid.rows)
    return replace(grid, headers=some(grid.headers), numbers=some(grid.numbers), rows=tuple(rows))


def _without(grid: Grid, place: int) -> Grid:
    return _of(grid, [other for other in range(1, len(grid.headers)) if other != place])


def rich_block(grid: Grid, width: int = WIDTH) -> Any:
    """A grid under its title, where it has one, and its notes below."""
    from rich.console import Group

    titles = [plain_text(grid.title)] * bool(grid.title)
    return Group(*titles, in_width(grid, width), *_below(grid.notes))


def print_heading(console: Any, suite: str, version: str | None, model: str) -> None:
    """Print what a table is of: suite, version, and model."""
    what = " ".join(filter(None, (suite, version)))
    model = Path(model).name if Path(model).is_absolute() else model
    console.print(plain_text(f"{what} · {model}", "bold"))


def markdown(grid: Grid) -> list[str]:
    """The lines of a Markdown table; a text stays in its cell, whatever it holds."""
    rows = (
        [
            (cell, row.links[place]) if place in row.links else cell
            for place, cell in enumerate(row.cells)
        ]
        for row in grid.rows
    )
    return markdown_table(grid.headers, rows)


def console_for(console: Any = None) -> Any:
    """Rich's console, or standard output, of at most :data:`WIDTH`; of that where it is a pipe."""
    made = console or shown_console(highlight=False)
    # In a pipe rich assumes 80 columns and would cut names short.
    fits = made.is_terminal and made.width <= WIDTH
    return made if fits else shown_console(made.file, width=WIDTH, highlight=False)


def as_printed(print_to: Callable[[Any], None]) -> str:
    """The text of what a function prints to a console, as it stands in a pipe."""
    file = io.StringIO()
    print_to(shown_console(file, highlight=False))
    return file.getvalue()


def print_below(console: Any, lines: Iterable[object]) -> None:
    """Print what stands below a table."""
    for line in _below(lines):
        console.print(line)


def _below(lines: Iterable[object]) -> list[Any]:
    return [plain_text(f"· {line}") for line in lines]


#: The words that tell users of the command line, and of Python, what shows the details.
BY_OPTION = "report.html and --verbose have them"
IN_REPORT = "report.html, which output= writes, has them"


def print_notes(
    console: Any,
    notes: Sequence[Note],
    signature: str,
    hidden: Sequence[str] | None = None,
    shown_by: str = BY_OPTION,
) -> None:
    """Print what stands below the tables of a run, the signature last.

    Where something is ``hidden``, only cautions are printed, and what else there is, which these
    words say where to find.
    """
    shown = [n for n in cautions_first(notes) if hidden is None or n.kind == "caution"]
    print_below(console, shown)
    if hidden is None:
        console.print(plain_text(signature, "dim"), soft_wrap=True)
        return
    details = [f"{left:,} detail{'s' * (left > 1)}"] if (left := len(notes) - len(shown)) else []
    unseen = ", ".join([*hidden, *details, "signature"])
    console.print(plain_text(f"· not shown: {unseen}; {shown_by}", "dim"))


def plain_text(content: str, style: str = "") -> Any:
    """One line of rich's, which would read a formula's square brackets as markup."""
    from rich.text import Text

    return Text(visible(content, SPACES), style=style)
