"""Metrics: what the outcomes of a system come to, and how two systems differ.

Every number of a run is an estimate of one metric and system, of all units of a table or a group.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.label_metrics import (
    F1,
    AreaUnderCurve,
    PartialSpearman,
    Ratio,
    Spearman,
    SpearmanWithin,
)
from coherencegym.eval.outcomes.metric import Mean, Metric
from coherencegym.eval.outcomes.tables import Cells, join_cells
from coherencegym.eval.statistics.balance import weighted_interval
from coherencegym.eval.statistics.intervals import Estimate, Interval, mean_interval, share_interval
from coherencegym.eval.statistics.paired import (
    difference_interval,
    paired_test,
    weighted_difference,
)


class Accuracy(Mean):
    """A share; its difference is tested by McNemar's test or by flips of signs."""

    estimator: ClassVar[str] = "accuracy"

    def interval(self, cells: Cells) -> Interval:
        """That of a share."""
        return share_interval(cells.value, cells.cluster)

    def mean(self, tables: Sequence[Cells]) -> Estimate:
        """The unweighted mean of the shares of tables, at least one, each with units.

        A cluster may be in several tables, and then adds to all of their shares at once.
        """
        return self.estimate(tables[0]) if len(tables) == 1 else weighted(pooled(tables, True))

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> Estimate | None:
        """The difference of means."""
        left, right = self.value(before), self.value(after)
        if left is None or right is None:
            return None
        test = paired_test(before.value, after.value, before.cluster, seed)
        interval = difference_interval(after.value - before.value, before.cluster, test)
        return Estimate(right - left, interval, len(before), test=test)

    def compare_means(
        self, before: Sequence[Cells], after: Sequence[Cells], seed: int = 0
    ) -> Estimate | None:
        """The difference of unweighted means over tables of the same units, in the same order."""
        if len(before) == 1:
            return self.compare(before[0], after[0], seed)
        return weighted_change(pooled(before, True), pooled(after, True), seed)

    def rightness(self, cells: Cells) -> Any:
        """The values."""
        return cells.value

    def fault(self, cells: Cells) -> str:
        """Values that are no shares."""
        wrong = (cells.value < 0) | (cells.value > 1)
        return f"a value of {cells.value[wrong][0]:g}; expected 0 to 1" if wrong.any() else ""


class ItemAccuracy(Accuracy):
    """The value of an item is the share of its predictions that hold.

    The score of Beyer, Loáiciga and Schlangen (2021, section 3), who have one prediction an item.
    """

    estimator: ClassVar[str] = "accuracy of items"
    is_of_items: ClassVar[bool] = True

    def counted(self, cells: Cells) -> Cells:
        """The items; ``weight`` is the number of their outcomes."""
        return by_item(cells)

    def interval(self, cells: Cells) -> Interval:
        """That of a share."""
        return share_interval(cells.value, cells.cluster, cells.weight)


class WeightedAccuracy(ItemAccuracy):
    """Accuracy of items by balance weights, under which no counted cue tells the coherent side.

    Outcomes have their item's weight (:mod:`eval.statistics.balance`), of whatever size: an item
    without a value drops out, and the others have all the weight.
    """

    estimator: ClassVar[str] = "weighted accuracy of items"

    def counted(self, cells: Cells) -> Cells:
        """The items, with their weights."""
        weights = by_item(replace(cells, value=cells.weight)).value
        return replace(by_item(cells), weight=weights)

    def value(self, cells: Cells) -> float | None:
        """The weighted mean; None without items."""
        if not len(cells):
            return None
        return math.fsum(cells.value * cells.weight) / math.fsum(cells.weight)

    def interval(self, cells: Cells) -> Interval:
        """Wilson's on the effective number of items."""
        return weighted_interval(cells.value, cells.weight, cells.cluster)

    def mean(self, tables: Sequence[Cells]) -> Estimate:
        """The unweighted mean over tables of weighted items."""
        return weighted(pooled(tables))

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> Estimate | None:
        """The difference of weighted means, by the weights of the first."""
        return weighted_change(before, after, seed) if len(before) else None

    def compare_means(
        self, before: Sequence[Cells], after: Sequence[Cells], seed: int = 0
    ) -> Estimate:
        """The difference of weighted means over tables, by the weights of the first."""
        return weighted_change(pooled(before), pooled(after), seed)

    def fault(self, cells: Cells) -> str:
        """Values that are no shares, and weights that are none."""
        wrong = ~((cells.weight > 0) & (cells.weight < math.inf))
        weights = f"a weight of {cells.weight[wrong][0]:g}; expected above 0" if wrong.any() else ""
        return super().fault(cells) or weights


