"""Labelled texts: the table kind ``examples``, which classifiers of sentence vectors learn from.

Chen, Chu and Gimpel 2019 (DiscoEval), section 3. A row has slots, which is what a classifier gets
one vector each of, and a label. A slot is one segment of text, or several whose mean it is, such as
the elementary units of a subtree. Beside the columns defined here a dataset may have columns of its
own (``genre``, ``same_sentence``, ...), kept in ``extra``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from pydantic import StrictInt

from coherencegym.eval.kinds.formula import (
    WHOLE,
    Comparison,
    RegionRef,
    coefficients_of,
    parse_formula,
)
from coherencegym.eval.kinds.items import Item, Prediction
from coherencegym.eval.kinds.table_kind import (
    FROM_CORPUS,
    FROM_DISCOURSE,
    ROW_ID,
    Clustered,
    RowName,
    TableKind,
    column,
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


def contrasts_of(item: Item) -> tuple[Contrast, ...]:
    """The contrasts that the predictions of an item stand for, in their order.

    Empty where a formula is none: an equality, a conjunction, or sides of different regions.
    """
    contrasts = [(one, _contrast(one.formula)) for one in item.predictions]
    found = [replace(own, metric=one.metric, groups=one.groups) for one, own in contrasts if own]
    return tuple(found) if len(found) == len(contrasts) else ()


@lru_cache(maxsize=4096)
def _contrast(formula: str) -> Contrast | None:
    tree = parse_formula(formula)
    if not isinstance(tree, Comparison) or tree.operator == "=":
        return None
    sign = 1 if tree.operator == ">" else -1
    regions: dict[int, dict[str, list[RegionRef]]] = {1: {}, -1: {}}
    for (region, condition), times in coefficients_of(tree).items():
        if abs(times) != 1:
            return None
        regions[times * sign].setdefault(condition, []).append(region)
    kinds = {tuple(sorted(own, key=str)) for side in regions.values() for own in side.values()}
    if len(kinds) != 1 or not all(regions.values()):
        return None
    first, *_, last = (*(kind := kinds.pop()), *kind)
    if len(kind) > 1 and (WHOLE in kind or int(last) - int(first) != len(kind) - 1):
        return None
    until = int(last) if len(kind) > 1 else 0
    return Contrast(tuple(regions[1]), tuple(regions[-1]), first, last=until)


def contrasted(item: Item) -> GeneratedItem:
    """An item with its contrasts; a bag of words sees of each condition what is compared last."""
    views = {
        condition.condition_name: (condition.regions[-1].content,) for condition in item.conditions
    }
    return GeneratedItem(item, contrasts_of(item), views)


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


def _problems(example: LabelledExample) -> Iterator[str]:
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
    problems=_problems,
    length=lambda row: sum(len(segment) for slot in row["slots"] for segment in slot["segments"]),
    labels=("label", "also"),
    task="probe",
    command="coherencegym probe",
    ask="Probe which of a model's layers encode the label",
)
