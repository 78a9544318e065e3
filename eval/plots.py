"""Plots of scores, as people put them into papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.controls import Difference
from eval.labels import difference_labels, labels
from eval.summary import Score, shown

#: Colours that stay apart in print and for colour-blind readers (Okabe and Ito 2008).
_MODEL, _ARTEFACT, _CHANCE = "#0072B2", "#D55E00", "#777777"
#: What a model that sees no difference reaches.
CHANCE = 0.5
#: Most rows in the plot; beyond, groups are left to the table.
MOST_ROWS = 60


def plot_scores(
    scores: Sequence[Score], model: str, path: Path, differences: Sequence[Difference] = ()
) -> None:
    """Draw scores with 95 % intervals, one row for each config and group, into a PNG file.

    Args:
        scores: of one run.
        model: its name, for the title.
        path: of the file.
        differences: from control configs, drawn below with an axis (bits) of their own.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = _rows(scores)
    below = [row for row in differences if row.difference is not None][:MOST_ROWS]
    # A quarter of an inch a row keeps labels apart at any number of rows.
    heights = [0.27 * max(4, len(rows))] + ([0.27 * max(2, len(below))] if below else [])
    figure = Figure(figsize=(7.5, 0.9 + 0.6 * len(heights) + sum(heights)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(heights), squeeze=False, height_ratios=heights)[:, 0]
    score_names = _score_labels(rows)
    names = [_cut(text) for text in difference_labels(below)]
    # Left-aligned, so that groups stand indented under their config; the padding makes the room.
    widest = max(map(len, [*score_names, *names]), default=0)
    _score_panel(panels[0], rows, score_names, widest)
    if below:
        _difference_panel(panels[1], below, names, widest)
    figure.suptitle(
        Path(model).name if Path(model).is_dir() else model, fontsize=11, fontweight="bold"
    )
    _legend(figure, any(row.artefact_score is not None for row in rows))
    figure.savefig(path, dpi=160)


def _score_panel(axes: Any, rows: Sequence[Score], names: Sequence[str], widest: int) -> None:
    for place, row in enumerate(rows):
        _draw(axes, place, row)
    axes.axvline(CHANCE, color=_CHANCE, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    _row_labels(axes, names, widest)
    for text, row in zip(axes.get_yticklabels(), rows, strict=True):
        text.set_fontweight("bold" if row.level == "all" else "normal")
        text.set_color("black" if row.level == "all" else "#444444")
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    # Two lines: the axes are only half as wide as the figure.
    axes.set_xlabel(
        "CD score with 95 % interval\n(share of items whose prediction holds)", fontsize=9
    )


def _difference_panel(
    axes: Any, rows: Sequence[Difference], names: Sequence[str], widest: int
) -> None:
    for place, row in enumerate(rows):
        if row.ci_low is not None and row.ci_high is not None:
            axes.plot(
                [row.ci_low, row.ci_high],
                [place, place],
                color=_MODEL,
                linewidth=2.4,
                solid_capstyle="butt",
                zorder=2,
            )
        axes.scatter(row.difference, place, s=44, color=_MODEL, edgecolors=_MODEL, zorder=4)
    axes.axvline(0, color=_CHANCE, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    _row_labels(axes, names, widest)
    # Zero in the middle: the side on which an interval lies is what matters.
    ends = (end for row in rows for end in (row.difference, row.ci_low, row.ci_high))
    reach = 1.08 * max((abs(end) for end in ends if end is not None), default=0.0) or 1.0
    axes.set_xlim(-reach, reach)
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel("difference of mean margins with 95 % interval, bits", fontsize=9)


def _row_labels(axes: Any, names: Sequence[str], widest: int) -> None:
    """Name the rows, and draw what all panels have alike; ``widest`` is in characters."""
    axes.set_yticks(range(len(names)), names, fontsize=9, ha="left")
    axes.tick_params(axis="y", length=0, pad=6 + 5.6 * widest)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _rows(scores: Sequence[Score]) -> list[Score]:
    rows = shown(scores)
    return rows if len(rows) <= MOST_ROWS else [row for row in rows if row.level == "all"]


def _score_labels(rows: Sequence[Score]) -> list[str]:
    return [f"{_cut(text)}  (n={row.n:,})" for row, text in zip(rows, labels(rows), strict=True)]


def _cut(text: str) -> str:
    return text if len(text) <= 48 else text[:47] + "…"


def _draw(axes: Any, place: int, row: Score) -> None:
    whole = row.level == "all"
    if row.artefact_score is not None:
        # A bar and not a point, in front: it stays visible where both scores are the same.
        axes.plot(
            [row.artefact_score] * 2,
            [place - 0.3, place + 0.3],
            color=_ARTEFACT,
            linewidth=2.4,
            solid_capstyle="butt",
            zorder=5,
        )
    if row.score is None or row.ci_low is None or row.ci_high is None:
        return
    axes.plot(
        [row.ci_low, row.ci_high],
        [place, place],
        color=_MODEL,
        linewidth=2.4 if whole else 1.4,
        solid_capstyle="butt",
        zorder=2,
    )
    axes.scatter(
        row.score,
        place,
        s=44 if whole else 24,
        color=_MODEL if whole else "white",
        edgecolors=_MODEL,
        linewidths=1.4,
        zorder=4,
    )


def _legend(figure: Any, with_artefact: bool) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=_MODEL, marker="o", linewidth=2.4, label="model"),
        Line2D([], [], color=_CHANCE, linestyle=(0, (4, 3)), label="chance"),
    ]
    if with_artefact:
        handles.insert(
            1,
            Line2D(
                [],
                [],
                color=_ARTEFACT,
                marker="|",
                markersize=11,
                markeredgewidth=2.4,
                linestyle="",
                label="artefact score: contrast not seen in context",
            ),
        )
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=9
    )
