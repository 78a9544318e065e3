"""The tables of detection scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherencegym.eval.statistics.measures import Measure
from coherencegym.eval.tasks.detect.probes import ProbeScore
from coherencegym.eval.tasks.detect.results import DetectionResults
from coherencegym.eval.tasks.detect.scores import MODEL, DetectionScore
from coherencegym.eval.tasks.detect.train.results import SeedScore, TrainingResults
from coherencegym.eval.views import grid
from coherencegym.eval.views.table import items

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
    *("incoherent", "F1", "F1, probe", "difference"),
    *("coherent", "right", "right, probe", "difference "),
)
#: The columns that have intervals, of a table with room for all, for some, and for none.
_INTERVALS = (
    ("document acc.", "exact acc.", "F1", "AUC", "place"),
    ("document acc.", "F1", "AUC"),
    ("F1",),
    (),
)
_PROBE_INTERVALS = (("F1", "F1, probe"), ())


def print_results(results: DetectionResults, console: Any = None) -> None:
    """Print scores, notes and signature; ``console`` is rich's, None: standard output."""
    console = grid.console_for(console, 220)
    if results.scores:
        console.print(detection_table(results.scores, console.width))
    if results.probes:
        console.print(
            grid.that_fits(
                lambda shown: probe_grid(results.probes, shown), _PROBE_INTERVALS, console.width
            )
        )
    grid.print_notes(console, results.notes, results.signature)


def print_training(results: TrainingResults, console: Any = None) -> None:
    """Print means, spreads, notes and signature; ``console`` is rich's, None: standard output."""
    console = grid.console_for(console)
    console.print(grid.rich_table(seed_grid(results.summary)))
    means = (
        f"mean ± standard deviation of {len(results.trained)} seeds; the intervals of each seed "
        "are in its folder"
    )
    grid.print_notes(console, [*results.notes, means], results.signature)


def detection_table(scores: Sequence[DetectionScore], width: int) -> Any:
    """A rich table: for each config and group what the model's scores say, then each decision.

    Intervals are left out, the less important first, where they do not fit into the width
    (characters); ``results.json`` has them.
    """
    return grid.that_fits(lambda shown: detection_grid(scores, shown), _INTERVALS, width)


def detection_grid(
    scores: Sequence[DetectionScore], shown: Sequence[str] = _INTERVALS[0]
) -> grid.Grid:
    """The table of detection; ``shown``: the columns that have intervals."""
    rows = []
    for score in scores:
        cells = (_cell(getattr(score, field), name in shown) for name, field in _COLUMNS.items())
        rows.append(_row(score, cells))
    return _made(rows)


def seed_grid(scores: Sequence[SeedScore]) -> grid.Grid:
    """The rows of a single run, with a mean and a standard deviation over seeds."""
    rows = []
    for score in scores:
        spreads = [score.measures.get(field) for field in _COLUMNS.values()]
        rows.append(_row(score, ("" if s is None else s.cell(score.judge) for s in spreads)))
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
    return grid.made("config, group, decision", ("documents", "intruded", *_COLUMNS), rows)


def probe_grid(
    scores: Sequence[ProbeScore], shown: Sequence[str] = _PROBE_INTERVALS[0]
) -> grid.Grid:
    """The table of probes, without and with each; ``shown``: the columns that have intervals."""
    rows = [
        grid.GridRow(
            (
                f"{score.config} ({score.split}) {score.decision}",
                items(score.documents),
                _cell(score.f1, "F1" in shown),
                _cell(score.f1_probe, "F1, probe" in shown),
                _cell(score.difference, True, "+.3f"),
                items(score.coherent_documents),
                _cell(score.coherent, False),
                _cell(score.coherent_probe, False),
                _cell(score.coherent_difference, True, "+.3f"),
            )
        )
        for score in scores
    ]
    return grid.made("probe, decision", _PROBE_COLUMNS, rows)


def _cell(measure: Measure | None, interval: bool, form: str = ".3f") -> str:
    if measure is None:
        return ""
    return grid.with_interval(measure.value, measure.low, measure.high, form, interval)
