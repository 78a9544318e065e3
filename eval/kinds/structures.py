"""Documents with their sections and paragraphs: the table kind ``structures``.

What Chen, Chu and Gimpel 2019, section 4, let a sentence encoder learn from: the sentences around a
sentence, its place, how deep its section lies, and the titles above it. A row is a whole document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A section without those below it.

    Attributes:
        title: its heading; empty for text that stands in front of all headings but the title.
        level: its depth: 1 under the document's title alone, one more a heading below it.
        paragraphs: the sentences of each.
    """

    title: str
    level: StrictInt
    paragraphs: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class StructuredDocument(Clustered):
    """A document with its title, which may be empty, and its sections in reading order."""

    item_id: RowName
    title: str
    sections: tuple[DocumentSection, ...]
    discourse_id: RowName
    corpus: RowName
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentences(self) -> Iterator[str]:
        """All of its sentences in reading order; headings are none."""
        for section in self.sections:
            for paragraph in section.paragraphs:
                yield from paragraph


def structured_document_from_row(row: Row) -> StructuredDocument:
    """A document from a row of a table."""
    document = row_held(row, STRUCTURES.columns, StructuredDocument)
    name = document.item_id
    for number, section in enumerate(document.sections):
        if section.level < 1:
            raise SuiteError(f"{name}: section {number}: level {section.level}; expected 1 or more")
        if not all(section.paragraphs):
            raise SuiteError(f"{name}: section {number} has an empty paragraph")
    if not all(map(str.strip, document.sentences)):
        raise SuiteError(f"{name}: a sentence is empty")
    if not any(document.sentences):
        raise SuiteError(f"{name}: no sentence; expected some")
    return document


def _length(row: Row) -> int:
    return sum(
        len(sentence)
        for section in row["sections"]
        for paragraph in section["paragraphs"]
        for sentence in paragraph
    )


def _example(rows: Sequence[Row]) -> Row:
    several = [row for row in rows if len(row["sections"]) > 1]
    return of_modest_length(several or rows, _length, MODEST)


STRUCTURES = TableKind(
    name="structures",
    row="a document with its title, sections, paragraphs and sentences.",
    columns={
        "item_id": Column("string", "unique in its config and split"),
        "title": Column("string", "the title of the document; empty if it has none"),
        "sections": Column(
            [{"title": "string", "level": "int32", "paragraphs": [["string"]]}],
            "the sections in reading order, each without its subsections: its heading (empty "
            "before the first heading), its level (1 directly under the document's title), and "
            "its paragraphs as lists of sentences",
        ),
        **ORIGIN,
    },
    mark="sections",
    from_row=structured_document_from_row,
    to_row=to_row,
    texts=lambda document: document.sentences,
    example=_example,
    task="criteria",
    command="coherencegym train encoder",
    ask="Train a sentence encoder on it",
    learns=True,
)
