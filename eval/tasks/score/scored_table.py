"""A table whose items are scored, in one part or in many.

Of every item its outcomes stay, and sums; the items themselves only where they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from coherencegym.eval.data.dataset import FILTER_MODEL, ItemTable
from coherencegym.eval.kinds.items import read_by
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.tasks.score.metrics import EvaluatedPrediction, evaluate_predictions
from coherencegym.eval.tasks.score.outcomes import add_item_baselines, add_predictions
from coherencegym.eval.tasks.score.scoring import Scored, ScoredItem


class ScoredItemTable:
    """A table, to which its scored items are added; their outcomes go to the writer of the run.

    Attributes:
        table: the table.
        n_items, too_long, truncated: the items, those too long for the model, and those cut.
        spanning_tokens: tokens that cross the edge of a region that a prediction reads.
        families: some items of different discourses share text.
        chosen_with: the models with which items were chosen.
        error: the largest numeric error (bits) of its parts for a spread of 1; 0: not measured.
        apart: the reasons why texts were not read together, by trials of the model.
        halved: how often memory ran out, so that batches were made smaller.
        shown: the items that are shown with what became of their predictions, all or the first.
    """

    def __init__(
        self, table: ItemTable, writer: OutcomeWriter, most_shown: int | None = None
    ) -> None:
        self.table = table
        self._writer = writer
        self.n_items = self.too_long = self.truncated = self.spanning_tokens = 0
        self.families = False
        self.chosen_with: set[str] = set()
        self.error, self.halved = 0.0, 0
        self.apart: set[str] = set()
        self._most_shown = most_shown
        self.shown: list[tuple[ScoredItem, Sequence[EvaluatedPrediction]]] = []
        self._last: Scored | None = None

    def add(self, scored: Scored) -> list[EvaluatedPrediction]:
        """Count some items, and evaluate their predictions."""
        by_item = [list(evaluate_predictions(item, scored.rules)) for item in scored.items]
        evaluated = [prediction for own in by_item for prediction in own]
        units = add_predictions(self._writer, self.table, evaluated, scored.items)
        add_item_baselines(self._writer, self.table, units, evaluated)
        self._count(scored)
        left = None if self._most_shown is None else max(0, self._most_shown - len(self.shown))
        self.shown += islice(zip(scored.items, by_item, strict=True), left)
        # What was run is done, and large.
        self._last = replace(scored, items=(), execution=cast(Any, None))
        return evaluated

    def _count(self, scored: Scored) -> None:
        self.error = max([self.error, *(item.error for item in scored.items)])
        self.halved += scored.execution.halved
        for trial in (scored.execution.sharing, scored.execution.beside):
            if trial is not None and not trial.passed:
                self.apart.add(trial.reason)
        self.n_items += len(scored.items)
        self.too_long += sum(item.too_long for item in scored.items)
        self.truncated += sum(item.truncated > 0 for item in scored.items)
        for one in scored.items:
            self.spanning_tokens += _spanning_tokens(one)
            self.families = self.families or bool(one.item.extra.get(FAMILY))
            if chosen := one.item.extra.get(FILTER_MODEL):
                self.chosen_with.add(str(chosen))

    @property
    def last(self) -> Scored:
        """The last part without its items: the start of texts and the rules are those of all."""
        assert self._last is not None
        return self._last


def _spanning_tokens(scored: ScoredItem) -> int:
    read = read_by(scored.item)
    return sum(
        not {region, *(other for other, _ in reached)}.isdisjoint(read.get(name, ()))
        for name, condition in scored.conditions.items()
        for _, region, reached in condition.encoding.crossing
    )
