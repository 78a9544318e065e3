"""Bounds of what a run's number format does to the comparisons of predictions.

Some items are read a second time, in float32 (:mod:`eval.forward.agreement`). How far each of their
comparisons is off is known then, and with that of how many bits a run may be off in any other: a
comparison adds and subtracts region values, each of which is a mean or a sum of tokens. If tokens
are off by themselves, by as much one as another, the difference of its sides is off by the root of
the sum of their variances, here its *spread*. What is measured is the largest error of each item
for a spread of 1.

Of *n* items that have nothing to do with how they were chosen, one more is off by more than all of
them in one of *n* + 1 cases, whatever the distribution (split conformal prediction: Lei et al.
2018). For a lower level than that the largest is multiplied as a tail demands that falls with the
square (Weissman 1978); errors of rounding fall faster. So at most :data:`LEVEL` of the items
have a comparison that is off by more than is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from coherencegym.eval.kinds.formula import (
    Comparison,
    coefficients_of,
    comparisons_of,
    parse_formula,
    read_of,
)
from coherencegym.eval.kinds.items import Item, margin_of
from coherencegym.eval.plan.options import Rules
from coherencegym.eval.surprisal import ScoredCondition
from coherencegym.eval.tasks.score.values import RegionValues

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


def largest_error(
    item: Item,
    conditions: Mapping[str, ScoredCondition],
    again: Mapping[str, ScoredCondition],
    rules: Rules,
) -> float | None:
    """The largest error (bits, for a spread of 1) of an item's comparisons, read in two ways.

    None where no comparison was.
    """
    values, exact = (RegionValues(item, each, rules) for each in (conditions, again))
    errors: list[float] = []
    for prediction in item.predictions:
        aggregation = prediction.metric
        read = read_of(prediction.formula)
        if any(name not in conditions or name not in again for _, name in read):
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
