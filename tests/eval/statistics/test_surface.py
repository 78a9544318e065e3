"""Balance weights and the checker: what they close, what they find, and what they do not claim."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from coherencegym.eval.kinds.examples import Contrast, GeneratedItem
from coherencegym.eval.kinds.items import Condition, Item, Region
from coherencegym.eval.statistics import control
from coherencegym.eval.statistics.balance import (
    balance_of,
    balanced,
    weighted_interval,
    weighted_size,
)
from coherencegym.eval.statistics.control import (
    CONTROLLED,
    LEAKS,
    TOO_SMALL,
    UNCONTROLLED,
    checked_items,
)
from coherencegym.eval.statistics.surface import surface_differences

CONTRAST = Contrast("odd", "plain", 2, "sum")
WORDS = [f"{a}{b}{c}o" for a in "bdfgklmn" for b in "aeiou" for c in "prst"]
#: Marks the odd and the plain target of an item: (number, generator) -> what each begins with.
Marked = Callable[[int, random.Random], tuple[str, str]]


def no_mark(number: int, draw: random.Random) -> tuple[str, str]:
    return "", ""


def mostly(word: str, share: float, other: str = "") -> Marked:
    """The plain target begins with a word in this share of items, and else the odd one."""

    def marked(number: int, draw: random.Random) -> tuple[str, str]:
        return (other, word) if draw.random() < share else (word, other)

    return marked


def items(number: int, marked: Marked = no_mark, seed: int = 0) -> list[GeneratedItem]:
    """Texts of random words, with marks."""
    draw = random.Random(seed)
    made = []
    for n in range(number):
        first = " ".join(draw.choices(WORDS, k=9)) + "."
        targets = [" ".join(draw.choices(WORDS, k=7)) + "." for _ in range(2)]
        conditions = tuple(
            Condition(name, f"{first} {text}", (Region(1, first), Region(2, f" {text}")))
            for name, mark, target in zip(("odd", "plain"), marked(n, draw), targets, strict=True)
            for text in [f"{mark} {target}".strip()]
        )
        item = Item(f"i{n}", n + 1, conditions, (CONTRAST.prediction,), f"d{n}", "toy")
        made.append(GeneratedItem(item, (CONTRAST,), {}))
    return made


def test_a_planted_cue_of_60_percent_is_weighted_away() -> None:
    """And items stay worth nearly as many as they are."""
    found = surface_differences(items(500, mostly("She", 0.6)))
    place = found.names.index("she of the target")
    signs = found.signs[:, place]
    assert signs.mean() > 0.12
    balance = balanced(found)
    assert balance.feasible
    assert abs(balance.weights @ signs) < 0.005
    assert 350 < balance.effective < 500


def test_what_is_the_same_in_all_items_cannot_be_balanced() -> None:
    made = checked_items(items(300, mostly("She", 1.0)))
    assert (made.word, made.weights, made.surface) == (UNCONTROLLED, {}, {})
    assert made.balance.worst


@pytest.mark.parametrize(
    ("marked", "number", "expected"),
    [
        (no_mark, 800, CONTROLLED),
        (mostly("Zorbo", 0.8, "Murbo"), 600, LEAKS),
        (no_mark, 120, TOO_SMALL),
    ],
    ids=["nothing", "a word that no feature counts", "few items"],
)
def test_the_word_is_what_the_checker_finds(marked: Marked, number: int, expected: str) -> None:
    made = checked_items(items(number, marked))
    assert made.word == expected
    assert len(made.weights) == number
    assert np.mean(list(made.weights.values())) == pytest.approx(1.0)
    assert made.needed == (250 if expected == TOO_SMALL else 0)
    if expected == LEAKS:
        assert any(word in made.by.by for word in ("n-grams", "regression", "boosting"))
        assert np.mean(list(made.surface.values())) > 0.6


def test_weights_over_all_items_would_make_cross_validation_lie() -> None:
    """A half that is left out tips the other way: where there is nothing, a rule comes out wrong.

    So weights are solved in each half apart.
    """
    draw = np.random.default_rng(0)
    whole: list[float] = []
    apart: list[float] = []
    for _ in range(60):
        cues = draw.choice([-1.0, 1.0], (60, 4))
        weights = balance_of(cues, list("abcd")).weights
        halves = np.arange(60) < 30
        for own in (weights, None):
            scores = []
            for learned in (halves, ~halves):
                seen, tested = cues[learned], cues[~learned]
                of, other = (
                    (own[learned], own[~learned])
                    if own is not None
                    else (balance_of(part, list("abcd")).weights for part in (seen, tested))
                )
                decided = np.sign(tested @ (of @ seen))
                other = other / other.sum()
                scores.append(
                    float(other @ np.where(abs(tested @ (of @ seen)) < 1e-3, 0.5, decided > 0))
                )
            (whole if own is not None else apart).append(sum(scores) / 2)
    assert np.mean(whole) < 0.45
    assert np.mean(apart) == pytest.approx(0.5, abs=0.02)


def test_documents_are_in_one_half_with_those_that_share_items() -> None:
    clusters = [f"a{n} × b{n // 2}" for n in range(60)]
    for halves in control._partitions(range(60), clusters):
        names = [{clusters[place].partition(" × ")[2] for place in half} for half in halves]
        assert not names[0] & names[1]
        assert sum(map(len, halves)) == 60


@pytest.mark.parametrize("effective", [60, 200, 1000])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_weighted_interval_holds_the_truth(effective: int, share: float) -> None:
    """Of clusters of three items that are alike, with uneven weights."""
    draw = np.random.default_rng([effective, int(10 * share)])
    held, runs = 0, 300
    for _ in range(runs):
        number = 2 * effective
        clusters = [str(n // 3) for n in range(number)]
        of_cluster = draw.random(number // 3 + 1) < share
        own = draw.random(number) < share
        is_shared = draw.random(number) < 0.3
        values = np.where(is_shared, of_cluster[np.arange(number) // 3], own).astype(float)
        weights: Any = draw.exponential(1, number)
        found = weighted_interval(values.tolist(), weights, clusters)
        held += found.low <= share <= found.high
    assert 0.93 * runs <= held <= 0.99 * runs


def test_equal_weights_of_independent_items_are_worth_as_many() -> None:
    values: Sequence[float] = [1.0, 0.0, 1.0, 1.0] * 10
    names = [str(n) for n in range(40)]
    assert weighted_size(values, [3.0] * 40, names) == pytest.approx((0.75, 40.0, 40))
    one = weighted_interval(values, [1.0] * 40, ["a"] * 40)
    assert (one.low, one.high, one.method) == (0.0, 1.0, "one cluster")
