"""Predictions evaluated: whether each holds, and by how many bits, as outcomes of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.formula import (
    Comparison,
    Value,
    coefficients_of,
    comparisons_of,
    parse_formula,
    read_of,
)
from coherencegym.eval.kinds.items import Item, evaluate
from coherencegym.eval.outcomes.schema import (
    FIRST_LEFT_OUT,
    FLAGS,
    MODEL,
    TIE,
    TOO_CLOSE,
    OutcomeRow,
    UnitRow,
)
from coherencegym.eval.plan.options import DEFAULT, Rules
from coherencegym.eval.statistics.scores import text_of
from coherencegym.eval.surprisal import Answer
from coherencegym.eval.tasks.score.numeric_error import is_too_close
from coherencegym.eval.tasks.score.outcomes import ACCURACY, MARGIN
from coherencegym.eval.tasks.score.scoring import RegionValues
from coherencegym.eval.text.encode import crossing_differs

#: Reasons for which a prediction is undefined, in words.
UNDEFINED = {
    "identical": "their conditions are the same tokens for this model",
    "separator": "this tokenizer has no separator for [SEP] (see --separator)",
    "crossing": "a token crosses the edge of a compared region in one version only",
    "empty": "a region has no token with a surprisal",
}


def prediction_outcomes(
    scored: Answer[Item], table: ItemTable, rules: Rules = DEFAULT, error: float = 0.0
) -> Iterator[OutcomeRow]:
    """Of each prediction of an item whether it holds, and then its margin, where it has one.

    A prediction without a value has one of the reasons ``too_long``, ``identical`` (conditions that
    are the same tokens for this model), ``separator`` (the tokenizer has none), ``crossing`` (a
    token crosses the edge of a compared region in one condition only) or ``empty`` (a region
    without a value). The target of a margin is :func:`length_difference`. ``error`` is that of the
    run (:func:`measure_error`).
    """
    item, values = scored.item, RegionValues(scored, rules)
    columns = [(column, text_of(item.extra[column])) for column in table.breakdowns]
    seen = Counter[tuple[str, str]]()
    for prediction in item.predictions:
        kind = formula, aggregation = prediction.formula, prediction.metric
        seen[kind] += 1
        unit = UnitRow(
            config=table.config,
            split=table.split,
            item=item.item_id,
            unit=f"#{seen[kind]}" if seen[kind] > 1 else "",
            cluster=item.cluster,
            formula=formula,
            aggregation=aggregation,
            groups=(*(("", group) for group in prediction.groups), *columns),
        )
        about: Any = {"unit": unit, "system": MODEL}
        if reason := _why_undefined(scored, formula, aggregation, rules, values):
            yield OutcomeRow(metric=ACCURACY.name, value=None, reason=reason, **about)
            continue
        outcome = evaluate(parse_formula(formula), values.lookup(aggregation), rules.tie_bits)
        facts = {
            TIE: outcome.tie,
            TOO_CLOSE: bool(error)
            and not outcome.tie
            and is_too_close(formula, aggregation, values, error),
            FIRST_LEFT_OUT: any(
                scored.conditions[name].leaves_out_first(region)
                for region, name in read_of(formula)
            ),
        }
        flags = sum(FLAGS[name] for name, holds in facts.items() if holds)
        yield OutcomeRow(metric=ACCURACY.name, value=float(outcome.met), flags=flags, **about)
        if outcome.margin is not None:
            longer = length_difference(scored, formula)
            yield OutcomeRow(metric=MARGIN.name, value=outcome.margin, target=longer, **about)


def length_difference(scored: Answer[Item], formula: str) -> int | None:
    """Tokens of the region that a formula predicts to be more surprising, minus the other's.

    None where the formula is not one value ``>`` or ``<`` another, or a condition was not scored.
    """
    tree = parse_formula(formula)
    if not isinstance(tree, Comparison) or tree.operator == "=":
        return None
    sides = (tree.left, tree.right) if tree.operator == ">" else (tree.right, tree.left)
    lengths = []
    for side in sides:
        if not isinstance(side, Value) or side.condition not in scored.conditions:
            return None
        lengths.append(len(scored.conditions[side.condition].region_bits(side.region)))
    return lengths[0] - lengths[1]


def _why_undefined(
    scored: Answer[Item], formula: str, aggregation: str, rules: Rules, values: RegionValues
) -> str:
    # One of the reasons of :func:`prediction_outcomes`; empty: it is defined.
    if scored.too_long:
        return "too_long"
    read = read_of(formula)
    if any(name not in scored.conditions for _, name in read):
        return "separator"
    encodings = {name: scored.conditions[name].encoding for _, name in read}
    seen = {(encoding.ids, encoding.regions) for encoding in encodings.values()}
    if len(seen) < len(encodings) and not rules.identical_counts:
        return "identical"
    if any(
        crossing_differs(encodings, coefficients_of(comparison), aggregation)
        for comparison in comparisons_of(parse_formula(formula))
    ):
        return "crossing"
    if any(values.value(region, name, aggregation) is None for region, name in read):
        return "empty"
    return ""
