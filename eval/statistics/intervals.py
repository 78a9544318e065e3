"""Intervals of shares of items that may share a discourse.

Clopper and Pearson's exact interval (1934) where every item is of another discourse, and where one
discourse gives several items that of Korn and Graubard (1998): the same for as many items as the
discourses are worth (:mod:`eval.statistics.effective_size`). Discourses that share most of their
text (Winograd twins) are one cluster. docs/intervals.md shows how often each interval holds the
truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.eval.statistics.effective_size import (
    Clusters,
    adjusted,
    binomial_limits,
    clustered,
    owners,
    worth,
)

#: What the intervals of this release are called in settings and signatures: those of results that
#: say something else were computed otherwise.
INTERVALS = "effective-size"


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval.

    ``method`` of a share is ``clopper-pearson``, ``korn-graubard``, ``cross-validated`` (the share
    is a trained classifier's), or ``one cluster``, which says nothing about others: the interval is
    0 to 1. See :mod:`eval.statistics.mean_intervals` and
    :mod:`eval.statistics.paired` for those of means and differences.
    """

    low: float
    high: float
    method: str


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
        predictions: of which each value is the share; none: one each.
        folds: of the cross-validation by which a classifier decided the items; 0: nothing was
            trained on them. Classifiers that are trained on nearly the same items err on the same
            ones: the variance is that of Nadeau and Bengio (2003, "Inference for the generalization
            error", Machine Learning 52), 1 + folds / (folds - 1) times as large.

    Raises:
        ValueError: there is no item, or one fold.
    """
    import numpy as np

    if not len(values):
        raise ValueError("an interval needs at least one item")
    if folds == 1:
        raise ValueError("a cross-validation needs two folds or more")
    n_clusters, owner = owners(clusters)
    most = float(len(values))
    if len(predictions):
        most = len(values) ** 2 / float((1 / np.asarray(predictions, dtype=np.float64)).sum())
    sums = np.bincount(owner, weights=np.asarray(values, dtype=np.float64))
    of_all = clustered(sums, np.bincount(owner).astype(np.float64), most)
    if not folds or n_clusters == 1:
        return interval_of(of_all, n_clusters)
    low, high = binomial_limits(of_all.share, of_all.size / (1 + folds / (folds - 1)))
    return Interval(float(low), float(high), "cross-validated")


def ratio_interval(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], most: float
) -> Interval:
    """The interval of a ratio of sums, none of whose parts is larger than its whole, such as F1.

    Args:
        parts, wholes: of each document.
        clusters: of each document.
        most: what the documents are worth if all that is counted in them is independent.

    Raises:
        ValueError: there is nothing to divide by.
    """
    import numpy as np

    if not sum(wholes) > 0:
        raise ValueError("an interval needs something to divide by")
    n_clusters, owner = owners(clusters)
    sums, sizes = (np.bincount(owner, weights=np.asarray(own)) for own in (parts, wholes))
    return interval_of(clustered(sums, sizes, most), n_clusters)


def macro_interval(groups: Sequence[tuple[Sequence[float], Sequence[str]]]) -> Interval:
    """The interval of the unweighted mean of the groups' means of values between 0 and 1.

    The items of a group vary around its mean. Those of a group with one cluster, which shows no
    variation, are taken around the mean of all groups.

    Args:
        groups: the values and the clusters of each group's items; a cluster may be in several
            groups, whose items then vary together.

    Raises:
        ValueError: there is no group, or a group without items.
    """
    import numpy as np

    if not groups or not all(len(values) for values, _ in groups):
        raise ValueError("a macro average needs at least one group, and items in each")
    n_clusters, owner = owners([name for _, names in groups for name in names])
    values = np.concatenate([np.asarray(own, dtype=np.float64) for own, _ in groups])
    sizes = np.array([len(own) for own, _ in groups])
    group = np.repeat(np.arange(len(groups)), sizes)
    place = np.ravel_multi_index((owner, group), (n_clusters, len(groups)))
    cells = n_clusters, len(groups)
    # Of each cluster in each group: the sum of its values, and its share of the group's items.
    sums = np.bincount(place, weights=values, minlength=n_clusters * len(groups)).reshape(cells)
    inside = np.bincount(place, minlength=n_clusters * len(groups)).reshape(cells) / sizes
    means = sums.sum(axis=0) / sizes
    held = (inside > 0).sum(axis=0)
    centres = np.where(held > 1, means, means.mean())
    residuals = adjusted(
        sums / sizes - centres * inside, np.where(held > 1, inside, inside / len(groups))
    )
    weights = inside.mean(axis=1)
    per_group = 1 / (inside**2).sum(axis=0)
    fewest = min(worth(weights), len(groups) * float(per_group.min()))
    most = len(groups) ** 2 / float((1 / sizes).sum())
    of_all = Clusters(
        weights,
        (sums / sizes).mean(axis=1),
        residuals.mean(axis=1),
        fewest,
        max(fewest, most),
    )
    return interval_of(of_all, n_clusters)


def interval_of(clusters: Clusters, number: int) -> Interval:
    """The interval of a mean of so many clusters."""
    if number == 1:
        return Interval(0.0, 1.0, "one cluster")
    low, high = binomial_limits(clusters.share, clusters.size)
    # Of one item a cluster there is nothing to estimate.
    exact = abs(clusters.most - clusters.fewest) < 1e-9 * clusters.most
    method = "clopper-pearson" if exact else "korn-graubard"
    return Interval(float(low), float(high), method)
