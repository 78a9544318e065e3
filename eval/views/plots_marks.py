"""What stands in the panels of a plot of scores: points with intervals, and reference marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.views.figures import ARTEFACT, CHANCE, CHANCE_LINE, HUMAN, colour, mark

DASHED = (0, (4, 3))


def row_shift(number: int, many: int) -> float:
    """How far from the middle of its row a model's point stands, in rows."""
    return 0.0 if many == 1 else (number - (many - 1) / 2) * 0.72 / many


def draw_points(
    axes: Any,
    points: Sequence[tuple[float, Any, float | None, float | None]],
    number: int,
    many: int,
    whole: bool,
    what: str,
) -> None:
    """Draw (y, x, low, high) of one model: intervals where there are any, and the points."""
    suffix = "" if whole else "-parts"
    crowded = 0.75 if many > 1 else 1
    lines = [(y, low, high) for y, _, low, high in points if low is not None and high is not None]
    axes.hlines(
        [y for y, _, _ in lines],
        [low for _, low, _ in lines],
        [high for _, _, high in lines],
        colors=colour(number),
        linewidth=(2.4 if whole else 1.4) * crowded,
        zorder=2,
    ).set_gid(f"interval-{what}-{number}{suffix}")
    axes.scatter(
        [x for _, x, _, _ in points],
        [y for y, _, _, _ in points],
        s=(44 if whole else 24) * crowded,
        marker=mark(number),
        color=colour(number) if whole else "white",
        edgecolors=colour(number),
        linewidths=1.4,
        zorder=4,
    ).set_gid(f"{what}-{number}{suffix}")


def reference_marks(axes: Any, rows: Sequence[Score]) -> None:
    """What models are held against: a bar over the whole row for the artefact score, a diamond for
    people. In front, so that they stay visible where scores are the same."""
    artefacts = [(p, r.artefact_score) for p, r in enumerate(rows) if r.artefact_score is not None]
    axes.vlines(
        [x for _, x in artefacts],
        [place - 0.32 for place, _ in artefacts],
        [place + 0.32 for place, _ in artefacts],
        colors=ARTEFACT,
        linewidth=2.4,
        zorder=5,
    ).set_gid("artefact")
    humans = [(p, r) for p, r in enumerate(rows) if r.human_score is not None]
    lines = [(p, r.human_ci_low, r.human_ci_high) for p, r in humans if r.human_ci_low is not None]
    axes.hlines(
        [place for place, _, _ in lines],
        [low for _, low, _ in lines],
        [high for _, _, high in lines],
        colors=HUMAN,
        linewidth=1,
        linestyle=":",
        zorder=3,
    )
    axes.scatter(
        [row.human_score for _, row in humans],
        [place for place, _ in humans],
        s=52,
        marker="D",
        facecolors="none",
        edgecolors=HUMAN,
        linewidths=1.3,
        zorder=6,
    ).set_gid("human")


def chance_marks(axes: Any, rows: Sequence[Score]) -> None:
    """Draw what a judge that reads nothing reaches: one line where it is the same for all rows."""
    known = {row.chance for row in rows}
    look: Any = {"linewidth": 1, "linestyle": DASHED, "zorder": 1}
    if known == {CHANCE}:
        axes.axvline(CHANCE, color=CHANCE_LINE, gid="chance", **look)
        return
    marks = [(place, row.chance) for place, row in enumerate(rows) if row.chance is not None]
    axes.vlines(
        [x for _, x in marks],
        [place - 0.45 for place, _ in marks],
        [place + 0.45 for place, _ in marks],
        colors=CHANCE_LINE,
        **look,
    ).set_gid("chance")


def row_labels(axes: Any, names: Sequence[str], widest: float) -> None:
    """Name the rows, and draw what all panels have alike; ``widest`` is in points."""
    axes.set_yticks(range(len(names)), names, fontsize=9, ha="left")
    axes.tick_params(axis="y", length=0, pad=12 + widest)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
