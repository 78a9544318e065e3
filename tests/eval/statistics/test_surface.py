"""The surface baseline: what it finds, what it does not, and what it does not learn from."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from coherencegym.eval.kinds.examples import Contrast, GeneratedItem
from coherencegym.eval.kinds.items import Condition, Item, Region
from coherencegym.eval.kinds.table_kind import HALF
from coherencegym.eval.statistics import surface
from coherencegym.eval.statistics.bag_of_words import FOLDS
from coherencegym.eval.statistics.intervals import Interval, share_interval
from coherencegym.eval.statistics.pair_baselines import surface_decisions
from coherencegym.eval.statistics.surface import surface_folds, surface_scores

NAMES = ("1_1", "2_2", "1_2", "2_1")
CONTRAST = Contrast(NAMES[2:], NAMES[:2], 2, "sum")
#: Marks the contexts and targets of an item: (number, generator) -> of the first and the second.
Marked = Callable[[int, random.Random], tuple[str, str]]


def crossed(name: str, contexts: Sequence[str], targets: Sequence[str], other: str = "") -> Item:
    pairs = ((0, 0), (1, 1), (0, 1), (1, 0))
    conditions = tuple(
        Condition(
            of, f"{contexts[i]} {targets[j]}", (Region(1, contexts[i]), Region(2, targets[j]))
        )
        for of, (i, j) in zip(NAMES, pairs, strict=True)
    )
    extra = {"family": f"{name}+{other}", "partner_discourse": other} if other else {}
    return Item(name, 1, conditions, (CONTRAST.prediction,), name, "toy", extra=extra)


def items(number: int, marked: Marked, seed: int = 0) -> list[GeneratedItem]:
    """Texts of random words, with marks."""
    chance = random.Random(seed)
    words = [f"{a}{b}{c}o" for a in "bdfgklmn" for b in "aeiou" for c in "prst"]
    made = []
    for n in range(number):
        texts = [[" ".join(chance.choices(words, k=9)) for _ in "12"] for _ in "12"]
        marks = marked(n, chance)
        contexts, targets = (
            [f"{text}{mark}." for text, mark in zip(own, marks, strict=True)] for own in texts
        )
        made.append(GeneratedItem(crossed(f"d{n}", contexts, targets), (CONTRAST,), {}))
    return made


def interval_of(generated: Sequence[GeneratedItem]) -> tuple[float, Interval]:
    decisions = surface_decisions(generated, ())
    values = [one.value for one in decisions]
    clusters = [one.cluster for one in decisions]
    return sum(values) / len(values), share_interval(values, clusters, folds=FOLDS)


def leak(n: int, chance: random.Random) -> tuple[str, str]:
    # In a fifth of the items a typing habit goes with its context; the others say nothing.
    return (", don't :)", "") if n % 5 == 0 else ("", "")


def test_a_planted_leak_of_60_percent_is_found() -> None:
    score, interval = interval_of(items(500, leak))
    assert interval.low > 0.5
    assert 0.55 < score < 0.68


def test_where_nothing_is_planted_the_interval_is_over_chance() -> None:
    for seed in range(2):
        _, interval = interval_of(items(400, lambda n, chance: ("", ""), seed))
        assert interval.low < 0.5 < interval.high


def test_items_of_halves_are_decided_by_the_other_half(monkeypatch: pytest.MonkeyPatch) -> None:
    made = items(40, leak)
    halved = [
        replace(one, item=replace(one.item, extra={HALF: 1 + number % 4 // 2}))
        for number, one in enumerate(made)
    ]
    asked = []
    learned = surface._learned

    def record(features: Any, train: Any, test: Any) -> Any:
        asked.append(({*map(int, train)}, {*map(int, test)}))
        return learned(features, train, test)

    monkeypatch.setattr(surface, "_learned", record)
    surface_scores(halved)
    first = {number for number in range(40) if number % 4 < 2}
    second = {*range(40)} - first
    assert sorted(asked, key=str) == sorted([(first, second), (second, first)], key=str)
    assert (surface_folds(halved), surface_folds(made)) == (2, FOLDS)


def test_what_stands_on_both_sides_cancels() -> None:
    """A target that is marked wherever it stands tells nothing of a crossed item."""
    same = ("A story.", "A story."), ("One end!!", "Another end, :)")
    generated = [GeneratedItem(crossed(f"d{n}", *same), (CONTRAST,), {}) for n in range(30)]
    assert {score for (score,) in surface_scores(generated)} == {0.0}


def test_sides_that_change_places_change_the_sign_alone() -> None:
    generated = items(60, leak)
    turned = Contrast(CONTRAST.better, CONTRAST.worse, 2, "sum")
    # Learned the other way round, it is as sure of the opposite: and so as right.
    again = [GeneratedItem(one.item, (turned,), {}) for one in generated]
    first, second = surface_scores(generated), surface_scores(again)
    assert [a for (a,) in first] == pytest.approx([a for (a,) in second])


def test_nothing_is_learned_from_a_document_that_is_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two texts that are crossed both documents are out of what is learned from."""
    chance, made = random.Random(1), []
    for n in range(40):
        contexts, targets = ([f"{chance.random()} {end}" for end in "ab"] for _ in "12")
        item = crossed(f"d{n}", contexts, targets, f"d{(n + 1) % 40}")
        made.append(GeneratedItem(item, (CONTRAST,), {}))
    learned = surface._learned
    seen = []

    def watched(features: object, train: Sequence[int], test: Sequence[int]) -> object:
        both = [{f"d{n}", f"d{(n + 1) % 40}"} for n in range(40)]
        of_train, of_test = ({d for n in own for d in both[n]} for own in (train, test))
        seen.append(of_train & of_test)
        return learned(features, train, test)  # type: ignore[arg-type]

    monkeypatch.setattr(surface, "_learned", watched)
    surface_scores(made)
    assert len(seen) == FOLDS
    assert not any(seen)
