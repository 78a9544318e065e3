"""The area under the ROC curve: how often a unit that is to be found is above one that is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from coherencegym.eval.metrics.metric import Metric, difference_of, over
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics import estimators
from coherencegym.eval.statistics.effective_size import Clusters, cluster_ids, effective_sample_size
from coherencegym.eval.statistics.estimate import Estimate, PairedDifference
from coherencegym.eval.statistics.intervals import interval_of


class AreaUnderCurve(Metric):
    """The area over all units, ties counting half; targets are 1 for units to be found."""

    estimator: ClassVar[str] = "auc"
    chance: ClassVar[float | None] = 0.5

    def value(self, cells: Cells) -> float | None:
        """The area; None where all units are of one kind."""
        truth = cells.target == 1
        found, others = cells.value[truth], cells.value[~truth]
        if not len(found) or not len(others):
            return None
        return float(estimators.above(found, others).mean() / len(others))

    def estimate(self, cells: Cells) -> Estimate:
        """The area, with its interval over clusters."""
        return over(estimators.area(cells.value, cells.target == 1, cells.cluster), cells)

    def mean(self, tables: Sequence[Cells]) -> Estimate:
        """The unweighted mean of the areas of tables.

        A cluster may be in several tables, and then adds to all of their areas at once.
        """
        import numpy as np

        if any(self.value(own) is None for own in tables):
            raise ValueError("an area under the curve needs units of both kinds")
        if len(tables) == 1:
            return self.estimate(tables[0])
        number, ids = cluster_ids(np.concatenate([own.cluster for own in tables]))
        ends = np.cumsum([len(own) for own in tables])
        found = [
            estimators.ranked(own.value, own.target == 1, of, number)
            for own, of in zip(tables, np.split(ids, ends[:-1]), strict=True)
        ]
        weights, totals, residuals = (
            np.mean([getattr(own, name) for _, own in found], axis=0)
            for name in ("weights", "totals", "residuals")
        )
        fewest = min(
            effective_sample_size(weights), len(found) * min(own.fewest for _, own in found)
        )
        most = len(found) ** 2 / math.fsum(1 / own.most for _, own in found)
        of_all = Clusters(weights, totals, residuals, fewest, max(fewest, most))
        value = math.fsum(area for area, _ in found) / len(found)
        mean = estimators.estimate_of(value, interval_of(of_all, number), int(ends[-1]))
        return replace(mean, clusters=number)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> PairedDifference | None:
        """The difference of areas, by DeLong's test."""
        left, right = self.value(before), self.value(after)
        if left is None or right is None:
            return None
        truths = before.target == 1
        found, test = estimators.ranks_difference(before.value, after.value, truths, before.cluster)
        return difference_of(right - left, found, test)

    def fault(self, cells: Cells) -> str:
        """Targets that are neither 0 nor 1."""
        wrong = (cells.target != 0) & (cells.target != 1)
        return "target; expected 0 or 1" if wrong.any() else ""
