"""A task's scores where nothing more is shown: a table on the terminal, plots, a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coherencegym.eval.results.folder import results_folder
from coherencegym.eval.results.labels import labels
from coherencegym.eval.results.runs import run_of
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.score.summary import FEW_ITEMS
from coherencegym.eval.tasks.task import TaskResults
from coherencegym.eval.views.grid import (
    Grid,
    GridRow,
    console_for,
    in_width,
    made,
    print_heading,
    print_notes,
    share_with_interval,
)


def write_task(results: TaskResults, folder: Path, *, overwrite: bool = False) -> None:
    """Write a folder of results, whole or not at all.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    from coherencegym.eval.views.plots import plot_runs

    with results_folder(results, folder, overwrite=overwrite) as work:
        plot_runs([run_of(results)], work)


def print_task(results: TaskResults) -> None:
    """Print scores, notes and signature."""
    console = console_for()
    about = results.dataset
    print_heading(console, about["suite"], about["version"], results.model["name"])
    console.print(in_width(task_grid(results.rows), width=console.width))
    print_notes(console, results.notes, results.signature)


def task_grid(scores: Sequence[Score], counts: bool = True) -> Grid:
    """The table of scores, with their counts of units that are left out, or are of a kind."""
    rows = []
    for score, name in zip(scores, labels(scores), strict=True):
        value = share_with_interval(score.score, score.ci_low, score.ci_high)
        n = f"{score.n:,}" + (" !" if score.n < FEW_ITEMS else "")
        own = ", ".join(f"{number:,} {what}" for what, number in score.counts.items())
        is_part = score.level != "all"
        cells = (name, n, value, *([own] if counts else []))
        rows.append(GridRow(cells, int(is_part), bold=not is_part))
    names = ("n", "score, % [95 % interval]", *(["counts"] if counts else []))
    return made("config, group: measure", names, rows)
