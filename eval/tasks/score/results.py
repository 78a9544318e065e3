"""The numbers that a run of ``score`` has beside estimates of outcomes, and its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.source import Published, published
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.closeness import LEVEL
from coherencegym.eval.tasks.score.controls import Difference, differences
from coherencegym.eval.tasks.score.lengths import LengthCorrelation, length_correlations
from coherencegym.eval.tasks.score.scored_table import ScoredItemTable
from coherencegym.eval.tasks.score.scoring import Scored
from coherencegym.eval.tasks.score.summary import (
    ItemScore,
    Macro,
    OverItemBaseline,
    macro,
    over_baselines,
    summarise,
)


@dataclass(frozen=True)
class ScoreSummary:
    """The rows of a run's tables.

    Attributes:
        scores: accuracies by table, formula, group and column.
        macros: means over the groups of tables.
        differences: tables against their controls.
        over_baselines: tables against their baselines, by item.
        lengths: correlations of margin and length.
        published: scores that papers have of the same configs.
    """

    scores: Sequence[ItemScore]
    macros: Sequence[Macro] = ()
    differences: Sequence[Difference] = ()
    over_baselines: Sequence[OverItemBaseline] = ()
    lengths: Sequence[LengthCorrelation] = ()
    published: Sequence[Published] = ()


def summary_of(found: Results) -> ScoreSummary:
    """The rows of a run, computed from its outcomes."""
    outcomes, tables = found.outcomes, [one.table for one in found.details]
    known = {(table.config, table.split) for table in tables}
    controls = [
        (table, [name for name in table.controls if (name, table.split) in known])
        for table in tables
    ]
    return ScoreSummary(
        scores=[score for table in tables for score in summarise(outcomes, table)],
        macros=[one for table in tables if (one := macro(outcomes, table))],
        differences=[
            one
            for table, names in controls
            for one in differences(outcomes, table.config, table.split, names)
        ],
        over_baselines=[one for table in tables for one in over_baselines(outcomes, table)],
        lengths=[one for table in tables for one in length_correlations(outcomes, table)],
        published=published(found.manifest, [table.config for table in tables]),
    )


def score_summary(found: Results) -> ScoreSummary:
    """The rows of a run of ``score``."""
    if not isinstance(found.summary, ScoreSummary):
        raise TypeError(f"{found.task}: expected results of score")
    return found.summary


def shown_tables(found: Results) -> list[tuple[ItemTable, Scored]]:
    """The items that are shown, with their surprisals: all, or of large tables a sample."""
    return [one.shown for one in found.details]


def more_keys(found: Results) -> dict[str, Any]:
    """The keys of ``results.json`` that only ``score`` has."""
    summary = score_summary(found)
    return {
        "macro": [asdict(macro) for macro in summary.macros],
        "over_baselines": [asdict(one) for one in summary.over_baselines],
        "lengths": [asdict(length) for length in summary.lengths],
        "published": [asdict(row) for row in summary.published],
    }


def table_facts(table: ItemTable, detail: ScoredItemTable) -> Mapping[str, Any]:
    """The facts of a table that results record."""
    counts = ("too_long", "truncated", "spanning_tokens", "families")
    return {"items": detail.n_items, **{name: getattr(detail, name) for name in counts}}


def choices_came_to(details: Sequence[ScoredItemTable]) -> dict[str, Any]:
    """The user's choices of reading as they came to for the model."""
    first = details[0].last
    rendering = next((one.last.separator for one in details if one.last.separator), None)
    return {
        "start_of_text": asdict(first.start),
        "separator_rendering": asdict(rendering) if rendering else None,
        "rules": asdict(first.rules),
        "added_tokens": asdict(first.added) if first.added else None,
        "tie_bits": first.rules.tie_bits,
        "numeric_error": _numeric_error(details),
    }


def _numeric_error(details: Sequence[ScoredItemTable]) -> dict[str, float] | None:
    # Bits for a spread of 1.
    errors = [run.error for one in details for run in one.runs if run.error]
    return {"bits": max(errors), "level": LEVEL} if errors else None
