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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import StrictInt

from coherencegym.eval.kinds.table_kind import (
    FAMILY,
    FROM_CORPUS,
    FROM_DISCOURSE,
    ROW_ID,
    Clustered,
    RowName,
    TableKind,
    column,
)


@dataclass(frozen=True)
class RatedText(Clustered):
    """A text with its rating; ``overlap`` is None where nobody counted."""

    item_id: RowName = field(metadata=ROW_ID)
    text: str = field(metadata=column("string", "the text that was rated"))
    rating: float = field(
        metadata=column("float64", "the mean of the ratings; the higher, the more coherent")
    )
    ratings: tuple[float, ...] = field(
        metadata=column(
            ["float64"], "the rating of each rater; empty if the corpus has only the mean"
        )
    )
    prompt: str = field(
        metadata=column("string", "the prompt for which the text was written; empty if unknown")
    )
    discourse_id: RowName = field(metadata=FROM_DISCOURSE)
    corpus: RowName = field(metadata=FROM_CORPUS)
    overlap: float | None = field(
        default=None,
        metadata=column(
            "float64",
            "how much the text repeats words: the mean cosine of the content words of "
            "neighbouring sentences",
        ),
    )
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cluster(self) -> str:
        """The family, or else the prompt, or else the discourse."""
        return str(self.extra.get(FAMILY) or self.prompt or self.discourse_id)


def _of_ratings(rated: RatedText) -> Iterator[str]:
    if not rated.text.strip():
        yield "an empty text; expected one that was rated"
    if not all(map(math.isfinite, (rated.rating, *rated.ratings))):
        yield "a rating that is no number"
    elif rated.ratings:
        mean = math.fsum(rated.ratings) / len(rated.ratings)
        if not math.isclose(mean, rated.rating, abs_tol=1e-6):
            yield f"rating {rated.rating:g}; expected {mean:g}, the mean of ratings"


RATINGS = TableKind(
    name="ratings",
    row="a text with its coherence rating.",
    schema=RatedText,
    mark="rating",
    texts=lambda rated: (rated.text,),
    problems=_of_ratings,
    length=lambda row: len(row["text"]),
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
    """A document with its title, and its sections in reading order."""

    item_id: RowName = field(metadata=ROW_ID)
    title: str = field(metadata=column("string", "the title of the document; empty if it has none"))
    sections: tuple[DocumentSection, ...] = field(
        metadata=column(
            [{"title": "string", "level": "int32", "paragraphs": [["string"]]}],
            "the sections in reading order, each without its subsections: its heading (empty "
            "before the first heading), its level (1 directly under the document's title), and "
            "its paragraphs as lists of sentences",
        )
    )
    discourse_id: RowName = field(metadata=FROM_DISCOURSE)
    corpus: RowName = field(metadata=FROM_CORPUS)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentences(self) -> Iterator[str]:
        """All of its sentences in reading order; headings are none."""
        for section in self.sections:
            for paragraph in section.paragraphs:
                yield from paragraph


def _of_structures(document: StructuredDocument) -> Iterator[str]:
    for number, section in enumerate(document.sections):
        if section.level < 1:
            yield f"section {number}: level {section.level}; expected 1 or more"
        if not all(section.paragraphs):
            yield f"section {number} has an empty paragraph"
    if not all(map(str.strip, document.sentences)):
        yield "a sentence is empty"
    if not any(document.sentences):
        yield "no sentence; expected some"


STRUCTURES = TableKind(
    name="structures",
    row="a document with its title, sections, paragraphs and sentences.",
    schema=StructuredDocument,
    mark="sections",
    texts=lambda document: document.sentences,
    problems=_of_structures,
    length=lambda row: sum(
        len(sentence)
        for section in row["sections"]
        for paragraph in section["paragraphs"]
        for sentence in paragraph
    ),
    shown=lambda row: len(row["sections"]) > 1,
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

    item_id: RowName = field(metadata=ROW_ID)
    sentences: tuple[str, ...] = field(
        metadata=column(["string"], "the sentences of the document, in reading order")
    )
    intruder_position: StrictInt = field(
        metadata=column(
            "int32",
            "position (from 0) of the intruder in the document; -1 if there is none, -2 if its "
            "position is unknown",
        )
    )
    discourse_id: RowName = field(metadata=FROM_DISCOURSE)
    corpus: RowName = field(metadata=FROM_CORPUS)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def intruded(self) -> bool:
        """One of its sentences is an intruder."""
        return self.intruder_position != NO_INTRUDER

    @property
    def located(self) -> bool:
        """Its intruder, if there is one, is in a place that is known."""
        return self.intruder_position != UNKNOWN_PLACE


def _of_documents(document: Document) -> Iterator[str]:
    number, position = len(document.sentences), document.intruder_position
    if number < 2:
        yield f"{number} sentences; expected at least 2"
    for place, sentence in enumerate(document.sentences):
        if not sentence.strip():
            yield f"sentence {place} is empty"
    if position not in (UNKNOWN_PLACE, NO_INTRUDER, *range(1, number)):
        yield f"intruder_position is {position}; expected -1, -2, or 1 to {number - 1}"


DOCUMENTS = TableKind(
    name="documents",
    row="a document divided into sentences, with the position of the intruder, if any.",
    schema=Document,
    mark="intruder_position",
    texts=lambda document: document.sentences,
    problems=_of_documents,
    length=lambda row: sum(map(len, row["sentences"])),
    shown=lambda row: bool(row["intruder_position"] > 0),
    task="detect",
    command="coherencegym detect",
    ask="Detect the intruders with a model",
)
