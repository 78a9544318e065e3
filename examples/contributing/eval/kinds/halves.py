"""The table kind ``halves``: two texts, of which the second may be the rest of another."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.table_kind import Column, Row, SuiteError, TableKind
from coherencegym.files.strict_json import held


@dataclass(frozen=True)
class Halves:
    """Two texts; ``together``: both are from one discourse."""

    item_id: str
    first: str
    second: str
    together: bool
    discourse_id: str
    corpus: str


COLUMNS = {
    "item_id": Column("string", "unique in its config and split"),
    "first": Column("string", "the beginning of a text"),
    "second": Column("string", "the end of the same text, or of another"),
    "together": Column("bool", "whether both are from one text"),
    "discourse_id": Column("string", "the document that `first` is from"),
    "corpus": Column("string", "the corpus of that document"),
}


def halves_from_row(row: Row) -> Halves:
    """Two halves.

    Raises:
        SuiteError: a column is missing or has another type, or a half is empty.
    """
    name = str(row.get("item_id", "row without item_id"))
    try:
        halves = held({column: row[column] for column in COLUMNS if column in row}, Halves)
    except EvaluationError as error:
        raise SuiteError(f"{name}: {error}") from None
    if not (halves.first.strip() and halves.second.strip()):
        raise SuiteError(f"{name}: an empty half; expected two texts")
    return halves


HALVES = TableKind(
    name="halves",
    row="two texts, and whether they belong together.",
    columns=COLUMNS,
    mark="together",
    from_row=halves_from_row,
    to_row=asdict,
    texts=lambda halves: (halves.first, halves.second),
    task="match",
    command="coherencegym match",
    ask="Let a model say which belong together",
)
