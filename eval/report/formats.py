"""Tables for papers, as Markdown or LaTeX, and for programs, as the numbers in them."""

from __future__ import annotations

import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from coherencegym.escapes import in_line, latex_text, markdown_text, visible_lines
from coherencegym.eval.report import grid
from coherencegym.files.strict_json import json_text

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

#: The format of a terminal, and those that are a document of their own.
TABLE = "table"
TABLE_FORMATS = (TABLE, "markdown", "latex", "csv", "json")
#: The words that tell what shows the columns for which a terminal has no room.
BY_FORMAT = "--format csv or markdown has all, in Python to_pandas()"


@dataclass(frozen=True)
class TableDocument:
    """Tables, and the numbers that are in them.

    Attributes:
        grids: each under its title.
        lines: sentences on what the tables show, and on their marks.
        legend: sentences on how to read them, for which a terminal has no room.
        records: the numbers, shares from 0 to 1 among them; each has the same names.
    """

    grids: Sequence[grid.Grid]
    lines: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    legend: Sequence[str] = ()


def print_document(document: TableDocument, console: Any = None) -> None:
    """Print the tables in the width of a console, and the lines below them."""
    console = grid.console_for(console)
    for each in document.grids:
        shown, left = grid.fitted(each, console.width)
        console.print(grid.rich_block(shown, console.width))
        grid.print_below(console, [f"not shown: {', '.join(left)}; {BY_FORMAT}"] * bool(left))
    grid.print_below(console, document.lines)


class Shown(ABC):
    """Has a document, by which it shows itself: in a notebook, and under ``print``."""

    @property
    @abstractmethod
    def document(self) -> TableDocument:
        """The tables for papers, and their numbers for programs."""

    def to_pandas(self) -> pandas.DataFrame:
        """The numbers as a data frame, shares from 0 to 1 among them."""
        import pandas

        return pandas.DataFrame(self.document.records)

    def __str__(self) -> str:
        return grid.as_printed(lambda console: print_document(self.document, console))

    def _repr_markdown_(self) -> str:
        return render_document(self.document, "markdown")


def render_document(document: TableDocument, style: str) -> str:
    """The text of a document in one of :data:`TABLE_FORMATS`, but for that of a terminal."""
    if style == "csv":
        return csv_text(document.records)
    if style == "json":
        return json_text(document.records)
    lines = _markdown(document) if style == "markdown" else _latex(document)
    return "".join(f"{line}\n" for line in lines)


def show_document(document: TableDocument, style: str, out: TextIO) -> None:
    """Print a document on the terminal, or write it in another of :data:`TABLE_FORMATS`."""
    if style == TABLE:
        print_document(document)
    else:
        out.write(render_document(document, style))


def csv_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV under their names; nothing where there is no row."""
    file = io.StringIO()
    out = csv.DictWriter(file, list(records[0]) if records else [], lineterminator="\n")
    out.writeheader()
    for row in records:
        cells = ((name, visible_lines(x) if isinstance(x, str) else x) for name, x in row.items())
        out.writerow(dict(cells))
    return file.getvalue() if records else ""


def _markdown(document: TableDocument) -> Iterator[str]:
    for each in document.grids:
        yield from (markdown_text(each.title), "", *grid.markdown(each), "")
        yield from (f"- {markdown_text(note)}" for note in each.notes)
        yield from [""] * bool(each.notes)
    yield from (f"- {markdown_text(line)}" for line in (*document.lines, *document.legend))


_MINUS = re.compile(r"(?<![\w.-])-(?=\d)")


def _latex(document: TableDocument) -> Iterator[str]:
    yield r"% \usepackage{booktabs}"
    for each in document.grids:
        columns = "".join("r" if is_number else "l" for is_number in each.numbers)
        yield from (r"\begin{table}", r"\centering", rf"\caption{{{latex_text(each.title)}}}")
        yield from (rf"\begin{{tabular}}{{{columns}}}", r"\toprule")
        yield _latex_row(map(latex_text, each.headers))
        yield r"\midrule"
        yield from (_latex_row(_latex_cells(row, each.numbers)) for row in each.rows)
        yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}")
        yield from (f"% {in_line(note)}" for note in each.notes)
    yield from (f"% {in_line(line)}" for line in (*document.lines, *document.legend))


def _latex_cells(row: grid.GridRow, numbers: Sequence[bool]) -> Iterator[str]:
    for place, (cell, is_number) in enumerate(zip(row.cells, numbers, strict=True)):
        text = latex_text(cell)
        if is_number:
            text = _MINUS.sub("$-$", text)
        text = rf"\textbf{{{text}}}" if row.bold and text else text
        yield rf"\quad {text}" * bool(row.level and not place) or text


def _latex_row(cells: Iterator[str]) -> str:
    line = " & ".join(cells)
    # The end of the row before would take these for its own.
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"
