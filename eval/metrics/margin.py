"""The bits by which predictions hold."""

from __future__ import annotations

from statistics import fmean
from typing import ClassVar

from coherencegym.eval.metrics.item_accuracy import by_item
from coherencegym.eval.metrics.metric import Metric, over
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics.estimate import Estimate, PairedDifference
from coherencegym.eval.statistics.intervals import Interval, mean_interval, median_interval


class Margin(Metric):
    """The mean over items of bits; negative where predictions fail.

    No test suits margins, which are of any size.
    """

    estimator: ClassVar[str] = "mean margin"
    unit: ClassVar[str] = "bits"
    is_of_items: ClassVar[bool] = True
    is_compared: ClassVar[bool] = False

    def counted(self, cells: Cells) -> Cells:
        """The items."""
        return by_item(cells)

    def value(self, cells: Cells) -> float | None:
        """The mean; None without items."""
        return fmean(by_item(cells).value) if len(cells) else None

    def estimate(self, cells: Cells) -> Estimate:
        """The mean, with its interval where there is more than one cluster."""
        return self.estimate_of(by_item(cells))

    def estimate_of(self, items: Cells) -> Estimate:
        """The same of items that :meth:`counted` gave."""
        if not len(items):
            return over(Estimate(None, None, None, "", 0), items)
        found = mean_interval(items.value, items.cluster)
        return _estimate(fmean(items.value), found, items)

    def median_of(self, items: Cells) -> Estimate:
        """The median of items, with its interval where they are worth six or more."""
        import numpy as np

        found = median_interval(items.value, items.cluster)
        return _estimate(float(np.median(items.value)), found, items)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> PairedDifference | None:
        """None."""
        return None

    def fault(self, cells: Cells) -> str:
        """Nothing: all numbers are margins."""
        return ""


def _estimate(value: float, found: Interval | None, items: Cells) -> Estimate:
    n = len(items)
    if found is None:
        return over(Estimate(value, None, None, "", n), items)
    return over(Estimate(value, found.low, found.high, found.method, n), items)
