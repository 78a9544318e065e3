"""Curves over positions: groups of predictions that are alike but for the number at their end."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.report import figures
from coherencegym.eval.results.runs import Run
from coherencegym.eval.statistics.scores import GROUP_LEVELS, Score, only_cd

#: Fewest positions that make a curve.
_FEWEST = 3
#: A group such as ``against original, sentence 3``: its curve, what is counted, and the number.
_NUMBERED = re.compile(r"(?:(.+), )?(\D*[^\W\d]) ?(\d+)")
#: Kinds of lines, by the place of a curve among those of a figure.
_LINES: Sequence[Any] = ("-", (0, (4, 2)), (0, (1, 1)), (0, (5, 1, 1, 1)))


@dataclass(frozen=True, slots=True)
class PositionCurve:
    """The scores of one model by position: ``numbers`` and ``scores`` go together.

    Attributes:
        panel: suite, config and split, and what is counted (``sentence``).
        name: the groups without it; empty where they have no other part.
        run: the place of the run among all.
    """

    panel: tuple[str, str, str, str]
    name: str
    run: int
    numbers: tuple[int, ...]
    scores: tuple[Score, ...]


def position_curves(runs: Sequence[Run]) -> list[PositionCurve]:
    """The curves of runs; groups of fewer than three numbers make none."""
    found: dict[Any, dict[int, Score]] = defaultdict(dict)
    for place, run in enumerate(runs):
        for score in run.scores:
            group = _NUMBERED.fullmatch(score.group)
            if group and score.level in GROUP_LEVELS and score.score is not None:
                panel = (run.suite, score.config, score.split, group[2])
                found[panel, group[1] or "", place][int(group[3])] = score
    return [
        PositionCurve(*which, *zip(*sorted(own.items()), strict=True))
        for which, own in found.items()
        if len(own) >= _FEWEST
    ]


def draw_positions(curves: Sequence[PositionCurve], runs: Sequence[Run]) -> Any:
    """A figure with a panel for each table: scores with 95 % intervals by position.

    A model has a colour, and groups of one name a kind of line: ``position-K-J`` for the K-th run
    and the J-th name (see ``get_gid``).
    """
    panels: dict[tuple[str, ...], list[PositionCurve]] = defaultdict(list)
    for curve in curves:
        panels[curve.panel].append(curve)
    names = list(dict.fromkeys(curve.name for curve in curves))
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    figure = figures.new_figure(max(6.4, 3.6 * across), 1.4 + 2.9 * down, layout="constrained")
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, own in zip(grid.flat, panels.values(), strict=False):
        _panel(axes, own, names)
    is_cd = only_cd([score for curve in curves for score in curve.scores])
    for axes in grid[:, 0]:
        axes.set_ylabel("CD score, %" if is_cd else "score, %", fontsize=9)
    handles = []
    for place in sorted({curve.run for curve in curves}):
        label = figures.short_model(runs[place].model) + runs[place].variant
        look = {"color": figures.colour(place), "marker": figures.mark(place)}
        handles.append(figures.key(figures.cut(label, 40), **look))
    for number, name in enumerate(names):
        look = {"color": "black", "linestyle": _LINES[number % len(_LINES)]}
        handles += [figures.key(name, **look)] if name else []
    figures.legend_below(figure, handles, min(4, len(handles)))
    return figure


def _panel(axes: Any, curves: Sequence[PositionCurve], names: Sequence[str]) -> None:
    suite, config, split, counted = curves[0].panel
    scores = [score for curve in curves for score in curve.scores]
    items = max(score.n for score in scores)
    title = figures.cut(f"{suite} {config}".strip(), 40)
    axes.set_title(f"{title}\n{split} (n={items:,})", fontsize=9)
    for number, curve in enumerate(curves):
        # Beside each other, so that intervals do not hide one another.
        shift = 0.5 * (number - (len(curves) - 1) / 2) / max(4, len(curves))
        colour, name = figures.colour(curve.run), names.index(curve.name)
        places = [at + shift for at in curve.numbers]
        axes.plot(
            places,
            [100 * (score.score or 0.0) for score in curve.scores],
            color=colour,
            marker=figures.mark(curve.run),
            markersize=5,
            linestyle=_LINES[name % len(_LINES)],
            linewidth=1.6,
            zorder=4,
            gid=f"position-{curve.run}-{name}",
        )
        for at, score in zip(places, curve.scores, strict=True):
            if score.ci_low is not None and score.ci_high is not None:
                ends = 100 * score.ci_low, 100 * score.ci_high
                axes.vlines(at, *ends, color=colour, linewidth=1, alpha=0.6, zorder=3)
    if scores[0].chance is not None:
        look = {"color": figures.CHANCE_LINE, "linestyle": figures.DASHED, "linewidth": 1}
        axes.axhline(100 * scores[0].chance, gid="chance", **look)
    axes.set_xticks(sorted({number for curve in curves for number in curve.numbers}))
    axes.set_xlabel(counted, fontsize=9)
    axes.set_ylim(-2, 102)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, labelleft=True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
