"""Plots of scores, as people put them into papers, written as PNG and as SVG."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coherencegym.eval.data.dataset import BASELINE_TITLES, BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.report import figures
from coherencegym.eval.report.blocks import labels
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.results.run_table import LearningCurve, learning_curves, table_of
from coherencegym.eval.statistics.scores import (
    GROUP_LEVELS,
    Score,
    chance_names,
    is_correlation,
    only_cd,
)
from coherencegym.eval.tasks.headline import Headline, headline_of_one
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.outcomes import Difference
from coherencegym.eval.tasks.score.report import difference_labels
from coherencegym.eval.views.plot_rows import (
    DifferenceKey,
    PlotRows,
    ScoreKey,
    Series,
    merged,
    suites_of,
)
from coherencegym.eval.views.plots_curve import draw_curves, write_curves
from coherencegym.eval.views.plots_heatmap import draw_heat_maps, heat_maps

#: Fewest positions that make a curve.
_FEWEST = 3
#: A group such as ``against original, sentence 3``: its curve, what is counted, and the number.
_NUMBERED = re.compile(r"(.+), (\D*[^\W\d]) ?(\d+)")


def position_curves(runs: Sequence[Results]) -> list[LearningCurve]:
    """The scores of groups by the numbers at their ends, in the place of steps of a training.

    A panel has a table of one suite, a line the groups of one name by one model. Baselines are left
    out: each position has its own.
    """
    found: dict[Any, dict[float, Headline]] = defaultdict(dict)
    several = len({run.suite for run in runs}) > 1
    for run in runs:
        suite = (run.suite,) * several
        for score in run.rows:
            group = _NUMBERED.fullmatch(score.group)
            if group and score.level in GROUP_LEVELS and score.score is not None:
                line = ": ".join(
                    filter(None, (short_model(run.model_name) + run.variant, group[1]))
                )
                panel = " ".join((*suite, f"{score.config}, {score.split}"))
                head = headline_of_one(score)
                none: Any = dict.fromkeys((*BASELINE_TITLES, "human_score"))
                found[line, panel, group[2]][int(group[3])] = replace(head, **none)
    return [
        LearningCurve(line, panel, counted, sorted(own), [own[number] for number in sorted(own)])
        for (line, panel, counted), own in found.items()
        if len(own) >= _FEWEST
    ]


#: Most rows in the plot; beyond, groups are left to the table.
_MOST_ROWS = 60
#: Most characters of a row's name.
_LONGEST = 64

#: Words of the legend on a baseline where there is one model only.
_SAID = {"lexical_overlap_score": "repeated words alone", "surface_score": "surface alone"}
#: Rows by which people stand below models.
_BELOW = 0.26

#: A point: its row, its place, and its interval where it has one.
_Point = tuple[float, float, float | None, float | None]


def draw_scores(runs: Sequence[Results]) -> Any:
    """A figure of scores with 95 % intervals: a row for each config and group, a mark a model.

    Beside them chance, the baselines and human performance where a dataset has them; below, with
    an axis (bits) of their own, differences from control configs. The scores of a model are two
    collections of points, ``score-K`` (whole configs) and ``score-K-parts``, K being its place, and
    one of intervals, ``interval-K``; see ``get_gid`` of matplotlib's artists.
    """
    rows = merged(runs)
    chosen = _chosen(rows.scores)
    below = [k for k, row in rows.differences.items() if row.difference is not None][:_MOST_ROWS]
    many = len(rows.series)
    # A quarter of an inch a row keeps labels apart at any number of rows.
    step = 0.27 if many == 1 else 0.15 + 0.14 * many
    heights = [step * max(4 if many == 1 else 2, len(chosen))]
    heights += [step * max(2, len(below))] if below else []
    several_lines = 0.2 * ((many - 1) // 3)
    score_names = _score_labels(chosen, rows.series)
    names = [
        figures.cut(text, _LONGEST)
        for text in difference_labels([rows.differences[k] for k in below])
    ]
    bold = [row.level == "all" for row in chosen.values()]
    # Left-aligned, so that groups stand indented under their config; the padding makes the room.
    widest = max(
        figures.text_widths([*score_names, *names], 9, [*bold, *[False] * len(below)]), default=0
    )
    figure = figures.new_figure(
        max(7.5, 3.1 + widest / 72),
        1.1 + several_lines + 0.6 * len(heights) + sum(heights),
        layout="constrained",
    )
    panels = figure.subplots(len(heights), squeeze=False, height_ratios=heights)[:, 0]
    _score_panel(panels[0], chosen, rows.series, score_names, widest)
    if below:
        _difference_panel(panels[1], below, rows.series, names, widest)
    titles = [suites_of(runs), *([rows.series[0].label] if many == 1 else [])]
    title = "\n".join(figures.cut(text, 70) for text in titles if text)
    figure.suptitle(title, fontsize=11, fontweight="bold")
    _legend(figure, rows, chosen)
    return figure


def _chosen(rows: Mapping[ScoreKey, Score]) -> dict[ScoreKey, Score]:
    if len(rows) <= _MOST_ROWS:
        return dict(rows)
    return {name: row for name, row in rows.items() if row.level == "all"}


def _score_panel(
    axes: Any,
    rows: Mapping[ScoreKey, Score],
    series: Sequence[Series],
    names: Sequence[str],
    widest: float,
) -> None:
    whole = [row.level == "all" for row in rows.values()]
    _reference_marks(axes, list(rows.values()))
    for number, one in enumerate(series):
        shift = _row_shift(number, len(series))
        points: dict[bool, list[_Point]] = {True: [], False: []}
        for place, name in enumerate(rows):
            row = one.scores.get(name)
            if row is not None and row.score is not None:
                point = (place + shift, row.score, row.ci_low, row.ci_high)
                points[row.level == "all"].append(point)
        for is_whole, own in points.items():
            _draw_points(axes, own, number, len(series), is_whole, "score")
    _chance_marks(axes, list(rows.values()))
    figures.row_labels(axes, names, whole, widest)
    for text, is_whole in zip(axes.get_yticklabels(), whole, strict=True):
        text.set_color("black" if is_whole else "#444444")
    correlated = any(is_correlation(row.metric) for row in rows.values())
    axes.set_xlim(-1.02 if correlated else -0.02, 1.02)
    axes.set_xticks(figures.QUARTERS, figures.PER_CENT)
    if correlated:
        axes.set_xticks((-1, -0.5, 0, 0.5, 1))
        axes.set_xticklabels(("−1", "−0.5", "0", "0.5", "1"))
    # Two lines: the axes are only half as wide as the figure.
    said = "CD score with 95 % interval, %\n(items whose prediction holds)"
    other = "95 % interval" if correlated else "95 % interval, %"
    axes.set_xlabel(said if only_cd(list(rows.values())) else other, fontsize=9)


def _difference_panel(
    axes: Any,
    keys: Sequence[DifferenceKey],
    series: Sequence[Series],
    names: Sequence[str],
    widest: float,
) -> None:
    found: list[Difference] = []
    for number, one in enumerate(series):
        points: list[_Point] = []
        for place, name in enumerate(keys):
            row = one.differences.get(name)
            if row is not None and row.difference is not None:
                y = place + _row_shift(number, len(series))
                points.append((y, row.difference, row.ci_low, row.ci_high))
                found.append(row)
        _draw_points(axes, points, number, len(series), True, "difference")
    figures.row_labels(axes, names, [False] * len(names), widest)
    figures.around_zero(axes, figures.ends_of(found))
    axes.set_xlabel("difference of mean margins\nwith 95 % interval, bits", fontsize=9)


def _row_shift(number: int, many: int) -> float:
    return 0.0 if many == 1 else (number - (many - 1) / 2) * 0.72 / many


def _draw_points(
    axes: Any, points: Sequence[_Point], number: int, many: int, whole: bool, what: str
) -> None:
    if not points:
        return
    suffix = "" if whole else "-parts"
    crowded = 0.75 if many > 1 else 1
    lines = [(y, low, high) for y, _, low, high in points if low is not None and high is not None]
    _lines(
        axes.hlines,
        lines,
        colors=figures.colour(number),
        linewidth=(2.4 if whole else 1.4) * crowded,
        zorder=2,
    ).set_gid(f"interval-{what}-{number}{suffix}")
    axes.scatter(
        [x for _, x, _, _ in points],
        [y for y, _, _, _ in points],
        s=(44 if whole else 24) * crowded,
        marker=figures.mark(number),
        color=figures.colour(number) if whole else "white",
        edgecolors=figures.colour(number),
        linewidths=1.4,
        zorder=4,
    ).set_gid(f"{what}-{number}{suffix}")


def _lines(draw: Any, lines: Sequence[tuple[float, Any, Any]], **look: Any) -> Any:
    places, begin, end = ([line[part] for line in lines] for part in range(3))
    return draw(places, begin, end, **look)


def _reference_marks(axes: Any, rows: Sequence[Score]) -> None:
    # Behind the models bars over the whole row, whose ends stick out; below them a diamond for
    # people.
    for name, look in figures.BASELINE_LOOKS.items():
        bars = [
            (value, place - 0.32, place + 0.32)
            for place, row in enumerate(rows)
            if (value := getattr(row, name)) is not None
        ]
        _lines(axes.vlines, bars, linewidth=2.4, zorder=1.5, **look).set_gid(BASELINE_WORDS[name])
    humans = [
        (place + _BELOW, row) for place, row in enumerate(rows) if row.human_score is not None
    ]
    intervals = [
        (place, row.human_ci_low, row.human_ci_high)
        for place, row in humans
        if row.human_ci_low is not None
    ]
    _lines(axes.hlines, intervals, colors=figures.HUMAN, linewidth=1, linestyle=":", zorder=3)
    axes.scatter(
        [row.human_score for _, row in humans],
        [place for place, _ in humans],
        s=26,
        marker="D",
        facecolors="none",
        edgecolors=figures.HUMAN,
        linewidths=1.3,
        zorder=6,
    ).set_gid("human")


def _chance_marks(axes: Any, rows: Sequence[Score]) -> None:
    # One line where it is the same for all rows.
    look: Any = {"linewidth": 1, "linestyle": figures.DASHED, "zorder": 1}
    if {row.chance for row in rows} == {figures.CHANCE}:
        axes.axvline(figures.CHANCE, color=figures.CHANCE_LINE, gid="chance", **look)
        return
    marks = [
        (row.chance, place - 0.45, place + 0.45)
        for place, row in enumerate(rows)
        if row.chance is not None
    ]
    _lines(axes.vlines, marks, colors=figures.CHANCE_LINE, **look).set_gid("chance")


def _score_labels(rows: Mapping[ScoreKey, Score], series: Sequence[Series]) -> list[str]:
    return [
        f"{figures.cut(text, _LONGEST)}  (n={_items(name, series)})"
        for name, text in zip(rows, labels(list(rows.values())), strict=True)
    ]


def _items(name: ScoreKey, series: Sequence[Series]) -> str:
    # From the fewest of any model to the most.
    counts = {one.scores[name].n for one in series if name in one.scores}
    few, most = min(counts), max(counts)
    return f"{few:,}" if few == most else f"{few:,}–{most:,}"


def _legend(figure: Any, rows: PlotRows, chosen: Mapping[ScoreKey, Score]) -> None:
    many = len(rows.series) > 1
    handles = [
        figures.key(
            figures.cut(one.label, 40) if many else "model",
            color=figures.colour(number),
            marker=figures.mark(number),
            linewidth=2.4,
            markersize=6,
        )
        for number, one in enumerate(rows.series)
    ]
    unseen = "contrast not seen in context" if only_cd(list(chosen.values())) else "words alone"
    for name, title in BASELINE_TITLES.items():
        if any(getattr(row, name) is not None for row in chosen.values()):
            text = title if many else f"{title}: {_SAID.get(name, unseen)}"
            look = {**figures.BASELINE_LOOKS[name], "marker": "|", "linestyle": ""}
            handles.append(figures.key(text, **look, markersize=11, markeredgewidth=2.4))
    if any(row.human_score is not None for row in chosen.values()):
        look = {"color": figures.HUMAN, "marker": "D", "linestyle": ""}
        handles.append(figures.key(HUMAN_PERFORMANCE, **look, markersize=7, markerfacecolor="none"))
    said = chance_names(chosen.values())
    handles.append(figures.key(said, color=figures.CHANCE_LINE, linestyle=figures.DASHED))
    figures.legend_below(figure, handles, min(3, len(handles)))


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
