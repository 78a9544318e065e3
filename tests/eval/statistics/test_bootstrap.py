"""A bootstrap over clusters, held against a known variance and against one made by hand."""

import numpy as np
import pytest

from coherencegym.eval.statistics.estimators import bootstrap_intervals


def by_hand(sums: list[tuple[float, float]], resamples: int, seed: int) -> tuple[float, float]:
    """The quantiles of the ratios of resamples, drawn one after the other."""
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, len(sums), size=(resamples, len(sums)))
    ratios = [
        sum(sums[place][0] for place in places) / sum(sums[place][1] for place in places)
        for places in drawn.tolist()
    ]
    low, high = np.quantile(ratios, (0.025, 0.975))
    return float(low), float(high)


def test_clusters_are_drawn_whole() -> None:
    parts, wholes = [1.0, 0.0, 2.0, 1.0, 0.0, 3.0], [1.0, 2.0, 2.0, 1.0, 4.0, 3.0]
    clusters = ["b", "a", "b", "c", "a", "d"]
    found = bootstrap_intervals(
        {"ratio": (parts, wholes), "share": (parts, [1.0] * 6)}, clusters, resamples=400, seed=7
    )
    ratio, share = found["ratio"], found["share"]
    assert ratio is not None
    assert share is not None
    assert ratio.method == "bootstrap"
    # Of a, b, c and d.
    assert (ratio.low, ratio.high) == pytest.approx(
        by_hand([(0, 6), (3, 3), (1, 1), (3, 3)], 400, 7)
    )
    assert (share.low, share.high) == pytest.approx(
        by_hand([(0, 2), (3, 2), (1, 1), (3, 1)], 400, 7)
    )


def test_one_item_each_has_the_interval_of_a_normal() -> None:
    values = [1.0] * 300 + [0.0] * 700
    found = bootstrap_intervals({"m": (values, [1.0] * 1000)}, [str(n) for n in range(1000)])["m"]
    assert found is not None
    half = 1.96 * np.sqrt(0.21 / 1000)
    assert (found.low, found.high) == pytest.approx((0.3 - half, 0.3 + half), abs=0.002)


def test_resamples_in_blocks_are_the_same_whatever_the_order_of_items() -> None:
    generator = np.random.default_rng(1)
    values = generator.random(9000)
    names = [f"c{n % 3000}" for n in range(9000)]
    order = generator.permutation(9000)
    once = bootstrap_intervals({"m": (values.tolist(), [1.0] * 9000)}, names)["m"]
    turned = bootstrap_intervals(
        {"m": (values[order].tolist(), [1.0] * 9000)}, [names[n] for n in order]
    )["m"]
    assert once is not None
    assert turned is not None
    assert (turned.low, turned.high) == pytest.approx((once.low, once.high), abs=1e-12)


def test_where_nothing_can_be_said() -> None:
    assert bootstrap_intervals({"m": ([1.0, 0.0], [1.0, 1.0])}, ["a", "a"]) == {"m": None}
    # Two resamples in three have the one cluster that there is something to divide by.
    found = bootstrap_intervals({"m": ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0])}, ["a", "b", "c"])
    assert found == {"m": None}
    with pytest.raises(ValueError, match="at least one item"):
        bootstrap_intervals({"m": ([], [])}, [])
