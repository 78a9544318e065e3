"""A report as a value: sections that terminal, page and notebook each render in their own way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from coherencegym.escapes import in_line
from coherencegym.eval.data.notes import table_name
from coherencegym.eval.report.grid import Grid, fitted, plain_text, rich_block
from coherencegym.eval.statistics.scores import FEW_ITEMS, ScoreRow


def labels(rows: Sequence[ScoreRow]) -> list[str]:
    """The names of the rows: the config, or indented what it is a part of."""
    splits = len({row.split for row in rows}) > 1
    names = []
    for row, formula in zip(rows, formula_labels(rows), strict=True):
        what = f": {row.what}" if row.what else ""
        if row.level == "all":
            names.append(table_name(row.config, row.split * splits) + what)
        else:
            names.append("  " + ": ".join(filter(None, (row.group or formula.strip(), row.what))))
    return names


def formula_labels(rows: Sequence[Any]) -> list[str]:
    """The predictions of rows: by the aggregation alone where only that tells them apart."""
    formulas: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        formulas.setdefault((row.config, row.split), set()).add(row.formula)
    return [
        row.aggregation
        if len(formulas[row.config, row.split] - {""}) == 1
        else f"{row.formula} {row.aggregation}"
        for row in rows
    ]


def counted(n: int) -> str:
    """A number of items, marked where it is small."""
    return f"{n:,}" + " !" * (n < FEW_ITEMS)


#: Rows of a table on the terminal where nobody asks for more.
MOST_ROWS = 8

#: A score shows something; it does not; it is below chance.
Bearing = Literal["shows", "open", "below"]


#: The beginning of a verdict.
_BEARINGS: Mapping[Bearing, str] = {
    "shows": "This speaks for the model",
    "open": "This does not speak for the model",
    "below": "This speaks against the model",
}


@dataclass(frozen=True)
class Verdict:
    """A verdict on the ``found`` number, and the reasons why it is that.

    Attributes:
        bearing: see :data:`Bearing`.
    """

    found: str
    reasons: str
    bearing: Bearing

    @property
    def sentence(self) -> str:
        """What the number says of the model, and why."""
        return f"{_BEARINGS[self.bearing]}: {self.reasons}."


@dataclass(frozen=True)
class Figure:
    """A figure of a page: words for who does not see it, and the address that holds it."""

    alternative: str
    address: str


@dataclass(frozen=True)
class TextLists:
    """Tables of texts, in lists under names.

    Attributes:
        lists: a name, the words ``3 of 8 texts``, and tables, of each list.
    """

    lists: tuple[tuple[str, str, tuple[Grid, ...]], ...]


@dataclass(frozen=True)
class Introduction:
    """What the suite says of itself, and an item of it (:mod:`eval.tasks.score.items_page`)."""

    example: Any


@dataclass(frozen=True)
class ItemList:
    """Items that the page's script lists; ``collect`` gives them and what was left out."""

    collect: Callable[[], Any]


SectionBody = Grid | Figure | TextLists | Introduction | ItemList


@dataclass(frozen=True)
class ReportSection:
    """A part of a report.

    Attributes:
        title: the heading, and the text of its link.
        body: a page has all of them; a terminal and a notebook show tables alone.
        lead: a sentence that a reader of the page has to know first.
        sentences: conclusions, which a terminal shows as well.
        is_detail: true where a terminal shows it only to those who ask.
    """

    title: str
    body: SectionBody
    lead: str = ""
    sentences: tuple[str, ...] = ()
    is_detail: bool = False

    @property
    def kind(self) -> str:
        """The name of the body's block in the template of a page."""
        return type(self.body).__name__

    @property
    def place(self) -> str:
        """The name of the section in the address of a page."""
        return "-".join(self.title.lower().split())

    def print(self, console: Any, verbose: bool) -> list[str]:
        """Print the table in the width of a console, and the sentences; ``verbose``: all of it.

        Returns:
            Words on what was not printed.
        """
        if not isinstance(self.body, Grid):
            return []
        if self.is_detail and not verbose:
            return [self.title.lower()]
        body, left = (self.body, []) if verbose else fitted(self.body, console.width, MOST_ROWS)
        console.print(rich_block(body, console.width))
        for sentence in self.sentences:
            console.print(plain_text(sentence))
        of = "" if self.title == "Scores" else f" of {self.title.lower()}"
        return [words + of * words.endswith(("row", "rows")) for words in left]


def short_model(name: str) -> str:
    """A model's name for a figure: of a folder its last part."""
    return Path(name).resolve().name if Path(name).is_dir() else name


def cut(text: str, most: int = 48) -> str:
    """A text of so many characters at most, for a figure."""
    text = in_line(text)
    return text if len(text) <= most else text[: most - 1] + "…"
