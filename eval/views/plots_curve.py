"""The learning curve: scores of the checkpoints of a training against its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from coherencegym.eval.data.dataset import BASELINE_TITLES, HUMAN_PERFORMANCE
from coherencegym.eval.report import figures
from coherencegym.eval.results.run_table import LearningCurve, short_count
from coherencegym.eval.statistics.scores import CD, chance_names

#: The name of the figure, with its first ending.
CURVE = "curve.png"
#: Panels of a row.
_ACROSS = 3
#: Ratio of the last checkpoint to the first from which on the axis is logarithmic.
_WIDE = 20
#: Checkpoints that each have a label; of more, or of such as are close, few numbers have one.
_MOST_STEPS = 8
#: Baselines, people and chance: the field of a headline, and the look of its line.
_REFERENCES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    **{
        title: (name, {"linewidth": 1.6, **figures.BASELINE_LOOKS[name]})
        for name, title in BASELINE_TITLES.items()
    },
    HUMAN_PERFORMANCE: ("human_score", {"color": figures.HUMAN, "linewidth": 1, "linestyle": ":"}),
    "chance": (
        "chance",
        {"color": figures.CHANCE_LINE, "linewidth": 1.6, "linestyle": figures.DASHED},
    ),
}
_CONTROLLED = "† this suite has controls: read the differences from them, not only this score"


def write_curves(curves: Sequence[LearningCurve], folder: Path) -> list[str]:
    """Write ``curve.png`` and ``curve.svg``, where there are any curves.

    Returns:
        The characters that no installed font has.
    """
    if not curves:
        return []
    with figures.style():
        return figures.save(draw_curves(curves), folder / CURVE)


def draw_curves(
    curves: Sequence[LearningCurve], name: str = "Learning curve", of: str = "s of training"
) -> Any:
    """A figure with a panel for each suite (and unit), in which every training has a line.

    The line of a training is ``curve-K``, its band of 95 % intervals ``band-K``, K being its place;
    a baseline is ``partial-input baseline``, ``lexical-overlap baseline``, ``human performance`` or
    ``chance`` (see ``get_gid``). ``name`` is the title where there are several, ``of`` follows the
    unit.
    """
    panels: dict[tuple[str, str], list[LearningCurve]] = {}
    for curve in curves:
        panels.setdefault((curve.suite, curve.unit), []).append(curve)
    trainings = list(dict.fromkeys(curve.training for curve in curves))
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = figures.new_figure(max(5.6, 3.6 * across), 1.3 + 2.9 * down, layout="constrained")
    # One axis of scores for all: a steep line is then a large gain in every panel.
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, own in zip(grid.flat, panels.values(), strict=False):
        _panel(axes, own, trainings, of)
    is_cd = all(head.metric == CD for curve in curves for head in curve.heads)
    for axes in grid[:, 0]:
        axes.set_ylabel("CD score, %" if is_cd else "score, %", fontsize=9)
    lowest, highest = grid[0, 0].get_ylim()
    grid[0, 0].set_ylim(max(-2, lowest), min(102, highest))
    several = len(trainings) > 1
    title = name if several else figures.cut(_labels(trainings)[0], 70)
    figure.suptitle(title, fontsize=11, fontweight="bold")
    _legend(figure, curves, trainings)
    return figure


def _labels(trainings: Sequence[str]) -> list[str]:
    # Of a long path its end, if that tells them apart.
    short = [
        str(Path(*path.parts[-2:])) if (path := Path(name)).is_absolute() else name
        for name in trainings
    ]
    return short if len(set(short)) == len(short) else list(trainings)


def _panel(axes: Any, curves: Sequence[LearningCurve], trainings: Sequence[str], of: str) -> None:
    for name, (field, look) in _REFERENCES.items():
        known = (getattr(head, field) for curve in curves for head in curve.heads)
        value = next((value for value in known if value is not None), None)
        if value is not None:
            axes.axhline(100 * value, zorder=1, gid=name, **look)
    for curve in curves:
        number = trainings.index(curve.training)
        shares = [100 * (head.score or 0.0) for head in curve.heads]
        colour, mark = figures.colour(number), figures.mark(number)
        axes.plot(
            *(curve.counts, shares),
            color=colour,
            marker=mark,
            markersize=5,
            linewidth=1.8,
            zorder=4,
            gid=f"curve-{number}",
        )
        known_ends = [
            (count, 100 * head.ci_low, 100 * head.ci_high)
            for count, head in zip(curve.counts, curve.heads, strict=True)
            if head.ci_low is not None and head.ci_high is not None
        ]
        if known_ends:
            band = axes.fill_between(
                *zip(*known_ends, strict=True), color=colour, alpha=0.18, linewidth=0, zorder=2
            )
            band.set_gid(f"band-{number}")
    first = curves[0]
    items = {head.n for curve in curves for head in curve.heads}
    axes.set_title(
        figures.cut(f"{first.suite}{' †' if first.controlled else ''}", 40)
        + f"  (n={max(items):,})",
        fontsize=9,
    )
    _counts(axes, sorted({count for curve in curves for count in curve.counts}), first.unit, of)
    axes.grid(color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, labelleft=True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _counts(axes: Any, counts: Sequence[float], unit: str, of: str) -> None:
    # Logarithmic (and linear below the first step) where steps are far apart.
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    first = min(count for count in counts if count > 0)
    wide = counts[-1] >= _WIDE * first
    if wide and counts[0] > 0:
        axes.set_xscale("log")
    elif wide:
        axes.set_xscale("symlog", linthresh=first, linscale=0.5)
    elif (
        min((b - a for a, b in pairwise(counts)), default=0) * _MOST_STEPS >= counts[-1] - counts[0]
    ):
        axes.xaxis.set_major_locator(FixedLocator(counts))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: short_count(count)))
    scale = ", logarithmic" if wide else ""
    counted = f"{unit}{of}" if unit else "count in the name of the checkpoint"
    axes.set_xlabel(f"{counted}{scale}", fontsize=9)


def _legend(figure: Any, curves: Sequence[LearningCurve], trainings: Sequence[str]) -> None:
    several = len(trainings) > 1
    handles = [
        figures.key(
            figures.cut(name, 48) if several else "score with 95 % interval",
            color=figures.colour(number),
            marker=figures.mark(number),
            linewidth=1.8,
            markersize=5,
        )
        for number, name in enumerate(_labels(trainings))
    ]
    heads = [head for curve in curves for head in curve.heads]
    handles += [
        figures.key(chance_names(heads) if field == "chance" else name, **look)
        for name, (field, look) in _REFERENCES.items()
        if any(getattr(head, field) is not None for head in heads)
    ]
    if any(curve.controlled for curve in curves):
        handles.append(figures.key(_CONTROLLED, linestyle=""))
    figures.legend_below(figure, handles, min(3, len(handles)))
