"""The kinds of tables whose rows are texts with an answer each; other columns are ``extra``.

- ``ratings``: a text and how coherent people found it, on any scale on which more is better.
  Texts that were written to one prompt (a title, a question) are compared among themselves, too.
- ``structures``: a whole document, which a sentence encoder learns from (Chen, Chu and Gimpel 2019,
  section 4): the sentences around a sentence, its place, how deep its section lies, and the titles
  above it.
- ``documents``: a document as its sentences, and the place of the one that came from another
  document, if there is any (Shen et al. 2021, section 3).
- ``spans``: a text as its units, or several alternatives of one, the right answer for the whole,
  and the right answer for each of its spans, written down by whoever built it (Storks and Chai
  2021): who is right about a whole text should be right about each of its consecutive parts. Of
  *one text* the question is whether it has a property, such as entailing the hypothesis, or holding
  a sentence that does not belong there; answers are :data:`POSITIVE` and :data:`NEGATIVE`. Of *a
  choice* between ``alternatives`` of equally many units it is which is the better one; answers are
  their numbers from 0, and :data:`UNDECIDED` where a span is as good in any.
- ``examples``: slots, of each of which a classifier gets one vector, and a label (Chen, Chu and
  Gimpel 2019, "DiscoEval", section 3). A slot is one segment of text, or several whose mean it is,
  such as the elementary units of a subtree.
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
    task="training",
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


NEGATIVE, POSITIVE = 0, 1
#: The answer for a span that is as good in any alternative.
UNDECIDED = -1


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """The right answer for the units from ``start`` to ``end``, both from 0 and both included."""

    start: StrictInt
    end: StrictInt
    answer: StrictInt


@dataclass(frozen=True)
class SpanText(Clustered):
    """A text, or alternatives of one, with the right answers for its spans.

    ``evidence`` are units from first to last; any one of several suffices. In ``gold`` each span
    stands once, the whole among them.
    """

    item_id: RowName = field(metadata=ROW_ID)
    units: tuple[str, ...] = field(
        metadata=column(["string"], "the units of the text, in order; empty for a choice")
    )
    speakers: tuple[str, ...] = field(
        metadata=column(["string"], "the speaker of each unit; empty if the text names no speaker")
    )
    hypothesis: str = field(
        metadata=column("string", "the hypothesis of the question; empty without one")
    )
    alternatives: tuple[tuple[str, ...], ...] = field(
        metadata=column(
            [["string"]], "the texts to choose from; empty for a question about one text"
        )
    )
    label: StrictInt = field(
        metadata=column(
            "int32",
            "the answer for the whole text: 1 or 0; for a choice, the better alternative (from 0)",
        )
    )
    evidence: tuple[tuple[StrictInt, StrictInt], ...] = field(
        metadata=column(
            [["int32"]], "the first and last unit of each part on which the answer rests"
        )
    )
    gold: tuple[GoldSpan, ...] = field(
        metadata=column(
            [{"start": "int32", "end": "int32", "answer": "int32"}],
            "the answer for each span of units; -1 if the alternatives are equally good on it",
        )
    )
    discourse_id: RowName = field(metadata=FROM_DISCOURSE)
    corpus: RowName = field(metadata=FROM_CORPUS)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of units of the text, or of each alternative."""
        return len(self.alternatives[0] if self.alternatives else self.units)

    @property
    def is_choice(self) -> bool:
        """It is a choice between alternatives."""
        return bool(self.alternatives)

    @property
    def texts(self) -> Iterator[str]:
        """All units, and the hypothesis where there is one."""
        yield from self.units
        for alternative in self.alternatives:
            yield from alternative
        if self.hypothesis:
            yield self.hypothesis


