"""The table of scores on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coherencegym.eval.results.labels import labels
from coherencegym.eval.results.results import Results
from coherencegym.eval.tasks.score.summary import FEW_ITEMS, ItemScore, shown_rows
from coherencegym.eval.views.blocks import blocks
from coherencegym.eval.views.grid import Grid, Row, made, natural_width, rich_block, rich_table


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
        console.print(rich_block(block))
        console.print()
    for note in results.notes:
        console.print(f"· {note}", markup=False)
    console.print(results.signature, markup=False, soft_wrap=True, style="dim")


def score_table(scores: Sequence[ItemScore], width: int) -> Any:
    """A rich table: one row for each config, and indented below it one for each of its groups.

    Columns that have nothing to say (no ties, no artefact scores) are left out, and so are the
    margins' intervals where they do not fit into the width (characters).
    """
    grid = score_grid(shown_rows(scores))
    if natural_width(grid) > width:
        grid = score_grid(shown_rows(scores), with_intervals=False)
    return rich_table(grid)


def score_grid(rows: Sequence[ItemScore], with_intervals: bool = True) -> Grid:
    """The table of all these scores; ``with_intervals``: those of margins."""
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
    made_rows = [
        Row(
            (name + (" †" if row.first_left_out else ""), *(own[n] for own in columns.values())),
            int(row.level != "all"),
            None if row.level == "formula" else (row.config, row.split, row.group),
            row.level == "all",
        )
        for n, (row, name) in enumerate(zip(rows, labels(rows), strict=True))
    ]
    return made("config, group", list(columns), made_rows)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def _margin(score: ItemScore, with_interval: bool) -> str:
    if score.margin_mean is None:
        return "–"
    mean = f"{score.margin_mean:+.3f}"
    if not with_interval or score.margin_mean_low is None:
        return mean
    return f"{mean} [{score.margin_mean_low:+.3f}, {score.margin_mean_high:+.3f}]"
