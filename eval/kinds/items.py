"""The one definition of a test suite: items, conditions, regions, predictions.

The names and the meaning are SyntaxGym's (Gauthier et al. 2020, section 3), so that existing tools
and readers know them. An item is one row of a dataset of kind ``items``
(:mod:`eval.kinds.item_tables`); beside its columns a suite may have typed columns of its own
(``permutation``, ``sense``, ...), kept in ``extra``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.table_kind import FAMILY as FAMILY
from coherencegym.eval.kinds.table_kind import SEPARATOR as SEPARATOR
from coherencegym.eval.kinds.table_kind import SuiteError as SuiteError
from coherencegym.eval.kinds.table_kind import cluster
from coherencegym.files.strict_json import held

#: How the token surprisals (bits) of a region become its value.
METRICS = ("mean", "sum", "median", "range", "max", "min")

#: The columns that every table of kind ``items`` has, in this order.
ITEM_COLUMNS = (
    "item_id",
    "item_number",
    "conditions",
    "predictions",
    "discourse_id",
    "corpus",
    "edits",
)


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
        """Start and end (characters in ``content``) of each region, in order.

        Raises:
            SuiteError: the regions are not in the content in order, or anything but white space
                stands between or around them.
        """
        return self._region_offsets

    @cached_property
    def _region_offsets(self) -> tuple[tuple[int, int], ...]:
        # Once: what is read is checked, checked again when it is scored, and then encoded.
        offsets, position = [], 0
        for region in self.regions:
            start = position
            if region.content:
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
    """What an operator changed to make one condition, for cards and readers (see the builders)."""

    condition_name: str
    operator: str
    unit: int
    start: int
    before: str
    after: str
    source_discourse: str | None = None
    source_unit: int | None = None


@dataclass(frozen=True)
class Item:
    """One row of kind ``items``: a minimal pair, or a set of more than two conditions."""

    item_id: str
    item_number: int
    conditions: tuple[Condition, ...]
    predictions: tuple[Prediction, ...]
    discourse_id: str
    corpus: str
    edits: tuple[ItemEdit, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cluster(self) -> str:
        """What of all items counts as one in an interval: the family, or else the discourse."""
        return cluster(self.discourse_id, self.extra)

    def condition(self, name: str) -> Condition:
        """The condition of that name.

        Raises:
            KeyError: there is none.
        """
        for condition in self.conditions:
            if condition.condition_name == name:
                return condition
        raise KeyError(name)


def item_from_row(row: Mapping[str, Any]) -> Item:
    """An item from a row as datasets or pyarrow gives it.

    Raises:
        SuiteError: a column is missing or has another shape.
    """
    # What is there without the columns is the suite's own.
    known = {name: row[name] for name in ITEM_COLUMNS if name in row}
    extra = {name: value for name, value in row.items() if name not in known}
    try:
        return held({**known, "extra": extra}, Item)
    except EvaluationError as error:
        raise SuiteError(f"{row.get('item_id', 'row without item_id')}: {error}") from None


def item_to_row(item: Item) -> dict[str, Any]:
    """The row of an item: plain lists and dictionaries in the order of the columns."""
    return {
        "item_id": item.item_id,
        "item_number": item.item_number,
        "conditions": [
            {
                "condition_name": c.condition_name,
                "content": c.content,
                "regions": [
                    {"region_number": r.region_number, "content": r.content} for r in c.regions
                ],
            }
            for c in item.conditions
        ],
        "predictions": [
            {"formula": p.formula, "metric": p.metric, "groups": list(p.groups)}
            for p in item.predictions
        ],
        "discourse_id": item.discourse_id,
        "corpus": item.corpus,
        "edits": [
            {
                "condition_name": e.condition_name,
                "operator": e.operator,
                "unit": e.unit,
                "start": e.start,
                "before": e.before,
                "after": e.after,
                "source_discourse": e.source_discourse,
                "source_unit": e.source_unit,
            }
            for e in item.edits
        ],
        **item.extra,
    }


def validate_item(item: Item) -> None:
    """Check what does not depend on a formula: names, numbers, metrics, regions in their content.

    Raises:
        SuiteError: with the item's id, what is wrong and what was expected.
    """

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

    SyntaxGym strips white space on the left and forbids it on the right; both are stripped here.
    Punctuation gets the space as well: ``book`` and ``, the`` become ``book , the``.
    """
    return " ".join(filter(None, (content.strip() for content in contents)))
