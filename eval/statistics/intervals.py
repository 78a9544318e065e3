"""Intervals of shares and means of items that may share a discourse.

Clopper and Pearson's exact interval (1934) where every item is of another discourse, and where one
discourse gives several items that of Korn and Graubard (1998): the same for as many items as the
discourses are worth (:mod:`eval.statistics.effective_size`). Discourses that share most of their
text (Winograd twins) are one cluster. docs/intervals.md shows how often each interval holds the
truth.

A mean's is Student's with residuals and degrees of freedom over clusters (Bell and McCaffrey 2002;
Cameron and Miller 2015, "A practitioner's guide to cluster-robust inference", section VI).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.statistics.effective_size import (
    Clusters,
    adjusted,
    binomial_limits,
    cluster_ids,
    cluster_pairs,
    clustered,
    effective_sample_size,
    quantile_of_t,
)

#: The intervals of this release, as settings and signatures name them: those of results that say
#: something else were computed otherwise.
INTERVALS = "effective-size-icc"
#: Clusters of such different sizes are worth less than this, which is as good as one.
FEWEST = 1.5

#: Values (one for each item), and the cluster of each.
Sample = tuple[Sequence[float], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval.

    The method of a share's is ``clopper-pearson``, ``korn-graubard``, ``cross-validated`` (the
    share is a trained classifier's), or ``one cluster``, which says nothing about others: 0 to 1.
    """

    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True)
