"""Score suites of minimal pairs: how often the incoherent version is the more surprising one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.source import published
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.numeric_error import LEVEL
from coherencegym.eval.tasks.score.options import COMMAND, ScoreOptions
from coherencegym.eval.tasks.score.outcomes import (
    ACCURACY,
    CONTROLLED,
    MARGIN,
    Difference,
    differences,
    prediction_rows,
)
from coherencegym.eval.tasks.score.report import notes_of, score_sections
from coherencegym.eval.tasks.score.scored_table import (
    ScoredItemTable,
    region_rows,
    score_tables,
    token_rows,
)
from coherencegym.eval.tasks.score.summary import headline_of, over_baselines, summarise
from coherencegym.eval.tasks.task import Task


def score_rows(found: Results) -> list[Score]:
    """Accuracies by table, formula, group and column."""
    return [score for own in found.details for score in summarise(found.outcomes, own.table)]


def score_differences(found: Results) -> list[Difference]:
    """Tables against those of their controls that were scored."""
    tables = [one.table for one in found.details]
    known = {(table.config, table.split) for table in tables}
    return [
        one
        for table in tables
        for controls in [[name for name in table.controls if (name, table.split) in known]]
        for one in differences(found.outcomes, table.config, table.split, controls)
    ]


def more_keys(found: Results) -> dict[str, Any]:
    """The keys of ``results.json`` that only ``score`` has.

    These are tables against their baselines, by item, and scores that papers have of the same
    configs.
    """
    tables = [one.table for one in found.details]
    quoted = published(found.manifest, [table.config for table in tables])
    over = [one for table in tables for one in over_baselines(found.outcomes, table)]
    return {"over_baselines": over, "published": list(map(asdict, quoted))}


def table_facts(table: ItemTable, detail: ScoredItemTable) -> Mapping[str, Any]:
    """The facts of a table that results record."""
    counts = ("too_long", "truncated", "spanning_tokens", "families")
    return {"items": detail.n_items, **{name: getattr(detail, name) for name in counts}}


def choices_came_to(details: Sequence[ScoredItemTable]) -> dict[str, Any]:
    """The user's choices of reading as they came to for the model."""
    first, error = details[0].rendering, details[0].error
    separators = [one.rendering.separator for one in details if one.rendering.separator]
    return {
        "start_of_text": asdict(first.start),
        "separator_rendering": asdict(separators[0]) if separators else None,
        "rules": asdict(first.rules),
        "added_tokens": asdict(first.added) if first.added else None,
        "tie_bits": first.rules.tie_bits,
        # Bits for a spread of 1.
        "numeric_error": {"bits": error, "level": LEVEL} if error else None,
    }


def _headline(found: Results) -> Headline | None:
    tables = [one.table for one in found.details]
    return headline_of(tables, found.outcomes, found.rows)


TASK: Task[ItemTable, ScoreOptions, ScoredItemTable] = Task(
    command=COMMAND,
    metrics=(ACCURACY, CONTROLLED, MARGIN),
    run=lambda context, table, options, writer: score_tables(context, [table], options, writer)[0][
        1
    ],
    run_all=score_tables,
    record=lambda options: {},
    came_to=choices_came_to,
    rows=score_rows,
    differences=score_differences,
    headline=_headline,
    sections=score_sections,
    notes=notes_of,
    facts=table_facts,
    more=more_keys,
    frames={
        "predictions": lambda results: prediction_rows(results.outcomes),
        "regions": region_rows,
        "tokens": token_rows,
    },
    spreads=True,
)
