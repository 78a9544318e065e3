"""Rank correlations: worked numbers, scipy's, what changes nothing, and intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from coherencegym.eval.statistics.bag_of_words import predicted_ratings
from coherencegym.eval.statistics.correlation import (
    RankCorrelation,
    correlation,
    correlation_within,
    correlations_difference,
)

numbers = st.integers(-5, 5).map(float)
triples = st.lists(st.tuples(numbers, numbers, numbers), min_size=3, max_size=30)


def alone(n: int) -> list[str]:
    """Clusters of one unit."""
    return [f"c{number:03d}" for number in range(n)]


def one(found: RankCorrelation | None) -> RankCorrelation:
    assert found is not None
    return found


def test_a_worked_example_with_ties() -> None:
    # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3.5, 3.5: deviations -1.5, 0, 0, 1.5 and -1.5, -.5, 1, 1;
    # products add up to 3.75, squares to 4.5 and 4.5.
    found = one(correlation([1, 5, 5, 9], [10, 20, 30, 30], alone(4)))
    assert found.value == pytest.approx(3.75 / 4.5)


def test_a_worked_partial_example() -> None:
    # Ranks 1 2 3 4; 2 1 4 3; 1 3 2 4: correlations .6, .8 and 0 (deviations times each other,
    # over 5), so (.6 - .8 * 0) / sqrt((1 - .64) * (1 - 0)) = 1.
    found = one(correlation([1, 2, 3, 4], [2, 1, 4, 3], alone(4), [1, 3, 2, 4]))
    assert found.value == pytest.approx(0.6 / 0.6)


def test_a_worked_example_within() -> None:
    # In one prompt the order is kept (+2, over 2), in the other it is turned in two of three: ranks
    # 1 2 3 and 2 1 3 (+1, over 2). Between the prompts everything is the other way round.
    values, ratings = [1, 2, 3, 11, 12, 13], [14, 15, 16, 2, 1, 3]
    clusters = ["a"] * 3 + ["b"] * 3
    assert one(correlation_within(values, ratings, clusters)).value == pytest.approx(3 / 4)
    assert one(correlation(values, ratings, clusters)).value < 0


def test_many_clusters_may_be_numbers() -> None:
    generator = np.random.default_rng(3)
    values, ratings = generator.random((2, 100_000))
    clusters: Any = np.arange(100_000, dtype=np.int32) // 2
    named = [f"{number:05}" for number in clusters]
    found = one(correlation_within(values, ratings, clusters))
    assert found.value == one(correlation_within(values, ratings, named)).value


@given(triples)
def test_it_is_scipys(units: list[tuple[float, float, float]]) -> None:
    x, y, z = (list(side) for side in zip(*units, strict=True))
    found = correlation(x, y, alone(len(x)))
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert found is None
        return
    assert one(found).value == pytest.approx(float(stats.spearmanr(x, y)[0]), abs=1e-9)
    partial = correlation(x, y, alone(len(x)), z)
    if partial is not None:
        residual = [_residual(side, z) for side in (x, y)]
        assume(min(np.ptp(side) for side in residual) > 1e-9)
        expected = np.corrcoef(residual[0], residual[1])[0, 1]
        assert partial.value == pytest.approx(expected, abs=1e-6)


def _residual(side: list[float], given_: list[float]) -> np.ndarray:
    """What a line through the ranks of what is given leaves of the ranks of a side."""
    ranks, others = stats.rankdata(side), stats.rankdata(given_)
    slope = np.cov(ranks, others)[0, 1] / np.var(others, ddof=1)
    left: np.ndarray = ranks - ranks.mean() - slope * (others - others.mean())
    return left


@given(triples, st.sampled_from(["plain", "partial", "within"]))
def test_what_keeps_the_order_changes_nothing(
    units: list[tuple[float, float, float]], kind: str
) -> None:
    x, y, z = (list(side) for side in zip(*units, strict=True))
    clusters = [f"c{number % 3}" for number in range(len(x))]

    def found(x: list[float], y: list[float], z: list[float]) -> RankCorrelation | None:
        if kind == "within":
            return correlation_within(x, y, clusters)
        return correlation(x, y, clusters, z if kind == "partial" else None)

    plain = found(x, y, z)
    bent = found([math.exp(v) for v in x], [v**3 for v in y], [math.log(v + 6) for v in z])
    turned = found([-v for v in x], y, z)
    if plain is None:
        assert bent is None
        assert turned is None
        return
    assert one(bent).value == pytest.approx(plain.value, abs=1e-9)
    assert one(turned).value == pytest.approx(-plain.value, abs=1e-9)
    ends, others = plain.interval, one(bent).interval
    assert (others.low, others.high) == pytest.approx((ends.low, ends.high), abs=1e-6)
    assert -1 <= ends.low <= ends.high <= 1
    assert abs(plain.value) <= 1 + 1e-9


def test_what_a_unit_adds_is_what_its_absence_takes() -> None:
    """The influences are those that a jackknife finds, for plain and partial coefficients."""
    generator = np.random.default_rng(1)
    x = generator.integers(0, 6, 60).astype(float)
    y = x + generator.integers(0, 6, 60)
    z = y + generator.normal(size=60)
    for sides in ((x, y), (x, y, z)):
        given_ = list(sides[2]) if len(sides) > 2 else None
        whole = one(correlation(list(x), list(y), alone(60), given_))
        without = []
        for place in range(60):
            left = [np.delete(side, place).tolist() for side in sides]
            left_given = left[2] if len(left) > 2 else None
            without.append(one(correlation(left[0], left[1], alone(59), left_given)).value)
        jackknife = (60 - 1) * (whole.value - np.array(without)) / 60
        assert np.corrcoef(whole.added, jackknife)[0, 1] > 0.995
        assert float(np.linalg.norm(whole.added)) == pytest.approx(
            float(np.linalg.norm(jackknife)), rel=0.1
        )


def test_intervals_hold_the_truth() -> None:
    """Of 300 samples of 12 clusters of three, about 95 % have an interval around the truth."""
    generator = np.random.default_rng(2)
    rho, clusters = 0.5, [f"c{number // 3}" for number in range(36)]
    truth = 6 / math.pi * math.asin(rho / 2)  # of a normal distribution (Pearson 1907)
    held = 0
    for _ in range(300):
        shape = [[1, rho], [rho, 1]]
        shared = generator.multivariate_normal([0, 0], shape, size=12).repeat(3, axis=0)
        own = generator.multivariate_normal([0, 0], shape, size=36)
        x, y = (math.sqrt(0.3) * shared + math.sqrt(0.7) * own).T
        interval = one(correlation(list(x), list(y), clusters)).interval
        held += interval.low <= truth <= interval.high
    assert 0.91 <= held / 300 <= 0.985


def test_where_nothing_can_be_said() -> None:
    assert correlation([1, 2], [1, 2], alone(2)) is None
    assert correlation([1, 1, 1], [1, 2, 3], alone(3)) is None
    # What is given says all of the ratings.
    assert correlation([1, 3, 2, 4], [1, 2, 3, 4], alone(4), [1, 2, 3, 4]) is None
    assert correlation_within([1, 2, 3], [1, 2, 3], alone(3)) is None
    with pytest.raises(ValueError, match="expected as many"):
        correlation([1, 2, 3], [1, 2], alone(3))
    same = one(correlation([1, 2, 3], [1, 3, 2], ["a"] * 3))
    assert same.interval.method == "one cluster"
    assert (same.interval.low, same.interval.high) == (-1, 1)


def test_an_order_without_error_is_not_certain() -> None:
    found = one(correlation([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], alone(5)))
    assert found.value == 1
    assert found.interval.method == "no error"
    assert -0.1 < found.interval.low < 0.1
    assert found.interval.high == 1
    turned = one(correlation([1, 2, 3, 4, 5], [5, 4, 3, 2, 1], alone(5)))
    assert turned.interval.low == -1
    assert turned.interval.high == -found.interval.low


def test_a_difference_of_the_same_scores_is_none() -> None:
    x, y = [1.0, 4, 2, 3, 5, 6], [1.0, 2, 3, 4, 5, 6]
    own = one(correlation(x, y, alone(6)))
    value, interval, test = correlations_difference(own, own)
    assert (value, interval.low, interval.high, test.p) == (0, 0, 0, 1)
    # Rounding tells nothing apart either, whatever order the sums were in.
    other = replace(own, value=own.value - 3e-16)
    assert correlations_difference(own, other)[2].p == 1


def test_a_difference_is_found_where_there_is_one() -> None:
    generator = np.random.default_rng(3)
    ratings = generator.normal(size=200)
    good, poor = ratings + generator.normal(size=200) / 2, generator.normal(size=200)
    clusters = [f"c{number // 2}" for number in range(200)]
    before, after = (one(correlation(list(s), list(ratings), clusters)) for s in (poor, good))
    value, interval, test = correlations_difference(before, after)
    assert value == pytest.approx(after.value - before.value)
    assert 0 < interval.low < value < interval.high
    assert test.p < 0.001


def test_a_bag_of_words_learns_from_other_clusters() -> None:
    texts = [f"the {'good' if n % 2 else 'bad'} story of item {n}" for n in range(40)]
    ratings = [5.0 if n % 2 else 1.0 for n in range(40)]
    clusters = [f"c{n // 2}" for n in range(40)]
    found = predicted_ratings(texts, ratings, clusters)
    assert found is not None
    assert min(found[1::2]) > max(found[::2])
    assert predicted_ratings(texts[:18], ratings[:18], clusters[:18]) is None
    assert predicted_ratings([str(n) for n in range(40)], ratings, clusters) is None


def test_words_that_say_nothing_do_not_rank_by_the_fold() -> None:
    """The mean of the others is lower where the held-out ratings are higher; it is not in it."""
    ratings = [float(number) for number in range(40)]
    found = predicted_ratings(["the same words"] * 40, ratings, alone(40))
    assert found is not None
    assert max(map(abs, found)) < 1e-6
