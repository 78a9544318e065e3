"""The table and the folder of detectors that were trained."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.eval.data.notes import detail
from coherencegym.eval.report import grid
from coherencegym.eval.results.seed_folders import SeedFolder, write_seeds
from coherencegym.eval.tasks.detect.report import (
    DETECTION_COLUMNS,
    detection_row,
    detection_table,
)
from coherencegym.eval.tasks.detect.train.card import detector_card
from coherencegym.eval.tasks.detect.train.results import SeedScore, TrainingResults
from coherencegym.eval.views.page import write_results_files


def write_training(results: TrainingResults, folder: Path, *, overwrite: bool = False) -> None:
    """Write models, cards and results, whole or not at all.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    seeds = (
        SeedFolder(
            name=f"seed-{trained.seed}",
            model=trained.model,
            tokenizer=trained.tokenizer,
            card=detector_card(own, trained, results.summary),
            results=own,
            write=partial(write_results_files, own),
        )
        for own, trained in zip(results.seeds, results.trained, strict=True)
    )
    write_seeds(results, seeds, folder, overwrite=overwrite)


def print_training(results: TrainingResults, console: Any = None) -> None:
    """Print means, spreads, notes and signature; ``console`` is rich's, None: standard output."""
    console = grid.console_for(console)
    about = results.dataset
    grid.print_heading(console, about["suite"], about["version"], results.model["name"])
    console.print(grid.in_width(seed_grid(results.summary), width=console.width))
    grid.print_notes(console, [*results.notes, detail(results.means)], results.signature)


def seed_grid(scores: Sequence[SeedScore]) -> grid.Grid:
    """The rows of a single run, with a mean and a standard deviation over seeds."""
    columns = DETECTION_COLUMNS.values()
    return detection_table([detection_row(one, map(one.cell, columns)) for one in scores])
