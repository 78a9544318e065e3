"""Intervals of means, medians and differences of means of items that may share a discourse.

A mean's is Student's with residuals and degrees of freedom over clusters (Bell and McCaffrey 2002;
Cameron and Miller 2015, "A practitioner's guide to cluster-robust inference", section VI), that of
a median is between order statistics, as many from the ends as a share of one half among so many
items as the clusters are worth leaves out (Woodruff 1952, "Confidence intervals for medians and
other position measures", JASA 47).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from coherencegym.eval.statistics.effective_size import (
    TAIL,
    adjusted,
    clustered,
    owners,
    quantile_of_t,
    worth,
)
from coherencegym.eval.statistics.intervals import Interval

#: Clusters of such different sizes are worth less than this, which is as good as one.
_FEWEST = 1.5

#: Values (one for each item), and the cluster of each.
Sample = tuple[Sequence[float], Sequence[str]]


def mean_interval(values: Sequence[float], clusters: Sequence[str]) -> Interval | None:
    """The interval of the mean of one number for each item; None of one cluster (``t``).

    Raises:
        ValueError: there is no item.
    """
    if not len(values):
        raise ValueError("an interval needs at least one item")
    n_clusters, owner = owners(clusters)
    mean, residuals, size = _about_the_mean(values, owner, n_clusters)
    if size < _FEWEST:
        return None
    half = quantile_of_t(size - 1) * math.sqrt(float(residuals @ residuals))
    return Interval(mean - half, mean + half, "t")


def difference_of_means(sample: Sample, control: Sample) -> Interval | None:
    """The interval of the mean of a sample minus that of another; None where either is one cluster.

    Welch's (1947), as the samples may vary differently; a cluster that is in both adds to both
    means at once.

    Raises:
        ValueError: a sample without items.
    """
    if not len(sample[0]) or not len(control[0]):
        raise ValueError("a difference needs at least one item on each side")
    n_clusters, owner = owners([*sample[1], *control[1]])
    here, there = (
        _about_the_mean(values, own, n_clusters)
        for values, own in (
            (sample[0], owner[: len(sample[0])]),
            (control[0], owner[len(sample[0]) :]),
        )
    )
    if min(here[2], there[2]) < _FEWEST:
        return None
    left, right = (float(residuals @ residuals) for _, residuals, _ in (here, there))
    both = here[1] - there[1]
    parts = left**2 / (here[2] - 1) + right**2 / (there[2] - 1)
    freedom = (left + right) ** 2 / parts if parts else min(here[2], there[2]) - 1
    half = quantile_of_t(freedom) * math.sqrt(float(both @ both))
    middle = here[0] - there[0]
    return Interval(middle - half, middle + half, "t")


def _about_the_mean(values: Sequence[float], owner: Any, number: int) -> tuple[float, Any, float]:
    """The mean, the adjusted residual of each cluster, and what the clusters are worth."""
    import numpy as np

    items = np.asarray(values, dtype=np.float64)
    mean = math.fsum(items) / len(items)
    weights = np.bincount(owner, minlength=number) / len(items)
    residuals = np.bincount(owner, weights=items - mean, minlength=number) / len(items)
    return mean, adjusted(residuals, weights), worth(weights)


def median_interval(values: Sequence[float], clusters: Sequence[str]) -> Interval | None:
    """The interval of the median; None where the clusters are worth fewer than six items.

    Of fewer, all being on one side of the median is no rarer than 5 %.

    Raises:
        ValueError: there is no item.
    """
    import numpy as np
    from scipy.special import bdtrik

    if not len(values):
        raise ValueError("an interval needs at least one item")
    items = np.array(values, dtype=np.float64)
    # Below the median 1, above it 0, and 0.5 at it.
    sides = (1 - np.sign(items - np.median(items))) / 2
    _, owner = owners(clusters)
    sums, sizes = np.bincount(owner, weights=sides), np.bincount(owner).astype(np.float64)
    size = clustered(sums, sizes, float(len(items))).size
    if 0.5**size > TAIL:
        return None
    # Of whole sizes, the rank before which a fair coin falls with no more than this probability.
    rank = float(bdtrik(TAIL, size, 0.5)) / size * len(items)
    place = min(math.floor(rank), (len(items) - 1) // 2)
    items.sort()
    return Interval(float(items[place]), float(items[-1 - place]), "order statistics")
