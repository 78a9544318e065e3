"""Metrics of labels and ratings: areas, F1 and correlations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from coherencegym.eval.outcomes.metric import Mean, Metric, over
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics import estimators
from coherencegym.eval.statistics.correlation import (
    RankCorrelation,
    correlation,
    correlation_within,
    correlations_difference,
)
from coherencegym.eval.statistics.effective_size import Clusters, cluster_ids, effective_sample_size
from coherencegym.eval.statistics.intervals import Estimate, Interval, interval_of, ratio_interval
from coherencegym.eval.statistics.paired import approximate_randomisation


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
        return Estimate(value, interval_of(of_all, number), int(ends[-1]), number)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> Estimate | None:
        """The difference of areas, by DeLong's test."""
        left, right = self.value(before), self.value(after)
        if left is None or right is None:
            return None
        truths = before.target == 1
        found = estimators.ranks_difference(before.value, after.value, truths, before.cluster)
        return replace(found, value=right - left)

    def fault(self, cells: Cells) -> str:
        """Targets that are neither 0 nor 1."""
        wrong = (cells.target != 0) & (cells.target != 1)
        return "target; expected 0 or 1" if wrong.any() else ""


class Ratio(Mean):
    """The sum of values over that of weights; its difference is tested by approximate
    randomisation."""

    estimator: ClassVar[str] = "ratio"

    def value(self, cells: Cells) -> float | None:
        """The ratio; None where weights are 0."""
        whole = math.fsum(cells.weight)
        return math.fsum(cells.value) / whole if whole else None

    def interval(self, cells: Cells) -> Interval:
        """That of a ratio of sums."""
        return ratio_interval(cells.value, cells.weight, cells.cluster, self.worth(cells))

    def worth(self, cells: Cells) -> float:
        """What the units are worth if all that is counted in them is independent."""
        return math.fsum(cells.weight)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> Estimate | None:
        """The difference of ratios."""
        left, right = self.value(before), self.value(after)
        if left is None or right is None:
            return None
        sides = (before.value, before.weight), (after.value, after.weight)
        test = approximate_randomisation(*sides, before.cluster, seed)
        found = estimators.ratio_difference(*sides, before.cluster, test.p)
        return replace(found, value=right - left, test=test)

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

    def worth(self, cells: Cells) -> float:
        """See :meth:`Ratio.worth`: each hit is counted twice."""
        whole = math.fsum(cells.weight)
        return whole**2 / (math.fsum(cells.value) + whole)


class Spearman(Metric):
    """The coefficient over all units."""

    estimator: ClassVar[str] = "spearman"
    chance: ClassVar[float | None] = 0.0
    is_signed: ClassVar[bool] = True

    def found(self, cells: Cells) -> RankCorrelation | None:
        """The coefficient with what each cluster adds; None where it is not defined."""
        return correlation(cells.value, cells.target, cells.cluster)

    def value(self, cells: Cells) -> float | None:
        """The coefficient; None with fewer than three units, or where a side does not vary."""
        found = self.found(cells)
        return None if found is None else found.value

    def estimate(self, cells: Cells) -> Estimate:
        """The coefficient, with its interval over clusters."""
        found = self.found(cells)
        if found is None:
            return over(Estimate(None, None, len(cells)), cells)
        return over(Estimate(found.value, found.interval, len(cells)), cells)

    def mean(self, tables: Sequence[Cells]) -> Estimate:
        """The unweighted mean of the coefficients of tables.

        A cluster may be in several tables, and then adds to all of their coefficients at once.
        """
        import numpy as np

        known = [one for own in tables if (one := self.found(own)) is not None]
        if not known or len(known) < len(tables):
            raise ValueError("a correlation needs units of which both sides vary")
        number, ids = cluster_ids(np.concatenate([own.cluster for own in tables]))
        ends = np.cumsum([len(own) for own in tables])
        added, weights = np.zeros(number), np.zeros(number)
        for one, of in zip(known, np.split(ids, ends[:-1]), strict=True):
            # What each cluster adds stands in the order of their names, as the numbers here do.
            added[np.unique(of)] += one.added / len(known)
            weights += np.bincount(of, minlength=number) / len(of) / len(known)
        value = math.fsum(one.value for one in known) / len(known)
        interval = RankCorrelation(value, added, effective_sample_size(weights)).interval
        return Estimate(value, interval, int(ends[-1]), number)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> Estimate | None:
        """The difference of two coefficients over the same clusters."""
        left, right = self.found(before), self.found(after)
        if left is None or right is None:
            return None
        value, interval, test = correlations_difference(left, right)
        return Estimate(value, interval, len(before), test=test)

    def fault(self, cells: Cells) -> str:
        """Units without a target."""
        import numpy as np

        return "target; expected a number" if np.isnan(cells.target).any() else ""


class PartialSpearman(Spearman):
    """The coefficient with the ranks of what is given held constant."""

    estimator: ClassVar[str] = "partial spearman"

    def found(self, cells: Cells) -> RankCorrelation | None:
        """See :meth:`Spearman.found`."""
        return correlation(cells.value, cells.target, cells.cluster, cells.given)

    def fault(self, cells: Cells) -> str:
        """Units without a target, or of which nothing is given."""
        import numpy as np

        missing = "given; expected a number" if np.isnan(cells.given).any() else ""
        return super().fault(cells) or missing


class SpearmanWithin(Spearman):
    """The coefficient of ranks within clusters."""

    estimator: ClassVar[str] = "spearman within clusters"

    def found(self, cells: Cells) -> RankCorrelation | None:
        """See :meth:`Spearman.found`."""
        return correlation_within(cells.value, cells.target, cells.cluster)
