"""The tables of detection scores on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.summary import FEW_ITEMS
from eval.tasks.detect_results import DetectionResults
from eval.tasks.detection_scores import MODEL, DetectionScore
from eval.tasks.outcomes import Measure

#: Columns, from the fields of a score, with their intervals where there is room.
_MEASURES = {
    "document acc.": "document_accuracy",
    "exact acc.": "exact_accuracy",
    "F1": "f1",
    "precision": "precision",
    "recall": "recall",
    "AUC": "auc",
    "place": "place",
}
#: Without an interval however much room there is: F1 has one.
_BARE = ("precision", "recall")


def print_results(results: DetectionResults, console: Any = None) -> None:
    """Print scores, notes and signature; ``console`` is rich's, None: standard output."""
    from rich.console import Console

    console = console or Console(highlight=False)
    if not console.is_terminal:
        # In a pipe rich assumes 80 columns and would cut names short.
        console = Console(file=console.file, width=180, highlight=False)
    if results.scores:
        console.print(detection_table(results.scores, console.width))
    for note in results.notes:
        console.print(f"· {note}", markup=False)
    console.print(results.signature, markup=False, soft_wrap=True, style="dim")


def detection_table(scores: Sequence[DetectionScore], width: int) -> Any:
    """A rich table: for each config and group what the model's scores say, then each decision.

    Intervals are left out where they do not fit into the width (characters); ``results.json`` has
    them.
    """
    from rich.console import Console

    table = _table(scores, intervals=True)
    # Measured on a console that is wide enough for anything.
    if Console(width=10_000).measure(table).maximum > width:
        table = _table(scores, intervals=False)
    return table


def _table(scores: Sequence[DetectionScore], *, intervals: bool) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("config, group, decision", min_width=20, overflow="fold")
    names = ("documents", "intruded", *_MEASURES)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for score in scores:
        few = " !" if score.documents < FEW_ITEMS else ""
        cells = [f"{score.documents:,}{few}", f"{score.intruded:,}"]
        for name, field in _MEASURES.items():
            cells.append(_cell(getattr(score, field), intervals and name not in _BARE))
        style = "bold" if score.judge == MODEL and not score.group else ""
        table.add_row(Text(_name(score)), *map(Text, cells), style=style)
    return table


def _name(score: DetectionScore) -> str:
    if score.judge != MODEL:
        return f"    {score.judge}"
    return f"  {score.group}" if score.group else f"{score.config} ({score.split})"


def _cell(measure: Measure | None, interval: bool) -> str:
    if measure is None:
        return ""
    if measure.value is None:
        return "–"
    if not interval or measure.low is None:
        return f"{measure.value:.3f}"
    return f"{measure.value:.3f} [{measure.low:.3f}, {measure.high:.3f}]"
