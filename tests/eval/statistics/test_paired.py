"""Paired tests against full enumeration, hand-worked examples and scipy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from coherencegym.eval.statistics import paired
from coherencegym.eval.statistics.estimators import ranks_difference
from coherencegym.eval.statistics.intervals import Interval, Test
from coherencegym.eval.statistics.paired import (
    approximate_randomisation,
    difference_interval,
    holm,
    mcnemar,
    paired_test,
    sign_flips,
    skewed_p,
    weighted_difference,
)

# ---------------------------------------------------------------- McNemar


def brute_force_binomial(left: int, right: int) -> Fraction:
    """Both tails of a fair coin thrown ``left + right`` times, at least as far out as was seen."""
    n = left + right
    far = abs(left - right)
    return Fraction(sum(math.comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= far), 2**n)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_binomial_test(left: int, right: int) -> None:
    found = mcnemar(left, right)
    assert found == pytest.approx(float(brute_force_binomial(left, right)), rel=1e-9)
    assert found == mcnemar(right, left)


@pytest.mark.parametrize(
    ("left", "right", "p"),
    [(0, 0, 1.0), (5, 5, 1.0), (0, 5, 0.0625), (0, 6, 0.03125), (2, 8, 0.109375)],
)
def test_mcnemar_by_hand(left: int, right: int, p: float) -> None:
    assert mcnemar(left, right) == pytest.approx(p)


def test_mcnemar_is_not_mid_p() -> None:
    """Of 1 against 7 the mid-p value would be 0.0391; the exact one is 18 / 256."""
    assert mcnemar(1, 7) == pytest.approx(18 / 256)


# ---------------------------------------------------------------- sign flips

SHARES = st.integers(1, 6).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.integers(0, n)).map(
        lambda pair: Fraction(pair[1] - pair[0], n)
    )
)


def only_flips(differences: list[float], clusters: list[str], seed: int = 0) -> Test:
    """The permutation test alone, without what stands beside it for skewed differences."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired, "skewed_p", lambda *_: 0.0)
        return sign_flips(differences, clusters, seed)


CLUSTERED = st.lists(st.tuples(SHARES, st.sampled_from("abcdefgh")), min_size=1, max_size=16)


def every_set_of_signs(pairs: list[tuple[Fraction, str]]) -> float:
    """The share of all sets of the clusters' signs that give a sum as far from 0, in fractions."""
    names = sorted({name for _, name in pairs})
    sums = [sum((d for d, own in pairs if own == name), Fraction(0)) for name in names]
    seen = abs(sum(sums, Fraction(0)))
    sets = list(product((1, -1), repeat=len(names)))
    as_far = sum(
        abs(sum((s * d for s, d in zip(signs, sums, strict=True)), Fraction(0))) >= seen
        for signs in sets
    )
    return as_far / len(sets)


@given(CLUSTERED)
def test_sign_flips_are_exact(pairs: list[tuple[Fraction, str]]) -> None:
    found = only_flips([float(d) for d, _ in pairs], [name for _, name in pairs])
    assert found.p == pytest.approx(every_set_of_signs(pairs), rel=1e-12)
    assert found.method == "sign flips"
    turned = only_flips([-float(d) for d, _ in pairs], [name for _, name in pairs])
    assert turned == found


