"""The smallest difference that a suite shows, held to a simulation and to what it must be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.statistics.estimators import effective_items, smallest_difference
from coherencegym.eval.statistics.paired import mcnemar


def shown(items: int, discordance: float, difference: float) -> float:
    """How often McNemar's exact test shows a difference, of drawn items."""
    won, lost = (discordance + difference) / 2, (discordance - difference) / 2
    drawn = np.random.default_rng(0).multinomial(items, [won, lost, 1 - discordance], size=20_000)
    pairs, count = np.unique(drawn[:, :2], axis=0, return_counts=True)
    p = np.array([mcnemar(int(wins), int(losses)) for wins, losses in pairs])
    return float(count @ (p < 0.05)) / 20_000


@pytest.mark.parametrize(
    ("items", "discordance", "power"),
    [(60, 0.3, 0.8), (200, 0.3, 0.8), (900, 0.15, 0.9), (12_000, 0.3, 0.9)],
)
def test_the_difference_is_shown_with_the_stated_probability(
    items: int, discordance: float, power: float
) -> None:
    difference = smallest_difference(items, discordance, power)
    assert difference is not None
    assert shown(items, discordance, difference) == pytest.approx(power, abs=0.01)


def test_a_normal_approximation_would_promise_too_much_of_few_items() -> None:
    """At 60 items it gives a difference of 18.6 points, which the exact test shows too rarely."""
    ends = (1.96 + 0.8416) ** 2
    approximate = (ends * 0.3 / (60 + ends)) ** 0.5
    assert shown(60, 0.3, approximate) < 0.75
    assert (smallest_difference(60) or 0) > approximate + 0.01


@given(st.integers(20, 10**5), st.floats(0.05, 0.9), st.floats(0.5, 0.99))
def test_more_items_show_smaller_differences(items: int, discordance: float, power: float) -> None:
    one = smallest_difference(items, discordance, power)
    more = smallest_difference(4 * items, discordance, power)
    if one is not None:
        assert more is not None
        assert 0.3 * one <= more < one <= discordance
        assert smallest_difference(items + 0.3, discordance, power) == pytest.approx(one, rel=0.03)


def test_few_items_show_nothing() -> None:
    assert smallest_difference(10, 0.3) is None
    assert smallest_difference(0.0, 0.3) is None


@given(st.lists(st.sampled_from("abcdef"), max_size=50), st.floats(0, 1))
def test_alike_items_are_worth_less_and_never_less_than_one_a_cluster_of_equal_size(
    clusters: list[str], correlation: float
) -> None:
    found = effective_items(clusters, correlation)
    assert found <= len(clusters) + 1e-9
    assert effective_items(clusters, 0.0) == pytest.approx(len(clusters))
    assert effective_items(clusters * 3, 1.0) == pytest.approx(effective_items(clusters, 1.0))
    equal = [name for name in "abcd" for _ in range(5)]
    assert effective_items(equal, 1.0) == pytest.approx(4)
    assert effective_items(equal, 0.25) == pytest.approx(20 / (1 + 4 * 0.25))


def test_items_of_two_documents_are_alike_where_they_share_either() -> None:
    """Of ``a × b`` and ``a × c`` each has two such items, as two of one document have."""
    assert effective_items(["a × b", "a × c", "d × e"], 0.1) == pytest.approx(
        effective_items(["a", "a", "d"], 0.1)
    )
    # b × c shares a document with two others, each of these with all.
    chain = effective_items(["a × b", "b × c", "c × d"], 0.1)
    assert chain == pytest.approx(3 / (1 + (7 / 3 - 1) * 0.1))
