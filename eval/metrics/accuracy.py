"""The mean of values from 0 to 1: the share of units that are right, or of their parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any, ClassVar

from coherencegym.eval.metrics.metric import Metric, difference_of, over
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics import estimators
from coherencegym.eval.statistics.estimate import Estimate, PairedDifference
from coherencegym.eval.statistics.intervals import macro_interval
from coherencegym.eval.statistics.paired import difference_interval, paired_test


class Accuracy(Metric):
    """A mean; its difference is tested by McNemar's test or by flips of signs."""

    estimator: ClassVar[str] = "accuracy"

    def value(self, cells: Cells) -> float | None:
        """The mean; None without units."""
        return math.fsum(cells.value) / len(cells) if len(cells) else None

    def estimate(self, cells: Cells) -> Estimate:
        """The mean, with the interval of a share over clusters."""
        return over(estimators.accuracy(cells.value, cells.cluster), cells)

    def mean(self, tables: Sequence[Cells]) -> Estimate:
        """The unweighted mean of the shares of tables, at least one, each with units.

        A cluster may be in several tables, and then adds to all of their shares at once.
        """
        found = macro_interval([(own.value, own.cluster) for own in tables])
        value = fmean(math.fsum(own.value) / len(own) for own in tables)
        return estimators.estimate_of(value, found, sum(map(len, tables)))

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> PairedDifference | None:
        """The difference of means."""
        left, right = self.value(before), self.value(after)
        if left is None or right is None:
            return None
        test = paired_test(before.value, after.value, before.cluster, seed)
        interval = difference_interval(after.value - before.value, before.cluster, test)
        return difference_of(right - left, interval, test)

    def rightness(self, cells: Cells) -> Any:
        """The values."""
        return cells.value

    def fault(self, cells: Cells) -> str:
        """Values that are no shares."""
        wrong = (cells.value < 0) | (cells.value > 1)
        return f"a value of {cells.value[wrong][0]:g}; expected 0 to 1" if wrong.any() else ""
