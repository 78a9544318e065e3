"""Measures of arrays: an interval holds its value, and is about as wide as a bootstrap has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.metrics import ratio_of

from coherencegym.eval.outcomes.label_metrics import F1, Ratio
from coherencegym.eval.statistics.estimators import (
    Counts,
    area,
    ranks_difference,
    ratio_difference,
    share_difference,
)
from coherencegym.eval.statistics.intervals import Estimate, share_interval

#: A unit of two models: parts of wholes, values that rank, its kind and its cluster.
UnitRow = tuple[tuple[int, int], tuple[int, int], tuple[int, int], bool, str]
PART = st.integers(0, 4).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole)))
PAIR = st.tuples(st.integers(0, 5), st.integers(0, 5))
UNITS = st.lists(
    st.tuples(PART, PART, PAIR, st.booleans(), st.sampled_from("abcdef")),
    min_size=1,
    max_size=14,
)


def counts(units: Sequence[UnitRow], side: int) -> Counts:
    own = [unit[:2][side] for unit in units]
    return [float(part) for part, _ in own], [float(whole) for _, whole in own]


def holds_its_value(found: Estimate) -> None:
    if found.value is None:
        assert (found.low, found.high) == (None, None)
        return
    assert found.low is not None
    assert found.high is not None
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9


def _undefined(measure: Callable[[], Estimate]) -> Estimate:
    """A measure; None where it says that it is not defined."""
    try:
        return measure()
    except ValueError:
        return Estimate(None, None, 0)


@given(UNITS)
def test_an_interval_holds_its_value(units: list[UnitRow]) -> None:
    names = [unit[4] for unit in units]
    before, after = counts(units, 0), counts(units, 1)
    share, other = (
        [part / whole if whole else 1.0 for part, whole in (unit[:2][side] for unit in units)]
        for side in (0, 1)
    )
    ranks, others = ([float(unit[2][side]) for unit in units] for side in (0, 1))
    truths = [unit[3] for unit in units]
    for found in (
        Estimate(sum(share) / len(share), share_interval(share, names), len(share)),
        ratio_of(Ratio("ratio"), *before, names),
        ratio_of(F1("F1"), *before, names),
        area(ranks, truths, names),
        share_difference(share, other, names),
        ratio_difference(before, after, names),
        _undefined(lambda: ranks_difference(ranks, others, truths, names)),
    ):
        holds_its_value(found)


def _many(worse: float, better: float) -> tuple[Counts, Counts, list[str]]:
    """Hits of two models in 300 documents of 100 clusters; the second calls four times as many."""
    draw = np.random.default_rng(0)
    names = [str(number // 3) for number in range(300)]
    hard = draw.beta(4, 4, 100).repeat(3)
    wholes = draw.integers(1, 6, 300), 4 * draw.integers(1, 6, 300)
    hits = [
        draw.binomial(whole, np.clip(hard + more, 0, 1)).astype(float).tolist()
        for whole, more in zip(wholes, (worse, better), strict=True)
    ]
    first, second = (whole.astype(float).tolist() for whole in wholes)
    return (hits[0], first), (hits[1], second), names


def _resampled(statistic: Callable[[Any], float], names: Sequence[str]) -> tuple[float, float]:
    """The percentile interval of a statistic of places, over resamples of clusters."""
    draw = np.random.default_rng(1)
    members = [np.flatnonzero(np.array(names) == name) for name in dict.fromkeys(names)]
    found = [
        statistic(
            np.concatenate([members[n] for n in draw.integers(0, len(members), len(members))])
        )
        for _ in range(400)
    ]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


@pytest.mark.parametrize(("worse", "better"), [(0.0, 0.0), (-0.2, 0.2), (0.2, -0.2)])
def test_intervals_are_about_those_of_a_bootstrap(worse: float, better: float) -> None:
    before, after, names = _many(worse, better)
    columns = np.array([*before, *after])

    def ratios(places: Any) -> tuple[float, float]:
        own = columns[:, places].sum(axis=1)
        return float(own[0] / own[1]), float(own[2] / own[3])

    def difference(places: Any) -> float:
        one, other = ratios(places)
        return other - one

    for number, counts in enumerate((before, after)):
        known = _resampled(lambda places, number=number: ratios(places)[number], names)  # type: ignore[misc]
        _is_about(ratio_of(Ratio("ratio"), *counts, names), known)
    found = ratio_difference(before, after, names)
    assert found.value == pytest.approx(difference(np.arange(300)))
    # Signs and sizes are wide where nearly all clusters change to one side.
    _is_about(found, _resampled(difference, names), 0.25 if worse == better else 1.5)
    turned = ratio_difference(after, before, names)
    assert turned.low is not None
    assert turned.high is not None
    assert (-turned.high, -turned.low) == pytest.approx((found.low, found.high))


def _is_about(found: Estimate, known: tuple[float, float], wider: float = 0.25) -> None:
    assert found.low is not None
    assert found.high is not None
    half = (known[1] - known[0]) / 2
    assert -0.25 * half <= known[0] - found.low <= wider * half
    assert -0.25 * half <= found.high - known[1] <= wider * half
