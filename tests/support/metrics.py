"""Metrics of units that no run has found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coherencegym.eval.outcomes.label_metrics import Ratio
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics.intervals import Estimate


def ratio_of(
    metric: Ratio, parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str]
) -> Estimate:
    """What a ratio of sums over documents comes to, each document in its cluster."""
    ids, none = np.arange(len(parts)), np.full(len(parts), np.nan)
    numbers = np.unique(clusters, return_inverse=True)[1]
    part, whole = (np.asarray(own, dtype=np.float64) for own in (parts, wholes))
    return metric.estimate(Cells(ids, ids, part, whole, none, none, numbers, {}))
