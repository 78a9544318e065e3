"""Documents in which one sentence may be an intruder: the table kind ``documents``.

Shen et al. 2021, section 3. A row is a document as its sentences, and the place of the one that
came from another document, if there is any. Beside the columns defined here a dataset may have
columns of its own (``replaced``, ``similarity``, ...), kept in ``extra``.

A row is a text and how coherent people found it, on any scale on which more is better. Texts that
were written to one prompt (a title, a question) are compared among themselves, too. Columns that
only one dataset has are kept in ``extra``.

What Chen, Chu and Gimpel 2019, section 4, let a sentence encoder learn from: the sentences around a
sentence, its place, how deep its section lies, and the titles above it. A row is a whole document.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import StrictInt

from coherencegym.eval.kinds.table_kind import (
    FAMILY,
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


@dataclass(frozen=True)
class RatedText(Clustered):
    """A text with its rating.

    Attributes:
        text: the text that was rated.
        rating: the mean of what people said, the higher the more coherent.
        ratings: the rating of each person, where that is known.
        prompt: the title or question that the text was written to; empty where none is known.
        overlap: the mean share of words that its neighbouring sentences have in common, a cosine;
            None where nobody counted.
    """

    item_id: RowName
    text: str
    rating: float
    ratings: tuple[float, ...]
    prompt: str
    discourse_id: RowName
    corpus: RowName
    overlap: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cluster(self) -> str:
        """The family, or else the prompt, or else the discourse."""
        return str(self.extra.get(FAMILY) or self.prompt or self.discourse_id)


def rated_text_from_row(row: Row) -> RatedText:
    """A rated text from a row of a table."""
    rated = row_held(row, RATINGS.columns, RatedText)
    if not rated.text.strip():
        raise SuiteError(f"{rated.item_id}: an empty text; expected one that was rated")
    if not all(map(math.isfinite, (rated.rating, *rated.ratings))):
        raise SuiteError(f"{rated.item_id}: a rating that is no number")
    if rated.ratings:
        mean = math.fsum(rated.ratings) / len(rated.ratings)
        if not math.isclose(mean, rated.rating, abs_tol=1e-6):
            raise SuiteError(
                f"{rated.item_id}: rating {rated.rating:g}; expected {mean:g}, the mean of ratings"
            )
    return rated


def _rating_example(rows: Sequence[Row]) -> Row:
    return of_modest_length(rows, lambda row: len(row["text"]), MODEST)


RATINGS = TableKind(
    name="ratings",
    row="a text with its coherence rating.",
    columns={
        "item_id": Column("string", "unique in its config and split"),
        "text": Column("string", "the text that was rated"),
        "rating": Column("float64", "the mean of the ratings; the higher, the more coherent"),
        "ratings": Column(
            ["float64"], "the rating of each rater; empty if the corpus has only the mean"
        ),
        "prompt": Column("string", "the prompt for which the text was written; empty if unknown"),
        **ORIGIN,
        "overlap": Column(
            "float64",
            "how much the text repeats words: the mean cosine of the content words of "
            "neighbouring sentences",
        ),
    },
    mark="rating",
    from_row=rated_text_from_row,
    to_row=to_row,
    texts=lambda rated: (rated.text,),
    example=_rating_example,
    task="correlate",
    command="coherencegym correlate",
    ask="Correlate a model's scores with the ratings",
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


def _structure_example(rows: Sequence[Row]) -> Row:
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
    example=_structure_example,
    task="criteria",
    command="coherencegym train encoder",
    ask="Train a sentence encoder on it",
    learns=True,
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
