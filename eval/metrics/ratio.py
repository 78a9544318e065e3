"""A ratio of sums over units: precision, recall, F1, accuracy of parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from coherencegym.eval.metrics.metric import Metric, difference_of, over
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics import estimators
from coherencegym.eval.statistics.estimate import Estimate, PairedDifference
from coherencegym.eval.statistics.paired import approximate_randomisation


class Ratio(Metric):
    """The sum of values over that of weights; its difference is tested by approximate
    randomisation."""

    estimator: ClassVar[str] = "ratio"
    ratio: ClassVar[Callable[..., Estimate]] = staticmethod(estimators.ratio)

    def value(self, cells: Cells) -> float | None:
        """The ratio; None where weights are 0."""
        whole = math.fsum(cells.weight)
        return math.fsum(cells.value) / whole if whole else None

    def estimate(self, cells: Cells) -> Estimate:
        """The ratio, with its interval over clusters."""
        return over(self.ratio(cells.value, cells.weight, cells.cluster, len(cells)), cells)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> PairedDifference | None:
        """The difference of ratios."""
        left, right = self.value(before), self.value(after)
        if left is None or right is None:
            return None
        sides = (before.value, before.weight), (after.value, after.weight)
        test = approximate_randomisation(*sides, before.cluster, seed)
        found = estimators.ratio_difference(*sides, before.cluster, test.p)
        return difference_of(right - left, found, test)

    def rightness(self, cells: Cells) -> Any:
        """The share of each unit; of one without any part 1."""
        import numpy as np

        whole = np.where(cells.weight > 0, cells.weight, 1.0)
        return np.where(cells.weight > 0, cells.value / whole, 1.0)

    def fault(self, cells: Cells) -> str:
        """Values that are no part of their weight."""
        wrong = ~((cells.value >= 0) & (cells.value <= cells.weight))
        if not wrong.any():
            return ""
        place = int(wrong.argmax())
        return (
            f"a value of {cells.value[place]:g} of {cells.weight[place]:g}; expected a part of it"
        )


class F1(Ratio):
    """Twice the hits over those with all errors: each hit is counted twice, which its interval
    takes into account."""

    estimator: ClassVar[str] = "F1"
    ratio: ClassVar[Callable[..., Estimate]] = staticmethod(estimators.f1)
