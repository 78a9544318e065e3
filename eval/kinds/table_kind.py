"""A kind of table: what a row is, for whoever builds, publishes, reads or asks about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

#: A row as datasets or pyarrow gives it: column -> value.
Row = Mapping[str, Any]
T = TypeVar("T")

#: What a row is known by, and what it was made from: columns that tables of every kind have.
IDENTITY, DISCOURSE, CORPUS = "item_id", "discourse_id", "corpus"

#: An optional column of text: the same for rows of different discourses that share most of their
#: text, such as Winograd twins. Null or empty where there is no such family.
FAMILY = "family"

#: The abstract change of speaker in a text; the evaluator renders it for each model.
SEPARATOR = "[SEP]"


class SuiteError(ValueError):
    """A row that is not valid in a table of its kind; the message starts with the row's id."""


@dataclass(frozen=True, slots=True)
class Column:
    """A typed column, described in the card.

    ``type`` is the name of an Arrow type (``"string"``, ``"float64"``, ``"bool"``), a list of one
    (``["int32"]``), a struct of named ones (``{"word": "string"}``), or a ready ``datasets``
    feature.
    """

    type: Any
    description: str


def first(rows: Sequence[Row]) -> Row:
    """The first row: what a card shows of a kind that has no better example."""
    return rows[0]


@dataclass(frozen=True)
class TableKind(Generic[T]):
    """What a row of a table is. ``T`` is the type of a row that was read.

    Attributes:
        name: as the manifest has it.
        row: what each row is, as a card says it after "Each row is".
        columns: those that every table of the kind has, in their order; a dataset may have more.
        mark: the one that tables of other kinds do not have, by which those of a dataset without a
            manifest are known.
        from_row: a row, read and validated; raises :class:`SuiteError`.
        to_row: the row again: plain lists and dictionaries in the order of the columns.
        texts: the texts of a row that was read, which may hold :data:`SEPARATOR`.
        example: the row that a card shows.
        task: the room below ``eval/tasks`` that asks models about such a table.
        command: the command line that does so.
        ask: what that is, for a card.

    Raises:
        ValueError: ``mark``, or a column that tables of every kind have, is not among the columns.
    """

    name: str
    row: str
    columns: Mapping[str, Column]
    mark: str
    from_row: Callable[[Row], T]
    to_row: Callable[[T], dict[str, Any]]
    texts: Callable[[T], Iterable[str]]
    task: str
    command: str
    ask: str
    example: Callable[[Sequence[Row]], Row] = first

    def __post_init__(self) -> None:
        for name in (IDENTITY, DISCOURSE, CORPUS, self.mark):
            if name not in self.columns:
                raise ValueError(f"kind {self.name}: no column {name!r}; every kind has it")

    def features(self, extra: Mapping[str, Any] | None = None) -> Any:
        """The ``datasets.Features`` of a table; ``extra`` maps the dataset's own columns to types.

        Types are those of :class:`Column`.
        """
        from datasets import Features

        types = {name: column.type for name, column in self.columns.items()} | dict(extra or {})
        return Features({name: feature(of) for name, of in types.items()})

    def configs(self, known: Mapping[str, Any]) -> list[str]:
        """The configs of this kind among those of a manifest (name -> entry), in their order."""
        return [name for name, about in known.items() if about["kind"] == self.name]

    def separated(self, rows: Iterable[T]) -> bool:
        """Say whether the change of speaker stands in any text of the rows."""
        return any(SEPARATOR in text for row in rows for text in self.texts(row))


def cluster(discourse: str, extra: Row) -> str:
    """What of all rows counts as one in an interval: the family, or else the discourse.

    Args:
        discourse: what the row was made from.
        extra: the columns that only its dataset has.
    """
    return str(extra.get(FAMILY) or discourse)


def row_hash(row: Row) -> str:
    """sha256 (hex) of a row's canonical JSON: sorted keys, no spaces, UTF-8, no NaN.

    Parquet bytes change with the pyarrow version; this does not, so it says whether two releases
    hold the same row, and whether what was loaded is what was published.
    """
    text = json.dumps(
        row, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def feature(of: Any) -> Any:
    """The ``datasets`` feature of a column's type, as :class:`Column` has it."""
    from datasets import List, Value

    if isinstance(of, str):
        return Value(of)
    if isinstance(of, list):
        return List(feature(of[0]))
    if isinstance(of, dict):
        return {name: feature(part) for name, part in of.items()}
    return of


def of_modest_length(rows: Sequence[Row], length: Callable[[Row], int], most: int) -> Row:
    """The first row of at most ``most`` characters (as ``length`` counts); else the shortest."""
    return next((row for row in rows if length(row) <= most), min(rows, key=length))
