"""Score suites of minimal pairs: how often the incoherent version is the more surprising one."""

from __future__ import annotations

from coherencegym.eval.data.benchmark import read_as
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.notes import notes_of
from coherencegym.eval.tasks.score.options import COMMAND, ScoreOptions
from coherencegym.eval.tasks.score.outcomes import ACCURACY, CONTROLLED, MARGIN, prediction_rows
from coherencegym.eval.tasks.score.parts import score_tables
from coherencegym.eval.tasks.score.report import score_sections
from coherencegym.eval.tasks.score.results import (
    choices_came_to,
    more_keys,
    region_rows,
    summary_of,
    table_facts,
    token_rows,
)
from coherencegym.eval.tasks.score.scored_table import ScoredItemTable
from coherencegym.eval.tasks.score.summary import headline_of
from coherencegym.eval.tasks.task import Task


def _headline(found: Results) -> Headline | None:
    tables = [one.table for one in found.details]
    return headline_of(tables, found.outcomes, found.summary["scores"])


TASK: Task[ItemTable, ScoreOptions, ScoredItemTable] = Task(
    command=COMMAND,
    metrics=(ACCURACY, CONTROLLED, MARGIN),
    run=lambda context, table, options, writer: score_tables(context, [table], options, writer)[0][
        1
    ],
    run_all=score_tables,
    record=lambda options, reading: {},
    came_to=choices_came_to,
    signed=lambda own, settings: read_as(settings),
    summary=summary_of,
    rows=lambda found: found.summary["scores"],
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
