"""Two models on the same items: is one better, by how much, and among how many questions asked.

Every item has two values, the share of its predictions that hold for each model; a test looks at
the differences. Which test suits which data: Dror, Baumer, Shlomov and Reichart (2018), "The
Hitchhiker's Guide to Testing Statistical Significance in Natural Language Processing" (ACL),
section 3. None of the tests assumes a distribution of the values. The sign-flip test and that of
ratios (:func:`approximate_randomisation`) take it to be symmetric; beside the former
:func:`skewed_p` stands for where it is not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from coherencegym.eval.statistics.effective_size import (
    ROUNDING,
    binomial_limits,
    cluster_ids,
    cluster_pairs,
    clustered,
    effective_sample_size,
    over_documents,
    p_of_t,
)
from coherencegym.eval.statistics.intervals import Estimate, Interval, Test

#: Sets of signs that are drawn where not all can be counted.
FLIPS = 49_999
#: Clusters of which every set of signs is gone through, whatever their differences.
FEW_CLUSTERS = 16
#: Sums that an exact count may tell apart, and additions that it may take (a second or so).
_MOST_SUMS, _MOST_WORK = 5_000_000, 200_000_000
#: Predictions that an item may have: up to here its share is known exactly from a float.
_MOST_PREDICTIONS = 10_000
#: Differences no further apart than this are one where they are added as floats.
_ROUNDING = 1e-9
#: A test with a smaller p excludes 0 from the interval, which is one of 95 %.
_LEVEL = 0.05
_Z95 = 1.959963984540054
#: The name of the test of two ratios.
_RANDOMISATION = "approximate randomisation"
#: Numbers of a block of drawn sets that are in memory at once.
_BLOCK = 4_000_000


def paired_test(
    baseline: Sequence[float], model: Sequence[float], clusters: Sequence[str], seed: int = 0
) -> Test:
    """Test that two models are equally good on items, by the shares of predictions that hold.

    McNemar's where every item is of another cluster and has one prediction, the sign-flip test
    where not; ``seed`` is that of the signs, where they are drawn.
    """
    if not len(clusters):
        raise ValueError("a test needs at least one item")
    import numpy as np

    sides: Any = [np.asarray(side, dtype=np.float64) for side in (baseline, model)]
    left, right = sides
    whole = all(((side == 0) | (side == 1)).all() for side in sides)
    if whole and cluster_ids(clusters)[0] == len(clusters):
        return Test(mcnemar(int((left > right).sum()), int((left < right).sum())), "mcnemar")
    return sign_flips(right - left, clusters, seed)


def mcnemar(baseline_only: int, model_only: int) -> float:
    """McNemar's exact test: the p-value (two-sided) of the items in which two models differ.

    Were both equally good, each item that holds for one of them alone would be of either kind with
    probability 1/2 (McNemar 1947, "Note on the sampling error of the difference between correlated
    proportions or percentages", Psychometrika 12); the binomial distribution is used itself, not
    the chi-squared approximation, and not halved at the value seen (mid-p).
    """
    from scipy.special import bdtr

    fewer, n = min(baseline_only, model_only), baseline_only + model_only
    return min(1.0, 2 * float(bdtr(fewer, n, 0.5))) if n else 1.0


def sign_flips(differences: Sequence[float], clusters: Sequence[str], seed: int = 0) -> Test:
    """A paired permutation test: the p-value (two-sided) of the sum of the items' differences.

    Were both models equally good, it would not matter which of them is called the baseline; as
    items of one cluster are not independent, a cluster's differences change sign together (Fisher
    1935, "The Design of Experiments", section 21; Dror et al. 2018, section 3.2). The p-value is
    the share of all sets of signs that give a sum at least as far from 0 as the one seen. With one
    prediction an item, and one item a cluster, it is McNemar's.

    Models may have equal means and yet differ: one a little better on most items, and much worse on
    a few that the sample may not have. No set of signs shows that. The p-value is therefore never
    below :func:`skewed_p`; where that decides, the method is ``gamma``.

    Sums of fractions are counted exactly, without going through the sets one by one (Pagano and
    Tritchler 1983, "On obtaining permutation distributions in polynomial time", JASA 78). Where
    that takes too long, :data:`FLIPS` sets are drawn, and the one seen is counted as another
    (Phipson and Smyth 2010): the p-value is then never 0. Differences are between -1 and 1, and
    fractions of few predictions.

    Where documents are in several pairs no signs of theirs would do, and the test is that of
    :func:`dyadic_test`.
    """
    if not len(differences):
        raise ValueError("a test needs at least one item")
    import numpy as np

    weights = np.full(len(differences), 1 / len(differences))
    _, ids, documents = cluster_pairs(clusters)
    least = skewed_p(differences, weights, ids)
    if documents is not None:
        sums = np.bincount(ids, weights=weights * np.asarray(differences, dtype=np.float64))
        return _not_below(dyadic_test(sums, np.bincount(ids) / len(ids), documents), least)
    number, ids = cluster_ids(clusters)
    return _not_below(_flipped(*_whole_sums(differences, ids, number), seed), least)


def dyadic_test(changes: Any, weights: Any, documents: Any) -> Test:
    """Test the sum of changes of pairs of documents, of which each may be in several pairs.

    Student's, with the dyadic variance and as many degrees of freedom as the pairs are worth if all
    that share a document are alike, less one; no more than the pairs that change are worth.

    Args:
        changes, weights: numbers of each pair; the weights add up to 1.
        documents: both documents of each pair, by their numbers.
    """
    import numpy as np

    total = float(changes.sum())
    of_all = clustered(changes, np.asarray(weights), 1.0, documents)
    sizes = np.abs(changes)
    if abs(total) < ROUNDING or of_all.variance < ROUNDING**2:
        return Test(1.0, "dyadic t")
    freedom = min(of_all.fewest, effective_sample_size(over_documents(sizes, documents), sizes)) - 1
    met = abs(total) / math.sqrt(of_all.variance)
    return Test(p_of_t(met, max(freedom, 0.5)), "dyadic t")


def skewed_p(values: Any, weights: Any, ids: Any) -> float:
    """A p-value (two-sided) of a weighted mean of differences whose distribution may be skewed.

    It asks whether the mean would be 0 if one more independent item had gone wholly to the other
    side. The clusters' sums to either side, with that item, are held against each other as two
    gamma variables of their means and variances (Fay and Feuer 1997, "Confidence intervals for
    directly standardized rates", Statistics in Medicine 16). With one prediction an item, and one
    item a cluster, that is McNemar's exact test; with other differences from -1 to 1 it is near the
    bound of Gaffke (2005, "Three test statistics for a nonparametric one-sided hypothesis on the
    mean of a nonnegative variable", Mathematical Methods of Statistics 14), for which no
    distribution is known that breaks it. It leaves out that few clusters vary by chance, which the
    sign-flip test does not.

    Args:
        values: the differences, from -1 to 1.
        weights: those of the items, which add up to 1.
        ids: the number of the cluster of each.
    """
    import numpy as np
    from scipy.special import betainc

    values = np.asarray(values, dtype=np.float64)
    changes = np.bincount(ids, weights=weights * values)
    if changes.sum() < 0:
        changes = -changes
    if changes.sum() < ROUNDING:
        return 1.0
    one_more = _weight_of_one(values, weights, ids)
    to, fro = changes[changes > 0], np.append(-changes[changes < 0], one_more)
    (shape, scale), (other, unit) = (
        (side.sum() ** 2 / (side @ side), (side @ side) / side.sum()) for side in (to, fro)
    )
    return min(1.0, 2 * float(betainc(shape, other, unit / (scale + unit))))


def _weight_of_one(values: Any, weights: Any, ids: Any) -> float:
    # That of a whole cluster where items of one are all alike; in between it is by the intraclass
    # correlation, as that of Kish's effective size (1965).
    import numpy as np

    sizes, sums = (np.bincount(ids, weights=own) for own in (weights, weights * values))
    cluster, item = float(sizes @ sizes), float(weights @ weights)
    over_all = float(weights @ (values - sums.sum()) ** 2)
    free = 1 - float((weights**2 / sizes[ids]).sum())
    if free < ROUNDING or over_all < ROUNDING:
        return cluster
    inside = float(weights @ (values - (sums / sizes)[ids]) ** 2) / free
    correlation = min(1.0, max(0.0, 1 - inside / over_all))
    return correlation * cluster + (1 - correlation) * item


def _not_below(test: Test, least: float) -> Test:
    return Test(least, "gamma") if least > test.p * (1 + _ROUNDING) else test


def _flipped(sums: Sequence[int], scale: int, seed: int) -> Test:
    # ``sums`` are those of clusters, in parts of one over ``scale``.
    whole, seen = sorted(abs(total) for total in sums if total), abs(sum(sums))
    if not seen:
        return Test(1.0, "sign flips")
    most = (sum(whole) - seen) // 2
    if most <= _MOST_SUMS and most * len(whole) <= _MOST_WORK:
        return Test(_counted(whole, seen), "sign flips")
    return _flipped_floats([step / scale for step in whole], seen / scale, seed)


def _flipped_floats(steps: Sequence[float], seen: float, seed: int) -> Test:
    # ``steps`` are the sizes of the changes of clusters.
    import numpy as np

    if len(steps) <= FEW_CLUSTERS:
        return Test(_enumerated(steps, seen), "sign flips")
    sizes, least = np.array(steps), seen - _ROUNDING
    p = _drawn(len(sizes), seed, lambda places: np.abs(places @ (2 * sizes) - sizes.sum()) >= least)
    return Test(p, "sign flips, drawn")


def _whole_sums(differences: Sequence[float], ids: Any, number: int) -> tuple[list[int], int]:
    # The sums of differences by cluster. Exact: in parts of the largest fraction, one over the
    # second, of which all are multiples.
    import numpy as np

    values, kind = np.unique(np.asarray(differences, np.float64), return_inverse=True)
    kinds = [
        Fraction(d).limit_denominator(_MOST_PREDICTIONS) / len(differences) for d in values.tolist()
    ]
    scale = math.lcm(*(fraction.denominator for fraction in kinds))
    wholes = [int(fraction * scale) for fraction in kinds]
    # Whole numbers of any size where those of the machine might not hold a sum.
    is_small = max(map(abs, wholes)) * len(ids) < 2**62
    total = np.zeros(number, np.int64 if is_small else object)
    np.add.at(total, ids, np.array(wholes, total.dtype)[kind])
    sums = total.tolist()
    common = math.gcd(scale, *sums)
    return [each // common for each in sums], scale // common


def weighted_difference(
    differences: Sequence[float], weights: Sequence[float], clusters: Sequence[str], seed: int = 0
) -> Estimate:
    """A weighted mean of differences, with its 95 % interval and the test that it is 0.

    The test is that of :func:`sign_flips`: the weighted differences of a cluster change sign
    together. The interval is that of :func:`signs_and_sizes`, in which items are worth
    1 / Σw² independent ones. Without weights that differ these are the test and the interval of
    :func:`difference_interval`, but that signs are drawn where clusters are many.

    Args:
        differences: from -1 to 1, one for each item.
        weights: above 0.
        clusters: the cluster of each item.
        seed: that of the signs, where they are drawn.
    """
    import numpy as np

    if not len(differences):
        raise ValueError("a test needs at least one item")
    number, ids, documents = cluster_pairs(clusters)
    weight = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    values = np.asarray(differences, dtype=np.float64)
    changes, shares = np.bincount(ids, weight * values), np.bincount(ids, weight)
    if documents is None:
        steps = np.sort(np.abs(changes[np.abs(changes) > ROUNDING]))
        seen = abs(float(changes.sum()))
        test = Test(1.0, "sign flips")
        if seen > ROUNDING:
            test = _flipped_floats(steps.tolist(), seen, seed)
    else:
        test = dyadic_test(changes, shares, documents)
    test = _not_below(test, skewed_p(values, weight, ids))
    interval = Interval(-1.0, 1.0, "one cluster")
    if number > 1:
        most = max(1 / float(weight @ weight), effective_sample_size(shares))
        interval = signs_and_sizes(changes, shares, most, test.p, documents)
    value = math.fsum(values * weights) / math.fsum(weights)
    return Estimate(value, interval, len(values), test=test)


def approximate_randomisation(
    baseline: tuple[Sequence[float], Sequence[float]],
    model: tuple[Sequence[float], Sequence[float]],
    clusters: Sequence[str],
    seed: int = 0,
) -> Test:
    """A paired permutation test of two ratios of sums, such as F1: the p-value (two-sided).

    Were both models equally good, it would not matter which of them gave which counts; those of one
    cluster are swapped together (approximate randomisation: Noreen 1989; Yeh 2000, "More accurate
    tests for the statistical significance of result differences", COLING). Every set of swaps is
    gone through where few clusters differ, else :data:`FLIPS` are drawn, as in :func:`sign_flips`.
    A set that leaves a ratio without anything to divide by counts as far off.

    Equally good models are taken to be exchangeable, so that differences of clusters are symmetric.
    No bound for skewed ones (:func:`skewed_p`) stands beside it: where one model is a little better
    on most clusters and much worse on a few rare ones, p may be too small.
    """
    import numpy as np

    number, ids = cluster_ids(clusters)
    left, right = (
        np.array([np.bincount(ids, weights=np.asarray(own), minlength=number) for own in side])
        for side in (baseline, model)
    )
    if not left[1].sum() or not right[1].sum():
        raise ValueError("a test of ratios needs something to divide by")
    # Of each cluster half of how much the parts and wholes differ: a swap turns its sign.
    halves = (right - left)[:, (left != right).any(axis=0)] / 2
    middle = (left.sum(axis=1) + right.sum(axis=1)) / 2

    def distances(signs: Any) -> Any:
        (part, whole), (parts, wholes) = middle, halves @ signs.T
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.abs((part + parts) / (whole + wholes) - (part - parts) / (whole - wholes))
        return np.where(np.isfinite(far), far, 1.0)

    many = halves.shape[1]
    seen = float(distances(np.ones((1, many)))[0]) - _ROUNDING
    if many <= FEW_CLUSTERS:
        places = np.arange(2**many)[:, None] >> np.arange(many) & 1
        return Test(float((distances(2.0 * places - 1) >= seen).mean()), _RANDOMISATION)
    p = _drawn(many, seed, lambda places: distances(2.0 * places - 1) >= seen)
    return Test(p, f"{_RANDOMISATION}, drawn")


def _counted(steps: Sequence[int], seen: int) -> float:
    # The signed sum is the total less twice what is taken negative: it is at least ``seen`` where
    # that is at most ``most``. So only chances of 0, 1, ... ``most`` are kept: entry s is the
    # chance that the steps so far, each taken with probability 1/2, add up to s. By symmetry the
    # other tail is as large.
    import numpy as np

    most = (sum(steps) - seen) // 2
    chances = np.zeros(most + 1)
    chances[0] = 1.0
    for step in steps:
        chances *= 0.5
        if step <= most:
            # numpy adds as if from a copy where the two overlap.
            chances[step:] += chances[: most + 1 - step]
    return min(1.0, 2 * float(chances.sum()))


def _enumerated(steps: Sequence[float], seen: float) -> float:
    import numpy as np

    sums = np.zeros(1)
    for step in steps:
        sums = np.concatenate([sums + step, sums - step])
    return float((np.abs(sums) >= seen - _ROUNDING).mean())


def _drawn(many: int, seed: int, is_as_far: Callable[[Any], Any]) -> float:
    # Of drawn sets of 0 and 1, one for each cluster, those that are as far off as the one seen.
    import numpy as np

    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // many)
    as_far = 0
    for start in range(0, FLIPS, rows):
        shape = min(rows, FLIPS - start), many
        as_far += int(is_as_far(generator.integers(0, 2, size=shape, dtype=np.int8)).sum())
    return (as_far + 1) / (FLIPS + 1)


def difference_interval(
    differences: Sequence[float], clusters: Sequence[str], test: Test | None = None
) -> Interval:
    """A 95 % interval of the mean difference that excludes 0 just where its test has p < 0.05.

    See :func:`signs_and_sizes`; each cluster weighs as many items as it has. One cluster says
    nothing about others (``one cluster``: -1 to 1). The test, of the same differences, is
    :func:`sign_flips` where none is given.
    """
    import numpy as np

    if test is None:
        test = sign_flips(differences, clusters)
    number, ids, documents = cluster_pairs(clusters)
    if number == 1:
        return Interval(-1.0, 1.0, "one cluster")
    sums = np.bincount(ids, weights=np.asarray(differences, dtype=np.float64))
    weights = np.bincount(ids) / len(differences)
    return signs_and_sizes(sums / len(differences), weights, len(differences), test.p, documents)


def signs_and_sizes(
    changes: Any, weights: Any, most: float, p: float | None = None, documents: Any = None
) -> Interval:
    """A 95 % interval of a sum of changes, one for each cluster (``signs and sizes``).

    The sum is a product: how much changes at all (the mean size of a change), times the balance of
    its signs. Were nothing better, each sign would be a fair coin, whatever the sizes: what the
    sign-flip test and McNemar's look at. The first is a share, the second a binomial one of as many
    coins as the sizes are worth; their intervals are carried over to the product as Newcombe (2011,
    "Propagating imprecision", Communications in Statistics 40) does: the limit is that farthest out
    when the confidence (a normal deviate's square) is divided among both in every proportion. It
    has the sign of the limit of the balance, and so excludes 0 just where the test of the signs
    does. Where nothing changes it says how much may change unseen.

    Args:
        changes: one for each cluster, none larger than its weight.
        weights: add up to 1.
        most: the worth of the clusters if all their items are independent.
        p: says what a test of the signs found, with which the interval is to agree.
        documents: both of each cluster, where clusters are pairs.
    """
    import numpy as np
    from scipy.special import ndtr

    sizes = np.abs(changes)
    turnover = clustered(sizes, weights, most, documents)
    total = float(sizes.sum())
    better, coins = 0.5, 1.0
    if total > ROUNDING:
        better = min(1.0, max(0.0, (1 + float(changes.sum()) / total) / 2))
        worth = effective_sample_size(sizes)
        if documents is not None:
            worth = effective_sample_size(over_documents(sizes, documents), sizes)
        coins = _coins(better, worth, p)
    angles = np.linspace(0, math.pi / 2, 91)
    first, second = (ndtr(-_Z95 * part) for part in (np.cos(angles), np.sin(angles)))
    low, high = (2 * limit - 1 for limit in binomial_limits(better, coins, first))
    if total <= ROUNDING:
        low, high = -np.ones_like(first), np.ones_like(first)
    few, many = binomial_limits(turnover.share, turnover.size, second)
    return Interval(
        float(np.min(low * np.where(low < 0, many, few))),
        float(np.max(high * np.where(high > 0, many, few))),
        "signs and sizes",
    )


def _coins(share: float, effective_size: float, p: float | None) -> float:
    # Another number than what their sizes say only where that would contradict the test, and then
    # as many as give its p.
    if p is None or (_p_of_coins(share, effective_size) < _LEVEL) == (p < _LEVEL):
        return effective_size
    fewer, more = 1e-3, 1e9
    for _ in range(100):
        number = math.sqrt(fewer * more)
        if _p_of_coins(share, number) > p:
            fewer = number
        else:
            more = number
    return more if p < _LEVEL else fewer


def _p_of_coins(share: float, number: float) -> float:
    from scipy.special import betainc

    met = max(share, 1 - share) * number
    return min(1.0, 2 * float(betainc(met, number - met + 1, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values: the chance of any false alarm in the family stays what each one says.

    The smallest of m is multiplied by m, the next by m - 1, and so on, and none becomes smaller
    than the one before it (Holm 1979, "A simple sequentially rejective multiple test procedure",
    Scandinavian Journal of Statistics 6). It holds whatever the tests have in common, so that a
    config and its groups may be in one family.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = least
    return adjusted
