"""The one definition of a test suite: items, conditions, regions, predictions.

The names and the meaning are SyntaxGym's (Gauthier et al. 2020, section 3), so that existing tools
and readers know them. An item is one row of the table kind ``items``; beside its columns a suite
may have typed columns of its own (``permutation``, ``sense``, ...), kept in ``extra``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.formula import (
    WHOLE,
    FormulaError,
    RegionRef,
    check_names,
    formula_error,
    read_of,
    values_of,
)
from coherencegym.eval.kinds.table_kind import FAMILY as FAMILY
from coherencegym.eval.kinds.table_kind import (
    ORIGIN,
    Clustered,
    Column,
    Row,
    TableKind,
    of_modest_length,
    row_held,
    to_row,
)
from coherencegym.eval.kinds.table_kind import SEPARATOR as SEPARATOR
from coherencegym.eval.kinds.table_kind import SuiteError as SuiteError

#: Ways in which the token surprisals (bits) of a region become its value.
METRICS = ("mean", "sum", "median", "range", "max", "min")

#: Characters that a condition of a card's example has at most, where there is such an item.
_MODEST = 450


@dataclass(frozen=True, slots=True)
class Region:
    """A numbered stretch of a condition's text."""

    region_number: int
    content: str


@dataclass(frozen=True)
class Condition:
    """One version of an item's text: ``content`` is exact, the regions stand in it in order."""

    condition_name: str
    content: str
    regions: tuple[Region, ...]

    def region_offsets(self) -> tuple[tuple[int, int], ...]:
        """Start and end (characters in ``content``) of each region, in order."""
        return self._region_offsets

    @cached_property
    def _region_offsets(self) -> tuple[tuple[int, int], ...]:
        # Once: what is read is checked, checked again when it is scored, and then encoded.
        offsets, position = [], 0
        for region in self.regions:
            start = position
            while self.content[start : start + 1].isspace() and not self.content.startswith(
                region.content, start
            ):
                start += 1
            if not self.content.startswith(region.content, start):
                raise SuiteError(
                    f"condition {self.condition_name!r}: region {region.region_number} "
                    f"({region.content[:40]!r}) is not in the content where region "
                    f"{region.region_number - 1} ends; expected only white space between regions"
                )
            position = start + len(region.content)
            offsets.append((start, position))
        if self.content[position:].strip():
            raise SuiteError(
                f"condition {self.condition_name!r}: text after the last region: "
                f"{self.content[position:][:40]!r}; expected the regions to cover the content"
            )
        return tuple(offsets)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A formula over region values that a coherence-sensitive model meets.

    ``groups`` are what scores are broken down by, the first being the row of the suite's table.
    """

    formula: str
    metric: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemEdit:
    """A change of an operator to make one condition, for cards and readers (see the builders)."""

    condition_name: str
    operator: str
    unit: int
    start: int
    before: str
    after: str
    source_discourse: str | None = None
    source_unit: int | None = None


@dataclass(frozen=True)
class Item(Clustered):
    """One row of kind ``items``: a minimal pair, or a set of more than two conditions."""

    item_id: str
    item_number: int
    conditions: tuple[Condition, ...]
    predictions: tuple[Prediction, ...]
    discourse_id: str
    corpus: str
    edits: tuple[ItemEdit, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def condition(self, name: str) -> Condition:
        """The condition of that name."""
        return {condition.condition_name: condition for condition in self.conditions}[name]

    def counts_in(self, group: str) -> bool:
        """Tell whether a score over a group of predictions counts it; empty: over all."""
        return not group or any(group in prediction.groups for prediction in self.predictions)


def item_from_row(row: Row) -> Item:
    """An item from a row as datasets or pyarrow gives it."""
    return row_held(row, ITEMS.columns, Item)


def validate_item(item: Item) -> None:
    """Check what does not depend on a formula: names, numbers, metrics, regions in content."""

    def fail(what: str) -> SuiteError:
        return SuiteError(f"{item.item_id}: {what}")

    if not item.item_id:
        raise fail("the item_id is empty")
    names = [condition.condition_name for condition in item.conditions]
    if not names or len(set(names)) != len(names):
        raise fail(f"condition names {names}; expected at least one, each once")
    if not item.predictions:
        raise fail("no prediction; expected at least one")
    numbers = {tuple(r.region_number for r in c.regions) for c in item.conditions}
    if len(numbers) != 1:
        raise fail("conditions have different region numbers; expected the same in each")
    (numbering,) = numbers
    if numbering != tuple(range(1, len(numbering) + 1)) or not numbering:
        raise fail(f"region numbers {list(numbering)}; expected 1, 2, ... in order")
    for prediction in item.predictions:
        if prediction.metric not in METRICS:
            raise fail(f"metric {prediction.metric!r}; expected one of {', '.join(METRICS)}")
    for condition in item.conditions:
        try:
            condition.region_offsets()
        except SuiteError as error:
            raise fail(str(error)) from None


def join_regions(contents: Iterable[str]) -> str:
    """A text from region contents, as SyntaxGym joins them: one space, none for an empty region.

    White space around them is stripped. Punctuation gets the space too: ``book , the``.
    """
    return " ".join(filter(None, (content.strip() for content in contents)))


def joined_condition(name: str, regions: Iterable[Region]) -> Condition:
    """A condition whose text is its regions, joined as SyntaxGym joins them."""
    stripped = tuple(Region(r.region_number, r.content.strip()) for r in regions)
    return Condition(name, join_regions(region.content for region in stripped), stripped)


def check_predictions(item: Item) -> None:
    """Hold an item's formulas to its conditions and regions."""
    numbers = [region.region_number for region in item.conditions[0].regions]
    names = [condition.condition_name for condition in item.conditions]
    full: set[tuple[RegionRef, str]] = {
        (reference, condition.condition_name)
        for condition in item.conditions
        for region in condition.regions
        if region.content.strip()
        for reference in (region.region_number, WHOLE)
    }
    for prediction in item.predictions:
        try:
            check_names(prediction.formula, numbers, names)
            for value in values_of(prediction.formula):
                if prediction.metric != "sum" and (value.region, value.condition) not in full:
                    what = (
                        f"region {value.region} of condition {value.condition!r} is empty and has "
                        f"no {prediction.metric}; expected a region with text, or the metric sum"
                    )
                    raise formula_error(prediction.formula, value.position, what)
        except FormulaError as error:
            raise EvaluationError(f"{item.item_id}: {error}") from None