@given(CLUSTERED)
def test_going_through_the_sets_gives_the_same(pairs: list[tuple[Fraction, str]]) -> None:
    """What stands in where fractions have no small common denominator."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired, "_MOST_SUMS", -1)
        found = only_flips([float(d) for d, _ in pairs], [name for _, name in pairs])
    assert found.p == pytest.approx(every_set_of_signs(pairs), rel=1e-12)
    assert found.method == "sign flips"


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=60))
def test_with_an_item_a_cluster_sign_flips_are_mcnemars(differences: list[float]) -> None:
    found = sign_flips(differences, [str(place) for place in range(len(differences))])
    known = mcnemar(differences.count(-1.0), differences.count(1.0))
    assert found.p == pytest.approx(known, rel=1e-9)


def test_sign_flips_by_hand() -> None:
    """Clusters of 2, 1 and 1/2: only the set seen and its mirror reach 3.5, 3 of 4 pairs 1.5."""
    assert only_flips([1.0, 1.0, 1.0, 0.5], ["a", "a", "b", "c"]).p == pytest.approx(2 / 8)
    assert only_flips([1.0, 1.0, -1.0, 0.5], ["a", "a", "b", "c"]).p == pytest.approx(6 / 8)


def test_shares_of_few_predictions_are_counted_exactly_at_any_size() -> None:
    """A third is no number that a float holds; no clusters of 100 could be gone through."""
    differences = [1 / 3] * 60 + [-(1 - 2 / 3)] * 40
    found = only_flips(differences, [str(place) for place in range(100)])
    assert found.method == "sign flips"
    assert found.p == pytest.approx(mcnemar(40, 60))


def test_drawn_signs_are_near_the_exact_value_and_never_zero(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = np.random.default_rng(1)
    differences = generator.choice([-1.0, -0.5, 0.0, 0.5, 1.0], 200, p=[0.1, 0.2, 0.3, 0.2, 0.2])
    clusters = [str(place // 3) for place in range(200)]
    exact = sign_flips(differences.tolist(), clusters)
    monkeypatch.setattr(paired, "_MOST_SUMS", -1)
    drawn = sign_flips(differences.tolist(), clusters, seed=3)
    assert (exact.method, drawn.method) == ("sign flips", "sign flips, drawn")
    assert 0.001 < exact.p < 0.5
    error = math.sqrt(exact.p * (1 - exact.p) / paired.FLIPS)
    assert drawn.p == pytest.approx(exact.p, abs=4 * error)
    assert drawn == sign_flips(differences.tolist(), clusters, seed=3)
    assert drawn != sign_flips(differences.tolist(), clusters, seed=4)
    certain = sign_flips([1.0] * 100, [str(place) for place in range(100)])
    assert certain.p == 1 / (paired.FLIPS + 1)


def test_drawing_in_blocks_draws_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty clusters of one size, of which every set but two gives less: (b + 1) / (m + 1)."""
    monkeypatch.setattr(paired, "_MOST_SUMS", -1)
    monkeypatch.setattr(paired, "FLIPS", 999)
    monkeypatch.setattr(paired, "_BLOCK", 1700)
    found = only_flips([0.5, -0.5] * 9 + [0.5] * 2, [str(place) for place in range(20)])
    assert found.p == pytest.approx(float(brute_force_binomial(9, 11)), abs=0.05)
    assert (found.p * 1000) == pytest.approx(round(found.p * 1000))


def test_twenty_thousand_items_are_counted_exactly() -> None:
    """McNemar's test at a size at which no set of signs could be gone through."""
    differences = [1.0] * 5100 + [-1.0] * 4900 + [0.0] * 10_000
    found = sign_flips(differences, [str(place) for place in range(20_000)])
    assert found.method == "sign flips"
    assert found.p == pytest.approx(mcnemar(4900, 5100), rel=1e-6)


# ---------------------------------------------------------------- skewed differences

UNEQUAL = st.lists(
    st.tuples(st.floats(-1, 1).map(lambda value: round(value, 2)), st.sampled_from("abcdef")),
    min_size=1,
    max_size=12,
)


