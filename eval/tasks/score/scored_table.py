"""A table whose items are scored, in one part or in many.

Of every item its outcomes stay, and sums; the items themselves only where they are shown. The next
part is planned while one is read, and the regions and tokens of each go into files as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from coherencegym.eval.data.dataset import FILTER_MODEL, PART, ItemTable
from coherencegym.eval.data.stored_items import StoredItems
from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.eval.models.machine import give_back_pieces
from coherencegym.eval.outcomes.schema import OutcomeRow
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.plan import one_ahead
from coherencegym.eval.plan.requests import Prepared, Rendering
from coherencegym.eval.surprisal import Answer, Surprisals, surprisals
from coherencegym.eval.tasks.results import Results, rows_in_folder
from coherencegym.eval.tasks.score.numeric_error import measure_error
from coherencegym.eval.tasks.score.options import ScoreOptions
from coherencegym.eval.tasks.score.outcomes import add_item_baselines, add_predictions
from coherencegym.eval.tasks.score.predictions import prediction_outcomes
from coherencegym.eval.tasks.score.scoring import plan_items, region_value
from coherencegym.eval.tasks.task import TaskContext
from coherencegym.eval.text.encode import SPECIAL
from coherencegym.files.parquet import RowWriter, row_schema

#: Their names in the folder of results; that of tokens is there where it was asked for.
REGIONS_FILE, TOKENS_FILE = "regions.parquet", "tokens.parquet"
_CONDITION = ("config string", "split string", "item_id string", "condition_name string")
_REGIONS = (*_CONDITION, "region_number int32", "n_tokens int32", "sum_bits double")
_TOKENS = (*_CONDITION, "position int32", "token_id int32", "start int32", "end int32")


#: Writes the rows of scored items of a table.
ItemsWriter = Callable[[ItemTable, Sequence[Answer[Item]]], None]


@contextmanager
def item_files(folder: Path, tokens: bool) -> Iterator[ItemsWriter]:
    """The files of a run, in a folder that is there; ``tokens``: also that of all tokens."""
    kinds = [(REGIONS_FILE, regions_schema(), _regions)]
    if tokens:
        schema = row_schema(*_TOKENS, "text string", "region_number int32", "bits double")
        kinds.append((TOKENS_FILE, schema, _tokens))
    with ExitStack() as opened:
        writers = [
            (opened.enter_context(RowWriter(folder / name, schema)), rows)
            for name, schema, rows in kinds
        ]

        def write(table: ItemTable, items: Sequence[Answer[Item]]) -> None:
            for writer, rows in writers:
                writer.add(rows(table, items))

        yield write


def regions_schema() -> Any:
    """The Arrow schema of ``regions.parquet``."""
    return row_schema(*_REGIONS, "mean_bits double")


def region_rows(found: Results) -> Iterator[dict[str, Any]]:
    """Rows of ``regions.parquet``: every region that a prediction reads, in the order of the item.

    ``n_tokens`` counts tokens that have a surprisal; ``mean_bits`` is null without any, and so is
    ``sum_bits`` unless the region has no text.
    """
    if (written := rows_in_folder(found, REGIONS_FILE)) is not None:
        yield from written
    for one in found.details:
        yield from _regions(one.table, [scored for scored, _ in one.shown])


def token_rows(found: Results) -> Iterator[dict[str, Any]]:
    """Rows of ``tokens.parquet``: every token as the model saw it.

    ``start`` and ``end`` are characters of the condition's content; ``region_number`` is null for
    start-of-text and separator tokens and 0 outside every region; ``bits`` is null where no
    prediction reads the token and where it has no surprisal.
    """
    if (written := rows_in_folder(found, TOKENS_FILE, "the results of score --tokens")) is not None:
        yield from written
    for one in found.details:
        yield from _tokens(one.table, [scored for scored, _ in one.shown])


def _place(table: ItemTable, one: Answer[Item]) -> dict[str, str]:
    return {"config": table.config, "split": table.split, "item_id": one.item.item_id}


def _regions(table: ItemTable, items: Iterable[Answer[Item]]) -> Iterator[dict[str, Any]]:
    for one in items:
        reads = one.item.reads
        for condition in one.item.conditions:
            name = condition.condition_name
            for region in condition.regions if name in one.conditions else ():
                number = region.region_number
                if {number, WHOLE} & reads.get(name, set()):
                    own = one.conditions[name]
                    bits = own.region_bits(number)
                    yield {
                        **_place(table, one),
                        "condition_name": name,
                        "region_number": number,
                        "n_tokens": len(bits),
                        "sum_bits": float(bits.sum())
                        if len(bits)
                        else region_value(own, number, "sum"),
                        "mean_bits": float(bits.mean()) if len(bits) else None,
                    }


def _tokens(table: ItemTable, items: Iterable[Answer[Item]]) -> Iterator[dict[str, Any]]:
    for one in items:
        for name, condition in one.conditions.items():
            content = one.item.condition(name).content
            encoding = condition.encoding
            for position, token_id in enumerate(encoding.ids):
                start, end = encoding.offsets[position]
                region = encoding.regions[position]
                bits = float(condition.bits[position])
                yield {
                    **_place(table, one),
                    "condition_name": name,
                    "position": position,
                    "token_id": token_id,
                    "start": start,
                    "end": end,
                    "text": content[start:end],
                    "region_number": None if region == SPECIAL else region,
                    "bits": None if bits != bits else bits,
                }


class ScoredItemTable:
    """A table, to which its scored items are added; their outcomes go to the writer of the run.

    Attributes:
        table: the table.
        n_items, too_long, truncated: the items, those too long for the model, and those cut.
        spanning_tokens: tokens that cross the edge of a region that a prediction reads.
        families: some items of different discourses share text.
        chosen_with: the models with which items were chosen.
        error: that of the run (:func:`eval.tasks.score.numeric_error.measure_error`).
        apart: the reasons why texts were not read together, by trials of the model.
        halved: how often memory ran out, so that batches were made smaller.
        shown: the items that are shown with the outcomes of their predictions, all or the first.
        rendering: that of the items, as soon as some are there.
    """

    rendering: Rendering

    def __init__(
        self,
        table: ItemTable,
        writer: OutcomeWriter,
        most_shown: int | None = None,
        error: float = 0.0,
    ) -> None:
        self.table = table
        self._writer = writer
        self.n_items = self.too_long = self.truncated = self.spanning_tokens = 0
        self.families = False
        self.chosen_with: set[str] = set()
        self.error, self.halved = error, 0
        self.apart: set[str] = set()
        self._most_shown = most_shown
        self.shown: list[tuple[Answer[Item], Sequence[OutcomeRow]]] = []

    def add(self, scored: Surprisals[Item]) -> None:
        """Count some items, and evaluate their predictions."""
        rules = scored.rendering.rules
        by_item = [
            list(prediction_outcomes(item, self.table, rules, self.error)) for item in scored.items
        ]
        rows = [row for own in by_item for row in own]
        items = [answer.item for answer in scored.items]
        add_item_baselines(
            self._writer, self.table, items, add_predictions(self._writer, rows), rows
        )
        self._count(scored)
        left = None if self._most_shown is None else max(0, self._most_shown - len(self.shown))
        self.shown += islice(zip(scored.items, by_item, strict=True), left)
        self.rendering = scored.rendering

    def _count(self, scored: Surprisals[Item]) -> None:
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


def _spanning_tokens(scored: Answer[Item]) -> int:
    read = scored.item.reads
    return sum(
        not {region, *(other for other, _ in reached)}.isdisjoint(read.get(name, ()))
        for name, condition in scored.conditions.items()
        for _, region, reached in condition.encoding.crossing
    )


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
    how = context.model.model, context.model.tokenizer
    # One sample of all tables: the weights are converted once.
    first = ((tuple(islice(t.items, PART // len(tables))), t.separator) for t in tables)
    error = measure_error(*how, first, context.reading, **context.running | {"progress": None})
    found = [ScoredItemTable(table, writer, most_shown, error) for table in tables]
    # Parts are read anew for each model: their plans would be kept for nobody.
    kept = None if in_parts else context.plans

    def plan(
        own: ScoredItemTable, number: int, parts: Iterator[Sequence[Item]]
    ) -> tuple[ScoredItemTable, str, Prepared[Item]]:
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
            with context.asking(title, len(planned.queries)) as own:
                scored = surprisals(*how, planned, context.reading, **own.running)
            context.count(scored)
            del planned  # the plan takes as much as what came of it
            of.add(scored)
            if write is not None:
                write(of.table, scored.items)
            if in_parts:
                # The next part takes as much again, in other pieces.
                del scored
                give_back_pieces()
    return list(zip(tables, found, strict=True))
