"""The tables of detection scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherencegym.eval.data.notes import detail
from coherencegym.eval.report import grid
from coherencegym.eval.statistics.estimate import Estimate
from coherencegym.eval.tasks.detect.probes import ProbeScore
from coherencegym.eval.tasks.detect.results import DetectionResults
from coherencegym.eval.tasks.detect.scores import MODEL, DetectionScore
from coherencegym.eval.tasks.detect.train.results import SeedScore, TrainingResults
from coherencegym.eval.views.table import headline_line, items

#: Columns, from the fields of a score, with their intervals where there is room.
_COLUMNS = {
    "document acc.": "document_accuracy",
    "exact acc.": "exact_accuracy",
    "F1": "f1",
    "precision": "precision",
    "recall": "recall",
    "AUC": "auc",
    "place": "place",
}
_PROBE_COLUMNS = (
    *("incoherent", "F1, %", "F1, probe, %", "difference, points"),
    *("coherent", "right, %", "right, probe, %", "difference, points "),
)


def print_results(results: DetectionResults, console: Any = None, *, verbose: bool = True) -> None:
    """Print scores, notes and signature; see :func:`eval.views.table.print_scores`."""
    console = grid.console_for(console, 220)
    about = results.dataset
    grid.print_heading(console, about["suite"], about["version"], results.model["name"])
    if results.headline is not None:
        console.print(grid.plain_text(headline_line(results.headline)))
    if results.scores:
        console.print(detection_table(results.scores, console.width))
    if results.probes:
        console.print(grid.in_width(probe_grid(results.probes), width=console.width))
    grid.print_notes(console, results.notes, results.signature, verbose=verbose)


def print_training(results: TrainingResults, console: Any = None) -> None:
    """Print means, spreads, notes and signature; ``console`` is rich's, None: standard output."""
    console = grid.console_for(console)
    about = results.dataset
    grid.print_heading(console, about["suite"], about["version"], results.model["name"])
    console.print(grid.in_width(seed_grid(results.summary), width=console.width))
    means = (
        f"mean ± standard deviation of {len(results.trained)} seeds; the intervals of each seed "
        "are in its folder"
    )
    grid.print_notes(console, [*results.notes, detail(means)], results.signature)


def detection_table(scores: Sequence[DetectionScore], width: int) -> Any:
    """A rich table: for each config and group what the model's scores say, then each decision.

    Numbers are below the names where they do not fit into the width (characters).
    """
    return grid.in_width(detection_grid(scores), width=width)


def detection_grid(scores: Sequence[DetectionScore]) -> grid.Grid:
    """The table of detection."""
    return _made(
        [_row(s, (_cell(getattr(s, field)) for field in _COLUMNS.values())) for s in scores]
    )


def seed_grid(scores: Sequence[SeedScore]) -> grid.Grid:
    """The rows of a single run, with a mean and a standard deviation over seeds."""
    rows = []
    for score in scores:
        rows.append(_row(score, map(score.cell, _COLUMNS.values())))
    return _made(rows)


def _row(score: DetectionScore | SeedScore, measures: Iterator[str]) -> grid.GridRow:
    """A score under its config or group, and below it who decides."""
    first = score.judge == MODEL and not score.group
    if score.judge != MODEL:
        name = f"    {score.judge}"
    else:
        name = f"  {score.group}" if score.group else f"{score.config} ({score.split})"
    cells = (name, items(score.documents), f"{score.intruded:,}", *measures)
    return grid.GridRow(cells, 0 if first else 1, bold=first)


def _made(rows: Sequence[grid.GridRow]) -> grid.Grid:
    return grid.made(
        "config, group, decision",
        ("documents", "intruded", *(f"{name}, %" for name in _COLUMNS)),
        rows,
    )


def probe_grid(scores: Sequence[ProbeScore]) -> grid.Grid:
    """The table of probes, without and with each."""
    rows = [
        grid.GridRow(
            (
                f"{score.config} ({score.split}) {score.decision}",
                items(score.documents),
                _cell(score.f1),
                _cell(score.f1_probe),
                _cell(score.difference, "+.1f"),
                items(score.coherent_documents),
                _cell(score.coherent),
                _cell(score.coherent_probe),
                _cell(score.coherent_difference, "+.1f"),
            )
        )
        for score in scores
    ]
    return grid.made("probe, decision", _PROBE_COLUMNS, rows)


def _cell(measure: Estimate | None, form: str = ".1f") -> str:
    if measure is None:
        return ""
    return grid.share_with_interval(measure.value, measure.low, measure.high, form)
