"""The bits by which predictions hold."""

from __future__ import annotations

from typing import ClassVar

from coherencegym.eval.metrics.item_accuracy import ItemMetric
from coherencegym.eval.metrics.metric import over
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics.estimate import Estimate, PairedDifference
from coherencegym.eval.statistics.estimators import estimate_of
from coherencegym.eval.statistics.intervals import Interval, mean_interval, median_interval


class Margin(ItemMetric):
    """The bits are negative where predictions fail.

    No test suits margins, which are of any size.
    """

    estimator: ClassVar[str] = "mean margin"
    unit: ClassVar[str] = "bits"
    is_compared: ClassVar[bool] = False

    def interval(self, items: Cells) -> Interval | None:
        """That of a mean, where there is more than one cluster."""
        return mean_interval(items.value, items.cluster)

    def median_of(self, items: Cells) -> Estimate:
        """The median of items, with its interval where they are worth six or more."""
        import numpy as np

        found = median_interval(items.value, items.cluster)
        return over(estimate_of(float(np.median(items.value)), found, len(items)), items)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> PairedDifference | None:
        """None."""
        return None

    def fault(self, cells: Cells) -> str:
        """Nothing: all numbers are margins."""
        return ""