class Test:
    """The p-value (two-sided) of a test.

    ``method`` is ``mcnemar``, ``sign flips`` (every set of signs counted), ``sign flips, drawn``,
    ``gamma`` (for skewed differences), ``dyadic t`` (of items of two documents), ``approximate
    randomisation`` (of two ratios), ``approximate randomisation, drawn``, ``influence`` (of two
    correlations), or ``DeLong`` (of two areas under a ROC curve).
    """

    __test__ = False  # for pytest, which collects what is called so

    p: float
    method: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its 95 % interval.

    Attributes:
        value: a share from 0 to 1, a mean, a correlation, or a difference of any; None where
            nothing can be said, as of a precision without predictions.
        interval: None where ``value`` is, and of a mean over one cluster.
        n: units that the value is over.
        clusters: the number of clusters that the interval is over; None where nobody counted.
        test: that of no difference, of the value of one system less that of another.
    """

    value: float | None
    interval: Interval | None
    n: int
    clusters: int | None = None
    test: Test | None = None

    @property
    def low(self) -> float | None:
        """The lower limit of the interval."""
        return None if self.interval is None else self.interval.low

    @property
    def high(self) -> float | None:
        """The upper limit."""
        return None if self.interval is None else self.interval.high

    @property
    def method(self) -> str:
        """The way in which the limits were computed; empty: there are none."""
        return "" if self.interval is None else self.interval.method


def share_interval(
    values: Sequence[float],
    clusters: Sequence[str],
    predictions: Sequence[int] = (),
    *,
    folds: int = 0,
) -> Interval:
    """The interval of the mean of values between 0 and 1, one for each item.

    Args:
        values: 1 where the prediction holds, 0 where not, or a share of the item's predictions.
        clusters: the discourse, or family of discourses, of each item.
        predictions: the number that each value is the share of; none: one each.
        folds: those of the cross-validation by which a classifier decided the items; 0: nothing was
            trained on them. Classifiers that are trained on nearly the same items err on the same
            ones: the variance is that of Nadeau and Bengio (2003, "Inference for the generalization
            error", Machine Learning 52), 1 + folds / (folds - 1) times as large.
    """
    import numpy as np

    if not len(values):
        raise ValueError("an interval needs at least one item")
    if folds == 1:
        raise ValueError("a cross-validation needs two folds or more")
    n_clusters, ids, documents = cluster_pairs(clusters)
    most = float(len(values))
    if len(predictions):
        most = len(values) ** 2 / float((1 / np.asarray(predictions, dtype=np.float64)).sum())
    sums = np.bincount(ids, weights=np.asarray(values, dtype=np.float64))
    sizes = np.bincount(ids).astype(np.float64)
    del ids
    of_all = clustered(sums, sizes, most, documents)
    if not folds or n_clusters == 1:
        return interval_of(of_all, n_clusters)
    low, high = binomial_limits(of_all.share, of_all.size / (1 + folds / (folds - 1)))
    return Interval(float(low), float(high), "cross-validated")


def ratio_interval(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], most: float
) -> Interval:
    """The interval of a ratio of sums, none of whose parts is larger than its whole, such as F1.

    ``most`` is the worth of the documents if all that is counted in them is independent.
    """
    import numpy as np

    if not sum(wholes) > 0:
        raise ValueError("an interval needs something to divide by")
    n_clusters, ids, documents = cluster_pairs(clusters)
    sums, sizes = (np.bincount(ids, weights=np.asarray(own)) for own in (parts, wholes))
    return interval_of(clustered(sums, sizes, most, documents), n_clusters)


def interval_of(clusters: Clusters, number: int) -> Interval:
    """The interval of a mean of so many clusters."""
    if number == 1:
        return Interval(0.0, 1.0, "one cluster")
    low, high = binomial_limits(clusters.share, clusters.size)
    # Of one item a cluster there is nothing to estimate.
    exact = abs(clusters.most - clusters.fewest) < 1e-9 * clusters.most
    method = "clopper-pearson" if exact else "korn-graubard"
    return Interval(float(low), float(high), method)


def mean_interval(values: Sequence[float], clusters: Sequence[str]) -> Interval | None:
    """The interval of the mean of one number for each item; None of one cluster (``t``)."""
    if not len(values):
        raise ValueError("an interval needs at least one item")
    import numpy as np

    n_clusters, ids, documents = cluster_pairs(clusters)
    if documents is None:
        mean, residuals, size = _about_the_mean(values, ids, n_clusters)
        variance = float(residuals @ residuals)
    else:
        sums = np.bincount(ids, weights=np.asarray(values, dtype=np.float64))
        sizes = np.bincount(ids).astype(np.float64)
        of_all = clustered(sums, sizes, float(len(values)), documents)
        mean, variance, size = math.fsum(values) / len(values), of_all.variance, of_all.fewest
    if size < FEWEST:
        return None
    half = quantile_of_t(size - 1) * math.sqrt(variance)
    return Interval(mean - half, mean + half, "t")


def difference_of_means(sample: Sample, control: Sample) -> Interval | None:
    """The interval of the mean of a sample minus that of another; None where either is one cluster.

    Welch's (1947), as the samples may vary differently; a cluster that is in both adds to both
    means at once.
    """
    if not len(sample[0]) or not len(control[0]):
        raise ValueError("a difference needs at least one item on each side")
    import numpy as np

    named: Any = np.concatenate([np.asarray(names) for _, names in (sample, control)])
    n_clusters, ids = cluster_ids(named)
    here, there = (
        _about_the_mean(values, own, n_clusters)
        for values, own in (
            (sample[0], ids[: len(sample[0])]),
            (control[0], ids[len(sample[0]) :]),
        )
    )
    if min(here[2], there[2]) < FEWEST:
        return None
    left, right = (float(residuals @ residuals) for _, residuals, _ in (here, there))
    both = here[1] - there[1]
    parts = left**2 / (here[2] - 1) + right**2 / (there[2] - 1)
    freedom = (left + right) ** 2 / parts if parts else min(here[2], there[2]) - 1
    half = quantile_of_t(freedom) * math.sqrt(float(both @ both))
    middle = here[0] - there[0]
    return Interval(middle - half, middle + half, "t")


def _about_the_mean(values: Sequence[float], ids: Any, number: int) -> tuple[float, Any, float]:
    import numpy as np

    items = np.asarray(values, dtype=np.float64)
    mean = math.fsum(items) / len(items)
    weights = np.bincount(ids, minlength=number) / len(items)
    residuals: Any = np.bincount(ids, weights=items - mean, minlength=number)
    residuals /= len(items)
    return mean, adjusted(residuals, weights), effective_sample_size(weights)