@given(UNEQUAL)
def test_a_test_is_never_surer_than_what_holds_for_skewed_differences(
    pairs: list[tuple[float, str]],
) -> None:
    differences, names = [d for d, _ in pairs], [name for _, name in pairs]
    _, cluster = np.unique(names, return_inverse=True)
    weights = np.full(len(pairs), 1 / len(pairs))
    least = skewed_p(differences, weights, cluster)
    assert skewed_p([-d for d in differences], weights, cluster) == pytest.approx(least)
    found, flips = sign_flips(differences, names), only_flips(differences, names)
    assert found.p == pytest.approx(max(flips.p, least), rel=1e-6)
    assert found.method == (flips.method if least <= flips.p * (1 + 1e-9) else "gamma")


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(1, 4))
def test_of_one_prediction_an_item_the_bound_is_mcnemars(
    better: int, worse: int, same: int, copies: int
) -> None:
    """And so it is of clusters of copies of an item."""
    values = np.repeat([1.0] * better + [-1.0] * worse + [0.0] * same, copies)
    if len(values):
        cluster = np.repeat(np.arange(len(values) // copies), copies)
        found = skewed_p(values, np.full(len(values), 1 / len(values)), cluster)
        assert found == pytest.approx(mcnemar(worse, better), rel=1e-9)


def test_the_bound_by_hand() -> None:
    """Ten items a tenth better: is one more that is wholly worse likely? (10 / 11) ** 10."""
    found = sign_flips([0.1] * 10, [str(place) for place in range(10)])
    assert found.p == pytest.approx(2 * (10 / 11) ** 10)
    assert found.method == "gamma"


@pytest.mark.parametrize(("number", "copies"), [(10, 1), (20, 1), (60, 1), (10, 3)])
def test_equal_means_of_skewed_differences_are_found_unequal_at_most_at_the_level(
    number: int, copies: int
) -> None:
    """A tenth better on ten of eleven items and all worse on the eleventh: flips alone reject .37
    of 10, .145 of 20."""
    generator = np.random.default_rng(4)
    runs = 300
    cluster = np.repeat(np.arange(number), copies)
    names = list(map(str, cluster))
    rejected = flips = 0
    for _ in range(runs):
        values = np.where(generator.random(number) < 1 / 11, -1.0, 0.1)[cluster]
        rejected += sign_flips(values.tolist(), names).p < 0.05
        flips += only_flips(values.tolist(), names).p < 0.05
    assert rejected / runs <= 0.05
    assert number > 20 or flips / runs > 0.1


# ---------------------------------------------------------------- which test


def test_mcnemar_where_items_are_independent_and_have_one_prediction() -> None:
    left, right = [1.0, 0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0]
    assert paired_test(left, right, list("abcde")) == Test(mcnemar(1, 3), "mcnemar")
    assert paired_test(left, right, list("abcda")) == sign_flips([0, 1, 1, 1, -1], list("abcda"))
    shares = paired_test([0.5, *left[1:]], right, list("abcde"))
    assert shares == sign_flips([0.5, 1, 1, 1, -1], list("abcde"))
    with pytest.raises(ValueError, match="at least one item"):
        paired_test([], [], [])
    with pytest.raises(ValueError, match="at least one item"):
        sign_flips([], [])


def test_copies_of_an_item_in_its_cluster_add_no_evidence() -> None:
    differences = [1.0] * 8 + [-1.0]
    names = [str(place) for place in range(9)]
    once = sign_flips(differences, names)
    assert sign_flips(differences * 5, names * 5).p == pytest.approx(once.p)


# ---------------------------------------------------------------- intervals


def test_the_interval_of_a_difference_agrees_with_the_normal_approximation() -> None:
    generator = np.random.default_rng(2)
    differences = generator.choice([-1.0, 0.0, 1.0], 2000, p=[0.1, 0.6, 0.3])
    found = difference_interval(differences.tolist(), [str(place) for place in range(2000)])
    half = 1.96 * differences.std() / np.sqrt(2000)
    middle = differences.mean()
    assert found.method == "signs and sizes"
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half), abs=0.1 * half)