def read_by(item: Item) -> dict[str, set[RegionRef]]:
    """The regions that the predictions of a checked item read, by condition."""
    read: dict[str, set[RegionRef]] = {}
    for prediction in item.predictions:
        for region, name in read_of(prediction.formula):
            read.setdefault(name, set()).add(region)
    return read


def read_item(row: Row | Item) -> Item:
    """An item whose regions stand in its texts and whose formulas can be read."""
    item = row if isinstance(row, Item) else item_from_row(row)
    validate_item(item)
    check_predictions(item)
    return item


def _example(rows: Sequence[Row]) -> Row:
    return of_modest_length(
        rows, lambda row: max(len(each["content"]) for each in row["conditions"]), _MODEST
    )


_REGION = {"region_number": "int32", "content": "string"}
_CONDITION = {"condition_name": "string", "content": "string", "regions": [_REGION]}
_PREDICTION = {"formula": "string", "metric": "string", "groups": ["string"]}
_NUMBERS = ("unit", "start", "source_unit")
_EDIT = {f.name: "int32" if f.name in _NUMBERS else "string" for f in fields(ItemEdit)}

ITEMS = TableKind(
    name="items",
    row="an item: two or more versions of one text (conditions), cut into numbered regions, and "
    "one or more predictions about them. A prediction is met if the model's surprisal (bits) is "
    "higher in the region of the incoherent condition, as its formula says. The share of items "
    "whose prediction is met is the CD score (Beyer et al. 2021); chance is 50 %.",
    columns={
        "item_id": Column("string", "`<discourse id>/<variant>`, unique in its config and split"),
        "item_number": Column("int32", "the number of the item, from 1"),
        "conditions": Column(
            [_CONDITION],
            "`condition_name`, `content` (the exact text), `regions` (`region_number`, `content`)",
        ),
        "predictions": Column(
            [_PREDICTION], "`formula` (SyntaxGym's language), `metric`, `groups`"
        ),
        **ORIGIN,
        "edits": Column(
            [_EDIT], "what was changed, in which condition, and the text before the change"
        ),
    },
    mark="predictions",
    from_row=read_item,
    to_row=to_row,
    texts=lambda item: (condition.content for condition in item.conditions),
    example=_example,
    task="score",
    command="coherencegym score",
    ask="Score a causal language model on it",
)
