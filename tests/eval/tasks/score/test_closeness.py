"""Predictions that a number format may have turned: the level is held, whatever the formula."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.results import judged_predictions
from support.tiny_models import Memory

from coherencegym.eval.forward import execute
from coherencegym.eval.forward.trial import drawn_by_name, exactly
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.plan.options import DEFAULT
from coherencegym.eval.tasks.score.numeric_error import (
    LEVEL,
    MEASURED,
    error_of,
    largest_error,
    measure_error,
)
from coherencegym.eval.tasks.score.scoring import score_items

#: Distributions of errors, from light tails to some that hardly have a variance.
DRAWN: dict[str, Callable[[Any, int], Any]] = {
    "uniform": lambda generator, size: generator.uniform(0, 1, size),
    "normal": lambda generator, size: abs(generator.standard_normal(size)),
    "Laplace": lambda generator, size: abs(generator.laplace(size=size)),
    "t with 3 degrees of freedom": lambda generator, size: abs(generator.standard_t(3, size)),
    "Pareto of index 2.5": lambda generator, size: generator.pareto(2.5, size) + 1,
}


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("measured", [5, 16, MEASURED, 150])
def test_no_more_than_the_level_is_off_by_more_than_is_said(name: str, measured: int) -> None:
    generator, runs = np.random.default_rng(0), 2000
    beyond = []
    for _ in range(runs):
        error = error_of(DRAWN[name](generator, measured))
        beyond.append((DRAWN[name](generator, 100) > error).mean())
    # Two standard errors of the mean.
    assert np.mean(beyond) <= LEVEL + 2 * np.std(beyond) / math.sqrt(runs)


def test_without_a_measurement_there_is_no_error() -> None:
    assert error_of([]) == 0.0
    # Items of which nothing can be compared are no measurement.
    assert error_of([0.5, None, None]) == error_of([0.5]) > error_of([0.5, 0.0]) > 0.5


def test_the_sample_is_the_same_in_any_order_and_of_any_items() -> None:
    names = [(number, f"d{number}/x") for number in range(100)]
    chosen = drawn_by_name(names, 10)
    assert chosen == drawn_by_name(reversed(names), 10)
    assert len(chosen) == 10
    assert drawn_by_name(names[:5], 10) == {0, 1, 2, 3, 4}
    # What is left out of the others changes nothing for those that stay.
    assert chosen & set(range(50)) <= drawn_by_name(names[:50], 10)


@pytest.fixture(scope="module")
def crossed(make_item: Callable[..., Item]) -> list[Item]:
    """Pairs, and contexts and targets in all combinations, of words in an order of their own."""
    generator = np.random.default_rng(1)
    words = ["Lily", "had", "a", "red", "ball", "Tim", "ran", "to", "the", "park", "with", "dog"]

    def text(size: int) -> str:
        return " ".join(generator.choice(words, size)) + "."

    items = []
    for number in range(80):
        a, b, x, y = (text(int(generator.integers(2, 8))) for _ in range(4))
        items.append(
            make_item(
                {"ax": [a, x], "by": [b, y], "ay": [a, y], "bx": [b, x]},
                "(2;%ay%) + (2;%bx%) > (2;%ax%) + (2;%by%)",
                "(2;%bx%) > (2;%ax%) & (2;%ay%) > (2;%by%)",
                metric="sum" if number % 2 else "mean",
                item_id=f"d{number}/crossed",
            )
        )
    return items


def test_flips_of_bfloat16_are_flagged(
    crossed: list[Item],
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
) -> None:
    tokenizer = make_tokenizer()
    half = make_model("llama", tokenizer).bfloat16()
    exact = copy.deepcopy(half).double()
    bound = measure_error(half, tokenizer, [(crossed, None)])
    found = score_items(half, tokenizer, crossed)
    expected = score_items(exact, tokenizer, crossed)
    beyond = flips = missed = 0
    for one, other in zip(found.items, expected.items, strict=True):
        error = largest_error(one, other, DEFAULT)
        assert error is not None
        beyond += error > bound
        for ours, true in zip(
            judged_predictions(one, error=bound), judged_predictions(other), strict=True
        ):
            assert ours.outcome is not None
            assert true.outcome is not None
            turned = ours.outcome.met is not true.outcome.met
            flips += turned
            missed += turned and not ours.too_close
    assert flips
    assert missed == 0
    assert beyond <= 2 * LEVEL * len(crossed)
    assert measure_error(exact, tokenizer, [(crossed, None)]) == 0


def test_the_items_of_all_tables_are_one_sample_which_a_cache_knows_later(
    crossed: list[Item],
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokenizer = make_tokenizer()
    half = make_model("llama", tokenizer).bfloat16()
    asked: list[int] = []

    def counted(forward: Any, work: Callable[[], Any]) -> Any:
        found = exactly(forward, work)
        asked.append(len(found or ()))
        return found

    monkeypatch.setattr(execute, "exactly", counted)
    tables = [(crossed[:50], None), (crossed[50:], None)]
    store = Memory()
    error = measure_error(half, tokenizer, tables, store=store)
    assert error > 0
    assert measure_error(half, tokenizer, tables, store=store) == error
    # All conditions of the sample's items, some of which are the same texts, and these once.
    (number,) = asked
    assert 3 * MEASURED < number <= 4 * MEASURED
