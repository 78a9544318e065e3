"""Bounds of what the number format of a run does to comparisons.

Some items are read a second time, in float32 (:mod:`eval.forward.trial`). How far each of their
comparisons is off is known then, and with that of how many bits a run may be off in any other: a
comparison adds and subtracts region values, each of which is a mean or a sum of tokens. If tokens
are off by themselves, by as much one as another, the difference of its sides is off by the root of
the sum of their variances, here its *spread*. What is measured is the largest error of each item
for a spread of 1.

Of *n* items that have nothing to do with how they were chosen, one more is off by more than all of
them in one of *n* + 1 cases, whatever the distribution (split conformal prediction: Lei et al.
2018). For a lower level than that the largest is multiplied as a tail demands that falls with the
square (Weissman 1978); errors of rounding fall faster. So at most :data:`LEVEL` of the items have a
comparison that is off by more than is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from coherencegym.eval.forward.trial import drawn_by_name, is_exact
from coherencegym.eval.kinds.formula import (
    Comparison,
    Junction,
    Truth,
    coefficients_of,
    comparisons_of,
    parse_formula,
    read_of,
)
from coherencegym.eval.kinds.items import Item, margin_of
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options, Rules
from coherencegym.eval.surprisal import Answer, answers_of, surprisals
from coherencegym.eval.tasks.score.scoring import RegionValues, plan_items


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


def is_too_close(formula: str, aggregation: str, values: RegionValues, error: float) -> bool:
    """Tell whether a prediction may be otherwise by the error of the run (bits, spread of 1)."""
    lookup = values.lookup(aggregation)

    def holds(node: Truth) -> bool | None:
        # None: it may be either (Kleene's third value).
        match node:
            case Comparison():
                margin = margin_of(node, lookup)
                bound = error * spread_of(node, aggregation, values)
                return None if abs(margin) <= bound else margin > 0
            case Junction():
                parts = list(map(holds, node.parts))
                deciding = node.operator == "|"
                if deciding in parts:
                    return deciding
                return None if None in parts else not deciding

    return holds(parse_formula(formula)) is None
