"""Sides that are longer than others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from support.results import add_judged, evaluated_table, judged_predictions

from coherencegym.eval.kinds.items import Item
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.report.blocks import formula_labels
from coherencegym.eval.statistics.scores import ScoreRow
from coherencegym.eval.surprisal import Answer, ScoredCondition
from coherencegym.eval.tasks.score.predictions import length_difference
from coherencegym.eval.tasks.score.report import length_notes
from coherencegym.eval.text.encode import SPECIAL, Encoding

FORMULA = "(1;%a%) > (1;%b%)"


def condition(*regions: Sequence[float]) -> ScoredCondition:
    """A condition from its regions' token surprisals, after a start-of-text token."""
    bits = [math.nan, *(bit for region in regions for bit in region)]
    numbers = [n for n, region in enumerate(regions, 1) for _ in region]
    # Ids that differ with the texts: equal ones would be an undefined prediction.
    ids = (0, *(int(1000 * bit) + 1 for bit in bits[1:]))
    places = tuple(range(len(bits)))
    return ScoredCondition(
        Encoding(ids, (SPECIAL, *numbers), places, places, ((),) * len(ids), True), np.array(bits)
    )


def scored(make_item: Callable[..., Item], number: int, a: Any, b: Any, *formulas: str) -> Any:
    texts = {"a": ["x"] * len(a), "b": ["y"] * len(b)}
    item = make_item(texts, *(formulas or (FORMULA,)), item_id=f"d{number}/x")
    return Answer(item, {"a": condition(*a), "b": condition(*b)})


def of(items: Sequence[Answer[Item]], asked: bool = False) -> list[str]:
    evaluated = [prediction for item in items for prediction in judged_predictions(item)]
    table, _ = evaluated_table(evaluated, length_confound=asked)
    writer = OutcomeWriter()
    add_judged(writer, table, evaluated)
    return [str(note) for note in length_notes(writer.tables(), table)]


@pytest.mark.parametrize(
    ("formula", "tokens"),
    [
        ("(1;%a%) > (1;%b%)", 2),
        ("(1;%a%) < (1;%b%)", -2),
        ("(1;%b%) > (1;%a%)", -2),
        ("(*;%a%) > (*;%b%)", 1),
        ("(2;%a%) > (1;%b%)", 0),
        ("[(1;%a%)] > (1;%b%)", 2),
        ("(1;%a%) - (1;%b%) > 0", None),
        ("(1;%a%) > 3", None),
        ("(1;%a%) = (1;%b%)", None),
        ("(1;%a%) > (1;%b%) & (2;%a%) > (2;%b%)", None),
    ],
)
def test_the_side_that_should_be_more_surprising_minus_the_other(
    formula: str, tokens: int | None, make_item: Callable[..., Item]
) -> None:
    one = scored(make_item, 0, ([1.0, 2.0, 3.0], [4.0]), ([5.0], [6.0, 7.0]), formula)
    assert length_difference(one, formula) == tokens


def test_a_condition_that_was_not_scored_has_no_length(make_item: Callable[..., Item]) -> None:
    one = scored(make_item, 0, ([1.0],), ([2.0],))
    assert length_difference(Answer(one.item, {"a": one.conditions["a"]}), FORMULA) is None


def test_a_side_that_is_nearly_always_longer_is_said(make_item: Callable[..., Item]) -> None:
    def sides(longer: int, shorter: int, number: int = 30) -> list[Answer[Item]]:
        """Items whose side ``a`` has two tokens more than ``b``, one fewer, or as many."""
        lengths = [4] * longer + [1] * shorter + [2] * (number - longer - shorter)
        return [
            scored(make_item, n, ([1.0 + n] * length,), ([0.5] * 2,))
            for n, length in enumerate(lengths)
        ]

    start = f"c, {FORMULA} mean: the side that is predicted to be more surprising has"
    (said,) = of(sides(27, 0))
    assert said.startswith(f"{start} more tokens in 27 of 30 items (mean difference +1.8)")
    (said,) = of(sides(0, 27))
    assert said.startswith(f"{start} fewer tokens in 27 of 30 items (mean difference -0.9)")
    assert of(sides(26, 0)) == of(sides(27, 0, 29)) == of(sides(26, 4)) == []
    # The suite says itself that lengths differ.
    assert of(sides(30, 0), asked=True) == []


def test_what_has_no_margin_or_no_two_sides_is_left_out(make_item: Callable[..., Item]) -> None:
    formulas = ("(1;%a%) > (1;%b%)", "(1;%a%) - (1;%b%) > 0", "(1;%a%) = (1;%b%)")
    items = [scored(make_item, n, ([1.0] * (n + 2),), ([2.0],), *formulas) for n in range(30)]
    (said,) = of(items)
    assert said.startswith(f"c, {FORMULA} mean: ")
    assert of([]) == []


def test_a_prediction_is_named_by_its_metric_where_that_suffices() -> None:
    def row(config: str, formula: str, aggregation: str) -> Any:
        about = {"config": config, "split": "s", "group": "", "level": "formula", "n": 1}
        return ScoreRow(**about, formula=formula, aggregation=aggregation)  # type: ignore[arg-type]

    one = row("c", "f", "mean")
    assert formula_labels([one, row("c", "f", "sum")]) == ["mean", "sum"]
    others = row("d", "g", "mean"), row("d", "h", "mean")
    assert formula_labels([one, *others]) == ["mean", "g mean", "h mean"]
