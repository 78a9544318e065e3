"""The tables of detection scores on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eval.summary import FEW_ITEMS
from eval.tasks.detect_results import DetectionResults
from eval.tasks.detection_scores import MODEL, DetectionScore
from eval.tasks.outcomes import Measure
from eval.tasks.probe_scores import ProbeScore

#: Columns, from the fields of a score, with their intervals where there is room.
MEASURES = {
    "document acc.": "document_accuracy",
    "exact acc.": "exact_accuracy",
    "F1": "f1",
    "precision": "precision",
    "recall": "recall",
    "AUC": "auc",
    "place": "place",
}
_PROBE_COLUMNS = (
    "incoherent",
    "F1",
    "F1, probe",
    "difference",
    "coherent",
    "right",
    "right, probe",
    "difference ",
)
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
    if results.probes:
        console.print(probe_table(results.probes, console.width))
    for note in results.notes:
        console.print(f"· {note}", markup=False)
    console.print(results.signature, markup=False, soft_wrap=True, style="dim")


def detection_table(scores: Sequence[DetectionScore], width: int) -> Any:
    """A rich table: for each config and group what the model's scores say, then each decision.

    Intervals are left out where they do not fit into the width (characters); ``results.json`` has
    them.
    """
    return _that_fits(lambda intervals: _detection_table(scores, intervals), width)


def probe_table(scores: Sequence[ProbeScore], width: int) -> Any:
    """A rich table: for each probe and decision the scores without and with it."""
    return _that_fits(lambda intervals: _probe_table(scores, intervals), width)


def _that_fits(make: Callable[[bool], Any], width: int) -> Any:
    """A table with intervals, or without where they do not fit."""
    from rich.console import Console

    table = make(True)
    # Measured on a console that is wide enough for anything.
    return table if Console(width=10_000).measure(table).maximum <= width else make(False)


def empty_table(first: str, names: Sequence[str]) -> Any:
    """A rich table with a first column for names, and columns of numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(first, min_width=20, overflow="fold")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _detection_table(scores: Sequence[DetectionScore], intervals: bool) -> Any:
    from rich.text import Text

    table = empty_table("config, group, decision", ("documents", "intruded", *MEASURES))
    for score in scores:
        cells = [_count(score.documents), f"{score.intruded:,}"]
        for name, field in MEASURES.items():
            cells.append(_cell(getattr(score, field), intervals and name not in _BARE))
        style = "bold" if score.judge == MODEL and not score.group else ""
        table.add_row(
            Text(row_name(score.config, score.split, score.group, score.judge)),
            *map(Text, cells),
            style=style,
        )
    return table


def _probe_table(scores: Sequence[ProbeScore], intervals: bool) -> Any:
    from rich.text import Text

    table = empty_table("probe, decision", _PROBE_COLUMNS)
    for score in scores:
        cells = [
            _count(score.documents),
            _cell(score.f1, intervals),
            _cell(score.f1_probe, intervals),
            _cell(score.difference, True, signed=True),
            _count(score.coherent_documents),
            _cell(score.coherent, False),
            _cell(score.coherent_probe, False),
            _cell(score.coherent_difference, True, signed=True),
        ]
        name = f"{score.config} ({score.split}) {score.decision}"
        table.add_row(Text(name), *map(Text, cells))
    return table


def _count(documents: int) -> str:
    return f"{documents:,}" + (" !" if documents < FEW_ITEMS else "")


def row_name(config: str, split: str, group: str, judge: str) -> str:
    """What stands before the numbers of a score: config or group, and below it who decides."""
    if judge != MODEL:
        return f"    {judge}"
    return f"  {group}" if group else f"{config} ({split})"


def _cell(measure: Measure | None, interval: bool, *, signed: bool = False) -> str:
    if measure is None:
        return ""
    if measure.value is None:
        return "–"
    form = "+.3f" if signed else ".3f"
    if not interval or measure.low is None:
        return format(measure.value, form)
    return f"{measure.value:{form}} [{measure.low:{form}}, {measure.high:{form}}]"
