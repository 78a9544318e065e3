"""Documents in which one sentence may be an intruder: the table kind ``documents``.

Shen et al. 2021, section 3. A row is a document as its sentences, and the place of the one that
came from another document, if there is any. Beside the columns defined here a dataset may have
columns of its own (``replaced``, ``similarity``, ...), kept in ``extra``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from coherencegym.eval.kinds.items import SuiteError

#: The columns that every table of kind ``documents`` has, in this order.
DOCUMENT_COLUMNS = ("item_id", "sentences", "intruder_position", "discourse_id", "corpus")

#: The position of a document without an intruder.
COHERENT = -1


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


def document_features(extra: Mapping[str, Any] | None = None) -> Any:
    """The ``datasets.Features`` of a table of documents.

    Args:
        extra: the dataset's own columns, as :func:`eval.kinds.items.features` takes them.
    """
    from datasets import Features, List, Value

    from coherencegym.eval.kinds.items import feature

    return Features(
        {
            "item_id": Value("string"),
            "sentences": List(Value("string")),
            "intruder_position": Value("int32"),
            "discourse_id": Value("string"),
            "corpus": Value("string"),
            **{name: feature(kind) for name, kind in (extra or {}).items()},
        }
    )
