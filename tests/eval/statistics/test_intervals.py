"""Intervals of shares and means against known values, and how often they hold the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from coherencegym.eval.statistics.effective_size import (
    WITH,
    adjusted,
    binomial_limits,
    cluster_pairs,
    clustered,
    effective_sample_size,
)
from coherencegym.eval.statistics.intervals import (
    difference_of_means,
    interval_of,
    mean_interval,
    ratio_interval,
    share_interval,
)
from coherencegym.eval.statistics.paired import sign_flips

# ---------------------------------------------------------------- shares


def apart(number: int, name: str = "") -> list[str]:
    """Clusters of one item."""
    return [f"{name}{place}" for place in range(number)]


@pytest.mark.parametrize(("met", "n"), [(0, 10), (10, 10), (81, 263), (15, 148), (2, 2), (50, 100)])
def test_independent_items_have_the_exact_interval(met: int, n: int) -> None:
    known = stats.binomtest(met, n).proportion_ci(method="exact")
    found = share_interval([1.0] * met + [0.0] * (n - met), apart(n))
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-12)
    assert found.method == "clopper-pearson"


def test_the_exact_interval_of_newcombes_example() -> None:
    """Newcombe 1998 ("Two-sided confidence intervals for the single proportion"), table I, method
    5: 81 of 263 gives .2527 to .3676."""
    low, high = binomial_limits(81 / 263, 263)
    assert (round(float(low), 4), round(float(high), 4)) == (0.2527, 0.3676)


def test_one_cluster_says_nothing_about_others() -> None:
    for values in ([1.0, 0.0, 1.0], [1.0, 1.0], [1.0]):
        found = share_interval(values, ["a"] * len(values))
        assert (found.low, found.high, found.method) == (0.0, 1.0, "one cluster")


def test_clusters_of_one_outcome_are_one_item_each() -> None:
    """Copies of an item add no certainty, whether all outcomes are alike or not."""
    for outcomes in ([1.0] * 6, [1.0] * 5 + [0.0] * 4, [0.0, 1.0]):
        once = share_interval(outcomes, apart(len(outcomes)))
        ten = share_interval(
            np.repeat(outcomes, 10).tolist(), np.repeat(apart(len(outcomes)), 10).tolist()
        )
        assert (ten.low, ten.high) == pytest.approx((once.low, once.high))
        assert ten.method == "korn-graubard"


def test_the_effective_size_is_that_of_korn_and_graubard() -> None:
    """By hand: four clusters of five, with 4, 3, 3 and 2 of them met."""
    sums, sizes = np.array([4.0, 3.0, 3.0, 2.0]), np.full(4, 5.0)
    found = clustered(sums, sizes, 20.0)
    variance = (1 / 20) ** 2 * (1 + 0 + 0 + 1) * 4 / 3
    independent = 0.6 * 0.4 / 19
    # Failures: 1, 2, 2 and 3 of 8, as many as 64 / 18 clusters with two each; fewer freedoms: 3.
    correction = (stats.t.ppf(0.975, 19) / stats.t.ppf(0.975, 3)) ** 2
    size = min(20 * independent / variance, 20) * correction
    assert found.size == pytest.approx(max(size, 4.0))
    assert found.share == pytest.approx(0.6)


def test_the_size_is_between_the_clusters_and_the_items() -> None:
    generator = np.random.default_rng(1)
    for _ in range(200):
        sizes = generator.integers(1, 6, 12).astype(float)
        found = clustered(
            generator.binomial(sizes.astype(int), 0.7).astype(float), sizes, sizes.sum()
        )
        assert found.fewest == pytest.approx(sizes.sum() ** 2 / (sizes**2).sum())
        assert found.fewest <= found.size <= sizes.sum()


def test_one_right_of_every_pair_is_worth_no_more_than_the_items() -> None:
    found = share_interval([1.0, 0.0] * 10, [str(i // 2) for i in range(20)])
    known = stats.binomtest(10, 20).proportion_ci(method="exact")
    assert found.low <= known.low
    assert found.high >= known.high
    assert found.high - found.low < 0.5


def test_shares_of_many_predictions_are_worth_more_than_their_items() -> None:
    values = np.random.default_rng(2).binomial(50, 0.6, 40) / 50
    one = share_interval(values.tolist(), apart(40))
    many = share_interval(values.tolist(), apart(40), [50] * 40)
    assert many.high - many.low < 0.3 * (one.high - one.low)
    half = 1.96 * np.sqrt(0.24 / 2000)
    assert many.high - many.low > 2 * half


def test_a_cross_validation_doubles_the_variance() -> None:
    values = [1.0] * 600 + [0.0] * 400
    plain = share_interval(values, apart(1000))
    found = share_interval(values, apart(1000), folds=10)
    assert found.method == "cross-validated"
    wider = (found.high - found.low) / (plain.high - plain.low)
    assert wider == pytest.approx(np.sqrt(1 + 10 / 9), rel=0.02)
    with pytest.raises(ValueError, match="two folds"):
        share_interval(values, apart(1000), folds=1)


@pytest.mark.parametrize(
    ("clusters", "size", "share", "correlation"),
    [
        (2, 20, 0.5, 0.3),
        (5, 3, 0.9, 1.0),
        (10, 20, 0.9, 0.3),
        (20, 20, 0.97, 0.6),
        (20, 3, 0.5, 0.0),
    ],
)
def test_intervals_of_few_clusters_hold_the_truth(
    clusters: int, size: int, share: float, correlation: float
) -> None:
    """Where a percentile bootstrap, a variance over clusters or Wilson's interval fail."""
    generator = np.random.default_rng(3)
    runs = 800
    if correlation in (0.0, 1.0):
        chances = np.full((runs, clusters), share)
        if correlation:
            chances = (generator.random((runs, clusters)) < share).astype(float)
    else:
        strength = (1 - correlation) / correlation
        chances = generator.beta(share * strength, (1 - share) * strength, (runs, clusters))
    sums = generator.binomial(size, chances)
    names = np.repeat(apart(clusters), size).tolist()
    held = 0
    for met in sums:
        values = (np.arange(size) < met[:, None]).astype(float).ravel().tolist()
        found = share_interval(values, names)
        held += found.low <= share <= found.high
    assert held / runs > 0.94 - 2 * np.sqrt(0.95 * 0.05 / runs)


