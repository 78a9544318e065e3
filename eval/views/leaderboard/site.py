"""A leaderboard as a folder of pages: written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.results.folder import write_json
from coherencegym.eval.results.learning import learning_curves
from coherencegym.eval.results.run_table import RunTable
from coherencegym.eval.views.html_report import write_html
from coherencegym.eval.views.leaderboard.cells import Site
from coherencegym.eval.views.leaderboard.names import (
    INDEX,
    LEADERBOARD_MARKER,
    model_file,
    pair_file,
    suite_file,
)
from coherencegym.eval.views.leaderboard.pages import render_index, render_model, render_suite
from coherencegym.eval.views.leaderboard.pairs import PairReadings, compared_pairs, render_pair
from coherencegym.eval.views.overview import copied_overview
from coherencegym.eval.views.plots_curve import curves_svg

_FORMAT = 1


def write_leaderboard(
    table: RunTable,
    folder: Path,
    title: str,
    sources: Sequence[str] = (),
    most_pairs: int = 0,
    progress: Callable[[str], None] = lambda line: None,
) -> Site:
    """Write the pages of a leaderboard into an empty folder.

    Args:
        table: the runs, at least one.
        folder: an empty folder.
        title: the first page's.
        sources: lines on what the leaderboard was made of.
        most_pairs: pages of two models at most.
        progress: a function that is told of each of these.
    """
    pairs = {}
    readings = PairReadings()
    for pair in compared_pairs(table, readings, most_pairs):
        file = pair_file(pair.model, pair.other)
        trail = [
            (title, f"../{INDEX}"),
            *(
                (table.models[m], f"../{model_file(table.models[m], m)}")
                for m in (pair.model, pair.other)
            ),
        ]
        write_html(render_pair(table, pair, readings, trail), folder, file)
        pairs[pair.model, pair.other] = file
        progress(f"{table.models[pair.model]} against {table.models[pair.other]}")
    without = [
        f"{Path(folder).name}: {why.replace(folder, Path(folder).name)}"
        for folder, why in readings.without.items()
    ]
    lines = [*sources, *(f"not compared with others, {line}" for line in without)]
    site = Site(
        *(table, title),
        sources=lines,
        pairs=pairs,
        pairs_left_out=len(table.pairs()) - len(pairs),
        curve=curves_svg(learning_curves(table)),
        copied=copied_overview(table),
    )
    for model in table.models:
        write_html(render_model(site, model), folder, site.model_link(model))
    for suite in table.suites:
        write_html(render_suite(site, suite), folder, suite_file(suite))
    write_html(render_index(site), folder, INDEX)
    write_json(leaderboard_as_json(site), folder / LEADERBOARD_MARKER)
    return site


def leaderboard_as_json(site: Site) -> dict[str, Any]:
    """The content of ``leaderboard.json``: every number of the first page, for programs."""
    table = site.table
    return {
        "format": _FORMAT,
        "title": site.title,
        "sources": list(site.sources),
        "models": list(table.models.values()),
        "columns": [
            {
                "task": column.task,
                "suite": column.suite,
                "version": column.version,
                "metric": column.metric,
                "differs": list(column.differs),
                "digest": column.digest,
                "tasks": list(
                    dict.fromkeys(task for run in column.shown.values() for task in run.benchmark)
                ),
                "runs": [
                    {
                        "model": table.models[model],
                        "score": head.score if head else None,
                        "ci_low": head.ci_low if head else None,
                        "ci_high": head.ci_high if head else None,
                        "n": head.n if head else None,
                        "signature": run.signature,
                    }
                    for model, runs in column.runs.items()
                    for run in reversed(runs)
                    for head in (run.number,)
                ],
            }
            for column in table.columns
        ],
    }
