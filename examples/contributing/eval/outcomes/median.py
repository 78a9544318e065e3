"""The median of values from 0 to 1, such as the share of a text that a model has read."""

from __future__ import annotations

from typing import ClassVar

from coherencegym.eval.outcomes.metrics import Accuracy, over
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics.estimators import Estimate, PairedDifference
from coherencegym.eval.statistics.intervals import median_interval


class Median(Accuracy):
    """The median, with an interval over clusters and without a test of differences."""

    estimator: ClassVar[str] = "median"
    is_compared: ClassVar[bool] = False

    def value(self, cells: Cells) -> float | None:
        """The median; None without units."""
        import numpy as np

        return float(np.median(cells.value)) if len(cells) else None

    def estimate(self, cells: Cells) -> Estimate:
        """The median, without an interval if the effective sample size is below six."""
        found = median_interval(cells.value, cells.cluster) if len(cells) else None
        limits = (found.low, found.high, found.method) if found else (None, None, "")
        return over(Estimate(self.value(cells), *limits, len(cells)), cells)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> PairedDifference | None:
        """None: there is no test of a difference."""
        return None
