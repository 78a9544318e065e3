"""The controlled score: by weights that leave no counted cue, and one number wherever it stands."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.datasets import write_decisions, write_table
from support.results import Evaluated, JudgedPrediction, evaluated_table, made_outcomes, made_saved

import coherencegym as cg
from coherencegym.eval.data.dataset import LEXICAL_OVERLAP, PARTIAL_INPUT, SURFACE
from coherencegym.eval.kinds.items import (
    ITEMS,
    Condition,
    Item,
    Outcome,
    Prediction,
    Region,
    contrasted,
)
from coherencegym.eval.results.comparison import compare
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.results.run_table import table_of
from coherencegym.eval.results.written import write_results
from coherencegym.eval.statistics.balance import balanced, weighted_interval
from coherencegym.eval.statistics.surface import SURFACE_RULES, surface_differences
from coherencegym.eval.tasks.headline import CONTROL_NOTE, Headline
from coherencegym.eval.tasks.score.summary import headline_of, over_baselines, summarise

FORMULA = "(2;%odd%) > (2;%plain%)"
WORDS = [f"{a}{b}{c}o" for a in "bdfgklmn" for b in "aeiou" for c in "prst"]


def item(number: int, seed: int = 0, groups: Sequence[str] = ()) -> Item:
    """A context and two targets, of which the plain one repeats its words more often."""
    draw = random.Random(f"{seed} {number}")
    context = draw.choices(WORDS, k=draw.randint(5, 12))
    first = f"{' '.join(context)}. Then {draw.choice(['he', 'she', 'it'])} saw it."
    conditions = []
    for name, chance in (("odd", 0.3), ("plain", 0.45)):
        repeated = [word for word in context[:4] if draw.random() < chance]
        words = [*repeated, *draw.choices(WORDS, k=draw.randint(3, 9))]
        text = f" {' '.join(words)}{draw.choice('.!?')}"
        conditions.append(Condition(name, first + text, (Region(1, first), Region(2, text))))
    own = (Prediction(FORMULA, "mean", tuple(groups)),)
    extra = {"genre": "ab"[number % 2]}
    return Item(
        f"i{number}", number + 1, tuple(conditions), own, f"d{number // 2}", "t", extra=extra
    )


class Weighed:
    """Stored baselines of which the weights and the decisions of the surface are known."""

    def __init__(self, weights: dict[str, float], surface: dict[str, float]) -> None:
        self._weights, self._surface = weights, surface

    def check(self) -> None:
        """Nothing was published."""

    def decisions(self, items: Any) -> dict[str, dict[str, list[float]]]:
        """That of the surface alone."""
        none: dict[str, dict[str, list[float]]] = {PARTIAL_INPUT: {}, LEXICAL_OVERLAP: {}}
        return none | {SURFACE: {name: [own] for name, own in self._surface.items()}}

    def weights(self, items: Any) -> dict[str, float]:
        """All of them."""
        return self._weights


def table(
    items: Sequence[Item],
    met: Sequence[float | None],
    weights: Any,
    config: str = "c",
    **about: Any,
) -> Evaluated:
    """A table whose model is right where ``met``; None: the item is too long for it."""
    evaluated = [
        JudgedPrediction(
            one, FORMULA, "mean", one.predictions[0].groups,
            None if holds is None else Outcome(bool(holds), False, 1.0 if holds else -1.0),
            "too_long" if holds is None else "",
        )
        for one, holds in zip(items, met, strict=True)
    ]  # fmt: skip
    of = dict(zip((one.item_id for one in items), weights, strict=True))
    surface = {name: float(number % 2) for number, name in enumerate(of)}
    return evaluated_table(evaluated, config, "s", baselines=Weighed(of, surface), **about)


@pytest.mark.parametrize("rule", range(len(SURFACE_RULES)), ids=list(SURFACE_RULES))
def test_a_model_that_follows_a_rule_of_the_surface_is_right_in_half(rule: int) -> None:
    items = [item(number) for number in range(600)]
    found = surface_differences([contrasted(one) for one in items])
    balance = balanced(found)
    assert balance.feasible
    decided = found.decided[:, rule]
    # Of a tie it takes one side or the other.
    met = [float(own if own != 0.5 else number % 2) for number, own in enumerate(decided)]
    own, evaluated = table(items, met, balance.weights)
    (row,) = (s for s in summarise(made_outcomes((own, evaluated)), own) if s.level == "all")
    assert row.controlled_score == pytest.approx(0.5, abs=0.03)
    if rule == 0:
        assert row.score is not None
        assert row.score > 0.54


def test_the_score_is_that_of_a_loop_and_items_without_a_value_drop_out() -> None:
    draw = np.random.default_rng(2)
    items = [item(number, groups=["wide"] * (number % 3 > 0)) for number in range(60)]
    met = [None if number % 10 == 9 else float(draw.random() < 0.7) for number in range(60)]
    weights = draw.exponential(1, 60)
    own, evaluated = table(items, met, weights, headline="wide")
    outcomes = made_outcomes((own, evaluated))
    (row,) = (s for s in summarise(outcomes, own) if s.level == "all")
    kept = [n for n in range(60) if met[n] is not None and n % 3]
    whole = sum(weights[n] for n in kept)
    score = sum(weights[n] * (met[n] or 0.0) for n in kept) / whole
    assert row.controlled_score == pytest.approx(score)
    surface = sum(weights[n] * (n % 2) for n in kept) / whole
    assert row.surface_score == pytest.approx(surface)
    assert row.effective_items == pytest.approx(whole**2 / sum(weights[n] ** 2 for n in kept))
    values = [met[n] or 0.0 for n in kept]
    known = weighted_interval(values, weights[kept].tolist(), [f"d{n // 2}" for n in kept])
    assert (row.controlled_ci_low, row.controlled_ci_high) == pytest.approx((known.low, known.high))
    head = headline_of([own], outcomes, [row])
    assert head is not None
    ends = row.controlled_score, row.controlled_ci_low, 36
    assert (head.score, head.ci_low, head.n) == pytest.approx(ends)
    assert (head.plain_score, head.surface_score) == pytest.approx((row.score, surface))
    (over,) = over_baselines(outcomes, own)
    assert over["difference"] == pytest.approx(score - surface)
    assert [over[name] for name in ("difference", "ci_low", "ci_high")] == pytest.approx(
        [head.over_surface, head.over_surface_low, head.over_surface_high]
    )
    assert [s.metric for s in row.both] == ["CD, controlled", "CD score"]


def sides(met: Sequence[Sequence[float | None]], folder: Path) -> list[Any]:
    draw = np.random.default_rng(3)
    weights = [draw.exponential(1, 40), draw.exponential(1, 25)]
    found = []
    for number, values in enumerate(met):
        tables = [
            table([item(n) for n in range(40)], values[:40], weights[0], "a"),
            table([item(n, 1) for n in range(25)], values[40:], weights[1], "b"),
        ]
        outcomes = made_outcomes(*tables)
        scores = [score for own, _ in tables for score in summarise(outcomes, own)]
        head = headline_of([own for own, _ in tables], outcomes, scores)
        found.append(made_saved(folder / f"m{number}", *tables, headline=head, rows=scores))
    return found


def test_overview_and_compare_have_the_number_of_the_headline(tmp_path: Path) -> None:
    draw = random.Random(4)
    met: list[Any] = [[float(draw.random() < chance) for _ in range(65)] for chance in (0.5, 0.7)]
    runs = sides(met, tmp_path)
    found = compare(*runs)
    assert found.headline is not None
    (column,) = table_of(runs).columns
    numbers = [head.score for head in column.numbers]
    assert numbers == pytest.approx([found.headline.baseline_score, found.headline.score])
    plain = [head.plain_score for head in column.numbers]
    assert plain == pytest.approx([found.headline.baseline_plain_score, found.headline.plain_score])
    by_config = [[row.controlled_score for row in run.rows if row.level == "all"] for run in runs]
    assert numbers == pytest.approx([sum(own) / 2 for own in by_config])
    rows = [row for row in found.rows if row.level == "all"]
    assert [row.metric for row in rows] == ["CD, controlled"] * 2
    assert [row.score for row in rows] == pytest.approx(by_config[1])
    # Of items that one of them has not got, the weights are those of the others.
    met[1][7] = None
    lacking = compare(*sides(met, tmp_path))
    counts = [(row.n, row.left_out, row.undefined) for row in lacking.rows if row.level == "all"]
    assert counts == [(39, 1, 1), (25, 0, 0)]
    other = lacking.headline
    assert other is not None
    assert (other.n, other.left_out) == (64, 1)
    assert other.baseline_score != pytest.approx(found.headline.baseline_score)
    # Results of an older release have plain scores alone.
    old = replace(runs[0], outcomes=runs[0].outcomes.select(np.arange(65, dtype=np.int32)))
    assert compare(old, runs[1], anyway=True).rows[0].metric == "CD score"


def test_a_config_without_weights_makes_the_headline_plain() -> None:
    items = [item(number) for number in range(30)]
    met = [float(number % 3 > 0) for number in range(30)]
    weighed = table(items, met, [1.0] * 30)
    bare = evaluated_table(weighed[1], "d", "s")
    outcomes = made_outcomes(weighed, bare)
    head = headline_of([weighed[0], bare[0]], outcomes, [])
    assert head is not None
    assert (head.metric, head.plain_score, head.surface_score) == ("CD score", None, None)
    assert head.score == pytest.approx(2 / 3)


def test_beside_a_controlled_score_nothing_is_over_splits_without_weights() -> None:
    items = [item(number) for number in range(30)]
    weighed = table(items, [float(number % 3 > 0) for number in range(30)], [1.0] * 30)
    others = [replace(item(number, 1), item_id=f"other{number}") for number in range(30)]
    (_, wrong) = table(others, [0.0] * 30, [1.0] * 30)
    bare = evaluated_table(wrong, "c", "train")
    outcomes = made_outcomes(weighed, bare)
    head = headline_of([weighed[0], bare[0]], outcomes, [])
    assert head is not None
    assert (head.metric, head.n) == ("CD, controlled", 30)
    assert (head.score, head.plain_score) == pytest.approx((2 / 3, 2 / 3))


def scored(dataset: Any, **how: Any) -> Any:
    return cg.score("demo", dataset, **how)


def all_row(found: Any) -> Any:
    return next(row for row in found.rows if row.level == "all")


def test_a_part_of_a_table_has_weights_of_its_own(tmp_path: Path) -> None:
    items = [item(number) for number in range(150)]
    folder = tmp_path / "d"
    write_table(folder, ITEMS, "toy", {"test": items}, "pairs", extra={"genre": "string"})
    write_decisions(folder, items, {PARTIAL_INPUT: [1.0] * 150})
    whole, part = (scored(folder, **how) for how in ({}, {"limit": 120}))
    # The build says that they cannot be balanced; nobody looked at the part.
    assert all_row(whole).controlled_score is None
    balance = balanced(surface_differences([contrasted(one) for one in items[:120]]))
    assert balance.feasible
    rows = cg.rows(part, "predictions")
    expected = sum(w * row["met"] for w, row in zip(balance.weights, rows, strict=True))
    assert all_row(part).controlled_score == pytest.approx(expected, abs=1e-6)
    assert all_row(part).effective_items == pytest.approx(balance.effective, rel=1e-4)
    assert all_row(part).partial_input_score == 1.0


def test_a_part_without_contrasts_keeps_the_baselines_of_the_build(tmp_path: Path) -> None:
    settled = Prediction("(2;%odd%) = (2;%plain%)", "sum", ())
    items = [replace(one, predictions=(*one.predictions, settled)) for one in map(item, range(6))]
    folder = tmp_path / "d"
    write_table(folder, ITEMS, "toy", {"test": items}, "pairs", extra={"genre": "string"})
    write_decisions(folder, items, {LEXICAL_OVERLAP: [1.0] * 6})
    row = all_row(scored(folder, limit=4))
    assert (row.lexical_overlap_score, row.controlled_score) == (1.0, None)


def test_own_pairs_have_a_controlled_score_that_is_read_back(tmp_path: Path) -> None:
    texts = [[one.content for one in item(number).conditions] for number in range(120)]
    pairs = [(plain, odd) for odd, plain in texts]
    found = scored(pairs)
    row = all_row(found)
    assert 60 < row.effective_items <= 120
    assert found.headline.score == row.controlled_score
    assert any(note.text.startswith(CONTROL_NOTE) for note in found.notes)
    write_results(found, tmp_path)
    saved = read_results(tmp_path, outcomes=True)
    assert saved.headline == found.headline
    assert all_row(saved) == row
    assert "CD, controlled" in {
        saved.metrics[name].label for _, _, name, _ in saved.outcomes.series
    }
    # Formulas that are no contrasts have none.
    settled = [
        replace(item(number), predictions=(Prediction("(2;%odd%) = (2;%plain%)", "sum", ()),))
        for number in range(30)
    ]
    assert all_row(scored(settled)).controlled_score is None


@pytest.mark.parametrize(
    ("low", "over", "plain_high", "bearing"),
    [(0.6, 0.1, 0.9, "shows"), (0.6, -0.1, 0.9, "open"), (0.4, 0.1, 0.9, "open"),
     (0.4, 0.1, 0.45, "below")],
)  # fmt: skip
def test_above_is_said_of_what_is_above_chance_and_the_surface(
    low: float, over: float, plain_high: float, bearing: str
) -> None:
    from coherencegym.eval.tasks.headline import verdict

    about: dict[str, Any] = {"n": 300, "score": 0.7, "ci_high": 0.8, "metric": "CD, controlled"}
    about |= {"plain_score": 0.4, "partial_input_score": 0.9, "surface_score": 0.55}
    head = Headline(
        over=("c",), ci_low=low, over_surface_low=over, plain_ci_high=plain_high, **about
    )
    found = verdict(head)
    assert found is not None
    assert found.bearing == bearing
    assert head.is_above == (bearing == "shows")
    assert "partial" not in found.reasons
    assert found.found.startswith("CD, controlled 70.0")
