"""Rank correlations with intervals over clusters: Spearman's, partial, and within clusters.

Spearman's coefficient (1904) is Pearson's of ranks, ties sharing the mean of theirs. Partial is the
same with the ranks of a third variable held constant, and within clusters that of ranks inside each
cluster, all put together.

A sample's coefficient varies by what each unit adds to it: its influence (Hampel 1974), which here
is exact for ranks, as every unit also moves the ranks of all others. Influences of one cluster are
added up, as large as if they were another sample's (Bell and McCaffrey 2002), and the interval is
Student's on Fisher's scale (1921, z = artanh r), on which it keeps within -1 and 1. docs/intervals
has how often it holds the truth.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.statistics.effective_size import (
    ROUNDING,
    TAIL,
    adjusted,
    cluster_ids,
    effective_sample_size,
    p_of_t,
    quantile_of_t,
    ranks_of,
)
from coherencegym.eval.statistics.intervals import FEWEST, Interval, Test

#: Annotators who have to say the same for their document to count as agreed on (Shen et al. 2021,
#: section 4.3).
ENOUGH = 3
#: The names of groups: by the number of those who gave the commonest answer, or all of them; and
#: one that has several of these.
AGREEING, AGREED = "annotators who agree", f"at least {ENOUGH} annotators agree"


def agreement_groups(answers: Sequence[Hashable]) -> Iterator[str]:
    """The groups of a unit with these answers, if two or more people gave one.

    >>> list(agreement_groups([4, 4, 4, -1]))
    ['annotators who agree=3', 'at least 3 annotators agree']
    >>> list(agreement_groups([4, 4]))
    ['annotators who agree=all']
    """
    if len(answers) < 2:
        return
    most = max(Counter(answers).values())
    yield f"{AGREEING}={'all' if most == len(answers) else most}"
    if most >= ENOUGH:
        yield AGREED


#: Fewest units of a correlation: that of two is 1 or -1.
FEWEST_UNITS = 3


@dataclass(frozen=True)
class RankCorrelation:
    """A coefficient from -1 to 1, and how it came about.

    Attributes:
        value: the coefficient.
        added: the part of each cluster in its deviation from the truth; an array.
        effective_size: the number of clusters of equal size that these are worth.
    """

    value: float
    added: Any
    effective_size: float

    @property
    def interval(self) -> Interval:
        """The 95 % interval; ``one cluster``, which says nothing, where they are hardly more."""
        if self.effective_size < FEWEST:
            return Interval(-1.0, 1.0, "one cluster")
        if abs(self.value) > 1 - ROUNDING:
            # Were units in each other's order by a coin, this is how bad one may be that shows no
            # error in so many clusters (Clopper and Pearson 1934).
            least = 2 * float(TAIL ** (1 / self.effective_size)) - 1
            low, high = (least, 1.0) if self.value > 0 else (-1.0, -least)
            return Interval(low, high, "no error")
        half = quantile_of_t(self.effective_size - 1) * self._error / (1 - self.value**2)
        middle = math.atanh(self.value)
        return Interval(math.tanh(middle - half), math.tanh(middle + half), "influence")

    @property
    def _error(self) -> float:
        # Of clusters that do not vary at all it is that of independent units.
        error = math.sqrt(float(self.added @ self.added))
        independent = (1 - self.value**2) / math.sqrt(max(self.effective_size - 3, 1))
        return error if error > ROUNDING else independent


def correlation(
    values: Sequence[float],
    against: Sequence[float],
    clusters: Sequence[str],
    given: Sequence[float] | None = None,
) -> RankCorrelation | None:
    """Spearman's coefficient, partial where something is ``given``.

    None with fewer than three units, where a side does not vary, or where what is given says all of
    a side.
    """
    sides = [values, against] if given is None else [values, against, given]
    if {len(side) for side in sides} != {len(clusters)}:
        raise ValueError(f"{', '.join(str(len(side)) for side in sides)} values; expected as many")
    if len(clusters) < FEWEST_UNITS or any(len(set(side)) < 2 for side in sides):
        return None
    ranked = list(map(_shares_below, sides))
    found = _plain(sides, ranked, 0, 1) if given is None else _partial(sides, ranked)
    if found is None:
        return None
    import numpy as np

    value, influences = found
    number, ids = cluster_ids(clusters)
    weights = np.bincount(ids, minlength=number) / len(clusters)
    sums = np.bincount(ids, weights=influences, minlength=number) / len(clusters)
    return RankCorrelation(value, adjusted(sums, weights), effective_sample_size(weights))


def correlation_within(
    values: Sequence[float], against: Sequence[float], clusters: Sequence[str]
) -> RankCorrelation | None:
    """The correlation of ranks within clusters, their means taken away, over all clusters.

    Ranks are shares of the units of the cluster, so that a large one weighs by its units. A cluster
    in which a side does not vary says nothing of how the sides go together, but counts as one that
    does not; one of a single unit is left out. None where no cluster has anything to compare, or a
    side never varies within one.
    """
    import numpy as np

    number, ids = cluster_ids(clusters)
    sizes = np.bincount(ids, minlength=number)
    one, other = (_shares_below_within(side, ids, sizes) - 0.5 for side in (values, against))
    both, first, second = (
        np.bincount(ids, weights=product, minlength=number)
        for product in (one * other, one * one, other * other)
    )
    if min(first.sum(), second.sum()) < ROUNDING:
        return None
    weights = (first / first.sum() + second / second.sum()) / 2
    value = float(both.sum() / math.sqrt(first.sum() * second.sum()))
    sums = both / math.sqrt(first.sum() * second.sum()) - value * weights
    return RankCorrelation(value, adjusted(sums, weights), effective_sample_size(weights))


def correlations_difference(
    before: RankCorrelation, after: RankCorrelation
) -> tuple[float, Interval, Test]:
    """The second coefficient minus the first, its interval and test, over the same clusters.

    What a cluster adds to either varies together with what it adds to the other, as both are held
    against the same ratings.
    """

    value = after.value - before.value
    size = min(before.effective_size, after.effective_size)
    if size < FEWEST:
        return value, Interval(-2.0, 2.0, "one cluster"), Test(1.0, "influence")
    change = after.added - before.added
    error, freedom = math.sqrt(float(change @ change)), size - 1
    half = quantile_of_t(freedom) * error
    interval = Interval(max(-2.0, value - half), min(2.0, value + half), "influence")
    # Of two that are one but for rounding, nothing is told apart.
    p = float(abs(value) <= ROUNDING)
    if error > ROUNDING:
        p = p_of_t(value / error, freedom)
    return value, interval, Test(p, "influence")


def _shares_below(side: Sequence[float]) -> Any:
    # A unit itself and its ties count half.

    return (ranks_of(side) - 0.5) / len(side)


def _shares_below_within(side: Sequence[float], ids: Any, sizes: Any) -> Any:
    import numpy as np

    # In one go: by cluster and, within one, by value; less the units of the clusters before it.
    _, values = np.unique(side, return_inverse=True)
    ranks = ranks_of(ids.astype(np.int64) * len(side) + values)
    ranks -= (np.cumsum(sizes) - sizes)[ids]
    return (ranks - 0.5) / sizes[ids]


def _plain(
    sides: Sequence[Sequence[float]], ranked: Sequence[Any], one: int, other: int
) -> tuple[float, Any]:
    # With F and G the shares below, the coefficient is cov(F, G) / sqrt(var F * var G). A unit
    # moves the mean of F * G by its own product and, as others are now above it or not, by what it
    # does to their F and G.
    left, right = ranked[one], ranked[other]
    covariance = float((left * right).mean() - 0.25)
    variances = [float((side * side).mean() - 0.25) for side in (left, right)]
    moved = (
        left * right
        - (covariance + 0.25)
        + _moves(sides[one], left, right)
        + _moves(sides[other], right, left)
    )
    scale = math.sqrt(variances[0] * variances[1])
    value = covariance / scale
    influences = moved / scale
    for number, variance, ranks in ((one, variances[0], left), (other, variances[1], right)):
        own = ranks * ranks - (variance + 0.25) + 2 * _moves(sides[number], ranks, ranks)
        influences = influences - value / 2 * own / variance
    return value, influences


def _moves(side: Sequence[float], ranks: Any, weights: Any) -> Any:
    # The mean weight of units above each unit, ties half, less that of rank times weight: what the
    # unit does, as one more that others are above, to the mean of rank times weight.
    import numpy as np

    values = np.asarray(side, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    not_above = np.searchsorted(ordered, values, "right")
    below = np.searchsorted(ordered, values, "left")
    above = sums[-1] - (sums[not_above] + sums[below]) / 2
    return above / len(values) - float((ranks * weights).mean())


def _partial(sides: Sequence[Sequence[float]], ranked: Sequence[Any]) -> tuple[float, Any] | None:
    (both, moved), (first, by_first), (second, by_second) = (
        _plain(sides, ranked, *pair) for pair in ((0, 1), (0, 2), (1, 2))
    )
    left = (1 - first**2, 1 - second**2)
    if min(left) < ROUNDING:
        return None
    scale = math.sqrt(left[0] * left[1])
    value = (both - first * second) / scale
    influences = (moved - second * by_first - first * by_second) / scale
    influences = influences + value * (first * by_first / left[0] + second * by_second / left[1])
    return min(1.0, max(-1.0, value)), influences
