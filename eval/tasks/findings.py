"""Results of a task of the registry, gathered from its outcomes: one way for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from coherencegym.eval.data.notes import Note, caution
from coherencegym.eval.data.signature import versions
from coherencegym.eval.data.source import Source
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.tasks.results import (
    about_dataset,
    about_table,
    run_notes,
    signature_of,
)
from coherencegym.eval.tasks.score.headline import floor_notes
from coherencegym.eval.tasks.score.summary import FEW_ITEMS
from coherencegym.eval.tasks.table import Table
from coherencegym.eval.tasks.task import Findings, Task


def gather_findings(
    asked: Task[Any, Any],
    source: Source,
    model: LoadedModel,
    tables: Sequence[Table[Any]],
    outcomes: OutcomeTables,
    settings: Mapping[str, Any],
    options: Any,
) -> Findings:
    """The findings of a run on the tables of a dataset, at least one.

    Args:
        settings: the user's choices of model, data and reading, by their names.
        options: the task's own.
    """
    about, own = model.about(), asdict(options)
    digests = [f"{table.config} {table.split} {table.rows_sha256}" for table in tables]
    dataset = about_dataset(
        source,
        digests,
        all(table.verified for table in tables),
        [about_table(table, table.rows) for table in tables],
    )
    recorded = {**settings, **own, "intervals": INTERVALS, "versions": versions(about)}
    signed = {**own, "dtype": model.dtype}
    found = Findings(
        signature=signature_of(asked.name, about, dataset, recorded, signed),
        model=about,
        dataset=dataset,
        settings=recorded,
        notes=(),
        task=asked.name,
        asked=asked,
        tables=tables,
        outcomes=outcomes,
    )
    found = replace(found, headline=asked.headline(found))
    notes = [*run_notes(source, model, tables, settings["max_items"]), *_notes(found)]
    return replace(found, notes=notes)


def _notes(found: Findings) -> Iterator[Note]:
    yield from found.asked.notes(found)
    yield from floor_notes(found.headline)
    if any(one.estimate.n < FEW_ITEMS for one in found.estimates):
        what = found.asked.units
        yield caution(f"! fewer than {FEW_ITEMS} {what}: read the interval, not the score")