def test_the_interval_of_clusters_agrees_with_the_normal_approximation() -> None:
    """Where sizes and signs go together, as the differences of clusters are normal."""
    generator = np.random.default_rng(3)
    means = np.clip(generator.normal(0.3, 0.3, 600), -1, 1)
    found = difference_interval(
        np.repeat(means, 10).tolist(), np.repeat([str(i) for i in range(600)], 10).tolist()
    )
    half = 1.96 * means.std() / np.sqrt(600)
    assert (found.low, found.high) == pytest.approx(
        (means.mean() - half, means.mean() + half), abs=0.15 * half
    )


def test_an_interval_excludes_zero_where_its_test_says_so() -> None:
    """Five of five are p = 0.0625, six of six 0.03125; one large difference outweighs no sign."""
    for differences in ([1.0] * 5, [1.0] * 6, [0.01, 0.01, 0.01, 0.01, 0.01, 1.0], [0.5, -0.5]):
        names = [str(place) for place in range(len(differences))]
        p = sign_flips(differences, names).p
        found = difference_interval(differences, names)
        assert (found.low > 0) == (p < 0.05)
        assert found.high > 0


@given(CLUSTERED, st.integers(1, 6))
def test_interval_and_test_never_disagree(pairs: list[tuple[Fraction, str]], times: int) -> None:
    differences = [float(d) for d, _ in pairs] * times
    names = [f"{name}{time}" for time in range(times) for _, name in pairs]
    test = sign_flips(differences, names)
    found = difference_interval(differences, names, test)
    assert (found.low > 0 or found.high < 0) == (test.p < 0.05)
    middle = sum(differences) / len(differences)
    assert -1 <= found.low <= middle + 1e-12
    assert middle - 1e-12 <= found.high <= 1


def test_drawn_signs_do_not_widen_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drawn p-value is never below 1 in 50,000, however certain the difference is."""
    differences, names = [1.0] * 300 + [-1.0] * 100, [str(place) for place in range(400)]
    known = difference_interval(differences, names)
    monkeypatch.setattr(paired, "_MOST_SUMS", -1)
    test = sign_flips(differences, names)
    assert test.method == "sign flips, drawn"
    assert difference_interval(differences, names, test) == known


def test_two_models_that_agree_have_an_interval_around_zero() -> None:
    other = 1 - 0.025 ** (1 / 20)  # the exact limit of none of 20
    found = difference_interval([0.0] * 40, [str(place // 2) for place in range(40)])
    assert (found.low, found.high) == pytest.approx((-other, other))
    found = difference_interval([1.0] * 20, [str(place) for place in range(20)])
    assert found.high == 1.0
    assert 1 - 3 * other < found.low < 1 - 2 * other


def test_one_cluster_says_nothing_about_others() -> None:
    found = difference_interval([1.0, 0.0, 1.0], ["a", "a", "a"])
    assert (found.low, found.high, found.method) == (-1.0, 1.0, "one cluster")
    with pytest.raises(ValueError, match="at least one item"):
        difference_interval([], [])


@given(CLUSTERED)
def test_an_interval_turns_with_the_models(pairs: list[tuple[Fraction, str]]) -> None:
    names = [name for _, name in pairs]
    there = difference_interval([float(d) for d, _ in pairs], names)
    back = difference_interval([-float(d) for d, _ in pairs], names)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=1e-12)
    assert there.method == back.method


# ---------------------------------------------------------------- Holm


def test_holm_by_hand() -> None:
    """Holm 1979: multiply by 4, 3, 2, 1 in order, and never fall."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.7, 0.9]) == [1.0, 1.0]


