"""The table of scores on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coherencegym.eval.results.labels import labels
from coherencegym.eval.results.results import Results
from coherencegym.eval.tasks.score.summary import FEW_ITEMS, Score, shown
from coherencegym.eval.views.blocks import blocks


def print_table(results: Results, console: Any = None) -> None:
    """Print scores, notes and signature; ``console`` is rich's, None: standard output."""
    from rich.console import Console

    console = console or Console(highlight=False)
    if not console.is_terminal:
        # In a pipe rich assumes 80 columns and would cut names short.
        console = Console(file=console.file, width=160, highlight=False)
    console.print(score_table(results.scores, console.width))
    for macro in results.macros:
        console.print(
            f"{macro.config}: macro average over {macro.n_groups} groups {_number(macro.score)} "
            f"{_interval(macro.ci_low, macro.ci_high)}",
            markup=False,
        )
    below = list(blocks(results))
    if results.macros and below:
        console.print()
    for block in below:
        console.print(block)
        console.print()
    for note in results.notes:
        console.print(f"· {note}", markup=False)
    console.print(results.signature, markup=False, soft_wrap=True, style="dim")


def score_table(scores: Sequence[Score], width: int) -> Any:
    """A rich table: one row for each config, and indented below it one for each of its groups.

    Columns that have nothing to say (no ties, no artefact scores) are left out, and so are the
    margins' intervals where they do not fit into the width (characters).
    """
    from rich.console import Console

    rows = shown(scores)
    table = all_score_table(rows)
    # Measured on a console that is wide enough for anything.
    if Console(width=10_000).measure(table).maximum > width:
        table = all_score_table(rows, with_intervals=False)
    return table


def all_score_table(rows: Sequence[Score], with_intervals: bool = True) -> Any:
    """A rich table of all these scores; ``with_intervals``: those of margins."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    columns: dict[str, list[str]] = {
        "items": [f"{row.n:,}" + (" !" if row.n < FEW_ITEMS else "") for row in rows],
        "CD [95 % interval]": [
            f"{_number(row.score)} {_interval(row.ci_low, row.ci_high)}" for row in rows
        ],
        "artefact": [_number(row.artefact_score) for row in rows],
        "human": [
            _number(row.human_score) + (" !" if 0 < row.human_n < FEW_ITEMS else "") for row in rows
        ],
        "margin, bits": [_margin(row, with_intervals) for row in rows],
        "ties": [str(row.ties or "") for row in rows],
        "too close": [str(row.too_close or "") for row in rows],
        "undefined": [str(row.undefined or "") for row in rows],
        "too long": [str(row.too_long or "") for row in rows],
    }
    columns = {name: cells for name, cells in columns.items() if set(cells) - {"", "–"}}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("config, group", min_width=20, overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for number, (row, name) in enumerate(zip(rows, labels(rows), strict=True)):
        # A Text: rich would read a formula's square brackets as markup.
        heading = Text(name + (" †" if row.first_left_out else ""))
        numbers = [cells[number] for cells in columns.values()]
        table.add_row(heading, *map(Text, numbers), style="bold" if row.level == "all" else "")
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def _margin(score: Score, with_interval: bool) -> str:
    if score.margin_mean is None:
        return "–"
    mean = f"{score.margin_mean:+.3f}"
    if not with_interval or score.margin_mean_low is None:
        return mean
    return f"{mean} [{score.margin_mean_low:+.3f}, {score.margin_mean_high:+.3f}]"
