"""A kind of table: what a row is, for whoever builds, publishes, reads or asks about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field

from coherencegym.errors import EvaluationError
from coherencegym.files.strict_json import held

#: A row as datasets or pyarrow gives it: column -> value.
Row = Mapping[str, Any]
_T = TypeVar("_T")

#: The columns that tables of every kind have: what a row is known by, and what it was made from.
IDENTITY, DISCOURSE, CORPUS = "item_id", "discourse_id", "corpus"

#: The corpus of the project's own texts, which are a few to try things on.
SAMPLE = "sample"

#: An optional column of text: the same for rows of different discourses that share most of their
#: text, such as Winograd twins. Null or empty where there is no such family.
FAMILY = "family"

#: An optional column of truth values: whether most people who judged the row answered as it says;
#: null where nobody did.
HUMAN_OK = "human_ok"

#: The abstract change of speaker in a text; the evaluator renders it for each model.
SEPARATOR = "[SEP]"


#: A name in a row; a number is taken for its digits.
RowName = Annotated[str, Field(coerce_numbers_to_str=True)]


class SuiteError(EvaluationError):
    """A row that is not valid in a table of its kind; the message starts with the row's id."""


class Clustered:
    """A row that was read; ``extra`` are the columns that only its dataset has."""

    discourse_id: str
    extra: Row

    @property
    def cluster(self) -> str:
        """The family, or else the discourse: rows that share it count as one in an interval."""
        return str(self.extra.get(FAMILY) or self.discourse_id)

    @property
    def discourses(self) -> frozenset[str]:
        """The discourses that its texts are from, and the cluster."""
        partner = str(self.extra.get("partner_discourse", ""))
        return frozenset({self.cluster, self.discourse_id, partner} - {""})


def with_families(values: Iterable[_T], texts: Callable[[_T], Iterable[str]]) -> Iterator[_T]:
    """Rows of which those with the same texts are in the family that the first of them is in."""
    first: dict[int, str] = {}
    for value in values:
        if isinstance(value, Clustered):
            cluster = first.setdefault(hash(tuple(texts(value))), value.cluster)
            if cluster != value.cluster:
                extra = {**value.extra, FAMILY: cluster}
                value = replace(value, extra=extra)  # type: ignore[type-var]
        yield value


@dataclass(frozen=True, slots=True)
class Column:
    """A typed column, described in the card.

    ``type`` is the name of an Arrow type (``"float64"``), a list of one (``["int32"]``), a struct
    of named ones (``{"word": "string"}``), or a ready ``datasets`` feature.
    """

    type: Any
    description: str


def column(kind: Any, description: str) -> dict[str, Column]:
    """The metadata by which a field of a row's dataclass is a column; see :class:`Column`."""
    return {"column": Column(kind, description)}


#: The columns that say what a row is called and what it was made from, the same in most kinds.
ROW_ID = column("string", "unique in its config and split")
FROM_DISCOURSE = column("string", "the document that the row was made from")
FROM_CORPUS = column("string", "the corpus of that document")


@dataclass(frozen=True)
class TableKind(Generic[_T]):
    """A kind of table, whose rows are of the type ``_T`` once they were read.

    Attributes:
        name: the manifest's name for it.
        row: words of a card after "Each row is".
        schema: the dataclass of a row; its fields with :func:`column` are the columns that every
            table of the kind has, in their order; a dataset may have more.
        mark: the one that tables of other kinds do not have, by which those of a dataset without a
            manifest are known.
        texts: the texts of a row that was read, which may hold :data:`SEPARATOR`.
        task: the room below ``eval/tasks`` that asks models about such a table; empty: a program
            of other people does.
        command, ask: the command line that does so, and the card's words for it.
        problems: what is wrong with a row that has the right shape.
        learns: an encoder learns from such tables, which ask nothing of a model.
        length, longest: characters of a row, and those that a card's example has at most, where
            there is such a row.
        shown: tells rows that are good examples.
        labels: the columns, of text or of lists of it, whose values are names of classes: a table
            has them as ``datasets.ClassLabel``, all with the names that occur in any of them.

    Raises:
        ValueError: ``mark``, a label, or a column that tables of every kind have, is not among the
            columns.
    """

    name: str
    row: str
    schema: type[_T]
    mark: str
    texts: Callable[[_T], Iterable[str]]
    task: str
    command: str
    ask: str
    problems: Callable[[_T], Iterable[str]] = lambda value: ()
    learns: bool = False
    length: Callable[[Row], int] = lambda row: 0
    longest: int = 900
    shown: Callable[[Row], bool] = lambda row: True
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (IDENTITY, DISCOURSE, CORPUS, self.mark, *self.labels):
            if name not in self.columns:
                raise ValueError(f"kind {self.name}: no column {name!r}; every kind has it")

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        """The columns, by their names."""
        own: Any = self.schema
        return {f.name: f.metadata["column"] for f in fields(own) if "column" in f.metadata}

    def from_row(self, row: Any) -> _T:
        """A row (:data:`Row`, or the dataclass itself), read and valid.

        Raises:
            SuiteError: a column is missing, or has a value that it cannot have.
        """
        if not isinstance(row, self.schema):
            known = {name: row[name] for name in self.columns if name in row}
            extra = {name: own for name, own in row.items() if name not in known}
            try:
                row = held({**known, "extra": extra}, self.schema)
            except EvaluationError as error:
                raise SuiteError(f"{row.get(IDENTITY, 'row without item_id')}: {error}") from None
        self.check(row)
        value: _T = row
        return value

    def check(self, value: _T) -> None:
        """Check what every reader of such rows relies on."""
        for problem in self.problems(value):
            raise SuiteError(f"{getattr(value, IDENTITY)}: {problem}")

    def example(self, rows: Sequence[Row]) -> Row:
        """The row that a card shows."""
        chosen = [row for row in rows if self.shown(row)] or rows
        return of_modest_length(chosen, self.length, self.longest)

    def features(self, extra: Mapping[str, Any] | None = None, rows: Iterable[Row] = ()) -> Any:
        """The ``datasets.Features`` of a table.

        ``extra`` maps the dataset's own columns to types, which are those of :class:`Column`;
        the names of classes are those of ``rows``, in alphabetical order.
        """
        from datasets import ClassLabel, Features

        types = {name: column.type for name, column in self.columns.items()} | dict(extra or {})
        if self.labels:
            found = {label for row in rows for name in self.labels for label in _many(row[name])}
            classes = ClassLabel(names=sorted(found))
            for name in self.labels:
                types[name] = [classes] if isinstance(types[name], list) else classes
        return Features({name: _feature(of) for name, of in types.items()})

    def configs(self, known: Mapping[str, Any]) -> list[str]:
        """The configs of this kind among those of a manifest (name -> entry), in their order."""
        return [name for name, about in known.items() if about["kind"] == self.name]

    def separated(self, rows: Iterable[_T]) -> bool:
        """Say whether the change of speaker stands in any text of the rows."""
        return any(SEPARATOR in text for row in rows for text in self.texts(row))


