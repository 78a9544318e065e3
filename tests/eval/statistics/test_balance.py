"""Balance weights, the interval of weighted scores, and the checker of what weights leave."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherencegym.eval.kinds.items import (
    Condition,
    Contrast,
    GeneratedItem,
    Item,
    Prediction,
    Region,
    contrasted,
    contrasts_of,
)
from coherencegym.eval.statistics.balance import (
    MOST_REMAINING,
    balance_of,
    balanced,
    weighted_interval,
    weighted_size,
    wilson_limits,
)
from coherencegym.eval.statistics.control import (
    CONTROLLED,
    LEAKS,
    TOO_SMALL,
    UNCONTROLLED,
    _bin_edges,
    _binned,
    checked_items,
)
from coherencegym.eval.statistics.surface import (
    NAMES,
    SURFACE_RULES,
    SurfaceDifferences,
    surface_differences,
)


def differences(columns: np.ndarray, names: Sequence[str] = ()) -> SurfaceDifferences:
    """Surface differences of items with one contrast each."""
    number = len(columns)
    names = tuple(names) or tuple(f"feature {place}" for place in range(columns.shape[1]))
    ruled = np.zeros((number, len(SURFACE_RULES)))
    return SurfaceDifferences(names, columns, np.arange(number), number, ruled)


def share(right: np.ndarray, weights: np.ndarray) -> float:
    return float(weights @ right)


def item(number: int, context: tuple[str, str], target: str = "He left the house.") -> Item:
    """A pair of one target after a coherent and an incoherent context."""
    conditions = tuple(
        Condition(name, f"{text} {target}", (Region(1, text), Region(2, target)))
        for name, text in zip(("coherent", "incoherent"), context, strict=True)
    )
    prediction = Prediction("(2;%incoherent%) > (2;%coherent%)", "sum")
    return Item(f"{number}/x", number, conditions, (prediction,), str(number), "made")


def test_of_one_cue_the_weights_are_those_that_count_both_sides_alike() -> None:
    # Sixty items for the cue and forty against it: each side gets half of the weight.
    column = np.where(np.arange(100) < 60, 1.0, -1.0)[:, None]
    balance = balance_of(column, ["cue"])
    assert balance.weights[:60] == pytest.approx(0.5 / 60, rel=1e-4)
    assert balance.weights[60:] == pytest.approx(0.5 / 40, rel=1e-4)
    assert balance.effective == pytest.approx(4 / (1 / 60 + 1 / 40), rel=1e-4)
    assert balance.feasible


def test_what_always_tells_cannot_be_balanced_and_is_named() -> None:
    columns = np.stack([np.ones(80), np.tile([1.0, -1.0], 40)], axis=1)
    balance = balance_of(columns, ["always", "half"])
    assert (balance.solved, balance.feasible, balance.worst) == (False, False, "always")
    assert (balance.weights > 0).all()


def test_an_item_that_outweighs_the_others_is_no_balance() -> None:
    column = np.ones((60, 1))
    column[0] = -1.0
    tipped = balance_of(column, ["cue"])
    assert tipped.solved
    assert not tipped.feasible


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), items=st.integers(60, 400), features=st.integers(1, 5))
def test_weights_close_every_feature_or_say_which_not(seed: int, items: int, features: int) -> None:
    generator = np.random.default_rng(seed)
    columns = generator.normal(generator.normal(0, 0.4, features), 1, (items, features))
    columns = np.round(columns, 1)
    balance = balance_of(columns, [str(place) for place in range(features)])
    assert balance.weights.sum() == pytest.approx(1)
    assert (balance.weights > 0).all()
    left = abs(balance.weights @ columns) / np.sqrt((columns**2).mean(axis=0))
    assert left.max() == pytest.approx(balance.remaining, abs=1e-9)
    assert balance.solved == (balance.remaining < MOST_REMAINING)
    # A side that changes its name changes the sign of its features, and nothing else.
    assert balance_of(-columns, list("abcde")[:features]).weights == pytest.approx(balance.weights)


def test_a_planted_cue_is_balanced_away() -> None:
    generator = np.random.default_rng(1)
    cue = np.where(generator.random(1000) < 0.6, 1.0, -1.0)
    noise = generator.normal(0, 1, (1000, 4))
    weights = balanced(differences(np.column_stack([cue, noise]))).weights
    assert share(cue > 0, np.full(1000, 0.001)) > 0.57
    assert share(cue > 0, weights) == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("kind", ["noisy copy", "second cue", "tied count"])
def test_rules_near_a_balanced_cue_are_at_one_half_too(kind: str) -> None:
    generator = np.random.default_rng(2)
    cue = generator.normal(0.35, 1, 1000)
    if kind == "noisy copy":
        own = cue + generator.normal(0, 0.5, 1000)
    elif kind == "second cue":
        own = 0.7 * cue + generator.normal(0.1, 0.7, 1000)
    else:
        own = np.round(generator.normal(0.3, 0.8, 1000))
    # What is counted beside the cue is balanced with it, ties and all.
    balance = balanced(differences(np.column_stack([cue, own])))
    right = np.where(own == 0, 0.5, own > 0)
    assert share(right, np.full(1000, 0.001)) > 0.53
    assert share(right, balance.weights) == pytest.approx(0.5, abs=0.03)
    assert balance.feasible


def test_a_reader_keeps_what_it_has() -> None:
    generator = np.random.default_rng(3)
    cue = generator.normal(0.5, 1, 800)
    reader = (generator.random(800) < 0.95).astype(float)
    balance = balanced(differences(cue[:, None]))
    assert share(reader, balance.weights) == pytest.approx(0.95, abs=0.02)


def test_few_items_have_no_more_than_twelve_features() -> None:
    generator = np.random.default_rng(4)
    columns = generator.normal(0.2, 1, (400, 30))
    left = abs(balanced(differences(columns)).weights @ columns)
    assert left[:12].max() < 0.01 < left[12:].max()
    # Of 1,000 items all thirty are.
    columns = generator.normal(0.1, 1, (1000, 30))
    assert abs(balanced(differences(columns)).weights @ columns).max() < 0.01


@pytest.mark.parametrize(("effective", "size"), [(60, 3), (200, 5), (1000, 10)])
def test_the_weighted_interval_covers_what_it_says(effective: int, size: int) -> None:
    generator = np.random.default_rng(effective)
    covered, runs, correlation = 0, 1500, 0.1
    for run in range(runs):
        truth = (0.5, 0.75)[run % 2]
        clusters = int(1.5 * effective) // size
        spread = (1 - correlation) / correlation
        rate = generator.beta(truth * spread, (1 - truth) * spread, clusters)
        names = np.repeat(np.arange(clusters), size)
        values = (generator.random(len(names)) < rate[names]).astype(float)
        # Such weights are worth two items of three.
        weights = np.exp(generator.normal(0, 0.64, len(names)))
        interval = weighted_interval(values.tolist(), weights.tolist(), list(map(str, names)))
        covered += interval.low <= truth <= interval.high
    assert 0.93 <= covered / runs <= 0.98


def test_equal_weights_without_clusters_give_wilsons_interval() -> None:
    values = [1.0] * 70 + [0.0] * 30
    names = [str(place) for place in range(100)]
    value, size, number = weighted_size(values, [3.0] * 100, names)
    assert (value, size) == pytest.approx((0.7, 100))
    assert number == 100
    interval = weighted_interval(values, [3.0] * 100, names)
    assert (interval.low, interval.high) == pytest.approx(wilson_limits(0.7, 100))
    # Wilson's own limits of 70 of 100 are 60.4 and 78.1.
    assert interval.low == pytest.approx(0.604, abs=2e-3)
    assert interval.high == pytest.approx(0.781, abs=2e-3)


def test_items_of_alike_clusters_are_worth_the_clusters() -> None:
    values = [float(place % 2) for place in range(20) for _ in range(5)]
    names = [str(place) for place in range(20) for _ in range(5)]
    assert weighted_size(values, [1.0] * 100, names)[1] == pytest.approx(20)
    whole = weighted_interval(values, [1.0] * 100, ["one"] * 100)
    assert (whole.low, whole.high) == (0.0, 1.0)


def test_what_is_the_same_on_both_sides_is_no_difference() -> None:
    crossed = Contrast(("a in b", "b in a"), ("a", "b"), 2)
    texts = {
        "a": ("She lost her hat.", "It was red."),
        "b": ("He, who is 12, ran!", "He won."),
        "a in b": ("He, who is 12, ran!", "It was red."),
        "b in a": ("She lost her hat.", "He won."),
    }
    conditions = tuple(
        Condition(name, " ".join(two), (Region(1, two[0]), Region(2, two[1])))
        for name, two in texts.items()
    )
    made = Item("a/b", 1, conditions, (crossed.prediction,), "a", "made")
    found = surface_differences([GeneratedItem(made, (crossed,), {})])
    # The texts by themselves cancel; how they go together stays.
    assert not any(" of the " in name for name in found.names)
    assert "agreement in he" in found.names


def test_contrasts_are_read_off_formulas() -> None:
    crossed = Contrast(("a", "b"), ("c", "d"), 2, last=3)
    assert contrasts_of(_with(crossed.formula)) == (Contrast(("a", "b"), ("c", "d"), 2, last=3),)
    assert contrasts_of(_with("(2;%c%) < (2;%a%)")) == (Contrast(("a",), ("c",), 2),)
    assert contrasts_of(_with("(*;%a%) > (*;%c%)"))[0].region == "*"
    for other in ("(2;%a%) = (2;%c%)", "(2;%a%) > (3;%c%)", "((2;%a%)>(2;%c%))&((2;%b%)>(2;%d%))"):
        assert contrasts_of(_with(other)) == ()


def _with(formula: str) -> Item:
    conditions = tuple(
        Condition(name, "x y z", (Region(1, "x"), Region(2, "y"), Region(3, "z")))
        for name in "abcd"
    )
    return Item("i", 1, conditions, (Prediction(formula, "mean"),), "d", "made")


_NOUNS = [
    *("lamp", "river", "garden", "letter", "window", "bridge"),
    *("candle", "orchard", "kettle", "ladder", "mirror", "pocket"),
]
_VERBS = ["saw", "took", "lost", "found", "kept", "sold", "left", "moved"]


def _sentence(draw: random.Random) -> str:
    return f"They {draw.choice(_VERBS)} the {draw.choice(_NOUNS)} and the {draw.choice(_NOUNS)}."


def _items(number: int, seed: int, cue: Callable[[random.Random, str, str], Any]) -> list[Any]:
    made = []
    for place in range(number):
        draw = random.Random(f"{seed}/{place}")
        made.append(contrasted(item(place, cue(draw, _sentence(draw), _sentence(draw)))))
    return made


def test_items_without_a_cue_are_controlled() -> None:
    control = checked_items(_items(600, 1, lambda draw, one, other: (one, other)))
    assert control.word == CONTROLLED
    assert control.balance.effective > 400
    assert set(control.weights) == set(control.surface) == set(control.item_ids)
    assert sum(control.weights.values()) == pytest.approx(600)


def test_items_that_no_classifier_saw_have_no_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coherencegym.eval.statistics.control._MOST_ITEMS", 120)
    nouns = [noun for noun in _NOUNS if len(noun) == 6]

    def cue(draw: random.Random, one: str, other: str) -> tuple[str, str]:
        told = draw.choice(nouns[:4]), draw.choice(nouns[4:])
        left, right = (f"One {noun} was there, and no other {noun}." for noun in told)
        return left, right

    control = checked_items(_items(300, 8, cue))
    assert "n-grams" in control.by.by
    assert len(control.weights) == 300
    assert len(control.surface) == 120
    # Right about what it decided, and not wrong about what it never saw.
    assert sum(control.surface.values()) > 0.9 * 120


def test_a_counted_cue_is_closed_by_the_weights() -> None:
    # In seven of ten the coherent context has the longer text and a person.
    def cue(draw: random.Random, one: str, other: str) -> tuple[str, str]:
        longer = f"{one} Then she asked him for more of it."
        return (longer, other) if draw.random() < 0.7 else (other, longer)

    made = _items(700, 2, cue)
    rules = surface_differences(made).decided.mean(axis=0)
    longer = dict(zip(SURFACE_RULES, rules, strict=True))["more persons before"]
    assert longer > 0.65
    control = checked_items(made)
    scores = {result.by: result.score for result in control.checked}
    for rule in SURFACE_RULES:
        assert scores[rule] == pytest.approx(0.5, abs=0.03), rule
    assert control.word == CONTROLLED, control.by


def test_a_cue_that_is_not_counted_is_found() -> None:
    # Which nouns of six letters stand there says it, which no feature counts.
    nouns = [noun for noun in _NOUNS if len(noun) == 6]

    def cue(draw: random.Random, one: str, other: str) -> tuple[str, str]:
        told = [draw.choice(nouns[:4]), draw.choice(nouns[4:])]
        if draw.random() > 0.8:
            told.reverse()
        left, right = (f"One {noun} was there, and no other {noun}." for noun in told)
        return left, right

    control = checked_items(_items(500, 3, cue))
    assert control.word == LEAKS
    assert "n-grams" in control.by.by
    assert control.by.low > 0.6


def test_an_additive_leak_outside_the_features_is_refused() -> None:
    # Each of twelve nouns says a little; together they are right in some 65 of 100.
    weight = dict(zip(_NOUNS, np.linspace(-1, 1, len(_NOUNS)), strict=True))

    def cue(draw: random.Random, one: str, other: str) -> tuple[str, str]:
        told = [draw.sample(_NOUNS, 3) for _ in range(2)]
        more = sum(weight[noun] for noun in told[0]) - sum(weight[noun] for noun in told[1])
        if draw.random() > 1 / (1 + np.exp(-0.65 * more)):
            told.reverse()
        left, right = (" ".join(f"The {noun} was old." for noun in own) for own in told)
        return left, right

    refused = [checked_items(_items(500, seed, cue)).word for seed in range(10, 15)]
    assert sum(word != CONTROLLED for word in refused) >= 4


def test_few_items_are_too_few_and_say_how_many_would_do() -> None:
    control = checked_items(_items(100, 4, lambda draw, one, other: (one, other)))
    assert control.word == TOO_SMALL
    assert control.needed >= 250


def test_a_cue_without_exception_cannot_be_controlled() -> None:
    made = _items(300, 5, lambda draw, one, other: (f"{one} She told him so.", one))
    control = checked_items(made)
    assert control.word == UNCONTROLLED
    assert control.balance.worst in NAMES
    assert control.weights == {}


def test_no_item_is_no_error() -> None:
    assert checked_items([]).word == TOO_SMALL


def test_weights_over_all_items_make_cross_validation_lie() -> None:
    # Nothing is to be learned here but the cue that the weights close. Solved over all items, what
    # one half needs less of the other has more of: a classifier that follows the half that it
    # learned from is wrong in the other.
    generator = np.random.default_rng(6)
    trapped, apart = [], []
    for _ in range(60):
        columns = generator.normal(0.25, 1, (200, 12))
        whole = balance_of(columns, [""] * 12).weights
        half = np.arange(200) < 100
        learned = whole[half] @ columns[half]  # the direction that the cue has in this half
        right = columns[~half] @ learned > 0
        trapped.append(share(right, whole[~half] / whole[~half].sum()))
        own = [balance_of(columns[side], [""] * 12).weights for side in (half, ~half)]
        plain = columns[half].mean(axis=0)
        apart.append(share(columns[~half] @ plain > 0, own[1]))
    assert np.mean(trapped) < 0.46
    assert np.mean(apart) == pytest.approx(0.5, abs=0.02)


def test_bins_of_boosting_are_weighted_quantiles() -> None:
    chance = np.random.default_rng(0)
    values, times = chance.normal(size=900), chance.integers(0, 4, size=900)
    ranks = np.linspace(0, 100, 256)[1:-1]
    expected = np.percentile(np.repeat(values, times), ranks, method="averaged_inverted_cdf")
    edges = _bin_edges(values, times.astype(float))
    assert edges == pytest.approx(np.unique(expected), abs=1e-12)
    assert _bin_edges(np.round(values, 1), np.ones(900)) is None  # few values: as they are
    binned = _binned(np.stack([values, values], axis=1), [edges, None])
    assert (binned[:, 1] == values).all()
    assert len({*binned[:, 0]}) == 255
    above = values[:, None] > edges  # a value at an edge is in the bin below it
    assert (binned[:, 0] == above.sum(axis=1)).all()
