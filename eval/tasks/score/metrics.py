"""Predictions evaluated by region values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from coherencegym.eval.kinds.formula import (
    RegionRef,
    coefficients_of,
    comparisons_of,
    parse_formula,
    read_of,
)
from coherencegym.eval.kinds.items import Item, Outcome, evaluate, is_settled
from coherencegym.eval.plan.options import DEFAULT, Rules
from coherencegym.eval.tasks.score.closeness import spread_of
from coherencegym.eval.tasks.score.scoring import ScoredItem
from coherencegym.eval.tasks.score.values import RegionValues
from coherencegym.eval.text.encode import crossing_differs

#: Reasons for which a prediction is undefined, in words.
UNDEFINED = {
    "identical": "their conditions are the same tokens for this model",
    "separator": "this tokenizer has no separator for [SEP] (see --separator)",
    "crossing": "a token crosses the edge of a compared region in one version only",
    "empty": "a region has no token with a surprisal",
}


@dataclass(frozen=True, slots=True)
class EvaluatedPrediction:
    """One prediction of one item, with its outcome for a model.

    Attributes:
        item: the item.
        formula, aggregation, groups: the prediction's.
        outcome: None where the prediction is undefined for this model or the item is too long.
        reason: says why there is no outcome, else empty: ``too_long``, ``identical`` (conditions
            that are the same tokens for this model), ``separator`` (the tokenizer has none),
            ``crossing`` (a token crosses the edge of a compared region in one condition only) or
            ``empty`` (a region without a value).
        first_left_out: it reads a first token that has no surprisal, which the conditions then
            leave out; the tokens left out may differ.
        too_close: no tie, and yet it might be otherwise, by the measured numeric error of the run.
    """

    item: Item
    formula: str
    aggregation: str
    groups: tuple[str, ...]
    outcome: Outcome | None
    reason: str = ""
    first_left_out: bool = False
    too_close: bool = False


def evaluate_predictions(
    scored: ScoredItem, rules: Rules = DEFAULT
) -> Iterable[EvaluatedPrediction]:
    """Evaluate each prediction of an item."""
    values = RegionValues(scored.item, scored.conditions, rules)
    for prediction in scored.item.predictions:
        formula, aggregation = prediction.formula, prediction.metric
        outcome, reason, first_left_out = _evaluate(scored, formula, aggregation, rules, values)
        yield EvaluatedPrediction(
            scored.item,
            formula,
            aggregation,
            prediction.groups,
            outcome,
            reason,
            first_left_out,
            bool(scored.error)
            and outcome is not None
            and not outcome.tie
            and _is_too_close(formula, aggregation, values, scored.error),
        )


def _is_too_close(formula: str, aggregation: str, values: RegionValues, error: float) -> bool:
    return not is_settled(
        parse_formula(formula),
        values.lookup(aggregation),
        lambda comparison: error * spread_of(comparison, aggregation, values),
    )


@lru_cache(maxsize=4096)
def _read(formula: str) -> tuple[frozenset[tuple[RegionRef, str]], tuple[str, ...]]:
    read = read_of(formula)
    return read, tuple(sorted({name for _, name in read}))


def _evaluate(
    scored: ScoredItem, formula: str, aggregation: str, rules: Rules, known: RegionValues
) -> tuple[Outcome | None, str, bool]:
    if scored.too_long:
        return None, "too_long", False
    read, names = _read(formula)
    if any(name not in scored.conditions for name in names):
        return None, "separator", False
    encodings = {name: scored.conditions[name].encoding for name in names}
    seen = {(encoding.ids, encoding.regions) for encoding in encodings.values()}
    if len(seen) < len(names) and not rules.identical_counts:
        return None, "identical", False
    tree = parse_formula(formula)
    if any(
        crossing_differs(encodings, coefficients_of(comparison), aggregation)
        for comparison in comparisons_of(tree)
    ):
        return None, "crossing", False
    values = {(region, name): known.value(region, name, aggregation) for region, name in read}
    defined = {key: value for key, value in values.items() if value is not None}
    if len(defined) < len(values):
        return None, "empty", False
    first = any(scored.conditions[name].leaves_out_first(region) for region, name in read)
    outcome = evaluate(tree, lambda region, name: defined[region, name], rules.tie_bits)
    return outcome, "", first
