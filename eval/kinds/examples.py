"""Labelled texts: the table kind ``examples``, which classifiers of sentence vectors learn from.

Chen, Chu and Gimpel 2019 (DiscoEval), section 3. A row has slots, which is what a classifier gets
one vector each of, and a label. A slot is one segment of text, or several whose mean it is, such as
the elementary units of a subtree. Beside the columns defined here a dataset may have columns of its
own (``genre``, ``same_sentence``, ...), kept in ``extra``.
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