def rejected_step_by_step(p_values: list[float], level: float) -> set[int]:
    """The procedure as Holm words it: go on while the smallest left is at most level / (left)."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    found: set[int] = set()
    for rank, place in enumerate(order):
        if p_values[place] * (len(p_values) - rank) >= level:
            break
        found.add(place)
    return found


P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(P_VALUES, st.sampled_from([0.01, 0.05, 0.2]))
def test_holm_rejects_what_the_procedure_rejects(p_values: list[float], level: float) -> None:
    adjusted = holm(p_values)
    below = {place for place, p in enumerate(adjusted) if p < level}
    assert below == rejected_step_by_step(p_values, level)


@given(P_VALUES)
def test_holm_keeps_the_order_and_is_between_the_value_and_bonferronis(
    p_values: list[float],
) -> None:
    adjusted = holm(p_values)
    for p, q in zip(p_values, adjusted, strict=True):
        assert p <= q <= min(1.0, len(p_values) * p) or q == pytest.approx(p)
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert all(a[1] <= b[1] for a, b in pairwise(pairs))


def test_scipys_permutation_test_agrees() -> None:
    """Of paired samples, whose items are clusters of their own."""
    generator = np.random.default_rng(5)
    left, right = generator.integers(0, 5, (2, 11)) / 4
    known = stats.permutation_test(
        (left, right),
        lambda x, y, axis: np.mean(y - x, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    found = only_flips((right - left).tolist(), list("abcdefghijk"))
    assert found.p == pytest.approx(known.pvalue)


def test_swaps_of_shares_are_mcnemars_and_of_one_side_say_nothing() -> None:
    left = [0.0] * 9 + [1.0] * 3
    right = [1.0] * 7 + [0.0] * 2 + [1.0] * 2 + [0.0]
    names = [str(number) for number in range(12)]
    ones = [1.0] * 12
    found = approximate_randomisation((left, ones), (right, ones), names)
    assert found.method == "approximate randomisation"
    assert found.p == pytest.approx(mcnemar(1, 7))
    assert approximate_randomisation((left, ones), (left, ones), names).p == 1.0
    with pytest.raises(ValueError, match="divide by"):
        approximate_randomisation((left, [0.0] * 12), (right, ones), names)


def test_swaps_are_of_parts_and_wholes() -> None:
    """Against every set of swaps, gone through one by one."""
    left = [1.0, 1.0, 2.0, 0.0, 1.0], [9.0, 3.0, 6.0, 3.0, 4.0]
    right = [4.0, 2.0, 3.0, 2.0, 0.0], [5.0, 3.0, 4.0, 3.0, 9.0]
    sides, cluster_ids = (left, right), [0, 1, 1, 2, 3]

    def far(swapped: tuple[bool, ...]) -> float:
        one, other = (
            [
                sum(sides[swapped[c] ^ turned][of][n] for n, c in enumerate(cluster_ids))
                for of in (0, 1)
            ]
            for turned in (False, True)
        )
        return abs(one[0] / one[1] - other[0] / other[1])

    seen = far((False,) * 4)
    expected = fmean(far(each) >= seen - 1e-9 for each in product((False, True), repeat=4))
    assert 0 < expected < 1
    assert approximate_randomisation(
        left, right, [f"d{cluster}" for cluster in cluster_ids]
    ).p == pytest.approx(expected)


def test_the_difference_of_two_areas_is_delongs() -> None:
    import numpy as np

    draw = np.random.default_rng(0)
    truths = [bool(number % 2) for number in range(200)]
    noise = draw.normal(size=(2, 200))
    worse = [0.2 * truth + x for truth, x in zip(truths, noise[0], strict=True)]
    better = [1.5 * truth + x for truth, x in zip(truths, noise[1], strict=True)]
    names = [str(number) for number in range(200)]
    measure = ranks_difference(worse, better, truths, names)
    # Of one item a cluster, DeLong, DeLong and Clarke-Pearson's variance but for small samples.
    parts = []
    for kind in (True, False):
        sides = []
        for scores in (worse, better):
            own = [s for s, t in zip(scores, truths, strict=True) if t is kind]
            others = [s for s, t in zip(scores, truths, strict=True) if t is not kind]
            above = (
                np.array([[float(s > o) - float(s < o) for o in others] for s in own]).mean(axis=1)
                / 2
            )
            sides.append(above)
        parts.append(np.var(sides[1] - sides[0], ddof=1) / len(sides[0]))
    assert measure.value is not None
    assert measure.low is not None
    assert measure.high is not None
    assert measure.test is not None
    error = float(sum(parts)) ** 0.5
    assert measure.high - measure.low == pytest.approx(2 * 1.984 * error, rel=0.02)
    assert measure.test.p < 0.001 < measure.low
    same = ranks_difference(worse, [7 * s for s in worse], truths, names)
    assert (same.value, same.test) == (0.0, Test(1.0, "DeLong"))


PART = st.tuples(st.sampled_from([-1.0, -0.5, 0.0, 1.0]), st.sampled_from("abcd"))


def with_test(values: Any, weights: Any, names: Sequence[str]) -> tuple[Test, Interval]:
    """The test and the interval of a weighted difference, whose value is that of a sum."""
    found = weighted_difference(values, weights, names)
    assert found.test is not None
    assert found.interval is not None
    assert found.value == pytest.approx(float(np.average(values, weights=weights)))
    return found.test, found.interval


@given(st.lists(st.tuples(PART, st.integers(1, 5)), min_size=1, max_size=12))
def test_a_weighted_difference_is_tested_by_every_set_of_signs(
    drawn: list[tuple[tuple[float, str], int]],
) -> None:
    """Each item counts by its weight, and a cluster's items turn together."""
    whole = sum(weight for _, weight in drawn)
    pairs = [(Fraction(weight, whole) * Fraction(d), c) for (d, c), weight in drawn]
    (values, names), weights = zip(*[part for part, _ in drawn], strict=True), [w for _, w in drawn]
    test, interval = with_test(values, weights, names)
    flips = every_set_of_signs(pairs)
    assert test.p == pytest.approx(flips) if test.method == "sign flips" else test.p > flips
    if len({c for _, c in pairs}) > 1:
        assert (test.p < 0.05) == (interval.low > 0 or interval.high < 0)
        assert interval.low - 1e-9 <= float(sum(d for d, _ in pairs)) <= interval.high + 1e-9
    else:
        assert (interval.low, interval.high) == (-1.0, 1.0)


