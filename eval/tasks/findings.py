"""Results of a task of the registry, gathered from its outcomes: one way for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coherencegym.eval.data.notes import Note, caution
from coherencegym.eval.data.signature import signature, versions
from coherencegym.eval.data.source import Source
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.scores import FEW_ITEMS, shown_rows
from coherencegym.eval.tasks.headline import baseline_notes
from coherencegym.eval.tasks.results import about_dataset, about_table, language_in, run_notes
from coherencegym.eval.tasks.task import Findings, Task

_NO_SETTINGS: Mapping[str, Any] = {}


def collect_findings(
    asked: Task[Any, Any, Any],
    source: Source,
    model: LoadedModel,
    pairs: Sequence[tuple[Any, Any]],
    outcomes: OutcomeTables,
    settings: Mapping[str, Any],
    options: Any,
    own: Mapping[str, Any],
) -> Findings:
    """The findings of a run on inputs of a dataset, at least one.

    Args:
        pairs: inputs, and their details.
        settings: the user's choices of model, data and reading, by their names.
        options: the task's own, as they came to.
        own: the same as results record them.
    """
    about = model.about()
    found_out = asked.came_to([detail for _, detail in pairs])
    recorded = {
        **settings,
        **own,
        **found_out,
        "intervals": INTERVALS,
        "versions": versions(about),
    }
    found = findings_of(asked, pairs, outcomes, about, options, source, recorded)
    return replace(
        found,
        signature=signature(
            asked.command.name, about, found.dataset, recorded, asked.signed(own, recorded)
        ),
        notes=[*run_notes(source, model, found.tables, settings["max_items"]), *found.notes],
    )


def findings_of(
    asked: Task[Any, Any, Any],
    pairs: Sequence[tuple[Any, Any]],
    outcomes: OutcomeTables,
    about: Mapping[str, Any],
    options: Any,
    source: Source | None = None,
    settings: Mapping[str, Any] = _NO_SETTINGS,
) -> Findings:
    """Findings as far as inputs, details and outcomes say them; ``about`` are facts of a model.

    ``source`` is that of the tables; None: each knows its own.
    """
    tables = [asked.table(one) for one, _ in pairs]
    source = tables[0].source if source is None else source
    digests = [
        f"{table.config} {digest}"
        for table, (one, _) in zip(tables, pairs, strict=True)
        for digest in (
            [f"{table.split} {table.rows_sha256}"] if asked.digests is None else asked.digests(one)
        )
    ]
    dataset = about_dataset(
        source,
        digests,
        all(table.verified for table in tables),
        [
            about_table(table, table.rows, **_language(source, table), **asked.facts(*pair))
            for table, pair in zip(tables, pairs, strict=True)
        ],
    )
    found = Findings(
        signature="",
        model=about,
        dataset=dataset,
        settings=settings,
        notes=(),
        task=asked.command.name,
        asked=asked,
        inputs=[one for one, _ in pairs],
        details=[detail for _, detail in pairs],
        options=options,
        outcomes=outcomes,
        manifest=source.manifest,
    )
    found = replace(found, summary=asked.summary(found))
    found = replace(found, headline=asked.headline(found))
    return replace(found, notes=list(_notes(found)))


def _language(source: Source, table: Any) -> dict[str, str]:
    language = language_in(source, table.config)
    return {"language": language} if language else {}


def _notes(found: Findings) -> Iterator[Note]:
    yield from found.asked.notes(found)
    if not found.asked.says_baselines:
        yield from baseline_notes(found.headline)
    printed = [
        row for row in shown_rows(found.rows) if found.asked.prints_groups or row.level == "all"
    ]
    marked = any(row.n < FEW_ITEMS for row in printed)
    if marked or any(len(table.rows) < FEW_ITEMS for table in found.tables):
        what = found.asked.command.units
        yield caution(f"! fewer than {FEW_ITEMS} {what}: read the interval, not the score")
