"""Surprisals of items: of every token that one of their predictions reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from coherencegym.eval.kinds.items import Item, read_by
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options, with_joined_regions
from coherencegym.eval.plan.plan import PlansOf
from coherencegym.eval.plan.requests import Prepared, Query
from coherencegym.eval.surprisal import (
    ScoredCondition,
    Surprisals,
    plan_queries,
    surprisals,
)
from coherencegym.eval.tasks.score.closeness import MEASURED, error_of, largest_error


@dataclass(frozen=True)
class ScoredItem:
    """An item's conditions by name.

    Attributes:
        item: the item, as the rules have it.
        conditions: scored ones; a condition whose separator cannot be rendered is not there, and
            none is there for an item that is too long.
        too_long: a condition is longer than the model's context; the item is in no score.
        truncated: tokens that every condition lost on the left, where that was allowed.
        error: the numeric error (bits) of the run for a spread of 1; 0 where none was measured. See
            :mod:`eval.tasks.score.closeness`.
    """

    item: Item
    conditions: Mapping[str, ScoredCondition]
    too_long: bool = False
    truncated: int = 0
    error: float = 0.0


#: Items in their order, and how they were run.
Scored = Surprisals[ScoredItem]


@dataclass(frozen=True)
class PlannedItems:
    """Items as the rules have them, what is read of them, and the plan of that."""

    items: Sequence[Item]
    queries: Sequence[Query]
    prepared: Prepared


def score_items(
    model: Any,
    tokenizer: Any,
    items: Iterable[Item] | PlannedItems,
    options: Options = DEFAULT_OPTIONS,
    *,
    uses_separator: bool | None = None,
    plans: PlansOf | None = None,
    **run: Any,
) -> Scored:
    """Surprisals (bits) of every token that a prediction of the items reads.

    Args:
        model, tokenizer: a causal language model of transformers, in evaluation mode.
        items: valid ones (:func:`eval.kinds.items.ITEMS`), with predictions that can be
            read (:func:`eval.kinds.items.check_predictions`); or what :func:`plan_items` made of
            them for this model and these options.
        options: reading and running.
        uses_separator: see :func:`eval.surprisal.surprisals`.
        plans: those of these very items for models with the same tokenizer; None: none is kept.
        run: the other arguments of :func:`eval.surprisal.surprisals`.
    """
    if not isinstance(items, PlannedItems):
        how: Any = {"uses_separator": uses_separator, "plans": plans}
        items = plan_items(model, tokenizer, items, options, **how)
    how = {"prepared": items.prepared, "twice": MEASURED}
    found = surprisals(model, tokenizer, items.queries, options, **how, **run)
    read = list(zip(items.items, found.items, strict=True))
    error = error_of(
        largest_error(item, answer.conditions, answer.again, found.rules)
        for item, answer in read
        if answer.again
    )
    scored = tuple(
        ScoredItem(item, answer.conditions, answer.too_long, answer.truncated, error)
        for item, answer in read
    )
    return cast(Scored, replace(cast(Any, found), items=scored))


def plan_items(
    model: Any,
    tokenizer: Any,
    items: Iterable[Item],
    options: Options,
    *,
    plans: PlansOf | None = None,
    **how: Any,
) -> PlannedItems:
    """Encode and plan items, for :func:`score_items`."""

    def ask() -> tuple[list[Item], list[Query]]:
        joins = options.rules.joins_regions
        found = [with_joined_regions(item) if joins else item for item in items]
        return found, queries(found)

    asked, texts = ask() if plans is None else plans.kept.once(items, options.rules, ask)
    return PlannedItems(
        asked, texts, plan_queries(model, tokenizer, texts, options, plans=plans, **how)
    )


def queries(items: Sequence[Item]) -> list[Query]:
    """The texts and regions that the predictions of items read."""
    return [Query(item.item_id, item.conditions, read_by(item)) for item in items]
