"""Plots of scores, as people put them into papers, written as PNG and as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coherencegym.eval.results.runs import Run
from coherencegym.eval.views.figures import save, style
from coherencegym.eval.views.heatmap import HeatMap, heat_maps


def plot_runs(runs: Sequence[Run], folder: Path) -> list[str]:
    """Write the plots of runs into a folder: scores, and the heat maps where there are any.

    Returns:
        The characters that no installed font has.
    """
    missing = plot_scores(runs, folder / "scores.png")
    if maps := heat_maps(runs):
        missing += plot_heat_maps(maps, folder / "heatmap.png")
    return list(dict.fromkeys(missing))


def plot_scores(runs: Sequence[Run], path: Path) -> list[str]:
    """Draw scores with intervals (:func:`eval.views.plots_scores.draw_scores`).

    Args:
        runs: of one model or of several, on one dataset or on several.
        path: of the PNG file; the SVG file stands beside it.

    Returns:
        The characters that no installed font has.
    """
    from coherencegym.eval.views.plots_scores import draw_scores

    with style():
        return save(draw_scores(runs), path)


def plot_heat_maps(maps: Sequence[HeatMap], path: Path) -> list[str]:
    """Draw heat maps (:func:`eval.views.plots_heatmap.draw_heat_maps`), as :func:`plot_scores`
    does."""
    from coherencegym.eval.views.plots_heatmap import draw_heat_maps

    with style():
        return save(draw_heat_maps(maps), path)
