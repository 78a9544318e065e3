"""Whether margins go with length."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.results import evaluated_table

from coherencegym.eval.kinds.items import Item
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.report.blocks import formula_labels
from coherencegym.eval.surprisal import ScoredCondition
from coherencegym.eval.tasks.score.metrics import evaluate_predictions
from coherencegym.eval.tasks.score.notes import length_notes
from coherencegym.eval.tasks.score.outcomes import (
    LengthCorrelation,
    add_predictions,
    correlations,
    length_correlations,
    length_difference,
)
from coherencegym.eval.tasks.score.report import shown_lengths
from coherencegym.eval.tasks.score.scoring import ScoredItem
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
    return ScoredItem(item, {"a": condition(*a), "b": condition(*b)})


def of(items: Sequence[ScoredItem], asked: bool = False) -> list[LengthCorrelation]:
    evaluated = [prediction for item in items for prediction in evaluate_predictions(item)]
    table, _ = evaluated_table(evaluated, length_confound=asked)
    writer = OutcomeWriter()
    add_predictions(writer, table, evaluated, items)
    return length_correlations(writer.tables(), table)


@pytest.mark.parametrize(
    ("xs", "ys", "pearson", "spearman"),
    [
        ([1, 2, 3], [2, 4, 6], 1.0, 1.0),
        ([1, 2, 3], [9, 8, 1], -8 / math.sqrt(2 * 38), -1.0),
        # Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5.
        ([1, 2, 2, 9], [1, 2, 3, 4], 12 / math.sqrt(41 * 5), 4.5 / math.sqrt(4.5 * 5)),
    ],
)
def test_correlations_by_hand(
    xs: list[float], ys: list[float], pearson: float, spearman: float
) -> None:
    found = correlations(xs, ys)
    assert list(found) == pytest.approx([pearson, spearman])


@pytest.mark.parametrize(
    ("xs", "ys"), [([], []), ([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0, 0, 0])]
)
def test_no_correlation_without_variation(xs: list[float], ys: list[float]) -> None:
    assert correlations(xs, ys) == (None, None)


def test_sides_must_have_as_many_values() -> None:
    with pytest.raises(ValueError, match="2 and 1 values"):
        correlations([1, 2], [1])


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(-9, 9)), max_size=8))
def test_a_correlation_is_a_number_from_minus_one_to_one_or_none(
    pairs: list[tuple[float, int]],
) -> None:
    found = correlations([x for x, _ in pairs], [float(y) for _, y in pairs])
    json.dumps(found, allow_nan=False)
    assert all(value is None or abs(value) <= 1 + 1e-9 for value in found)


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
    assert length_difference(ScoredItem(one.item, {"a": one.conditions["a"]}), FORMULA) is None


def test_a_mean_that_falls_with_cheap_tokens_shows(make_item: Callable[..., Item]) -> None:
    """Every token more on the predicted side costs nothing: the mean falls, exactly in ranks."""
    items = [
        scored(make_item, n, ([4.0] + [0.0] * n,), ([3.0],)) for n in (0, 1, 2, 3, 4) for _ in "x"
    ]
    (row,) = of(items)
    assert (row.config, row.split, row.formula, row.aggregation) == ("c", "s", FORMULA, "mean")
    assert (row.n, row.n_differ, row.tokens_mean) == (5, 4, 2.0)
    margins = [4 / (n + 1) - 3 for n in range(5)]
    assert row.pearson == pytest.approx(np.corrcoef(margins, range(5))[0, 1])
    assert row.spearman == pytest.approx(-1)


def test_lengths_that_never_differ_say_nothing(make_item: Callable[..., Item]) -> None:
    items = [scored(make_item, n, ([1.0 + n],), ([2.0],)) for n in range(4)]
    (row,) = of(items, asked=True)
    assert (row.n, row.n_differ, row.tokens_mean) == (3, 0, 0.0)  # of equal tokens: undefined
    assert (row.pearson, row.spearman) == (None, None)
    assert not row.noteworthy
    assert shown_lengths([row]) == []


def test_ties_have_no_correlation(make_item: Callable[..., Item]) -> None:
    items = [scored(make_item, n, ([2.0] * (n + 2),), ([2.0],)) for n in range(4)]
    (row,) = of(items)
    assert (row.n, row.n_differ, row.pearson, row.spearman) == (4, 4, None, None)


def test_what_has_no_margin_or_no_two_sides_is_left_out(make_item: Callable[..., Item]) -> None:
    formulas = ("(1;%a%) > (1;%b%)", "(1;%a%) - (1;%b%) > 0", "(1;%a%) = (1;%b%)")
    items = [scored(make_item, n, ([1.0] * (n + 1),), ([2.0],), *formulas) for n in range(4)]
    assert [row.formula for row in of(items)] == [FORMULA]
    assert of([]) == []


def row(**settings: Any) -> LengthCorrelation:
    given = {
        "n": 30,
        "n_differ": 10,
        "n_longer": 6,
        "tokens_mean": 0.5,
        "pearson": 0.1,
        "spearman": 0.1,
    }
    return LengthCorrelation("c", "s", "f", **{"aggregation": "mean", **given, **settings})


def test_only_what_is_noteworthy_or_asked_for_is_shown() -> None:
    rows = [
        row(),
        row(pearson=-0.3),
        row(spearman=0.35),
        row(pearson=0.9, n=29),
        row(pearson=None, spearman=None),
        row(asked=True),
        row(asked=True, n_differ=0),
        row(pearson=1.0, n_differ=9),
    ]
    assert [rows.index(shown) for shown in shown_lengths(rows)] == [1, 2, 5]


def test_a_side_that_is_nearly_always_longer_is_said() -> None:
    sides = [(27, 27), (26, 26), (27, 0), (27, 1)]
    rows = [row(n_differ=differ, n_longer=longer) for differ, longer in sides]
    assert [one.one_sided for one in rows] == [True, False, True, False]
    assert not row(n=29, n_differ=29, n_longer=29).one_sided
    said = [str(note) for note in length_notes([rows[0], replace(rows[2], tokens_mean=-0.5)])]
    start = "c, f mean: the side that is predicted to be more surprising has"
    assert said[0].startswith(f"{start} more tokens in 27 of 30 items (mean difference +0.5)")
    assert said[1].startswith(f"{start} fewer tokens in 27 of 30 items (mean difference -0.5)")
    # Where the suite says that lengths differ, its table is shown.
    assert not list(length_notes([row(n_differ=30, n_longer=30, asked=True), *rows[1:2]]))


def test_a_prediction_is_named_by_its_metric_where_that_suffices() -> None:
    assert formula_labels([row(), row(aggregation="sum")]) == ["mean", "sum"]
    other = LengthCorrelation("d", "s", "g", "mean", 1, 0, 0, 0.0, None, None)
    another = LengthCorrelation("d", "s", "h", "mean", 1, 0, 0, 0.0, None, None)
    assert formula_labels([row(), other, another]) == ["mean", "g mean", "h mean"]