def test_equal_weights_give_the_difference() -> None:
    differences, clusters = [1.0, 1.0, 0.0, -1.0, 1.0, 1.0], list("aabcde")
    test, interval = with_test(differences, [0.2] * 6, clusters)
    assert test.p == pytest.approx(sign_flips(differences, clusters).p)
    alone = difference_interval(differences, clusters)
    assert (interval.low, interval.high) == pytest.approx((alone.low, alone.high))
    with pytest.raises(ValueError, match="at least one item"):
        weighted_difference([], [], [])


@pytest.mark.parametrize(("items", "size"), [(120, 1), (300, 3)])
def test_the_interval_of_a_weighted_difference_holds_the_truth(items: int, size: int) -> None:
    """Weights as uneven as balance weights are (half of the items are worth as many)."""
    draw = np.random.default_rng(3)
    held = rejected = 0
    runs = 300
    for _ in range(runs):
        weights: Any = draw.exponential(1, items)
        names = [str(number // size) for number in range(items)]
        of = draw.normal(0, 0.3, items // size).repeat(size) + draw.normal(0.1, 1, items)
        differs = draw.random(items) < 0.4
        values: Any = np.where(differs, np.sign(of), 0.0)
        truth = 0.4 * (2 * stats.norm.cdf(0.1 / np.hypot(1, 0.3)) - 1)
        _, interval = with_test(values, weights, names)
        held += interval.low <= truth <= interval.high
        none: Any = np.where(differs, np.sign(of - 0.1), 0.0)
        rejected += with_test(none, weights, names)[0].p < 0.05
    assert 0.93 * runs <= held
    assert rejected <= 0.07 * runs
