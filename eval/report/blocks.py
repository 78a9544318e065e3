"""A report as a value: sections that terminal, page and notebook each render in their own way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from coherencegym.eval.report.grid import Grid, in_width, plain_text, rich_block
from coherencegym.eval.statistics.scores import Score

#: A score shows something; it does not; it is below chance.
Bearing = Literal["shows", "open", "below"]


@dataclass(frozen=True)
class Verdict:
    """A sentence in two parts: the ``found`` number, and what it ``shows``.

    Attributes:
        bearing: see :data:`Bearing`.
    """

    found: str
    shows: str
    bearing: Bearing

    def __str__(self) -> str:
        return f"{self.found}: {self.shows}"


@dataclass(frozen=True)
class Strips:
    """Scores as lines from 0 to 100 %, each with its interval and its baselines.

    Attributes:
        names: those of the partial-input baseline and of chance, for the legend.
    """

    scores: tuple[Score, ...]
    names: tuple[str, str]


@dataclass(frozen=True)
class Figure:
    """A figure of a page, and a file beside it.

    Attributes:
        name: that of the file, without its ending.
        alternative: words for who does not see it.
        draw: gives a figure of matplotlib, in the style of :mod:`eval.report.figures`.
    """

    name: str
    alternative: str
    draw: Callable[[], Any]


@dataclass(frozen=True)
class Text:
    """A text of a list, and what is said of it.

    Attributes:
        about: the row that it is from.
        cells: a number for each column, and what stands small below it.
    """

    about: str
    text: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class TextLists:
    """TextLists in lists under names; ``columns`` are those of their cells.

    Each list has a name, the number of texts that it is chosen from, and its texts.
    """

    columns: tuple[str, ...]
    lists: tuple[tuple[str, int, tuple[Text, ...]], ...]


@dataclass(frozen=True)
class Triangles:
    """Lists of texts with a triangle of cells each (:mod:`eval.tasks.spans.triangles`).

    Attributes:
        cell: pixels of a cell.
    """

    lists: tuple[Mapping[str, Any], ...]
    cell: int


@dataclass(frozen=True)
class DocumentLists:
    """Lists of documents, with a line for each sentence: its score, its text, and what it is."""

    lists: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class HeatMaps:
    """Scores by what was replaced and by what: maps with a title, names, and scores by both."""

    maps: tuple[Any, ...]


@dataclass(frozen=True)
class Introduction:
    """What the suite says of itself, and an item of it (:mod:`eval.tasks.score.page.example`)."""

    example: Any


@dataclass(frozen=True)
class ItemList:
    """Items that the page's script lists; ``collect`` gives them and what was left out."""

    collect: Callable[[], Any]


SectionBody = (
    Grid
    | Figure
    | TextLists
    | Strips
    | Triangles
    | DocumentLists
    | HeatMaps
    | Introduction
    | ItemList
)


@dataclass(frozen=True)
class ReportSection:
    """A part of a report.

    Attributes:
        title: the heading, and the text of its link.
        body: a page has all of them; a terminal and a notebook show tables alone.
        lead: a sentence that a reader of the page has to know first.
        sentences: conclusions, which a terminal shows as well.
        is_detail: true where a terminal shows it only to those who ask.
        narrow: the table where the body is too wide.
        drawn: the score of each row of the table, which a page draws beside it.
    """

    title: str
    body: SectionBody
    lead: str = ""
    sentences: tuple[str, ...] = ()
    is_detail: bool = False
    narrow: Grid | None = None
    drawn: tuple[Score, ...] = ()

    @property
    def kind(self) -> str:
        """The name of the body's block in the template of a page."""
        return type(self.body).__name__

    @property
    def place(self) -> str:
        """The name of the section in the address of a page."""
        return "-".join(self.title.lower().split())

    def print(self, console: Any) -> None:
        """Print the table in the width of a console, and the sentences."""
        if isinstance(self.body, Grid):
            shown = [self.body, *([self.narrow] if self.narrow else [])]
            table = in_width(*shown, width=console.width)
            console.print(rich_block(self.body, console.width) if self.body.title else table)
        for sentence in self.sentences:
            console.print(plain_text(sentence), soft_wrap=True)
