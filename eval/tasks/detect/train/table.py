"""The table of what several seeds of a trained detector reach, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coherencegym.eval.tasks.detect.detection_scores import MODEL
from coherencegym.eval.tasks.detect.table import MEASURES, empty_table, row_name
from coherencegym.eval.tasks.detect.train.report import TrainingResults
from coherencegym.eval.tasks.detect.train.seed_scores import SeedScore, spread_cell
from coherencegym.eval.tasks.score.summary import FEW_ITEMS


def print_training(results: TrainingResults, console: Any = None) -> None:
    """Print means, spreads, notes and signature; ``console`` is rich's, None: standard output."""
    from rich.console import Console

    console = console or Console(highlight=False)
    if not console.is_terminal:
        # In a pipe rich assumes 80 columns and would cut names short.
        console = Console(file=console.file, width=160, highlight=False)
    console.print(seed_table(results.summary))
    for note in results.notes:
        console.print(f"· {note}", markup=False)
    console.print(
        f"· mean ± standard deviation of {len(results.trained)} seeds; the intervals of each seed "
        "are in its folder"
    )
    console.print(results.signature, markup=False, soft_wrap=True, style="dim")


def seed_table(scores: Sequence[SeedScore]) -> Any:
    """A rich table: the rows of a single run, with a mean and a standard deviation over seeds."""
    from rich.text import Text

    table = empty_table("config, group, decision", ("documents", "intruded", *MEASURES))
    for score in scores:
        few = " !" if score.documents < FEW_ITEMS else ""
        cells = [f"{score.documents:,}{few}", f"{score.intruded:,}"]
        for field in MEASURES.values():
            spread = score.measures.get(field)
            cells.append("" if spread is None else spread_cell(spread, score.judge))
        style = "bold" if score.judge == MODEL and not score.group else ""
        name = row_name(score.config, score.split, score.group, score.judge)
        table.add_row(Text(name), *map(Text, cells), style=style)
    return table
