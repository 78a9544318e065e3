"""The table and the folder of models that were fine-tuned on texts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.eval.data.notes import detail
from coherencegym.eval.report import grid
from coherencegym.eval.results.seed_folders import SeedFolder, write_seeds
from coherencegym.eval.tasks.spans.results import ONE_UNIT, SEVERAL_UNITS
from coherencegym.eval.tasks.spans.train.card import CARD_METRICS, span_model_card
from coherencegym.eval.tasks.spans.train.data import SpanTraining
from coherencegym.eval.tasks.spans.train.results import SpanTrainingResults
from coherencegym.eval.views.page import write_results_files


def write_span_training(
    results: SpanTrainingResults, data: SpanTraining, folder: Path, *, overwrite: bool = False
) -> None:
    """Write models, cards and results, whole or not at all.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    seeds = (
        SeedFolder(
            name=trained.folder,
            model=trained.tuned.model,
            tokenizer=trained.tuned.tokenizer,
            card=span_model_card(results, own, trained, data),
            results=own,
            write=partial(write_results_files, own),
        )
        for own, trained in zip(results.seeds, results.trained, strict=True)
    )
    write_seeds(results, seeds, folder, overwrite=overwrite)


def print_span_training(results: SpanTrainingResults, console: Any = None) -> None:
    """Print means, spreads, notes and signature; ``console`` is rich's, None: standard output."""
    console = grid.console_for(console)
    about = results.dataset
    grid.print_heading(console, about["suite"], about["version"], results.model["name"])
    console.print(grid.in_width(span_training_grid(results), width=console.width))
    grid.print_notes(console, [*results.notes, detail(results.means)], results.signature)


def span_training_grid(results: SpanTrainingResults) -> grid.Grid:
    """The metrics of each config, of its groups, and the baselines below."""
    tables = list(dict.fromkeys((one.config, one.split) for one in results.summary))
    groups = ["", *_sizes(results)]
    shown = [
        one for one in results.summary if one.group in groups and not (one.system and one.group)
    ]
    shown.sort(
        key=lambda o: (tables.index((o.config, o.split)), bool(o.system), groups.index(o.group))
    )
    rows = []
    for one in shown:
        below = one.system or one.group
        cells = (
            below or f"{one.config} ({one.split})",
            f"{one.texts:,}",
            *map(one.cell, CARD_METRICS),
        )
        rows.append(grid.GridRow(cells, int(bool(below)), bold=not below))
    return grid.made("config", ("texts", *(f"{name}, %" for name in CARD_METRICS)), rows)


def _sizes(results: SpanTrainingResults) -> list[str]:
    # Where there are both.
    known = {one.group for one in results.summary}
    sizes = [group for group in (ONE_UNIT, SEVERAL_UNITS) if group in known]
    return sizes if len(sizes) > 1 else []
