"""Labelled texts: the table kind ``examples``, which classifiers of sentence vectors learn from.

Chen, Chu and Gimpel 2019 (DiscoEval), section 3. A row has slots, which is what a classifier gets
one vector each of, and a label. A slot is one segment of text, or several whose mean it is, such as
the elementary units of a subtree. Beside the columns defined here a dataset may have columns of its
own (``genre``, ``same_sentence``, ...), kept in ``extra``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import StrictInt

from coherencegym.eval.kinds.items import Item, Prediction
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
class Contrast:
    """A prediction between two conditions: the incoherent one is the more surprising.

    Several conditions on a side are added up: with two contexts and two targets, the targets in
    each other's contexts are together more surprising than in their own, which is an interaction.
    ``region`` is a region number or ``*`` for the whole text; with ``last`` it is the sum of the
    regions from one number to the other that is compared.
    """

    incoherent: str | tuple[str, ...]
    coherent: str | tuple[str, ...]
    region: int | str
    metric: str = "mean"
    groups: tuple[str, ...] = ()
    last: int = 0

    @property
    def formula(self) -> str:
        """The prediction in SyntaxGym's formula language."""
        return f"{self._value(self.worse)} > {self._value(self.better)}"

    @property
    def worse(self) -> tuple[str, ...]:
        """The conditions predicted to be the more surprising."""
        return (self.incoherent,) if isinstance(self.incoherent, str) else self.incoherent

    @property
    def better(self) -> tuple[str, ...]:
        """The conditions predicted to be the less surprising."""
        return (self.coherent,) if isinstance(self.coherent, str) else self.coherent

    @property
    def regions(self) -> Sequence[int | str]:
        """The regions that are compared."""
        return range(int(self.region), self.last + 1) if self.last else [self.region]

    def _value(self, conditions: Sequence[str]) -> str:
        return " + ".join(f"({r};%{name}%)" for name in conditions for r in self.regions)

    @property
    def prediction(self) -> Prediction:
        """The prediction as a row carries it."""
        return Prediction(self.formula, self.metric, self.groups)


@dataclass(frozen=True)
class GeneratedItem:
    """An item, the contrasts behind its predictions, and what a partial-input classifier may see.

    ``views`` maps a condition to the texts that the classifier gets of it, one bag of words each;
    ``language`` (ISO 639-1) is that of the texts, and ``words`` are those of its corpus, where its
    script has no spaces.
    """

    item: Item
    contrasts: tuple[Contrast, ...]
    views: Mapping[str, tuple[str, ...]]
    language: str = "en"
    words: frozenset[str] = frozenset()


#: Says how incoherent a condition (its name) looks where a contrast compares it.
Incoherence = Callable[[str, Contrast], float]


#: The place of a slot that does not stand in the text.
NO_PLACE = -1


@dataclass(frozen=True)
class Slot:
    """An input of the classifier: the mean of the vectors of its segments."""

    segments: tuple[str, ...]


@dataclass(frozen=True)
class LabelledExample(Clustered):
    """An example with its label.

    Attributes:
        slots: the inputs, in the order in which the classifier gets them.
        text: the units of the text in which they stand, in reading order, for vectors in context;
            one space is put between them.
        places: the unit of ``text`` that each slot is, or :data:`NO_PLACE`.
        label: the right answer.
        also: other answers that are right too, such as the second sense of a relation.
    """

    item_id: RowName
    slots: tuple[Slot, ...]
    text: tuple[str, ...]
    places: tuple[StrictInt, ...]
    label: RowName
    discourse_id: RowName
    corpus: RowName
    also: tuple[RowName, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def segments(self) -> Iterator[str]:
        """The segments of all slots, in their order."""
        return (segment for slot in self.slots for segment in slot.segments)


def example_from_row(row: Row) -> LabelledExample:
    """An example from a row of a table."""
    example = row_held(row, EXAMPLES.columns, LabelledExample)
    validate_example(example)
    return example


def validate_example(example: LabelledExample) -> None:
    """Check what every reader of examples relies on."""
    name, slots, units = example.item_id, len(example.slots), len(example.text)
    if not slots:
        raise SuiteError(f"{name}: no slot; expected at least 1")
    for number, slot in enumerate(example.slots):
        if not slot.segments or not all(segment.strip() for segment in slot.segments):
            raise SuiteError(f"{name}: slot {number} is empty, or a segment of it")
    for number, unit in enumerate(example.text):
        if not unit.strip():
            raise SuiteError(f"{name}: unit {number} of the text is empty")
    if len(example.places) != slots:
        raise SuiteError(f"{name}: {len(example.places)} places of {slots} slots; expected as many")
    for place in example.places:
        if place not in (NO_PLACE, *range(units)):
            raise SuiteError(f"{name}: place {place}; expected -1, or 0 to {units - 1}")
    labels = (example.label, *example.also)
    if not all(labels) or len(set(labels)) < len(labels):
        raise SuiteError(f"{name}: labels {labels}; expected distinct ones, none of them empty")


def _length(row: Row) -> int:
    return sum(len(segment) for slot in row["slots"] for segment in slot["segments"])


def _example(rows: Sequence[Row]) -> Row:
    return of_modest_length(rows, _length, MODEST)


EXAMPLES = TableKind(
    name="examples",
    row="one or more text segments, and the label that a classifier of their vectors learns.",
    columns={
        "item_id": Column("string", "unique in its config and split"),
        "slots": Column(
            [{"segments": ["string"]}],
            "the classifier's input: one vector per slot, the mean over its segments",
        ),
        "text": Column(["string"], "the text that contains the segments, in reading order"),
        "places": Column(
            ["int32"], "for each slot, its position (from 0) in `text`; -1 if it has none"
        ),
        "label": Column("string", "the right answer"),
        **ORIGIN,
        "also": Column(["string"], "other right answers"),
    },
    mark="slots",
    from_row=example_from_row,
    to_row=to_row,
    texts=lambda example: (*example.segments, *example.text),
    example=_example,
    labels=("label", "also"),
    task="probe",
    command="coherencegym probe",
    ask="Probe which of a model's layers encode the label",
)
