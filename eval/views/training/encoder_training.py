"""The table and the folder of encoders that learned from the structure of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.data.notes import detail
from coherencegym.eval.report import grid
from coherencegym.eval.results.folder import write_json
from coherencegym.eval.tasks.criteria.results import (
    LOSS_COLUMNS,
    LOSS_LEGEND,
    EncoderResults,
    encoder_card,
    loss_cells,
)
from coherencegym.eval.tasks.criteria.train import TrainedEncoder
from coherencegym.files.folders import written_beside

#: The file of a folder with the losses.
_LOSSES = "losses.json"


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
    with written_beside(folder, overwrite) as work:
        for one in results.trained:
            place = work / f"seed-{one.seed}"
            place.mkdir()
            one.model.save_pretrained(place)
            one.tokenizer.save_pretrained(place)
            found = of_seeds([one])
            write_json(found.content(), place / _LOSSES)
            (place / "README.md").write_text(encoder_card(found), encoding="utf-8")
        write_json(results.content(), work / _LOSSES)


def print_encoders(results: EncoderResults, console: Any = None) -> None:
    """Print losses, notes and signature; ``console`` is rich's, None: standard output."""
    console = grid.console_for(console)
    about = results.dataset
    name = f"{results.model['name']}, {results.settings['criteria']}"
    grid.print_heading(console, about["suite"], about["version"], name)
    first, *names = LOSS_COLUMNS
    rows = [grid.GridRow(loss_cells(losses)) for losses in results.losses]
    console.print(grid.in_width(grid.made(first, names, rows), width=console.width))
    split = results.settings["split"]
    notes = [*results.notes, detail(f"losses in nats on {split}; {LOSS_LEGEND}")]
    grid.print_notes(console, notes, results.signature)
