"""Plots of scores, as people put them into papers, written as PNG and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coherencegym.eval.report import figures
from coherencegym.eval.results.learning import learning_curves
from coherencegym.eval.results.run_table import table_of
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.views.plots_curve import draw_curves, write_curves
from coherencegym.eval.views.plots_heatmap import draw_heat_maps, heat_maps
from coherencegym.eval.views.plots_positions import position_curves
from coherencegym.eval.views.plots_scores import draw_scores


def plot_runs(runs: Sequence[Results], folder: Path) -> list[str]:
    """Write the plots of runs into a folder: scores, and heat maps and curves if any.

    Returns:
        The characters that no installed font has.
    """
    maps, positions = heat_maps(runs), position_curves(runs)
    with figures.style():
        missing = figures.save(draw_scores(runs), folder / "scores.png")
        if maps:
            missing += figures.save(draw_heat_maps(maps), folder / "heatmap.png")
        if positions:
            figure = draw_curves(positions, "Scores by position", of="")
            missing += figures.save(figure, folder / "positions.png")
        table = table_of(runs)
    missing += write_curves(learning_curves(table), folder)
    return list(dict.fromkeys(missing))
