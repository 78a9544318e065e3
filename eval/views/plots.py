"""Plots of scores, as people put them into papers, written as PNG and as SVG.

Two scores share a row where suite, config, split, the rows themselves (their digest) and the
predictions are the same. Scores of another version of a config never do: they get rows of their
own, named by the version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import BASELINE_TITLES, BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.report import figures
from coherencegym.eval.report.blocks import labels
from coherencegym.eval.report.grid import counts_cell
from coherencegym.eval.results.comparison import model_labels
from coherencegym.eval.results.run_table import (
    LearningCurve,
    learning_curves,
    short_count,
    table_of,
)
from coherencegym.eval.statistics.scores import (
    Score,
    chance_names,
    is_correlation,
    only_cd,
    shown_rows,
)
from coherencegym.eval.tasks.probe.curves import LayerCurve, curves_of
from coherencegym.eval.tasks.probe.task import LAYERS_FILE, layer_schema
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.outcomes import Difference
from coherencegym.eval.tasks.score.report import difference_labels
from coherencegym.files.parquet import parquet_rows

#: Most rows in the plot; beyond, groups are left to the table.
_MOST_ROWS = 60
#: Most characters of a row's name.
_LONGEST = 64
#: Words of the legend on a baseline where there is one model only.
_SAID = {"lexical_overlap_score": "repeated words alone", "surface_score": "surface alone"}
#: Rows by which people stand below models.
_BELOW = 0.26
#: The look of what is the same for all models.
_CHANCE: Mapping[str, Any] = {"color": figures.CHANCE_LINE, "linestyle": figures.DASHED}
#: All that tells a row from others.
Key = tuple[str, ...]


@dataclass(frozen=True)
class Series:
    """Scores of one model, drawn in one colour, by the row that they stand in."""

    label: str
    scores: Mapping[Key, Score]
    differences: Mapping[Key, Difference]


def named_tables(runs: Sequence[Results]) -> list[Results]:
    """Runs whose configs are called so that rows of one name are the same rows in all of them."""
    several = len({run.suite for run in runs}) > 1
    versions: dict[Key, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for run in runs:
        for (config, split), digest in run.digests.items():
            versions[run.suite, config, split][digest].add(run.version)

    def named(run: Results, row: Any) -> Any:
        name = f"{run.suite} {row.config}" if several and run.suite else row.config
        known = versions.get((run.suite, row.config, row.split), {})
        if len(known) > 1:
            unique = run.version and sum(run.version in own for own in known.values()) == 1
            rows = f"rows {run.digests[row.config, row.split][:7]}"
            name += f" [v{run.version}]" if unique else f" [{rows}]"
        return replace(row, config=name)

    return [
        replace(
            run,
            rows=[named(run, one) for row in run.rows for one in row.both],
            # A control is of the same dataset, so its own name is enough.
            differences=[named(run, row) for row in run.differences],
        )
        for run in runs
    ]


def series_of(runs: Sequence[Results]) -> list[Series]:
    """One for each model, or one for each run of it where runs have the same rows."""
    members: list[list[Results]] = []
    for run in runs:
        which = run.model_name, run.commit, run.variant
        for own in members:
            taken = {_score_key(score) for other in own for score in other.rows}
            same_model = which == (own[0].model_name, own[0].commit, own[0].variant)
            if same_model and not any(_score_key(score) in taken for score in run.rows):
                own.append(run)
                break
        else:
            members.append([run])
    names = model_labels([own[0] for own in members])
    return [
        Series(
            name,
            {_score_key(score): score for run in own for score in run.rows},
            {_difference_key(row): row for run in own for row in run.differences},
        )
        for name, own in zip(names, members, strict=True)
    ]


def _score_key(score: Score) -> Key:
    prediction = score.formula, score.aggregation, score.metric, score.system
    return (score.config, score.split, score.level, score.group, *prediction)


def _difference_key(row: Difference) -> Key:
    return (row.config, row.control, row.split, row.formula, row.aggregation)


def draw_scores(runs: Sequence[Results]) -> Any:
    """A figure of scores with 95 % intervals: a row for each config and group, a mark a model.

    Beside them chance, the baselines and human performance where a dataset has them; below, with
    an axis (bits) of their own, differences from control configs. The scores of a model are points
    ``score-K``, K being its place, and intervals ``interval-score-K``; see ``get_gid`` of
    matplotlib's artists.
    """
    runs = named_tables(runs)
    series = series_of(runs)
    rows: dict[Key, Score] = {}
    below: dict[Key, Difference] = {}
    for run in runs:
        for score in shown_rows(run.rows):
            rows.setdefault(_score_key(score), score)
        for row in run.differences:
            if row.difference is not None and len(below) < _MOST_ROWS:
                below.setdefault(_difference_key(row), row)
    tables = list(dict.fromkeys(key[:2] for key in rows))
    rows = dict(sorted(rows.items(), key=lambda pair: tables.index(pair[0][:2])))
    if len(rows) > _MOST_ROWS:
        rows = {key: row for key, row in rows.items() if row.level == "all"}
    many = len(series)
    # A quarter of an inch a row keeps labels apart at any number of rows.
    step = 0.27 if many == 1 else 0.15 + 0.14 * many
    heights = [step * max(4 if many == 1 else 2, len(rows))]
    heights += [step * max(2, len(below))] if below else []
    names = [
        f"{figures.cut(name, _LONGEST)}  (n={_items(key, series)})"
        for key, name in zip(rows, labels(list(rows.values())), strict=True)
    ]
    others = [figures.cut(name, _LONGEST) for name in difference_labels(list(below.values()))]
    whole = [row.level == "all" for row in rows.values()]
    widest = max(
        figures.text_widths([*names, *others], 9, [*whole, *[False] * len(below)]), default=0
    )
    figure = figures.new_figure(
        max(7.5, 3.1 + widest / 72),
        1.1 + 0.2 * ((many - 1) // 3) + 0.6 * len(heights) + sum(heights),
        layout="constrained",
    )
    panels = figure.subplots(len(heights), squeeze=False, height_ratios=heights)[:, 0]
    _references(panels[0], list(rows.values()))
    for number, one in enumerate(series):
        shift = (number - (many - 1) / 2) * 0.72 / many
        for axes, keys, scored, field in (
            (panels[0], rows, one.scores, "score"),
            (panels[-1], below, one.differences, "difference"),
        ):
            found = [(place + shift, scored.get(key)) for place, key in enumerate(keys)]
            figures.draw_points(axes, found, field, number, many)
    figures.row_labels(panels[0], names, whole, widest)
    correlated = any(is_correlation(row.metric) for row in rows.values())
    panels[0].set_xlim(-1.02 if correlated else -0.02, 1.02)
    if correlated:
        panels[0].set_xticks((-1, -0.5, 0, 0.5, 1), ("−1", "−0.5", "0", "0.5", "1"))
    else:
        panels[0].set_xticks(figures.QUARTERS, figures.PER_CENT)
    # Two lines: the axes are only half as wide as the figure.
    said = "CD score with 95 % interval, %\n(items whose prediction holds)"
    other = "95 % interval" if correlated else "95 % interval, %"
    panels[0].set_xlabel(said if only_cd(list(rows.values())) else other, fontsize=9)
    if below:
        figures.row_labels(panels[1], others, [False] * len(others), widest)
        figures.around_zero(panels[1], [row for one in series for row in one.differences.values()])
        said = "difference of mean margins\nwith 95 % interval, bits"
        panels[1].set_xlabel(said, fontsize=9)
    titles = [suites_of(runs), *([series[0].label] if many == 1 else [])]
    title = "\n".join(figures.cut(text, 70) for text in titles if text)
    figure.suptitle(title, fontsize=11, fontweight="bold")
    _legend(figure, series, list(rows.values()))
    return figure


def suites_of(runs: Sequence[Results]) -> str:
    """The suites of a figure, with their versions, for its title."""
    return first_names(list(dict.fromkeys(f"{run.suite} {run.version}".strip() for run in runs)))


def _items(key: Key, series: Sequence[Series]) -> str:
    # From the fewest of any model to the most.
    counts = {one.scores[key].n for one in series if key in one.scores}
    return counts_cell(sorted({min(counts), max(counts)}))


def _references(axes: Any, rows: Sequence[Score]) -> None:
    # Behind the models bars over the whole row, whose ends stick out; below them a diamond for
    # people. Chance is one line where it is the same for all rows.
    def bars(field: str, reach: float) -> list[Any]:
        known = [(v, y) for y, row in enumerate(rows) if (v := getattr(row, field)) is not None]
        return [[v for v, _ in known], *([y + end for _, y in known] for end in (-reach, reach))]

    for name, look in figures.BASELINE_LOOKS.items():
        drawn = axes.vlines(*bars(name, 0.32), linewidth=2.4, zorder=1.5, **look)
        drawn.set_gid(BASELINE_WORDS[name])
    people = [(y + _BELOW, row) for y, row in enumerate(rows) if row.human_score is not None]
    known = [(y, row) for y, row in people if row.human_ci_low is not None]
    ends = ([getattr(row, f"human_ci_{end}") for _, row in known] for end in ("low", "high"))
    dotted: Any = {"colors": figures.HUMAN, "linewidth": 1, "linestyle": ":", "zorder": 3}
    axes.hlines([y for y, _ in known], *ends, **dotted)
    axes.scatter(
        [row.human_score for _, row in people],
        [y for y, _ in people],
        s=26,
        marker="D",
        facecolors="none",
        edgecolors=figures.HUMAN,
        linewidths=1.3,
        zorder=6,
    ).set_gid("human")
    if {row.chance for row in rows} == {figures.CHANCE}:
        axes.axvline(figures.CHANCE, gid="chance", linewidth=1, zorder=1, **_CHANCE)
    else:
        axes.vlines(*bars("chance", 0.45), linewidth=1, zorder=1, **_CHANCE).set_gid("chance")


def _legend(figure: Any, series: Sequence[Series], rows: Sequence[Score]) -> None:
    many = len(series) > 1
    handles = [
        figures.model_key(number, figures.cut(one.label, 40) if many else "model")
        for number, one in enumerate(series)
    ]
    unseen = "contrast not seen in context" if only_cd(rows) else "words alone"
    for name, title in BASELINE_TITLES.items():
        if any(getattr(row, name) is not None for row in rows):
            text = title if many else f"{title}: {_SAID.get(name, unseen)}"
            look = {**figures.BASELINE_LOOKS[name], "marker": "|", "linestyle": ""}
            handles.append(figures.key(text, **look, markersize=11, markeredgewidth=2.4))
    if any(row.human_score is not None for row in rows):
        look = {"color": figures.HUMAN, "marker": "D", "linestyle": ""}
        handles.append(figures.key(HUMAN_PERFORMANCE, **look, markersize=7, markerfacecolor="none"))
    handles.append(figures.key(chance_names(rows), **_CHANCE))
    figures.legend_below(figure, handles, 3)


#: The name of the figure of learning curves, with its first ending.
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
    "chance": ("chance", {"linewidth": 1.6, **_CHANCE}),
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


def draw_curves(curves: Sequence[LearningCurve]) -> Any:
    """A figure with a panel for each suite (and unit), in which every training has a line.

    The line of a training is ``curve-K``, its band of 95 % intervals ``band-K``, K being its place;
    a baseline is ``partial-input baseline``, ``lexical-overlap baseline``, ``human performance`` or
    ``chance`` (see ``get_gid``).
    """
    panels: dict[tuple[str, str], list[LearningCurve]] = {}
    for curve in curves:
        panels.setdefault((curve.suite, curve.unit), []).append(curve)
    trainings = list(dict.fromkeys(curve.training for curve in curves))
    # Of a long path its end, if that tells them apart.
    short = [
        str(Path(*path.parts[-2:])) if (path := Path(name)).is_absolute() else name
        for name in trainings
    ]
    names = short if len({*short}) == len(short) else trainings
    across = min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = figures.new_figure(max(5.6, 3.6 * across), 1.3 + 2.9 * down, layout="constrained")
    # One axis of scores for all: a steep line is then a large gain in every panel.
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, own in zip(grid.flat, panels.values(), strict=False):
        _panel(axes, own, trainings)
    heads = [head for curve in curves for head in curve.heads]
    for axes in grid[:, 0]:
        metrics = {head.metric for head in heads}
        said = metrics.pop() if len(metrics) == 1 else "CD score" if only_cd(heads) else "score"
        axes.set_ylabel(f"{said}, %", fontsize=9)
    lowest, highest = grid[0, 0].get_ylim()
    grid[0, 0].set_ylim(max(-2, lowest), min(102, highest))
    several = len(trainings) > 1
    title = "Learning curve" if several else figures.cut(names[0], 70)
    figure.suptitle(title, fontsize=11, fontweight="bold")
    handles = [
        figures.model_key(number, figures.cut(name, 48) if several else "score with 95 % interval")
        for number, name in enumerate(names)
    ]
    handles += [
        figures.key(chance_names(heads) if field == "chance" else name, **look)
        for name, (field, look) in _REFERENCES.items()
        if any(getattr(head, field) is not None for head in heads)
    ]
    if any(curve.controlled for curve in curves):
        handles.append(figures.key(_CONTROLLED, linestyle=""))
    figures.legend_below(figure, handles, 3)
    return figure


def _panel(axes: Any, curves: Sequence[LearningCurve], trainings: Sequence[str]) -> None:
    heads = [head for curve in curves for head in curve.heads]
    for name, (field, look) in _REFERENCES.items():
        known = (getattr(head, field) for head in heads)
        value = next((value for value in known if value is not None), None)
        if value is not None:
            axes.axhline(100 * value, zorder=1, gid=name, **look)
    for curve in curves:
        number = trainings.index(curve.training)
        look = {"color": figures.colour(number), "marker": figures.mark(number)}
        shares = [100 * (head.score or 0.0) for head in curve.heads]
        look |= {"markersize": 5, "linewidth": 1.8, "zorder": 4, "gid": f"curve-{number}"}
        axes.plot(curve.counts, shares, **look)
        ends = [
            (count, 100 * head.ci_low, 100 * head.ci_high)
            for count, head in zip(curve.counts, curve.heads, strict=True)
            if head.ci_low is not None and head.ci_high is not None
        ]
        if ends:
            look = {"color": figures.colour(number), "alpha": 0.18, "linewidth": 0, "zorder": 2}
            axes.fill_between(*zip(*ends, strict=True), **look).set_gid(f"band-{number}")
    first = curves[0]
    suite = figures.cut(f"{first.suite}{' †' if first.controlled else ''}", 40)
    axes.set_title(f"{suite}  (n={max(head.n for head in heads):,})", fontsize=9)
    _counts(axes, sorted({count for curve in curves for count in curve.counts}), first.unit)
    axes.grid(color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, labelleft=True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _counts(axes: Any, counts: Sequence[float], unit: str) -> None:
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
    counted = f"{unit}s of training" if unit else "count in the name of the checkpoint"
    axes.set_xlabel(f"{counted}{scale}", fontsize=9)


def probe_curves(runs: Sequence[Results]) -> Iterator[LayerCurve]:
    """The curves by layer of folders of ``probe``; of two of one name each is called by its folder.

    Raises:
        EvaluationError: a file is missing, or they are not of one run.
    """
    probes = [run for run in runs if run.task == "probe"]
    names = model_labels(probes)
    for run, name in zip(probes, names, strict=True):
        if not (run.place / LAYERS_FILE).is_file():
            raise EvaluationError(
                f"{run.place}: no {LAYERS_FILE}; expected the whole folder of results"
            )
        fits = list(parquet_rows(run.place / LAYERS_FILE, layer_schema()))
        yield from curves_of(name, fits, run.rows)


def plot_runs(runs: Sequence[Results], folder: Path) -> list[str]:
    """Write the plots of runs into a folder: scores, and learning curves if any.

    Returns:
        The characters that no installed font has.
    """
    with figures.style():
        missing = figures.save(draw_scores(runs), folder / "scores.png")
    missing += write_curves(learning_curves(table_of(runs)), folder)
    return list(dict.fromkeys(missing))
