"""An item on top of a page, to show what a suite asks."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.table_kind import of_modest_length
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.metrics import EvaluatedPrediction
from coherencegym.eval.tasks.score.page.item_view import read_values, reads, state
from coherencegym.eval.tasks.score.page.items import Segment, marked
from coherencegym.eval.tasks.score.results import shown_tables
from coherencegym.eval.tasks.score.scoring import Scored, ScoredItem

#: Characters of each text of the example, where there is such an item.
_MODEST = 450


def in_pairs(found: Results) -> bool:
    """Say that every item has two conditions."""
    shown = (item for table, _ in shown_tables(found) for item in table.items)
    return all(len(item.conditions) == 2 for item in shown)


@dataclass(frozen=True, slots=True)
class Example:
    """An item to show what a suite asks: its conditions with their texts, cut where they differ.

    ``values`` are the bits of what the prediction reads; ``held`` says what became of it.
    """

    config: str
    split: str
    item_id: str
    conditions: tuple[tuple[str, tuple[Segment, ...], float | None], ...]
    margin: float | None
    held: str


def example_of(found: Results) -> Example | None:
    """The first item of modest length of the first table whose prediction has two conditions."""
    for (table, scored), own in zip(shown_tables(found), found.details, strict=True):
        readable = [
            (prediction, names)
            for prediction in own.predictions
            if prediction.outcome is not None
            and len(names := list(dict.fromkeys(name for _, name in reads(prediction)))) == 2
        ]
        if readable:
            prediction, names = of_modest_length(
                readable,
                lambda one: max(len(one[0].item.condition(n).content) for n in one[1]),
                _MODEST,
            )
            item = next(one for one in scored.items if one.item.item_id == prediction.item.item_id)
            return _example(table, prediction, item, names, scored)
    return None


def _example(
    table: ItemTable,
    prediction: EvaluatedPrediction,
    own: ScoredItem,
    names: list[str],
    scored: Scored,
) -> Example:
    item = prediction.item
    names.sort(key=[condition.condition_name for condition in item.conditions].index)
    values = {name: value for _, name, value in read_values(prediction, own, scored.rules)}
    return Example(
        table.config,
        table.split,
        item.item_id,
        tuple(
            (name, text, values[name])
            for name, text in zip(names, marked(item, names), strict=True)
        ),
        prediction.outcome.margin if prediction.outcome else None,
        state(prediction),
    )
