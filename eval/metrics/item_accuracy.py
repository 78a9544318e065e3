"""The share of predictions that hold, where an item has one or several: the CD score."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from statistics import fmean
from typing import Any, ClassVar

from coherencegym.eval.metrics.accuracy import Accuracy
from coherencegym.eval.metrics.metric import Metric, over
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics.estimate import Estimate, PairedDifference
from coherencegym.eval.statistics.estimators import estimate_of
from coherencegym.eval.statistics.intervals import Interval, share_interval


class ItemMetric(Metric):
    """A mean over items, each of which has one outcome or several."""

    is_of_items: ClassVar[bool] = True

    def counted(self, cells: Cells) -> Cells:
        """The items; ``weight`` is the number of their outcomes."""
        return by_item(cells)

    def value(self, cells: Cells) -> float | None:
        """The mean; None without items."""
        return fmean(by_item(cells).value) if len(cells) else None

    def estimate(self, cells: Cells) -> Estimate:
        """The mean, with its interval over clusters."""
        return self.estimate_of(by_item(cells))

    def estimate_of(self, items: Cells) -> Estimate:
        """The same of items that :meth:`counted` gave."""
        if not len(items):
            return over(Estimate(None, None, None, "", 0), items)
        return over(estimate_of(fmean(items.value), self.interval(items), len(items)), items)

    @abstractmethod
    def interval(self, items: Cells) -> Interval | None:
        """The interval of the mean of one item or more; None where there is none."""


class ItemAccuracy(ItemMetric, Accuracy):
    """The value of an item is the share of its predictions that hold.

    The score of Beyer, Loáiciga and Schlangen (2021, section 3), who have one prediction an item.
    """

    estimator: ClassVar[str] = "accuracy of items"

    def interval(self, items: Cells) -> Interval:
        """That of a share."""
        return share_interval(items.value, items.cluster, items.weight, folds=items.folds)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> PairedDifference | None:
        """The difference of means over items."""
        return super().compare(by_item(before), by_item(after), seed)

    def rightness(self, cells: Cells) -> Any:
        """The share of each item."""
        return by_item(cells).value


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