def few_large(runs: int, number: int, share: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Items met, and all items, of clusters of one outcome: one in ten has 40 items, others one."""
    generator = np.random.default_rng(13)
    sizes = np.where(generator.random((runs, number)) < 0.1, 40.0, 1.0)
    return list(zip(sizes * (generator.random((runs, number)) < share), sizes, strict=True))


@pytest.mark.parametrize(("number", "share"), [(60, 0.9), (200, 0.97)])
def test_intervals_hold_the_truth_where_a_few_clusters_hold_most_items(
    number: int, share: float
) -> None:
    """None of a few large clusters need show the rarer outcome; the variance alone holds .5."""
    samples = few_large(300, number, share)
    found = [interval_of(clustered(s, z, z.sum()), number) for s, z in samples]
    held = sum(one.low <= share <= one.high for one in found)
    assert held / len(samples) > 0.94 - 2 * np.sqrt(0.95 * 0.05 / len(samples))


@given(st.integers(2, 7), st.lists(st.integers(0, 7), min_size=2, max_size=20))
def test_clusters_of_one_size_are_worth_what_their_variance_says(size: int, met: list[int]) -> None:
    """To the last digit: what the insides of the clusters say is never less."""
    sums, sizes = np.minimum(met, size).astype(float), np.full(len(met), float(size))
    found = clustered(sums, sizes, sizes.sum())
    assert found.size == replace(found, correlated=np.inf).size


def test_the_correlation_inside_clusters_by_hand() -> None:
    """Clusters of 4, 1 and 1 of one outcome each are worth Kish's 36 / 18; of both, the items."""
    alike = clustered(np.array([4.0, 0.0, 1.0]), np.array([4.0, 1.0, 1.0]), 6.0)
    assert alike.correlated == pytest.approx(2.0)
    # Over all 1/4; inside, 4 * 1/4 with 3 free: more than over all, so no correlation.
    mixed = clustered(np.array([2.0, 0.0, 1.0]), np.array([4.0, 1.0, 1.0]), 6.0)
    assert mixed.correlated == pytest.approx(6.0)
    # Inside 4 * 3/4 * 1/4 with 6 free, over all 3/8 * 5/8.
    some = clustered(np.array([3.0, 0.0]), np.array([4.0, 4.0]), 8.0)
    correlation = 1 - (4 * 3 / 16 / 6) / (3 / 8 * 5 / 8)
    assert some.correlated == pytest.approx(1 / (correlation / 2 + (1 - correlation) / 8))


def test_a_ratio_of_one_count_each_is_a_share() -> None:
    hits, calls = [1.0, 0.0, 1.0, 1.0, 0.0], [1.0] * 5
    found = ratio_interval(hits, calls, apart(5), 5.0)
    assert found == share_interval(hits, apart(5))
    # Documents without a call say nothing.
    more = ratio_interval([*hits, 0.0], [*calls, 0.0], apart(6), 5.0)
    assert (more.low, more.high) == (found.low, found.high)
    with pytest.raises(ValueError, match="divide by"):
        ratio_interval([0.0], [0.0], ["a"], 1.0)


# ---------------------------------------------------------------- means


def test_the_interval_of_a_mean_is_students() -> None:
    values = np.random.default_rng(5).normal(1, 2, 12)
    found = mean_interval(values.tolist(), apart(12))
    known = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert found is not None
    assert (found.low, found.high, found.method) == pytest.approx((*known, "t"))


def test_copies_of_an_item_in_its_cluster_add_no_certainty_to_a_mean() -> None:
    values = np.random.default_rng(6).normal(1, 2, 9)
    once = mean_interval(values.tolist(), apart(9))
    ten = mean_interval(np.repeat(values, 10).tolist(), np.repeat(apart(9), 10).tolist())
    assert once is not None
    assert ten is not None
    assert (ten.low, ten.high) == pytest.approx((once.low, once.high))


def test_one_cluster_has_no_interval_of_a_mean() -> None:
    assert mean_interval([1.0, 2.0], ["a", "a"]) is None
    assert mean_interval([1.0] * 99 + [2.0], ["a"] * 99 + ["b"]) is None
    assert difference_of_means(([1.0, 2.0], ["a", "a"]), ([1.0, 2.0], ["b", "c"])) is None


# ---------------------------------------------------------------- differences of two means


def test_the_interval_of_a_difference_is_welchs() -> None:
    generator = np.random.default_rng(8)
    left, right = generator.exponential(1, 30), generator.normal(0, 3, 12)
    known = stats.ttest_ind(left, right, equal_var=False).confidence_interval()
    found = difference_of_means((left.tolist(), apart(30, "a")), (right.tolist(), apart(12, "b")))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((known.low, known.high))


def test_a_cluster_on_both_sides_is_on_both_at_once() -> None:
    values = np.random.default_rng(9).normal(0, 5, 30)
    found = difference_of_means(((values + 1).tolist(), apart(30)), (values.tolist(), apart(30)))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((1, 1))


def test_copies_of_an_item_add_no_certainty_to_a_difference() -> None:
    left, right = np.random.default_rng(10).normal(0, 1, (2, 25))
    other = right.tolist(), apart(25, "b")
    once = difference_of_means((left.tolist(), apart(25)), other)
    copies = np.repeat(left, 10).tolist(), np.repeat(apart(25), 10).tolist()
    ten = difference_of_means(copies, other)
    assert once is not None
    assert ten is not None
    assert (once.low, once.high) == pytest.approx((ten.low, ten.high))


def test_no_items_no_interval() -> None:
    with pytest.raises(ValueError, match="at least one"):
        share_interval([], [])
    with pytest.raises(ValueError, match="at least one"):
        mean_interval([], [])
    with pytest.raises(ValueError, match="each side"):
        difference_of_means(([1.0], ["a"]), ([], []))


def test_residuals_are_as_large_as_about_another_samples_mean() -> None:
    """Bell and McCaffrey's correction makes the variance unbiased where clusters differ in size."""
    generator = np.random.default_rng(11)
    sizes = np.array([1.0, 2.0, 3.0, 10.0, 4.0])
    weights = sizes / sizes.sum()
    means, squares = [], []
    for _ in range(20_000):
        totals = generator.normal(0, np.sqrt(sizes)) / sizes.sum()
        residuals = adjusted(totals - totals.sum() * weights, weights)
        means.append(totals.sum())
        squares.append(residuals @ residuals)
    assert np.mean(squares) == pytest.approx(np.var(means), rel=0.03)
    assert effective_sample_size(weights) == pytest.approx(400 / 130)


# ---------------------------------------------------------------- items of two documents


def dyads(seed: int, documents: int, times: int) -> tuple[Any, list[str]]:
    """Pairs of documents, each in so many, and the names of their clusters."""
    generator = np.random.default_rng(seed)
    orders = [generator.permutation(documents).reshape(-1, 2) for _ in range(times)]
    pairs = np.concatenate(orders)
    return pairs, [f"d{first}{WITH}d{second}" for first, second in pairs]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_variance_is_the_double_sum_over_items_that_share_a_document(seed: int) -> None:
    """By hand, each product divided as Bell and McCaffrey do by what it is inside of."""
    pairs, names = dyads(seed, 12, 3)
    values = np.random.default_rng(seed).random(len(pairs))
    away = (values - values.mean()) / len(values)
    share = [np.mean((pairs == own).any(axis=1)) for own in range(12)]
    whole = shared = 0.0
    for i, j in np.ndindex(len(pairs), len(pairs)):
        common = set(pairs[i]) & set(pairs[j])
        same = np.mean([set(pair) == set(pairs[i]) for pair in pairs])
        whole += sum(away[i] * away[j] / (1 - share[own]) for own in common)
        whole -= away[i] * away[j] / (1 - same) if len(common) == 2 else 0.0
        shared += len(common) > 0
    number, ids, documents = cluster_pairs(names)
    sums, sizes = np.bincount(ids, weights=values), np.bincount(ids).astype(float)
    found = clustered(sums, sizes, len(values), documents)
    assert found.pairs is not None
    assert found.variance == pytest.approx(max(whole, found.pairs.variance), rel=1e-12)
    assert found.fewest == pytest.approx(len(pairs) ** 2 / shared)
    assert number == 12
    assert found.share == pytest.approx(values.mean())


def test_pairs_that_share_no_document_are_clusters_and_so_are_documents_alone() -> None:
    """What a document stands in once is what it was; both columns may be numbers."""
    values = [1.0, 0.0, 1.0, 1.0, 0.0]
    plain = share_interval(values, ["a", "b", "b", "c", "d"])
    numbers: Any = np.array([[0, 4], [1, 5], [5, 1], [2, 2], [3, 3]])
    assert share_interval(values, ["a × e", "b × f", "f × b", "c", "d"]) == plain
    assert share_interval(values, numbers) == plain
    # One that is alone and in a pair, too, varies with that pair.
    assert share_interval(values, ["a × e", "b × f", "f × b", "c × a", "d"]) != plain


def test_names_and_numbers_of_dyads_are_one() -> None:
    pairs, names = dyads(3, 14, 2)
    values: Any = (np.random.default_rng(3).random(len(pairs)) < 0.7).astype(float)
    assert share_interval(values, names) == share_interval(values, pairs)
    mean = mean_interval(values, names)
    assert mean is not None
    assert mean.high - mean.low > 0
    assert cluster_pairs(pairs[:0])[0] == 0


@pytest.mark.parametrize("test", [False, True])
def test_the_level_holds_where_documents_are_in_several_pairs(test: bool) -> None:
    """Documents with effects, in six pairs each; as independent pairs they are far from it."""
    generator = np.random.default_rng(7)
    held = np.zeros(2)
    for seed in range(200):
        pairs, _ = dyads(seed, 20, 6)
        effects = np.sqrt(0.3) * generator.standard_normal(20)
        latent = effects[pairs].sum(axis=1) + np.sqrt(0.4) * generator.standard_normal(len(pairs))
        apart = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)[1]
        ways: Any = apart, pairs
        if test:
            held += [sign_flips(np.sign(latent), own).p >= 0.05 for own in ways]
            continue
        found = [share_interval((latent < 0).astype(float), own) for own in ways]
        held += [one.low <= 0.5 <= one.high for one in found]
    assert held[0] < 180
    assert held[1] >= 185
