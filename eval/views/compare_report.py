"""The folder of files that comparisons leave behind: ``comparison.json``, the plot twice.

The plot has differences of scores with their intervals, as papers show them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coherencegym.eval.report import figures
from coherencegym.eval.report.labels import labels
from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.results.folder import write_json
from coherencegym.eval.results.paired_scores import PairedScore
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.paired import FLIPS
from coherencegym.eval.statistics.scores import CD
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.views.compare_table import significant, suite_titles
from coherencegym.files.folders import written_beside

#: The file that every folder of a comparison has.
COMPARISON_FILE = "comparison.json"
_MODEL = figures.COLOURS[0]
#: Most rows in a panel; beyond, groups are left to the table.
_MOST_ROWS = 60
#: Panels beside each other.
_MOST_COLUMNS = 3


def write_comparisons(
    comparisons: Sequence[ModelComparison],
    names: Sequence[tuple[str, str]],
    folder: Path,
    *,
    seed: int,
    overwrite: bool = False,
) -> list[str]:
    """Write all files, whole or not at all; ``names``: (model, baseline).

    Returns:
        Notes on the plot, one line each.
    """
    with written_beside(folder, overwrite) as work:
        write_json(comparisons_as_json(comparisons, names, seed), work / COMPARISON_FILE)
        return plot_comparisons(comparisons, names, work / "comparison.png")


def comparisons_as_json(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], seed: int
) -> dict[str, Any]:
    """The content of ``comparison.json``: all rows, also those that are not printed."""
    return {
        "format": 1,
        "settings": {"seed": seed, "intervals": INTERVALS, "flips": FLIPS},
        "comparisons": [
            {
                "suite": comparison.baseline.suite,
                "version": comparison.baseline.version,
                "baseline": _about(comparison.baseline, baseline),
                "model": _about(comparison.model, model),
                "obstacles": list(comparison.obstacles),
                "remarks": list(comparison.remarks),
                "unpaired_predictions": comparison.unpaired,
                "holm_tests": sum(row.p_holm is not None for row in comparison.rows),
                "headline": asdict(comparison.headline) if comparison.headline else None,
                "rows": [asdict(row) for row in comparison.rows],
            }
            for comparison, (model, baseline) in zip(comparisons, names, strict=True)
        ],
    }


def _about(results: Results, label: str) -> dict[str, Any]:
    return {
        "label": label,
        "folder": str(results.place),
        "signature": results.signature,
        "name": results.model_name,
        "commit": results.commit,
        "dtype": results.dtype,
        "device": results.model.get("device", ""),
    }


def plot_comparisons(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], path: Path
) -> list[str]:
    """Draw one panel for each comparison, all with the same axes, into a PNG and an SVG file.

    Returns:
        Notes on the figure, one line each.
    """
    rows = [_rows(comparison) for comparison in comparisons]
    columns = min(_MOST_COLUMNS, len(comparisons))
    lines = -(-len(comparisons) // columns)
    written = [list(map(_label, own, labels(own))) for own in rows]
    widest = max((len(text) for texts in written for text in texts), default=0)
    ends = figures.ends_of(row for own in rows for row in own)
    with figures.style():
        # Inches: a character of a label is 0.075 wide, a row a quarter of an inch high.
        height = lines * (1.0 + 0.27 * max(4, *map(len, rows))) + 0.7
        figure = figures.new_figure(columns * (3.1 + 0.075 * widest), height, layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False).ravel()
        titles = [
            "\n".join(
                filter(None, (figures.cut(suite), f"{figures.cut(model)} −", figures.cut(base)))
            )
            for suite, (model, base) in zip(suite_titles(comparisons), names, strict=True)
        ]
        for panel, own, texts, title in zip(panels, rows, written, titles, strict=False):
            _draw_rows(panel, own)
            figures.row_labels(panel, texts, [row.level == "all" for row in own], 5.6 * widest - 6)
            figures.around_zero(panel, ends)
            panel.tick_params(axis="x", labelsize=9)
            measured = "of CD scores, " if all(row.metric == CD for row in own) else "with "
            panel.set_xlabel(f"difference {measured}95 % interval, points", fontsize=9)
            panel.xaxis.set_major_formatter(lambda place, _: f"{100 * place:+.0f}")
            panel.set_title(title, fontsize=10, fontweight="bold")
        for panel in panels[len(rows) :]:
            panel.set_axis_off()
        point = {"color": _MODEL, "marker": "o", "linewidth": 2.4}
        handles = [
            figures.key("p (Holm) < 0.05", **point, markerfacecolor=_MODEL),
            figures.key("p (Holm) ≥ 0.05", **point, markerfacecolor="white"),
            figures.key("no difference", color=figures.CHANCE_LINE, linestyle=figures.DASHED),
        ]
        figures.legend_below(figure, handles, len(handles))
        return figures.missing_note(figures.save(figure, path))


def _rows(comparison: ModelComparison) -> list[PairedScore]:
    rows = [row for row in comparison.shown if row.difference is not None]
    return rows if len(rows) <= _MOST_ROWS else [row for row in rows if row.level == "all"]


def _label(row: PairedScore, name: str) -> str:
    return f"{figures.cut(name)}  (n={row.n:,})"


def _draw_rows(axes: Any, rows: Sequence[PairedScore]) -> None:
    for place, row in enumerate(rows):
        whole = row.level == "all"
        axes.plot(
            [row.ci_low, row.ci_high],
            [place, place],
            color=_MODEL,
            linewidth=2.4 if whole else 1.4,
            solid_capstyle="butt",
            zorder=2,
        )
        axes.scatter(
            row.difference,
            place,
            s=44 if whole else 24,
            color=_MODEL if significant(row) else "white",
            edgecolors=_MODEL,
            linewidths=1.4,
            zorder=4,
        )
