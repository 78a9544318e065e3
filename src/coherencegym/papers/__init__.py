"""The papers that the toolkit implements: their tables, and the scores that they have published.

Each file of ``declarations/`` is one :class:`Paper`. Its scores were computed by other programs on
the paper's own corpora: they stand beside ours for reference.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from coherencegym.files.strict_json import held

#: The name of a row among our scores: that of a config, or of a group of items of any.
RowKind = Literal["config", "group"]


@dataclass(frozen=True)
class TableRow:
    """A row of a table, as our scores have it.

    Attributes:
        configs: the configs (with or without the corpus in their names) that it is the mean of;
            none: any, which is for a group.
        group: a group of their items; empty: all.
        metric: its metric; empty: the table's.
        system: the system that decided; empty: the model.
    """

    configs: tuple[str, ...] = ()
    group: str = ""
    metric: str = ""
    system: str = ""


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper, or a part of one that is computed in one way.

    Attributes:
        title: its subject.
        source: the table in the paper, with its page; or the file that has the numbers.
        task: the subcommand that computes it.
        suite: the suite that is built; empty: files in SyntaxGym's JSON.
        corpus: the corpus that it is built from.
        compat: the mode that computes as the paper did; empty: there is none, or none is needed.
        options: further options of the task.
        metric: that of its rows, where they do not say.
        row_kind: says what the names of rows are that are not in ``rows``.
        rows: name of a row -> our scores of it.
        systems: the columns.
        values: row -> the published score of each column, in per cent; NaN: none.
        needs: files of the corpus without which the table is another one.
        sizes: row -> the number of items that the paper has, where it says so.
        differs: facts about how our number is computed otherwise.
    """

    title: str
    source: str
    task: str
    corpus: str
    suite: str = ""
    compat: str = ""
    options: Mapping[str, str | int] = field(default_factory=dict)
    metric: str = "accuracy"
    row_kind: RowKind = "config"
    rows: Mapping[str, TableRow] = field(default_factory=dict)
    systems: tuple[str, ...] = ()
    values: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    differs: tuple[str, ...] = ()

    def row(self, name: str) -> TableRow:
        """A row by its name."""
        own = TableRow(group=name) if self.row_kind == "group" else TableRow(configs=(name,))
        return self.rows.get(name, own)


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes:
        title, authors, venue, url: its citation.
        tables: those that can be computed, by number or name.
    """

    title: str
    authors: str
    venue: str
    url: str
    tables: Mapping[str, PublishedTable]


@cache
def read_papers() -> Mapping[str, Paper]:
    """All papers by their keys, such as ``chen-2019``."""
    folder = files(__package__).joinpath("declarations")
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    return {
        name.removesuffix(".toml"): held(_declared(text), Paper)
        for name, text in sorted(texts.items())
        if name.endswith(".toml")
    }


def _declared(text: str) -> dict[str, Any]:
    # What all tables of a paper have stands in ``shared``, unless a table says otherwise.
    paper = tomllib.loads(text)
    shared = paper.pop("shared", {})
    return {**paper, "tables": {name: shared | own for name, own in paper["tables"].items()}}


def published_cells(suite: str) -> Iterator[tuple[PublishedTable, str, str, float]]:
    """The scores of whole systems for a suite: their table, row and column, and per cents."""
    for paper in read_papers().values():
        for table in paper.tables.values():
            if table.suite != suite:
                continue
            for row, values in table.values.items():
                for system, value in zip(table.systems, values, strict=True):
                    if value == value:  # NaN: the paper has none
                        yield table, row, system, value