def row_hash(row: Row) -> str:
    """sha256 (hex) of a row's canonical JSON: sorted keys, no spaces, UTF-8, no NaN.

    Parquet bytes change with the pyarrow version; this does not, so it says whether two releases
    hold the same row, and whether what was loaded is what was published.
    """
    text = json.dumps(
        row, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def rows_digest(hashes: Iterable[str]) -> str:
    """sha256 (hex) of the hashes of a table's rows, in order, or of lines on several tables."""
    digest = hashlib.sha256()
    for number, one in enumerate(hashes):
        digest.update(f"\n{one}".encode() if number else one.encode())
    return digest.hexdigest()


def to_row(value: Any) -> dict[str, Any]:
    """The row of a dataclass, inner ones as dictionaries and tuples as lists, and its ``extra``."""
    row = {}
    for name in value.__dataclass_fields__:
        part = getattr(value, name)
        row[name] = [_plain(each) for each in part] if type(part) is tuple else part
    if "extra" in row:
        row.update(row.pop("extra"))
    return row


def _plain(value: Any) -> Any:
    if type(value) is tuple:
        return [_plain(each) for each in value]
    return to_row(value) if hasattr(type(value), "__dataclass_fields__") else value


def _many(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def with_numbers(row: Row, features: Any) -> Row:
    """A row with the numbers of classes for their names, as ``features`` has them."""
    from datasets import ClassLabel, List

    changed = {}
    for name, of in features.items():
        inner = of.feature if isinstance(of, List) else of
        if isinstance(inner, ClassLabel) and (value := row[name]) is not None:
            numbers = [inner.str2int(each) for each in _many(value)]
            changed[name] = numbers if isinstance(of, List) else numbers[0]
    return {**row, **changed} if changed else row


def with_names(row: Row, features: Mapping[str, Any]) -> Row:
    """A row with the names of classes for their numbers, as a manifest's ``features`` have them."""
    changed = {}
    for column, of in features.items():
        names = (of.get("feature", of) if isinstance(of, dict) else {}).get("names")
        if names is None or row.get(column) is None:
            continue
        for number in _many(row[column]):
            if not (isinstance(number, int) and 0 <= number < len(names)):
                expected = f"expected 0 to {len(names) - 1}"
                raise SuiteError(f"{row.get(IDENTITY)}: {column}: class {number!r}; {expected}")
        found = [names[number] for number in _many(row[column])]
        changed[column] = found if isinstance(row[column], list) else found[0]
    return {**row, **changed} if changed else row


def _feature(of: Any) -> Any:
    from datasets import List, Value

    if isinstance(of, str):
        return Value(of)
    if isinstance(of, list):
        return List(_feature(of[0]))
    if isinstance(of, dict):
        return {name: _feature(part) for name, part in of.items()}
    return of


def of_modest_length(rows: Sequence[_T], length: Callable[[_T], int], most: int) -> _T:
    """The first row of at most ``most`` characters (as ``length`` counts); else the shortest."""
    return next((row for row in rows if length(row) <= most), min(rows, key=length))
