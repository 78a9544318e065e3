"""The plot of comparisons: differences of CD scores with their intervals, as papers show them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.results.labels import labels, printable
from coherencegym.eval.results.paired_scores import PairedScore
from coherencegym.eval.statistics.scores import CD
from coherencegym.eval.views.compare_table import significant

#: A colour that stays apart in print and for colour-blind readers (Okabe and Ito 2008).
_MODEL, _ZERO = "#0072B2", "#777777"
#: Most rows in a panel; beyond, groups are left to the table.
MOST_ROWS = 60
#: Panels beside each other.
_MOST_COLUMNS = 3


def plot_comparisons(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], paths: Sequence[Path]
) -> None:
    """Draw one panel for each comparison, all with the same axes, into files.

    Args:
        comparisons: at least one.
        names: what to call the model and the baseline of each.
        paths: of the files; the endings say of which kind.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = [_rows(comparison) for comparison in comparisons]
    columns = min(_MOST_COLUMNS, len(comparisons))
    lines = -(-len(comparisons) // columns)
    written = [list(map(_label, own, labels(own))) for own in rows]
    widest = max((len(text) for texts in written for text in texts), default=0)
    # Inches: a character of a label is 0.075 wide, a row a quarter of an inch high.
    size = columns * (3.1 + 0.075 * widest), lines * (1.0 + 0.27 * max(4, *map(len, rows))) + 0.7
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    reach = _reach([row for own in rows for row in own])
    for panel, own, texts, (model, baseline) in zip(panels, rows, written, names, strict=False):
        _panel(panel, own, texts, widest, reach)
        panel.set_title(f"{_cut(model)} −\n{_cut(baseline)}", fontsize=10, fontweight="bold")
    for panel in panels[len(rows) :]:
        panel.set_axis_off()
    _legend(figure)
    # The same results give the same bytes: no random ids, no time of day.
    with matplotlib.rc_context({"svg.hashsalt": "coherencegym"}):
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else {}
            figure.savefig(path, dpi=160, metadata=metadata)


def _rows(comparison: ModelComparison) -> list[PairedScore]:
    rows = [row for row in comparison.shown if row.difference is not None]
    return rows if len(rows) <= MOST_ROWS else [row for row in rows if row.level == "all"]


def _label(row: PairedScore, name: str) -> str:
    return f"{_cut(printable(name))}  (n={row.n:,})"


def _cut(text: str) -> str:
    return text if len(text) <= 48 else text[:47] + "…"


def _reach(rows: Sequence[PairedScore]) -> float:
    ends = (end for row in rows for end in (row.difference, row.ci_low, row.ci_high))
    return 1.08 * max((abs(end) for end in ends if end is not None), default=1.0)


def _panel(
    axes: Any, rows: Sequence[PairedScore], texts: Sequence[str], widest: int, reach: float
) -> None:
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
    axes.axvline(0, color=_ZERO, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    # Left-aligned, so that groups stand indented under their config; the padding makes the room.
    axes.set_yticks(range(len(texts)), texts, fontsize=9, ha="left")
    for text, row in zip(axes.get_yticklabels(), rows, strict=True):
        text.set_fontweight("bold" if row.level == "all" else "normal")
        text.set_parse_math(False)  # a name may hold dollar signs
    axes.tick_params(axis="x", labelsize=9)
    axes.tick_params(axis="y", length=0, pad=6 + 5.6 * widest)
    axes.set_ylim(len(texts) - 0.4, -0.6)
    # Zero in the middle: the side on which an interval lies is what matters.
    axes.set_xlim(-reach, reach)
    axes.locator_params(axis="x", nbins=5)
    measured = "of CD scores, " if all(row.measure == CD for row in rows) else "with "
    axes.set_xlabel(f"difference {measured}95 % interval", fontsize=9)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _legend(figure: Any) -> None:
    from matplotlib.lines import Line2D

    def point(fill: str, label: str) -> Line2D:
        return Line2D(
            [], [], color=_MODEL, marker="o", linewidth=2.4, markerfacecolor=fill, label=label
        )

    handles = [
        point(_MODEL, "p (Holm) < 0.05"),
        point("white", "p (Holm) ≥ 0.05"),
        Line2D([], [], color=_ZERO, linestyle=(0, (4, 3)), label="no difference"),
    ]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9
    )
