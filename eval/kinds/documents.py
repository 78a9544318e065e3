"""Documents in which one sentence may be an intruder: the table kind ``documents``.

Shen et al. 2021, section 3. A row is a document as its sentences, and the place of the one that
came from another document, if there is any. Beside the columns defined here a dataset may have
columns of its own (``replaced``, ``similarity``, ...), kept in ``extra``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import StrictInt

from coherencegym.eval.kinds.table_kind import (
    MODEST,
    ORIGIN,
    Clustered,
    Column,
    Row,
    RowName,
    SuiteError,
    TableKind,
    of_modest_length,
    row_held,
    to_row,
)

#: The position of a document without an intruder.
NO_INTRUDER = -1
#: That of one with an intruder, where nobody knows which sentence it is.
UNKNOWN_PLACE = -2
#: An optional column with what each annotator said: the place of the intruder, -1 for none.
HUMAN = "human"


@dataclass(frozen=True)
class Document(Clustered):
    """A document, and where its intruder is.

    The opening sentence says what the document is about, and is never the intruder.
    """

    item_id: RowName
    sentences: tuple[str, ...]
    intruder_position: StrictInt
    discourse_id: RowName
    corpus: RowName
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def intruded(self) -> bool:
        """One of its sentences is an intruder."""
        return self.intruder_position != NO_INTRUDER

    @property
    def located(self) -> bool:
        """Its intruder, if there is one, is in a place that is known."""
        return self.intruder_position != UNKNOWN_PLACE


def document_from_row(row: Row) -> Document:
    """A document from a row of a table."""
    document = row_held(row, DOCUMENTS.columns, Document)
    validate_document(document)
    return document


def validate_document(document: Document) -> None:
    """Check what every reader of documents relies on."""
    name, number = document.item_id, len(document.sentences)
    if number < 2:
        raise SuiteError(f"{name}: {number} sentences; expected at least 2")
    for place, sentence in enumerate(document.sentences):
        if not sentence.strip():
            raise SuiteError(f"{name}: sentence {place} is empty")
    position = document.intruder_position
    if position not in (UNKNOWN_PLACE, NO_INTRUDER, *range(1, number)):
        raise SuiteError(
            f"{name}: intruder_position is {position}; expected -1, -2, or 1 to {number - 1}"
        )


def _example(rows: Sequence[Row]) -> Row:
    intruded = [row for row in rows if row["intruder_position"] > 0]
    return of_modest_length(intruded or rows, lambda row: sum(map(len, row["sentences"])), MODEST)


DOCUMENTS = TableKind(
    name="documents",
    row="a document divided into sentences, with the position of the intruder, if any.",
    columns={
        "item_id": Column("string", "unique in its config and split"),
        "sentences": Column(["string"], "the sentences of the document, in reading order"),
        "intruder_position": Column(
            "int32",
            "position (from 0) of the intruder in the document; -1 if there is none, -2 if its "
            "position is unknown",
        ),
        **ORIGIN,
    },
    mark="intruder_position",
    from_row=document_from_row,
    to_row=to_row,
    texts=lambda document: document.sentences,
    example=_example,
    task="detect",
    command="coherencegym detect",
    ask="Detect the intruders with a model",
)
