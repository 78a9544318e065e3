"""Items scored: surprisals of what their predictions read, and the values of regions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coherencegym.eval.kinds.formula import WHOLE, RegionRef
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.plan.cached_plans import CachedPlans
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options, Rules, with_joined_regions
from coherencegym.eval.plan.requests import Prepared
from coherencegym.eval.surprisal import (
    Answer,
    ScoredCondition,
    Surprisals,
    plan_queries,
    surprisals,
)

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
