"""Tables that are scored part by part, the next of which is planned while one is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial

from coherencegym.eval.data.dataset import ItemTable, StoredItems
from coherencegym.eval.forward.memory import give_back_memory
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.plan import one_ahead
from coherencegym.eval.tasks.score.options import ScoreOptions
from coherencegym.eval.tasks.score.results import item_files
from coherencegym.eval.tasks.score.scored_table import ScoredItemTable
from coherencegym.eval.tasks.score.scoring import PlannedItems, plan_items, score_items
from coherencegym.eval.tasks.task import TaskContext

#: Items that the page of a run shows of its tables, where they are scored in parts.
_MOST_SHOWN = 1_000


def score_tables(
    context: TaskContext,
    tables: Sequence[ItemTable],
    options: ScoreOptions,
    writer: OutcomeWriter,
) -> list[tuple[ItemTable, ScoredItemTable]]:
    """Score tables, those that are not in memory in parts, whose rows go into the run's folder.

    A part is planned while a device other than the CPU reads the one before it.
    """
    for table in tables:
        if table.baselines is not None:
            table.baselines.check()
    in_parts = any(isinstance(table.items, StoredItems) for table in tables)
    most_shown = max(1, _MOST_SHOWN // len(tables)) if in_parts else None
    found = [ScoredItemTable(table, writer, most_shown) for table in tables]
    how = context.model.model, context.model.tokenizer
    # Parts are read anew for each model: their plans would be kept for nobody.
    kept = None if in_parts else context.plans

    def plan(
        own: ScoredItemTable, number: int, parts: Iterator[Sequence[Item]]
    ) -> tuple[ScoredItemTable, str, PlannedItems]:
        title = f"{own.table.name}{f', part {number + 1}' if number else ''}"
        separator = own.table.separator
        planned = plan_items(
            *how, next(parts), context.reading, uses_separator=separator, plans=kept
        )
        return own, title, planned

    works = (
        partial(plan, own, number, parts)
        for own in found
        for parts in [own.table.parts()]
        for number in range(own.table.n_parts)
    )
    folder = context.folder
    with nullcontext() if folder is None else item_files(folder, options.tokens) as write:
        for of, title, planned in one_ahead(works, ahead=context.model.device != "cpu"):
            with context.asking(title, len(planned.items)) as own:
                scored = score_items(*how, planned, context.reading, **own.running)
            context.count(scored)
            del planned  # the plan takes as much as what came of it
            of.add(scored)
            if write is not None:
                write(of.table, scored.items)
            if in_parts:
                # The next part takes as much again, in other pieces.
                del scored
                give_back_memory()
    return list(zip(tables, found, strict=True))
