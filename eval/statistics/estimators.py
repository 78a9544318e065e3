"""Estimators: shares of units, ratios such as F1, areas under ROC curves, correlations.

Each has a 95 % interval over clusters of units, and a difference that pairs two sides on the same
units.

Two models are compared on the same items, by the share of items on which each is right. Of the
items on which they differ (the discordance) some speak for the one, some for the other: the
variance of the difference of shares is ``discordance - difference ** 2`` over the number of items
(McNemar 1947; Connor 1987). Items of a cluster are alike, so that fewer independent ones would tell
as much (Kish 1965). Discordance and clustering are stated, never taken from the result of the
comparison itself: power computed from that says no more than its p-value (Hoenig and Heisey 2001).

They are there where a specification names them. docs/intervals.md shows that of few clusters they
are too narrow, so that the intervals of scores are those of :mod:`eval.statistics.intervals`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from coherencegym.eval.statistics.effective_size import (
    ROUNDING,
    Clusters,
    adjusted,
    cluster_ids,
    cluster_pairs,
    effective_sample_size,
    over_documents,
    p_of_t,
    quantile_of_t,
)
from coherencegym.eval.statistics.intervals import FEWEST, Estimate, Interval, Test, interval_of
from coherencegym.eval.statistics.paired import difference_interval, signs_and_sizes

#: The discordance, the intraclass correlation and the power where none is stated.
DISCORDANCE, CORRELATION, POWER = 0.3, 0.1, 0.8
#: The level of the two-sided test.
_LEVEL = 0.05
#: Items up to which power is exact, and differences that are told apart.
_MOST_EXACT, _PRECISION = 10_000, 1e-5


def effective_items(clusters: Any, correlation: float = CORRELATION) -> float:
    """The number of independent items that tell as much as items of these clusters.

    Args:
        clusters: the cluster of each item, by name or number.
        correlation: that of the outcomes of two items of a cluster, 0 to 1; also of those that
            share one of two documents.
    """
    if not len(clusters):
        return 0.0
    import numpy as np

    _, ids, documents = cluster_pairs(clusters)
    sizes = np.bincount(ids)
    squares = float(sizes @ sizes)
    if documents is not None:
        by_one = over_documents(sizes, documents)
        squares = float(by_one @ by_one) - squares
    items = len(ids)
    # The number of items that share a cluster with one, on average over items.
    size = squares / items
    return items / (1 + (size - 1) * correlation)


def smallest_difference(
    items: float, discordance: float = DISCORDANCE, power: float = POWER
) -> float | None:
    """The smallest difference of two models' shares that McNemar's exact test shows.

    Of so many items the number on which one model alone is right is binomial, and so is the number
    of these that the better one wins; the two-sided level is 0.05. More than 10,000 items are taken
    for normal (Connor 1987).

    Args:
        items: independent items, rounded.
        discordance: the share of items on which exactly one of the models is right, above 0.
        power: the probability with which the difference is shown, 0.5 to 1.

    Returns:
        A share; None where even models that differ in favour of one alone are not told apart.
    """
    from scipy.special import ndtri

    if items > _MOST_EXACT:
        ends = float(ndtri(1 - _LEVEL / 2) + ndtri(power)) ** 2
        return math.sqrt(ends * discordance / (items + ends))
    shown = _power_of(round(items), discordance)
    if shown(discordance) < power:
        return None
    low, high = 0.0, discordance
    while high - low > _PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) >= power else (middle, high)
    return high


def _power_of(items: int, discordance: float) -> Callable[[float], float]:
    # The power by the difference. The test is rejected with so many losses or fewer, or wins.
    import numpy as np
    from scipy.stats import binom

    differ = np.arange(items + 1)
    chance = binom.pmf(differ, items, discordance)
    differ, chance = differ[chance > ROUNDING], chance[chance > ROUNDING]
    few = binom.ppf(_LEVEL / 2, differ, 0.5)
    few -= binom.cdf(few, differ, 0.5) > _LEVEL / 2

    def power(difference: float) -> float:
        won = (1 + difference / discordance) / 2
        return float(chance @ sum(binom.cdf(few, differ, p) for p in (won, 1 - won)))

    return power


def one_thread() -> AbstractContextManager[object]:
    """Limit linear algebra to one thread in here.

    The problems are small, and ten times slower where threads wait for cores; and sums in one order
    give the same result on every machine.
    """
    limiter: AbstractContextManager[object] = _libraries("torch" in sys.modules).limit(limits=1)
    return limiter


@cache  # the search for the libraries takes longer than a small fit
def _libraries(torch: bool) -> Any:
    # Those that scikit-learn loads, and torch's if it is here.
    import sklearn.linear_model  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


#: Parts and wholes of each unit, whose sums make a ratio.
Counts = tuple[Sequence[float], Sequence[float]]


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
        return Estimate(None, None, n)
    number, ids = cluster_ids(clusters)
    value = float(columns[2].sum() / wholes[1] - columns[0].sum() / wholes[0])
    if number == 1:
        return Estimate(value, Interval(-1.0, 1.0, "one cluster"), n)
    left, left_all, right, right_all = (np.bincount(ids, weights=own) for own in columns)
    weights = (left_all / wholes[0] + right_all / wholes[1]) / 2
    residuals = (right - right.sum() / wholes[1] * right_all) / wholes[1]
    residuals -= (left - left.sum() / wholes[0] * left_all) / wholes[0]
    # In halves: where a document weighs more in one version, it adds up to twice its mean weight.
    half = signs_and_sizes((residuals + value * weights) / 2, weights, 2.0 * n, p)
    return Estimate(
        value, Interval(max(-1.0, 2 * half.low), min(1.0, 2 * half.high), half.method), n
    )


def share_difference(
    before: Sequence[float], after: Sequence[float], clusters: Sequence[str]
) -> Estimate:
    """The mean of the second values minus that of the first, on versions of the same documents."""
    n = len(clusters)
    if not n:
        return Estimate(None, None, 0)
    differences = [new - old for old, new in zip(before, after, strict=True)]
    interval = difference_interval(differences, clusters)
    return Estimate(math.fsum(differences) / n, interval, n)


def area(values: Sequence[float], truths: Sequence[bool], clusters: Sequence[str]) -> Estimate:
    """The area under the ROC curve, ties counting half.

    It is how often a true unit has a higher value than another. Each unit adds to its variance by
    how many of the other kind it is above or below (DeLong, DeLong and Clarke-Pearson 1988,
    Biometrics 44), those of one cluster together (Obuchowski 1997, Biometrics 53).
    """
    import numpy as np

    truth = np.array(truths, dtype=bool)
    if not 0 < truth.sum() < len(truth):
        return Estimate(None, None, len(truth))
    number, ids = cluster_ids(clusters)
    value, of_all = ranked(np.array(values, dtype=np.float64), truth, ids, number)
    return Estimate(value, interval_of(of_all, number), len(truth))


def ranks_difference(
    before: Sequence[float],
    after: Sequence[float],
    truths: Sequence[bool],
    clusters: Sequence[str],
) -> Estimate:
    """The area under the ROC curve of the second scores minus that of the first, and its test.

    Both rank the same units, each on its own scale. What a unit adds to either area varies together
    with what it adds to the other (DeLong et al. 1988), and with those of its cluster (Obuchowski
    1997); the distribution is Student's, of as many degrees of freedom as the clusters are worth,
    less one.
    """
    import numpy as np

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
        return Estimate(value, one, len(truth), test=Test(1.0, "DeLong"))
    change = there.residuals - here.residuals
    error, freedom = math.sqrt(float(change @ change)), here.fewest - 1
    half = quantile_of_t(freedom) * error
    interval = Interval(max(-1.0, value - half), min(1.0, value + half), "DeLong")
    p = p_of_t(value / error, freedom) if error else float(not value)
    return Estimate(value, interval, len(truth), test=Test(p, "DeLong"))


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
