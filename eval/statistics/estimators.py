"""Estimators: shares of units, ratios such as F1, areas under ROC curves, correlations.

Each has a 95 % interval over clusters of units, and a difference that pairs two sides on the same
units.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from coherencegym.eval.statistics.effective_size import (
    Clusters,
    adjusted,
    cluster_ids,
    effective_sample_size,
    quantile_of_t,
)
from coherencegym.eval.statistics.estimate import Estimate
from coherencegym.eval.statistics.intervals import (
    FEWEST,
    Interval,
    interval_of,
    ratio_interval,
    share_interval,
)
from coherencegym.eval.statistics.paired import Test, difference_interval, signs_and_sizes

#: Parts and wholes of each unit, whose sums make a ratio.
Counts = tuple[Sequence[float], Sequence[float]]


def accuracy(values: Sequence[float], clusters: Sequence[str]) -> Estimate:
    """The mean of values from 0 to 1, one for each document."""
    if not len(values):
        return Estimate(None, None, None, "", 0)
    interval = share_interval(values, clusters)
    return estimate_of(math.fsum(values) / len(values), interval, len(values))


def ratio(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], n: int
) -> Estimate:
    """A ratio of counts over documents, such as precision: the sum of parts over that of wholes.

    ``n`` is the number of sentences that it is over.
    """
    return _ratio(parts, wholes, clusters, n, math.fsum(wholes))


def f1(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], n: int
) -> Estimate:
    """F1 from counts, twice the hits over those with all errors; otherwise as :func:`ratio`."""
    # What the documents are worth if sentences are independent: each hit is counted twice.
    squares = math.fsum(parts) + math.fsum(wholes)
    most = math.fsum(wholes) ** 2 / squares if squares else 0.0
    return _ratio(parts, wholes, clusters, n, most)


def _ratio(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], n: int, most: float
) -> Estimate:
    if not math.fsum(wholes):
        return Estimate(None, None, None, "", n)
    value = math.fsum(parts) / math.fsum(wholes)
    return estimate_of(value, ratio_interval(parts, wholes, clusters, most), n)


def ratio_difference(
    before: Counts, after: Counts, clusters: Sequence[str], p: float | None = None
) -> Estimate:
    """The ratio of the second counts minus that of the first, on the same units.

    Both versions of a unit vary together. The interval is that of :func:`signs_and_sizes` of what
    each cluster adds to the difference: its share of it, and its residual from both ratios; it
    agrees with a test of the same difference that gave ``p``.
    """
    import numpy as np

    n = len(clusters)
    columns = np.array([*before, *after], dtype=np.float64).reshape(4, n)
    wholes = columns[1].sum(), columns[3].sum()
    if not all(wholes):
        return Estimate(None, None, None, "", n)
    number, ids = cluster_ids(clusters)
    value = float(columns[2].sum() / wholes[1] - columns[0].sum() / wholes[0])
    if number == 1:
        return estimate_of(value, Interval(-1.0, 1.0, "one cluster"), n)
    left, left_all, right, right_all = (np.bincount(ids, weights=own) for own in columns)
    weights = (left_all / wholes[0] + right_all / wholes[1]) / 2
    residuals = (right - right.sum() / wholes[1] * right_all) / wholes[1]
    residuals -= (left - left.sum() / wholes[0] * left_all) / wholes[0]
    # In halves: where a document weighs more in one version, it adds up to twice its mean weight.
    half = signs_and_sizes((residuals + value * weights) / 2, weights, 2.0 * n, p)
    return estimate_of(
        value, Interval(max(-1.0, 2 * half.low), min(1.0, 2 * half.high), half.method), n
    )


def share_difference(
    before: Sequence[float], after: Sequence[float], clusters: Sequence[str]
) -> Estimate:
    """The mean of the second values minus that of the first, on versions of the same documents."""
    n = len(clusters)
    if not n:
        return Estimate(None, None, None, "", 0)
    differences = [new - old for old, new in zip(before, after, strict=True)]
    interval = difference_interval(differences, clusters)
    return estimate_of(math.fsum(differences) / n, interval, n)


def area(values: Sequence[float], truths: Sequence[bool], clusters: Sequence[str]) -> Estimate:
    """The area under the ROC curve, ties counting half.

    It is how often a true unit has a higher value than another. Each unit adds to its variance by
    how many of the other kind it is above or below (DeLong, DeLong and Clarke-Pearson 1988,
    Biometrics 44), those of one cluster together (Obuchowski 1997, Biometrics 53).
    """
    import numpy as np

    truth = np.array(truths, dtype=bool)
    if not 0 < truth.sum() < len(truth):
        return Estimate(None, None, None, "", len(truth))
    number, ids = cluster_ids(clusters)
    value, of_all = ranked(np.array(values, dtype=np.float64), truth, ids, number)
    return estimate_of(value, interval_of(of_all, number), len(truth))


def ranks_difference(
    before: Sequence[float],
    after: Sequence[float],
    truths: Sequence[bool],
    clusters: Sequence[str],
) -> tuple[Estimate, Test]:
    """The area under the ROC curve of the second scores minus that of the first, and its test.

    Both rank the same units, each on its own scale. What a unit adds to either area varies together
    with what it adds to the other (DeLong et al. 1988), and with those of its cluster (Obuchowski
    1997); the distribution is Student's, of as many degrees of freedom as the clusters are worth,
    less one.
    """
    import numpy as np
    from scipy.stats import t

    number, ids = cluster_ids(clusters)
    truth = np.array(truths, dtype=bool)
    if not 0 < truth.sum() < len(truth):
        raise ValueError("an area under the curve needs units of both kinds")
    (left, here), (right, there) = (
        ranked(np.array(own, dtype=np.float64), truth, ids, number) for own in (before, after)
    )
    value = right - left
    if here.fewest < FEWEST:
        one = Interval(-1.0, 1.0, "one cluster")
        return estimate_of(value, one, len(truth)), Test(1.0, "DeLong")
    change = there.residuals - here.residuals
    error, freedom = math.sqrt(float(change @ change)), here.fewest - 1
    half = quantile_of_t(freedom) * error
    interval = Interval(max(-1.0, value - half), min(1.0, value + half), "DeLong")
    p = 2 * float(t.sf(abs(value) / error, freedom)) if error else float(not value)
    return estimate_of(value, interval, len(truth)), Test(p, "DeLong")


def ranked(values: Any, truth: Any, ids: Any, number: int) -> tuple[float, Clusters]:
    """The area under the curve, and what each of so many clusters adds to it."""
    import numpy as np

    found, others = values[truth], values[~truth]
    higher = above(found, others) / len(others)
    lower = 1 - above(others, found) / len(found)
    value = float(higher.mean())
    here, there = (np.bincount(ids[kind], minlength=number) for kind in (truth, ~truth))
    weights, other_weights = here / len(found), there / len(others)
    totals = np.bincount(ids[truth], weights=higher, minlength=number) / len(found)
    back = np.bincount(ids[~truth], weights=lower, minlength=number) / len(others)
    return value, Clusters(
        (weights + other_weights) / 2,
        (totals + back) / 2,
        adjusted(totals - value * weights, weights)
        + adjusted(back - value * other_weights, other_weights),
        min(effective_sample_size(weights), effective_sample_size(other_weights)),
        float(len(truth)),
    )


def above(values: Any, others: Any) -> Any:
    """The number of others that each value is above, ties counting half."""
    import numpy as np

    order = np.sort(others)
    return (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")) / 2


def estimate_of(value: float, interval: Interval | None, n: int) -> Estimate:
    """A value over so many units, and its interval, where there is one."""
    if interval is None:
        return Estimate(value, None, None, "", n)
    return Estimate(value, interval.low, interval.high, interval.method, n)
