"""Spearman's rank correlation of values with targets: as it is, partial, and within clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from coherencegym.eval.metrics.metric import Metric, difference_of, over
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics.correlation import (
    RankCorrelation,
    correlation,
    correlation_within,
    correlations_difference,
)
from coherencegym.eval.statistics.effective_size import cluster_ids, effective_sample_size
from coherencegym.eval.statistics.estimate import Estimate, PairedDifference
from coherencegym.eval.statistics.estimators import estimate_of


class Spearman(Metric):
    """The coefficient over all units."""

    estimator: ClassVar[str] = "spearman"
    chance: ClassVar[float | None] = 0.0
    is_signed: ClassVar[bool] = True

    def found(self, cells: Cells) -> RankCorrelation | None:
        """The coefficient with what each cluster adds; None where it is not defined."""
        return correlation(cells.value, cells.target, cells.cluster) if len(cells) else None

    def value(self, cells: Cells) -> float | None:
        """The coefficient; None with fewer than three units, or where a side does not vary."""
        found = self.found(cells)
        return None if found is None else found.value

    def estimate(self, cells: Cells) -> Estimate:
        """The coefficient, with its interval over clusters."""
        found = self.found(cells)
        if found is None:
            return over(Estimate(None, None, None, "", len(cells)), cells)
        return over(estimate_of(found.value, found.interval, len(cells)), cells)

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
        return replace(estimate_of(value, interval, int(ends[-1])), clusters=number)

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> PairedDifference | None:
        """The difference of two coefficients over the same clusters."""
        left, right = self.found(before), self.found(after)
        if left is None or right is None:
            return None
        value, interval, test = correlations_difference(left, right)
        return difference_of(value, interval, test)

    def fault(self, cells: Cells) -> str:
        """Units without a target."""
        import numpy as np

        return "target; expected a number" if np.isnan(cells.target).any() else ""


class PartialSpearman(Spearman):
    """The coefficient with the ranks of what is given held constant."""

    estimator: ClassVar[str] = "partial spearman"

    def found(self, cells: Cells) -> RankCorrelation | None:
        """See :meth:`Spearman.found`."""
        if not len(cells):
            return None
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
        if not len(cells):
            return None
        return correlation_within(cells.value, cells.target, cells.cluster)
