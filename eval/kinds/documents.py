"""Documents in which one sentence may be an intruder: the table kind ``documents``.

Shen et al. 2021, section 3. A row is a document as its sentences, and the place of the one that
came from another document, if there is any. Beside the columns defined here a dataset may have
columns of its own (``replaced``, ``similarity``, ...), kept in ``extra``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.eval.kinds.table_kind import (
    Column,
    Row,
    SuiteError,
    TableKind,
    cluster,
    of_modest_length,
)

#: The columns that every table of kind ``documents`` has, in this order.
DOCUMENT_COLUMNS = {
    "item_id": Column("string", "unique in its config and split"),
    "sentences": Column(["string"], "of a document, in reading order"),
    "intruder_position": Column(
        "int32", "of a document: the place (from 0) of the intruder; -1 where there is none"
    ),
    "discourse_id": Column("string", "the document that the row was made from"),
    "corpus": Column("string", "the corpus of that document"),
}

#: The position of a document without an intruder.
COHERENT = -1

#: Characters that a card's example has at most, where there is such a document.
MODEST = 900


@dataclass(frozen=True)
class Document:
    """A document, and where its intruder is.

    Attributes:
        item_id: unique within a config and split.
        sentences: in reading order, at least two.
        intruder_position: place (from 0) of the intruder in ``sentences``; -1 where there is none.
            Never 0: the opening sentence says what the document is about, and is not replaced.
        discourse_id, corpus: what it was made from.
        extra: the dataset's own columns.
    """

    item_id: str
    sentences: tuple[str, ...]
    intruder_position: int
    discourse_id: str
    corpus: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cluster(self) -> str:
        """What of all documents counts as one in an interval: the family, or else the discourse."""
        return cluster(self.discourse_id, self.extra)

    @property
    def intruded(self) -> bool:
        """Whether one of its sentences is an intruder."""
        return self.intruder_position != COHERENT


def document_from_row(row: Mapping[str, Any]) -> Document:
    """A document from a row of a table.

    Raises:
        SuiteError: a column is missing or is not what it should be.
    """
    missing = [name for name in DOCUMENT_COLUMNS if name not in row]
    where = str(row.get("item_id", "document"))
    if missing:
        raise SuiteError(
            f"{where}: no column {missing[0]!r}; expected {', '.join(DOCUMENT_COLUMNS)}"
        )
    sentences, position = row["sentences"], row["intruder_position"]
    if not isinstance(sentences, list) or not all(isinstance(s, str) for s in sentences):
        raise SuiteError(f"{where}: sentences are not a list of strings")
    if isinstance(position, bool) or not isinstance(position, int):
        raise SuiteError(f"{where}: intruder_position is {position!r}; expected a whole number")
    document = Document(
        where,
        tuple(sentences),
        position,
        str(row["discourse_id"]),
        str(row["corpus"]),
        {name: value for name, value in row.items() if name not in DOCUMENT_COLUMNS},
    )
    validate_document(document)
    return document


def document_to_row(document: Document) -> dict[str, Any]:
    """The row of a document, its columns in the order of the table."""
    return {
        "item_id": document.item_id,
        "sentences": list(document.sentences),
        "intruder_position": document.intruder_position,
        "discourse_id": document.discourse_id,
        "corpus": document.corpus,
        **document.extra,
    }


def validate_document(document: Document) -> None:
    """Check what every reader of documents relies on.

    Raises:
        SuiteError: a document of fewer than two sentences, an empty sentence, or a position that
            is neither -1 nor that of a sentence after the first.
    """
    number = len(document.sentences)
    if number < 2:
        raise SuiteError(f"{document.item_id}: {number} sentences; expected at least 2")
    for place, sentence in enumerate(document.sentences):
        if not sentence.strip():
            raise SuiteError(f"{document.item_id}: sentence {place} is empty")
    if document.intruder_position != COHERENT and not 1 <= document.intruder_position < number:
        raise SuiteError(
            f"{document.item_id}: intruder_position is {document.intruder_position}; expected -1, "
            f"or 1 to {number - 1}"
        )


def _example(rows: Sequence[Row]) -> Row:
    """An intruded document, where there is one."""
    intruded = [row for row in rows if row["intruder_position"] != COHERENT]
    return of_modest_length(intruded or rows, lambda row: sum(map(len, row["sentences"])), MODEST)


DOCUMENTS = TableKind(
    name="documents",
    row="a document as its sentences, and the place of the sentence that is an intruder.",
    columns=DOCUMENT_COLUMNS,
    mark="intruder_position",
    from_row=document_from_row,
    to_row=document_to_row,
    texts=lambda document: document.sentences,
    example=_example,
    task="detect",
    command="python -m eval detect",
    ask="Let it look for the intruders",
)