def _of_spans(value: SpanText) -> Iterator[str]:
    sizes = {len(alternative) for alternative in value.alternatives}
    if bool(value.units) == value.is_choice or 0 in sizes or len(value.alternatives) == 1:
        yield "expected either units, or two alternatives or more, none of them empty"
        return
    if len(sizes) > 1:
        yield f"alternatives of {min(sizes)} and of {max(sizes)} units; expected equally many"
    if value.is_choice and len({*value.alternatives}) == 1:
        yield "all alternatives have the same text; expected a difference"
    if not all(text.strip() for text in value.texts):
        yield "a unit is empty; expected text"
    if len(value.speakers) not in (0, value.size):
        yield f"{len(value.speakers)} speakers of {value.size} units; expected one each, or none"
    answers = range(len(value.alternatives)) if value.is_choice else (NEGATIVE, POSITIVE)
    if value.label not in answers:
        yield f"label {value.label}; expected {answers[0]} to {answers[-1]}"
    for first, last in value.evidence:
        if not 0 <= first <= last < value.size:
            yield f"evidence [{first}, {last}]; expected units from 0 to {value.size - 1}"
    seen: dict[tuple[int, int], int] = {}
    for one in value.gold:
        place = one.start, one.end
        if not 0 <= one.start <= one.end < value.size:
            yield f"span {[*place]}; expected units from 0 to {value.size - 1}"
        if place in seen:
            yield f"span {[*place]} stands twice; expected each once"
        if one.answer not in (*answers, *((UNDECIDED,) if value.is_choice else ())):
            yield f"answer {one.answer} for the span {[*place]}; expected one of the question's"
        seen[place] = one.answer
    if seen.get((0, value.size - 1)) != value.label:
        yield "the span of all units has another answer than the whole; expected the label"


SPANS = TableKind(
    name="spans",
    row=(
        "a text divided into units, or alternative versions of a text, with the right answer for "
        "each span."
    ),
    schema=SpanText,
    mark="gold",
    texts=lambda value: value.texts,
    problems=_of_spans,
    length=lambda row: sum(
        map(len, row["units"] or [unit for one in row["alternatives"] for unit in one])
    ),
    shown=lambda row: bool(row["evidence"]) and len(row["gold"]) > 1,
    task="spans",
    command="coherencegym spans",
    ask="Test whether a model is also right about the parts",
)


#: The place of a slot that does not stand in the text.
NO_PLACE = -1


@dataclass(frozen=True)
class Slot:
    """An input of the classifier: the mean of the vectors of its segments."""

    segments: tuple[str, ...]


@dataclass(frozen=True)
class LabelledExample(Clustered):
    """An example with its label.

    Units of ``text`` are joined by one space, for vectors in context. ``also`` are answers such as
    the second sense of a relation.
    """

    item_id: RowName = field(metadata=ROW_ID)
    slots: tuple[Slot, ...] = field(
        metadata=column(
            [{"segments": ["string"]}],
            "the classifier's input: one vector per slot, the mean over its segments",
        )
    )
    text: tuple[str, ...] = field(
        metadata=column(["string"], "the text that contains the segments, in reading order")
    )
    places: tuple[StrictInt, ...] = field(
        metadata=column(
            ["int32"], "for each slot, its position (from 0) in `text`; -1 if it has none"
        )
    )
    label: RowName = field(metadata=column("string", "the right answer"))
    discourse_id: RowName = field(metadata=FROM_DISCOURSE)
    corpus: RowName = field(metadata=FROM_CORPUS)
    also: tuple[RowName, ...] = field(
        default=(), metadata=column(["string"], "other right answers")
    )
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def segments(self) -> Iterator[str]:
        """The segments of all slots, in their order."""
        return (segment for slot in self.slots for segment in slot.segments)


def _of_examples(example: LabelledExample) -> Iterator[str]:
    slots, units = len(example.slots), len(example.text)
    if not slots:
        yield "no slot; expected at least 1"
    for number, slot in enumerate(example.slots):
        if not slot.segments or not all(segment.strip() for segment in slot.segments):
            yield f"slot {number} is empty, or a segment of it"
    for number, unit in enumerate(example.text):
        if not unit.strip():
            yield f"unit {number} of the text is empty"
    if len(example.places) != slots:
        yield f"{len(example.places)} places of {slots} slots; expected as many"
    for place in example.places:
        if place not in (NO_PLACE, *range(units)):
            yield f"place {place}; expected -1, or 0 to {units - 1}"
    labels = (example.label, *example.also)
    if not all(labels) or len(set(labels)) < len(labels):
        yield f"labels {labels}; expected distinct ones, none of them empty"


EXAMPLES = TableKind(
    name="examples",
    row="one or more text segments, and the label that a classifier of their vectors learns.",
    schema=LabelledExample,
    mark="slots",
    texts=lambda example: (*example.segments, *example.text),
    problems=_of_examples,
    length=lambda row: sum(len(segment) for slot in row["slots"] for segment in slot["segments"]),
    labels=("label", "also"),
    task="probe",
    command="coherencegym probe",
    ask="Probe which of a model's layers encode the label",
)
