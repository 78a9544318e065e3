"""The tables of detection scores on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coherencegym.eval.statistics.measures import Measure
from coherencegym.eval.tasks.detect.probes import ProbeScore
from coherencegym.eval.tasks.detect.results import DetectionResults
from coherencegym.eval.tasks.detect.scores import MODEL, DetectionScore
from coherencegym.eval.tasks.detect.train.results import SeedScore, TrainingResults
from coherencegym.eval.tasks.score.summary import FEW_ITEMS
from coherencegym.eval.views.grid import Grid, Row, made, natural_width, rich_table

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
    from rich.console import Console

    console = console or Console(highlight=False)
    if not console.is_terminal:
        # In a pipe rich assumes 80 columns and would cut names short.
        console = Console(file=console.file, width=220, highlight=False)
    if results.scores:
        console.print(detection_table(results.scores, console.width))
    if results.probes:
        console.print(probe_table(results.probes, console.width))
    for note in results.notes:
        console.print(f"· {note}", markup=False)
    console.print(results.signature, markup=False, soft_wrap=True, style="dim")


def detection_table(scores: Sequence[DetectionScore], width: int) -> Any:
    """A rich table: for each config and group what the model's scores say, then each decision.

    Intervals are left out, the less important first, where they do not fit into the width
    (characters); ``results.json`` has them.
    """
    return _that_fits(lambda shown: detection_grid(scores, shown), _INTERVALS, width)


def probe_table(scores: Sequence[ProbeScore], width: int) -> Any:
    """A rich table: for each probe and decision the scores without and with it."""
    return _that_fits(lambda shown: probe_grid(scores, shown), _PROBE_INTERVALS, width)


def _that_fits(
    make: Callable[[Sequence[str]], Grid], choices: Sequence[Sequence[str]], width: int
) -> Any:
    """The first of several tables that fits, or else the last."""
    for shown in choices[:-1]:
        grid = make(shown)
        if natural_width(grid) <= width:
            return rich_table(grid)
    return rich_table(make(choices[-1]))


def detection_grid(scores: Sequence[DetectionScore], shown: Sequence[str] = _INTERVALS[0]) -> Grid:
    """The table of detection; ``shown``: the columns that have intervals."""
    rows = []
    for score in scores:
        cells = [_count(score.documents), f"{score.intruded:,}"]
        for name, field in MEASURES.items():
            cells.append(_cell(getattr(score, field), name in shown))
        rows.append(_row(score, cells))
    return made("config, group, decision", ("documents", "intruded", *MEASURES), rows)


def _row(score: DetectionScore | SeedScore, cells: Sequence[str]) -> Row:
    name = row_name(score.config, score.split, score.group, score.judge)
    first = score.judge == MODEL and not score.group
    return Row((name, *cells), 0 if first else 1, bold=first)


def probe_grid(scores: Sequence[ProbeScore], shown: Sequence[str] = _PROBE_INTERVALS[0]) -> Grid:
    """The table of probes; ``shown``: the columns that have intervals where not all have."""
    rows = []
    for score in scores:
        cells = (
            _count(score.documents),
            _cell(score.f1, "F1" in shown),
            _cell(score.f1_probe, "F1, probe" in shown),
            _cell(score.difference, True, signed=True),
            _count(score.coherent_documents),
            _cell(score.coherent, False),
            _cell(score.coherent_probe, False),
            _cell(score.coherent_difference, True, signed=True),
        )
        rows.append(Row((f"{score.config} ({score.split}) {score.decision}", *cells)))
    return made("probe, decision", _PROBE_COLUMNS, rows)


def print_training(results: TrainingResults, console: Any = None) -> None:
    """Print means, spreads, notes and signature; ``console`` is rich's, None: standard output."""
    from rich.console import Console

    console = console or Console(highlight=False)
    if not console.is_terminal:
        # In a pipe rich assumes 80 columns and would cut names short.
        console = Console(file=console.file, width=160, highlight=False)
    console.print(rich_table(seed_grid(results.summary)))
    for note in results.notes:
        console.print(f"· {note}", markup=False)
    console.print(
        f"· mean ± standard deviation of {len(results.trained)} seeds; the intervals of each seed "
        "are in its folder"
    )
    console.print(results.signature, markup=False, soft_wrap=True, style="dim")


def seed_grid(scores: Sequence[SeedScore]) -> Grid:
    """The rows of a single run, with a mean and a standard deviation over seeds."""
    rows = []
    for score in scores:
        cells = [_count(score.documents), f"{score.intruded:,}"]
        for field in MEASURES.values():
            spread = score.measures.get(field)
            cells.append("" if spread is None else spread.cell(score.judge))
        rows.append(_row(score, cells))
    return made("config, group, decision", ("documents", "intruded", *MEASURES), rows)


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
