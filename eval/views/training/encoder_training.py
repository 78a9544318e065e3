"""The table and the folder of encoders that learned from the structure of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.data.notes import detail
from coherencegym.eval.report import grid
from coherencegym.eval.results.seed_folders import SeedFolder, write_seeds
from coherencegym.eval.tasks.criteria.results import (
    LOSS_COLUMNS,
    LOSS_LEGEND,
    EncoderResults,
    encoder_card,
    loss_cells,
)
from coherencegym.eval.tasks.criteria.train import TrainedEncoder


def write_encoders(
    results: EncoderResults,
    of_seeds: Callable[[Sequence[TrainedEncoder]], EncoderResults],
    folder: Path,
    *,
    overwrite: bool = False,
) -> None:
    """Write encoders, cards and results, whole or not at all.

    Args:
        results: those over all seeds.
        of_seeds: gives those of some of them.
        folder: the place of all of it.
        overwrite: replace a folder that is there.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    own = ((one, of_seeds([one])) for one in results.trained)
    seeds = (
        SeedFolder(
            seed=one.seed,
            model=one.model,
            tokenizer=one.tokenizer,
            card=encoder_card(found),
            results=found,
            write=lambda folder: None,
        )
        for one, found in own
    )
    write_seeds(results, seeds, folder, overwrite=overwrite)


def print_encoders(results: EncoderResults, console: Any = None) -> None:
    """Print losses, notes and signature; ``console`` is rich's, None: standard output."""
    console = grid.console_for(console)
    about = results.dataset
    name = f"{results.model['name']}, {results.settings['criteria']}"
    grid.print_heading(console, about["suite"], about["version"], name)
    console.print(grid.in_width(loss_grid(results), width=console.width))
    split = results.settings["split"]
    notes = [*results.notes, detail(f"losses in nats on {split}; {LOSS_LEGEND}")]
    grid.print_notes(console, notes, results.signature)


def loss_grid(results: EncoderResults) -> grid.Grid:
    """The loss of each prediction, before and after."""
    rows = [
        grid.GridRow((loss.term.replace("_", " "), *loss_cells(loss))) for loss in results.losses
    ]
    return grid.made("prediction", ("sentences", *LOSS_COLUMNS), rows)
