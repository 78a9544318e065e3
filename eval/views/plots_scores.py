"""Plots of scores: rows, labels, panels and legend; see :func:`draw_scores`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coherencegym.eval.results.labels import difference_labels, labels
from coherencegym.eval.results.runs import Run
from coherencegym.eval.statistics.scores import Score, only_cd
from coherencegym.eval.tasks.score.controls import Difference
from coherencegym.eval.views.figures import (
    ARTEFACT,
    CHANCE_LINE,
    HUMAN,
    colour,
    cut,
    mark,
    new_figure,
    text_widths,
)
from coherencegym.eval.views.plot_rows import DifferenceKey, Rows, ScoreKey, Series, merge
from coherencegym.eval.views.plots_marks import (
    DASHED,
    chance_marks,
    draw_points,
    reference_marks,
    row_labels,
    row_shift,
)

#: Most rows in the plot; beyond, groups are left to the table.
MOST_ROWS = 60
#: Most characters of a row's name.
_LONGEST = 64


def draw_scores(runs: Sequence[Run]) -> Any:
    """A figure of scores with 95 % intervals: a row for each config and group, a mark a model.

    Beside them chance, the artefact score and the human bound where a dataset has them; below, with
    an axis (bits) of their own, differences from control configs. The scores of a model are two
    collections of points, ``score-K`` (whole configs) and ``score-K-parts``, K being its place, and
    one of intervals, ``interval-K``; see ``get_gid`` of matplotlib's artists.
    """
    rows = merge(runs)
    chosen = _chosen(rows.scores)
    below = [key for key, row in rows.differences.items() if row.difference is not None][:MOST_ROWS]
    many = len(rows.series)
    # A quarter of an inch a row keeps labels apart at any number of rows.
    step = 0.27 if many == 1 else 0.15 + 0.14 * many
    heights = [step * max(4 if many == 1 else 2, len(chosen))]
    heights += [step * max(2, len(below))] if below else []
    several_lines = 0.2 * ((many - 1) // 3)
    score_names = _score_labels(chosen, rows.series)
    names = [
        cut(text, _LONGEST) for text in difference_labels([rows.differences[k] for k in below])
    ]
    bold = [key[2] == "all" for key in chosen]
    # Left-aligned, so that groups stand indented under their config; the padding makes the room.
    widest = max(text_widths([*score_names, *names], 9, [*bold, *[False] * len(below)]), default=0)
    figure = new_figure(
        max(7.5, 3.1 + widest / 72),
        0.9 + several_lines + 0.6 * len(heights) + sum(heights),
        layout="constrained",
    )
    panels = figure.subplots(len(heights), squeeze=False, height_ratios=heights)[:, 0]
    _score_panel(panels[0], chosen, rows.series, score_names, widest)
    if below:
        _difference_panel(panels[1], below, rows.series, names, widest)
    if many == 1:
        figure.suptitle(cut(rows.series[0].label, 70), fontsize=11, fontweight="bold")
    _legend(figure, rows, chosen)
    return figure


def _chosen(rows: Mapping[ScoreKey, Score]) -> dict[ScoreKey, Score]:
    if len(rows) <= MOST_ROWS:
        return dict(rows)
    return {key: row for key, row in rows.items() if row.level == "all"}


def _score_panel(
    axes: Any,
    rows: Mapping[ScoreKey, Score],
    series: Sequence[Series],
    names: Sequence[str],
    widest: float,
) -> None:
    places = {key: place for place, key in enumerate(rows)}
    reference_marks(axes, list(rows.values()))
    for number, one in enumerate(series):
        shift = row_shift(number, len(series))
        for whole in (True, False):
            points = [
                (place + shift, score)
                for key, place in places.items()
                if (score := one.scores.get(key)) is not None
                and score.score is not None
                and (score.level == "all") == whole
            ]
            if not points:
                continue
            draw_points(
                axes,
                [(y, score.score, score.ci_low, score.ci_high) for y, score in points],
                number,
                len(series),
                whole,
                "score",
            )
    chance_marks(axes, list(rows.values()))
    row_labels(axes, names, widest)
    for text, row in zip(axes.get_yticklabels(), rows.values(), strict=True):
        text.set_fontweight("bold" if row.level == "all" else "normal")
        text.set_color("black" if row.level == "all" else "#444444")
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    # Two lines: the axes are only half as wide as the figure.
    said = "CD score with 95 % interval\n(share of items whose prediction holds)"
    axes.set_xlabel(said if only_cd(list(rows.values())) else "95 % interval", fontsize=9)


def _difference_panel(
    axes: Any,
    keys: Sequence[DifferenceKey],
    series: Sequence[Series],
    names: Sequence[str],
    widest: float,
) -> None:
    found: list[Difference] = []
    for number, one in enumerate(series):
        own = [
            (place + row_shift(number, len(series)), row)
            for place, key in enumerate(keys)
            if (row := one.differences.get(key)) is not None and row.difference is not None
        ]
        found += [row for _, row in own]
        if own:
            points = [(y, row.difference, row.ci_low, row.ci_high) for y, row in own]
            draw_points(axes, points, number, len(series), True, "difference")
    axes.axvline(0, color=CHANCE_LINE, linewidth=1, linestyle=DASHED, zorder=1)
    row_labels(axes, names, widest)
    # Zero in the middle: the side on which an interval lies is what matters.
    ends = (end for row in found for end in (row.difference, row.ci_low, row.ci_high))
    reach = 1.08 * max((abs(end) for end in ends if end is not None), default=0.0) or 1.0
    axes.set_xlim(-reach, reach)
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel("difference of mean margins\nwith 95 % interval, bits", fontsize=9)


def _score_labels(rows: Mapping[ScoreKey, Score], series: Sequence[Series]) -> list[str]:
    return [
        f"{cut(text, _LONGEST)}  (n={_items(key, series)})"
        for key, text in zip(rows, labels(list(rows.values())), strict=True)
    ]


def _items(key: ScoreKey, series: Sequence[Series]) -> str:
    """How many items a row is over, from the fewest of any model to the most."""
    counts = {one.scores[key].n for one in series if key in one.scores}
    few, most = min(counts), max(counts)
    return f"{few:,}" if few == most else f"{few:,}–{most:,}"


def _legend(figure: Any, rows: Rows, chosen: Mapping[ScoreKey, Score]) -> None:
    from matplotlib.lines import Line2D

    many = len(rows.series)
    handles = [
        Line2D(
            [],
            [],
            color=colour(number),
            marker=mark(number),
            linewidth=2.4,
            markersize=6,
            label="model" if many == 1 else cut(one.label, 40),
        )
        for number, one in enumerate(rows.series)
    ]
    if any(row.artefact_score is not None for row in chosen.values()):
        text = "artefact score: contrast not seen in context" if many == 1 else "artefact score"
        bar = Line2D([], [], color=ARTEFACT, marker="|", linestyle="", label=text)
        bar.set(markersize=11, markeredgewidth=2.4)
        handles.append(bar)
    if any(row.human_score is not None for row in chosen.values()):
        diamond = Line2D([], [], color=HUMAN, marker="D", linestyle="", label="people")
        diamond.set(markersize=7, markerfacecolor="none")
        handles.append(diamond)
    handles.append(Line2D([], [], color=CHANCE_LINE, linestyle=DASHED, label="chance"))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=min(3 if many > 1 else 4, len(handles)),
        frameon=False,
        fontsize=9,
    )
