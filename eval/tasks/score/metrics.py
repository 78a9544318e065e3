"""Region values from token surprisals, and judgements of predictions from those."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from coherencegym.eval.forward.numeric import error_of
from coherencegym.eval.kinds.formula import WHOLE, RegionRef, parse_formula, read_of
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.predictions import Outcome, evaluate
from coherencegym.eval.plan.options import DEFAULT, Rules
from coherencegym.eval.statistics.scores import CD, UnitOutcome
from coherencegym.eval.surprisal import ScoredCondition
from coherencegym.eval.tasks.score.columns import column_labels
from coherencegym.eval.tasks.score.scoring import ScoredItem

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
    condition: ScoredCondition, region: RegionRef, metric: str, parts: Iterable[int] = ()
) -> float | None:
    """The value of a region (bits), or None where it has none.

    ``parts`` are region numbers: where they are given, ``"*"`` is the sum of their values, and has
    none where one of them has none.

    A region without tokens sums to 0 and has no mean, median, range, maximum or minimum. A region
    whose only token has no surprisal (the first one, with nothing before it) has no value at all.
    """
    if region == WHOLE and (numbers := tuple(parts)):
        values = [region_value(condition, number, metric) for number in numbers]
        known = [value for value in values if value is not None]
        return math.fsum(known) if len(known) == len(values) else None
    bits = condition.region_bits(region)
    if len(bits):
        return VALUES[metric](bits)
    if metric == "sum" and not condition.leaves_out_first(region):
        return 0.0
    return None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of one prediction of one item.

    Attributes:
        item: the item.
        formula, metric, groups: the prediction's.
        outcome: None where the prediction is undefined for this model or the item is too long.
        reason: says why there is no outcome, else empty: ``too_long``, ``identical`` (conditions
            that are the same tokens for this model), ``separator`` (the tokenizer has none) or
            ``empty`` (a region without a value).
        first_left_out: it reads a first token that has no surprisal, which the conditions then
            leave out; the tokens left out may differ.
        too_close: no tie, and yet a difference within the measured numeric error of the run.
    """

    item: Item
    formula: str
    metric: str
    groups: tuple[str, ...]
    outcome: Outcome | None
    reason: str = ""
    first_left_out: bool = False
    too_close: bool = False


def judge(scored: ScoredItem, rules: Rules = DEFAULT) -> Iterable[Judgement]:
    """One judgement for each prediction of an item."""
    values = _Values(scored, rules)
    for prediction in scored.item.predictions:
        outcome, reason, first_left_out = _judge(
            scored, prediction.formula, prediction.metric, rules, values
        )
        yield Judgement(
            scored.item,
            prediction.formula,
            prediction.metric,
            prediction.groups,
            outcome,
            reason,
            first_left_out,
            _is_too_close(outcome, error_of(scored.errors, prediction.metric)),
        )


def _is_too_close(outcome: Outcome | None, error: float) -> bool:
    if outcome is None or outcome.tie or outcome.margin is None:
        return False
    return abs(outcome.margin) <= error


class _Values:
    """The region values of an item, each computed once: its predictions read the same ones."""

    def __init__(self, scored: ScoredItem, rules: Rules) -> None:
        self._scored = scored
        self._parts: tuple[int, ...] = ()
        if rules.whole_sums_regions:
            self._parts = tuple(r.region_number for r in scored.item.conditions[0].regions)
        self._values: dict[tuple[RegionRef, str, str], float | None] = {}
        self._first: dict[tuple[RegionRef, str], bool] = {}

    def value(self, region: RegionRef, name: str, metric: str) -> float | None:
        key = (region, name, metric)
        if key not in self._values:
            condition = self._scored.conditions[name]
            self._values[key] = region_value(condition, region, metric, self._parts)
        return self._values[key]

    def leaves_out_first(self, region: RegionRef, name: str) -> bool:
        key = (region, name)
        if key not in self._first:
            self._first[key] = self._scored.conditions[name].leaves_out_first(region)
        return self._first[key]


@lru_cache(maxsize=4096)
def _read(formula: str) -> tuple[frozenset[tuple[RegionRef, str]], tuple[str, ...]]:
    """The regions and conditions that a formula reads."""
    read = read_of(formula)
    return read, tuple(sorted({name for _, name in read}))


def _judge(
    scored: ScoredItem, formula: str, metric: str, rules: Rules, known: _Values
) -> tuple[Outcome | None, str, bool]:
    if scored.too_long:
        return None, "too_long", False
    read, names = _read(formula)
    if any(name not in scored.conditions for name in names):
        return None, "separator", False
    seen = {(c.encoding.ids, c.encoding.regions) for c in map(scored.conditions.__getitem__, names)}
    if len(seen) < len(names) and not rules.identical_counts:
        return None, "identical", False
    values = {(region, name): known.value(region, name, metric) for region, name in read}
    defined = {key: value for key, value in values.items() if value is not None}
    if len(defined) < len(values):
        return None, "empty", False
    first = any(known.leaves_out_first(region, name) for region, name in read)
    outcome = evaluate(
        parse_formula(formula), lambda region, name: defined[region, name], rules.tie_bits
    )
    return outcome, "", first


def outcomes(
    config: str, split: str, judgements: Sequence[Judgement], breakdowns: Sequence[str]
) -> Iterator[UnitOutcome]:
    """One outcome for each prediction, 1 where it holds.

    Its unit is ``ITEM#N``, the Nth prediction of the item; an item's value in a score is the mean
    over those of its predictions that the score is over.
    """
    numbers: dict[str, int] = {}
    for judgement in judgements:
        item = judgement.item
        number = numbers[item.item_id] = numbers.get(item.item_id, 0) + 1
        yield UnitOutcome(
            config=config,
            split=split,
            measure=CD,
            judge="",
            statistic="share",
            unit_id=f"{item.item_id}#{number}",
            discourse_id=item.discourse_id,
            cluster=item.cluster,
            groups=(*judgement.groups, *column_labels(item, breakdowns)),
            value=None if judgement.outcome is None else float(judgement.outcome.met),
            reason=judgement.reason,
        )
