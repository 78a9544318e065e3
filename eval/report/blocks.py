"""A report as a value: sections that terminal, page and notebook each render in their own way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.report.grid import Grid


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
class ReportSection:
    """A part of a report.

    Attributes:
        title: the heading, and the text of its link.
        body: a page has all of them; a terminal and a notebook show tables alone.
        lead: a sentence that a reader has to know first.
    """

    title: str
    body: Grid | Figure | TextLists
    lead: str = ""