def pooled(tables: Sequence[Cells], equal: bool = False) -> Cells:
    """The units of all tables: each table has as much weight as any other.

    Inside it is by the units' own weights, or where ``equal`` the same for all of them.
    """
    import numpy as np

    weights = [np.ones(len(own)) if equal else own.weight for own in tables]
    return replace(join_cells(tables), weight=np.concatenate([own / own.sum() for own in weights]))


def weighted(units: Cells) -> Estimate:
    """The weighted mean of units, with its interval over clusters."""
    return WeightedAccuracy("").estimate(units)


def weighted_change(before: Cells, after: Cells, seed: int) -> Estimate:
    """The weighted mean of the second less that of the first, by the weights of the first."""
    change = after.value - before.value
    return weighted_difference(change, before.weight, before.cluster, seed)


def by_item(cells: Cells) -> Cells:
    """The mean of the outcomes of each item, whose number is its ``weight``."""
    import numpy as np

    items = cells.item
    if (items[1:] < items[:-1]).any():
        cells = cells.take(np.argsort(items, kind="stable"))
        items = cells.item
    starts = np.flatnonzero(np.diff(items, prepend=np.int32(-1))).astype(np.int32)
    counts = np.diff(starts, append=np.int32(len(items)))
    values = cells.value
    if len(starts) < len(items):
        means = values[starts]
        for place in np.flatnonzero(counts > 1):
            own = values[starts[place] : starts[place] + counts[place]]
            means[place] = math.fsum(own) / len(own)
        cells, values = cells.take(starts), means
    return replace(cells, value=values, weight=counts)


class Margin(Mean):
    """The bits are negative where predictions fail.

    No test suits margins, which are of any size.
    """

    estimator: ClassVar[str] = "mean margin"
    unit: ClassVar[str] = "bits"
    is_of_items: ClassVar[bool] = True
    is_compared: ClassVar[bool] = False

    def counted(self, cells: Cells) -> Cells:
        """The items; ``weight`` is the number of their outcomes."""
        return by_item(cells)

    def interval(self, cells: Cells) -> Interval | None:
        """That of a mean, where there is more than one cluster."""
        return mean_interval(cells.value, cells.cluster)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> Estimate | None:
        """None."""
        return None

    def fault(self, cells: Cells) -> str:
        """Nothing: all numbers are margins."""
        return ""


#: The kinds of metrics by their estimators: a new one is one line here.
KINDS: Mapping[str, type[Metric]] = {
    kind.estimator: kind
    for kind in (
        *(Accuracy, ItemAccuracy, WeightedAccuracy, Margin, Ratio, F1, AreaUnderCurve),
        *(Spearman, PartialSpearman, SpearmanWithin),
    )
}


#: The level and the group of a row (:class:`eval.statistics.scores.ScoreRow`), and its places.
RowPlaces = tuple[str, str, Any]


def described_metrics(metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """Metrics as ``results.json`` has them."""
    return [{**asdict(metric), "estimator": metric.estimator} for metric in metrics]


@dataclass(frozen=True)
class SavedMetric:
    """A metric as ``results.json`` has it."""

    name: str
    label: str
    by_group: bool
    estimator: str


def known_metrics(saved: Sequence[SavedMetric], where: str) -> dict[str, Metric]:
    """The metrics by their names, from how they were described."""
    found = {}
    for one in saved:
        if one.estimator not in KINDS:
            raise EvaluationError(
                f"{where}: metric {one.name!r}: estimator {one.estimator!r}; expected one of "
                f"{', '.join(KINDS)}"
            )
        found[one.name] = KINDS[one.estimator](one.name, one.label, one.by_group)
    return found
