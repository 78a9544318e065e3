"""Items scored: surprisals of what their predictions read, and the predictions evaluated.

Bounds of what the number format of a run does to comparisons: some items are read a second time, in
float32 (:mod:`eval.forward.trial`). How far each of their comparisons is off is known then, and
with that of how many bits a run may be off in any other: a comparison adds and subtracts region
values, each of which is a mean or a sum of tokens. If tokens are off by themselves, by as much one
as another, the difference of its sides is off by the root of the sum of their variances, here its
*spread*. What is measured is the largest error of each item for a spread of 1.

Of *n* items that have nothing to do with how they were chosen, one more is off by more than all of
them in one of *n* + 1 cases, whatever the distribution (split conformal prediction: Lei et al.
2018). For a lower level than that the largest is multiplied as a tail demands that falls with the
square (Weissman 1978); errors of rounding fall faster. So at most :data:`LEVEL` of the items have a
comparison that is off by more than is said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.forward.trial import drawn_by_name, is_exact
from coherencegym.eval.kinds.formula import (
    WHOLE,
    Comparison,
    RegionRef,
    Value,
    coefficients_of,
    comparisons_of,
    parse_formula,
    read_of,
)
from coherencegym.eval.kinds.items import Item, evaluate, is_settled, margin_of
from coherencegym.eval.outcomes.schema import (
    FIRST_LEFT_OUT,
    FLAGS,
    MODEL,
    TIE,
    TOO_CLOSE,
    OutcomeRow,
    UnitRow,
)
from coherencegym.eval.plan.cached_plans import CachedPlans
from coherencegym.eval.plan.options import (
    DEFAULT,
    DEFAULT_OPTIONS,
    Options,
    Rules,
    with_joined_regions,
)
from coherencegym.eval.plan.requests import Prepared
from coherencegym.eval.statistics.scores import text_of
from coherencegym.eval.surprisal import (
    Answer,
    ScoredCondition,
    Surprisals,
    answers_of,
    plan_queries,
    surprisals,
)
from coherencegym.eval.tasks.score.outcomes import ACCURACY, MARGIN
from coherencegym.eval.text.encode import crossing_differs

if TYPE_CHECKING:
    import numpy as np

#: Values of a region from the surprisals (bits) of its tokens, by metric.
VALUES: Mapping[str, Callable[[np.ndarray], float]] = {
    "mean": lambda bits: float(bits.mean()),
    # fsum: a long text summed in any order gives one value, so a tie is a tie.
    "sum": lambda bits: math.fsum(bits),
    "median": lambda bits: (
        float(sorted(bits)[len(bits) // 2] + sorted(bits)[~(len(bits) // 2)]) / 2
    ),
    "range": lambda bits: float(bits.max() - bits.min()),
    "max": lambda bits: float(bits.max()),
    "min": lambda bits: float(bits.min()),
}


def region_value(
    condition: ScoredCondition, region: RegionRef, aggregation: str, parts: Iterable[int] = ()
) -> float | None:
    """The value of a region (bits), or None where it has none.

    ``parts`` are region numbers: where they are given, ``"*"`` is the sum of their values, and has
    none where one of them has none.

    A region without text sums to 0 and has no mean, median, range, maximum or minimum. A region
    whose only token has no surprisal (the first one, with nothing before it), or all of whose text
    is in a token that begins in another region, has no value at all.
    """
    if region == WHOLE and (numbers := tuple(parts)):
        values = [region_value(condition, number, aggregation) for number in numbers]
        known = [value for value in values if value is not None]
        return math.fsum(known) if len(known) == len(values) else None
    bits = condition.region_bits(region)
    if len(bits):
        return VALUES[aggregation](bits)
    if condition.leaves_out_first(region) or condition.encoding.is_entered(region):
        return None
    return 0.0 if aggregation == "sum" else None


class RegionValues:
    """The region values of an item, each computed once: its predictions read the same ones."""

    def __init__(self, scored: Answer[Item], rules: Rules) -> None:
        self._conditions = scored.conditions
        self._parts: tuple[int, ...] = ()
        if rules.whole_sums_regions:
            regions = scored.item.conditions[0].regions
            self._parts = tuple(region.region_number for region in regions)
        self._values: dict[tuple[RegionRef, str, str], float | None] = {}

    def value(self, region: RegionRef, name: str, aggregation: str) -> float | None:
        """The value of a region in a condition, as :func:`region_value` has it."""
        key = (region, name, aggregation)
        if key not in self._values:
            condition = self._conditions[name]
            self._values[key] = region_value(condition, region, aggregation, self._parts)
        return self._values[key]

    def lookup(self, aggregation: str) -> Callable[[RegionRef, str], float]:
        """The values of one aggregation, for formulas all of whose values are defined."""

        def known(region: RegionRef, name: str) -> float:
            value = self.value(region, name, aggregation)
            assert value is not None
            return value

        return known

    def variance(self, region: RegionRef, name: str, aggregation: str) -> float:
        """The variance of a value whose tokens have errors of variance 1, one as good as another.

        That of a mean falls with the number of tokens and that of a sum grows; a median, range,
        maximum or minimum has about that of a token.
        """
        if region == WHOLE and self._parts:
            return math.fsum(self.variance(number, name, aggregation) for number in self._parts)
        tokens = len(self._conditions[name].region_bits(region))
        return {"mean": 1 / max(tokens, 1), "sum": float(tokens)}.get(aggregation, 1.0)


def score_items(
    model: Any,
    tokenizer: Any,
    items: Sequence[Item],
    options: Options = DEFAULT_OPTIONS,
    *,
    uses_separator: bool | None = None,
    plans: CachedPlans | None = None,
    **run: Any,
) -> Surprisals[Item]:
    """Surprisals (bits) of every token that a prediction of the items reads.

    Args:
        model, tokenizer: a causal language model of transformers, in evaluation mode.
        items: valid ones (:func:`eval.kinds.items.ITEMS`), with predictions that can be
            read (:func:`eval.kinds.items.check_predictions`).
        options: reading and running.
        uses_separator: see :func:`eval.surprisal.surprisals`.
        plans: those of these very items for models with the same tokenizer; None: none is kept.
        run: the other arguments of :func:`eval.surprisal.surprisals`.
    """
    how: Any = {"uses_separator": uses_separator, "plans": plans}
    planned = plan_items(model, tokenizer, items, options, **how)
    return surprisals(model, tokenizer, planned, options, **run)


def measure_error(
    model: Any,
    tokenizer: Any,
    tables: Iterable[tuple[Sequence[Item], bool | None]],
    options: Options = DEFAULT_OPTIONS,
    **run: Any,
) -> float:
    """The numeric error (bits) of a run for a spread of 1; 0 unless a model is in half precision.

    It is that of some items of all tables, which are read here, and once more in float32.

    Args:
        model, tokenizer, options, run: those of :func:`score_items`.
        tables: the items of each, or the first of them, and its ``uses_separator``.
    """
    if is_exact(getattr(model, "dtype", "float32")):
        return 0.0
    asked = [(item, separator) for items, separator in tables for item in items]
    names = (f"{place} {item.item_id}" for place, (item, _) in enumerate(asked))
    sample = [asked[place] for place in sorted(drawn_by_name(enumerate(names), MEASURED))]
    errors: list[float | None] = []
    for uses_separator in dict.fromkeys(separator for _, separator in sample):
        own = [item for item, separator in sample if separator is uses_separator]
        planned = plan_items(model, tokenizer, own, options, uses_separator=uses_separator)
        found = surprisals(model, tokenizer, planned, options, twice=True, **run)
        again = answers_of(planned, found.execution.again)
        errors += [
            largest_error(answer, exact, options.rules)
            for answer, exact in zip(found.items, again, strict=True)
            if exact.conditions
        ]
    return error_of(errors)


def plan_items(
    model: Any,
    tokenizer: Any,
    items: Sequence[Item],
    options: Options,
    *,
    plans: CachedPlans | None = None,
    **how: Any,
) -> Prepared[Item]:
    """Encode and plan items as the rules have them."""

    def joined() -> Sequence[Item]:
        return list(map(with_joined_regions, items))

    if options.rules.joins_regions:
        items = joined() if plans is None else plans.once(items, options.rules, joined)
    return plan_queries(model, tokenizer, items, options, plans=plans, **how)


#: Share of items that may have a comparison that is off by more than is said.
LEVEL = 0.01
#: Items that are read a second time.
MEASURED = 32
#: The tail of errors is taken to fall with the power of 1 / 0.5: slower, and they had no variance.
_TAIL = 0.5


def spread_of(comparison: Comparison, aggregation: str, values: RegionValues) -> float:
    """The standard deviation of the difference of two sides, of tokens with errors of 1."""
    return math.sqrt(
        math.fsum(
            times**2 * values.variance(region, name, aggregation)
            for (region, name), times in coefficients_of(comparison).items()
        )
    )


def error_of(largest: Iterable[float | None]) -> float:
    """The bits for a spread of 1 that :data:`LEVEL` of items go beyond, from those of some items.

    Items with None say nothing; 0 where no other is there.
    """
    found = [error for error in largest if error is not None]
    beyond = max(1.0, 1 / ((len(found) + 1) * LEVEL))
    return max(found, default=0.0) * math.exp(_TAIL * math.log(beyond))


def largest_error(scored: Answer[Item], again: Answer[Item], rules: Rules) -> float | None:
    """The largest error (bits, for a spread of 1) of an item's comparisons, read in two ways.

    None where no comparison was.
    """
    values, exact = (RegionValues(each, rules) for each in (scored, again))
    errors: list[float] = []
    for prediction in scored.item.predictions:
        aggregation = prediction.metric
        read = read_of(prediction.formula)
        if any(name not in each.conditions for each in (scored, again) for _, name in read):
            continue
        if any(values.value(region, name, aggregation) is None for region, name in read):
            continue
        for comparison in comparisons_of(parse_formula(prediction.formula)):
            if width := spread_of(comparison, aggregation, values):
                here, there = (
                    margin_of(comparison, v.lookup(aggregation)) for v in (values, exact)
                )
                errors.append(abs(here - there) / width)
    return max(errors, default=None)


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
            and _is_too_close(formula, aggregation, values, error),
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


def _is_too_close(formula: str, aggregation: str, values: RegionValues, error: float) -> bool:
    return not is_settled(
        parse_formula(formula),
        values.lookup(aggregation),
        lambda comparison: error * spread_of(comparison, aggregation, values),
    )


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
