"""Intervals against known values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eval import significance
from eval.significance import (
    bootstrap,
    difference_bootstrap,
    macro_bootstrap,
    resampled,
    share_interval,
    wilson,
)


@pytest.mark.parametrize(("met", "n"), [(0, 10), (10, 10), (81, 263), (15, 148), (1, 1), (50, 100)])
def test_wilson_equals_scipy(met: int, n: int) -> None:
    known = stats.binomtest(met, n).proportion_ci(method="wilson")
    found = wilson(met, n)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-12)


def test_wilson_of_newcombes_example() -> None:
    """Newcombe 1998, table I: 81 of 263 gives .2553 to .3662."""
    found = wilson(81, 263)
    assert (round(found.low, 4), round(found.high, 4)) == (0.2553, 0.3662)


def test_every_item_of_another_discourse_gives_wilson() -> None:
    assert share_interval([1, 0, 1], ["a", "b", "c"]).method == "wilson"


def test_a_shared_discourse_gives_a_bootstrap_that_the_seed_fixes() -> None:
    values, discourses = [1, 0, 1, 1, 0, 1], ["a", "a", "b", "b", "c", "d"]
    first = share_interval(values, discourses, seed=1)
    assert first.method == "bootstrap"
    assert first == share_interval(values, discourses, seed=1)


def test_one_outcome_everywhere_is_no_interval_of_no_width() -> None:
    found = share_interval([1.0] * 6, ["a", "a", "b", "b", "c", "c"])
    assert found.method == "wilson over discourses"
    assert (found.low, found.high) == (wilson(3, 3).low, 1.0)


def test_one_right_of_every_pair_is_no_interval_of_no_width() -> None:
    found = share_interval([1.0, 0.0] * 10, [str(i // 2) for i in range(20)])
    known = wilson(5, 10)
    assert (found.low, found.high, found.method) == (
        known.low,
        known.high,
        "wilson over discourses",
    )


def test_one_discourse_says_nothing_about_others() -> None:
    found = share_interval([1.0, 0.0, 1.0], ["a", "a", "a"])
    assert (found.low, found.high, found.method) == (0.0, 1.0, "one discourse")


def test_copies_of_an_item_in_its_discourse_add_no_certainty() -> None:
    """What the bootstrap over discourses is for: each value ten times is still twenty values."""
    values = [1.0] * 12 + [0.0] * 8
    once = bootstrap(values, [str(i) for i in range(20)])
    ten = bootstrap(np.repeat(values, 10).tolist(), [str(i) for i in range(20) for _ in range(10)])
    assert (once.low, once.high) == (ten.low, ten.high)


def test_the_bootstrap_of_a_mean_agrees_with_scipy() -> None:
    values = np.random.default_rng(3).normal(1, 2, 80).tolist()
    known = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=9999, rng=0)
    found = bootstrap(values, [str(i) for i in range(80)], resamples=9999)
    low, high = known.confidence_interval
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.03)


@pytest.mark.parametrize("deviations", [significance._DEVIATIONS, 0.0])
@given(
    pairs=st.lists(
        st.tuples(st.integers(-5, 5), st.sampled_from("abcdefg")), min_size=1, max_size=14
    ),
    seed=st.integers(0, 5),
)
def test_resampled_medians_are_medians(
    deviations: float, pairs: list[tuple[int, str]], seed: int
) -> None:
    """Against np.median of the items that the same draws give, near the middle and far from it."""
    values, discourses = [float(v) for v, _ in pairs], [d for _, d in pairs]
    names = sorted(set(discourses))
    known = []
    for block in resampled(len(names), 50, len(values), seed):
        for counts in block:
            times = [counts[names.index(d)] for d in discourses]
            known.append(np.median(np.repeat(values, times)))
    low, high = np.quantile(known, [0.025, 0.975])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(significance, "_DEVIATIONS", deviations)
        found = bootstrap(values, discourses, statistic="median", seed=seed, resamples=50)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_macro_average_weighs_groups_alike() -> None:
    big = ([1.0] * 50 + [0.0] * 50, [f"a{i}" for i in range(100)])
    small = ([1.0] * 9 + [0.0], [f"b{i}" for i in range(10)])
    found = macro_bootstrap([big, small])
    assert found.low < 0.7 < found.high
    assert found.low > 0.545  # the micro average is 59 of 110


def test_no_items_no_interval() -> None:
    with pytest.raises(ValueError, match="at least one"):
        wilson(0, 0)
    with pytest.raises(ValueError, match="at least one"):
        bootstrap([], [])
    with pytest.raises(ValueError, match="at least one"):
        macro_bootstrap([])


# ---------------------------------------------------------------- differences of two means


def apart(values: list[float], name: str) -> tuple[list[float], list[str]]:
    """A sample in which every item is of a discourse of its own."""
    return values, [f"{name}{i}" for i in range(len(values))]


def test_the_bootstrap_of_a_difference_agrees_with_the_normal_approximation() -> None:
    generator = np.random.default_rng(1)
    left, right = generator.normal(1, 2, 300), generator.normal(0.5, 1, 150)
    found = difference_bootstrap(apart(left.tolist(), "a"), apart(right.tolist(), "b"))
    half = 1.96 * np.sqrt(left.var() / 300 + right.var() / 150)
    middle = left.mean() - right.mean()
    assert found.method == "bootstrap"
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half), abs=0.05 * half)


def test_the_bootstrap_of_a_difference_agrees_with_scipy() -> None:
    generator = np.random.default_rng(2)
    left, right = generator.exponential(1, 60).tolist(), generator.normal(0, 1, 40).tolist()
    known = stats.bootstrap(
        (left, right),
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        method="percentile",
        rng=0,
    ).confidence_interval
    found = difference_bootstrap(apart(left, "a"), apart(right, "b"), resamples=9999)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=0.03)


def test_samples_of_one_size_are_drawn_apart() -> None:
    """With one stream of random numbers for both, equal samples would have no difference ever."""
    values = [float(i) for i in range(20)]
    found = difference_bootstrap(apart(values, "a"), apart(values, "b"))
    half = 1.96 * np.sqrt(2 * np.var(values) / 20)
    assert (found.low, found.high) == pytest.approx((-half, half), rel=0.1)


def test_two_values_against_a_constant() -> None:
    """The mean of two draws from 0 and 1 is 0 or 1 a quarter of the time each: by hand."""
    found = difference_bootstrap(apart([0.0, 1.0], "a"), apart([0.25, 0.25], "b"))
    assert (found.low, found.high) == (-0.25, 0.75)


def test_a_discourse_on_both_sides_is_drawn_for_both() -> None:
    values = np.random.default_rng(3).normal(0, 5, 30).tolist()
    names = [str(i) for i in range(30)]
    found = difference_bootstrap(([v + 1 for v in values], names), (values, names))
    assert (found.low, found.high) == pytest.approx((1, 1))


def test_copies_of_an_item_add_no_certainty_to_a_difference() -> None:
    generator = np.random.default_rng(4)
    left, right = generator.normal(0, 1, 25), generator.normal(0, 1, 25)
    names = [str(i) for i in range(25)]
    once = difference_bootstrap((left.tolist(), names), apart(right.tolist(), "b"))
    ten = difference_bootstrap(
        (np.repeat(left, 10).tolist(), np.repeat(names, 10).tolist()), apart(right.tolist(), "b")
    )
    assert (once.low, once.high) == pytest.approx((ten.low, ten.high))


def test_the_seed_fixes_a_difference() -> None:
    values = np.random.default_rng(5).normal(0, 1, (2, 20)).tolist()
    samples = apart(values[0], "a"), apart(values[1], "b")
    assert difference_bootstrap(*samples, seed=1) == difference_bootstrap(*samples, seed=1)
    assert difference_bootstrap(*samples, seed=1) != difference_bootstrap(*samples, seed=2)


@given(
    st.lists(st.tuples(st.floats(-50, 50), st.sampled_from("abc")), min_size=1, max_size=8),
    st.lists(st.tuples(st.floats(-50, 50), st.sampled_from("cde")), min_size=1, max_size=8),
)
def test_a_difference_is_always_a_number(
    left: list[tuple[float, str]], right: list[tuple[float, str]]
) -> None:
    """Also where samples share some discourses, and a draw could miss a whole side."""
    found = difference_bootstrap(
        ([v for v, _ in left], [d for _, d in left]),
        ([v for v, _ in right], [d for _, d in right]),
        resamples=50,
    )
    assert -101 < found.low <= found.high < 101


def test_a_difference_needs_two_sides() -> None:
    with pytest.raises(ValueError, match="each side"):
        difference_bootstrap(apart([1.0], "a"), ([], []))
