"""Plots of scores, as people put them into papers, written as PNG and as SVG.

Two scores share a row where suite, config, split, the rows themselves (their digest) and the
predictions are the same. Scores of another version of a config never do: they get rows of their
own, named by the version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import BASELINE_TITLES, BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.report import figures
from coherencegym.eval.report.blocks import cut, labels
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
from coherencegym.files.parquet import parquet_rows

#: Most rows in the plot; beyond, groups are left to the table.
_MOST_ROWS = 60
#: Most characters of a row's name, and inches that one of them takes.
_LONGEST, _LETTER = 64, 0.078
#: Words of the legend on a baseline where there is one model only.
_SAID = {"lexical_overlap_score": "repeated words alone", "surface_score": "surface alone"}
#: Rows by which people stand below models.
_BELOW = 0.26
#: The look of what is the same for all models.
_CHANCE: Mapping[str, Any] = {"color": figures.CHANCE_LINE, "linestyle": figures.DASHED}
#: All that tells a row from others.
Key = tuple[str, ...]


def series_of(runs: Sequence[Results]) -> dict[str, list[Results]]:
    """The runs of each model under its name; runs on the same rows are told apart."""
    members: dict[tuple[Any, ...], list[Results]] = {}
    for number, run in enumerate(runs):
        model, rows = (run.model_name, run.commit, run.variant), {*_rows_of(run)}
        earlier = [own for own in members if own[:3] == model]
        free = (own for own in earlier if not any(rows & {*_rows_of(one)} for one in members[own]))
        members.setdefault(next(free, (*model, number)), []).append(run)
    names = model_labels([own[0] for own in members.values()])
    return dict(zip(names, members.values(), strict=True))


def _rows_of(run: Results) -> dict[Key, Score]:
    # The scores that are shown by suite, rows and predictions.
    found: dict[Key, Score] = {}
    digests = run.digests
    for score in shown_rows([one for row in run.rows for one in row.both]):
        place = run.suite, digests.get((score.config, score.split), ""), score.config, score.split
        prediction = score.formula, score.aggregation, score.metric, score.system
        found[(*place, score.level, score.group, *prediction)] = score
    return found


def _named(rows: Mapping[Key, Score], versions: Mapping[str, str]) -> list[str]:
    # Of a config of several suites, or with several rows, the name says of which.
    digests: dict[Key, set[str]] = defaultdict(set)
    for suite, digest, config, split, *_ in rows:
        digests[suite, config, split].add(digest)
    several = len({suite for suite, *_ in rows}) > 1
    named = []
    for (suite, digest, config, split, *_), score in rows.items():
        name = f"{suite} {config}" if several and suite else config
        if len(digests[suite, config, split]) > 1:
            name += f" [{' '.join(filter(None, (versions[digest], digest[:7])))}]"
        named.append(replace(score, config=name))
    return labels(named)


def draw_scores(runs: Sequence[Results]) -> Any:
    """A figure of scores with 95 % intervals: a row for each config and group, a mark a model.

    Beside them chance, the baselines and human performance where a dataset has them. The scores of
    a model are points ``score-K``, K being its place, and intervals ``interval-score-K``; see
    ``get_gid`` of matplotlib's artists.
    """
    series = series_of(runs)
    drawn = [
        {key: score for run in own for key, score in _rows_of(run).items()}
        for own in series.values()
    ]
    rows = {key: score for run in runs[::-1] for key, score in _rows_of(run).items()}
    tables = list(dict.fromkeys(key[:4] for run in runs for key in _rows_of(run)))
    rows = dict(sorted(rows.items(), key=lambda pair: tables.index(pair[0][:4])))
    if len(rows) > _MOST_ROWS:
        rows = {key: row for key, row in rows.items() if row.level == "all"}
    many = len(series)
    versions = {digest: run.version for run in runs for digest in run.digests.values()}
    names = []
    for key, name in zip(rows, _named(rows, versions), strict=True):
        counts = sorted({own[key].n for own in drawn if key in own})
        items = counts_cell(list(dict.fromkeys((counts[0], counts[-1]))))
        names.append(f"{cut(name, _LONGEST)}  (n={items})")
    # A quarter of an inch a row keeps labels apart at any number of rows.
    step = 0.27 if many == 1 else 0.15 + 0.14 * many
    figure = figures.new_figure(
        max(7.5, 3.1 + _LETTER * max(map(len, names), default=0)),
        1.7 + 0.2 * ((many - 1) // 3) + step * max(4 if many == 1 else 2, len(rows)),
        layout="constrained",
    )
    axes = figure.subplots()
    _references(axes, list(rows.values()))
    for number, own in enumerate(drawn):
        shift = (number - (many - 1) / 2) * 0.72 / many
        placed = [(place + shift, own[key]) for place, key in enumerate(rows) if key in own]
        _points(axes, placed, number, many)
    axes.set_yticks(range(len(names)), names, fontsize=9)
    for text, row in zip(axes.get_yticklabels(), rows.values(), strict=True):
        text.set_fontweight("bold" if row.level == "all" else "normal")
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    correlated = any(is_correlation(row.metric) for row in rows.values())
    axes.set_xlim(-1.02 if correlated else -0.02, 1.02)
    if correlated:
        axes.set_xticks((-1, -0.5, 0, 0.5, 1), ("−1", "−0.5", "0", "0.5", "1"))
    else:
        axes.set_xticks((0, 0.25, 0.5, 0.75, 1), ("0", "25", "50", "75", "100"))
    # Two lines: the axes are only half as wide as the figure.
    said = "CD score with 95 % interval, %\n(items whose prediction holds)"
    other = "95 % interval" if correlated else "95 % interval, %"
    axes.set_xlabel(said if only_cd(list(rows.values())) else other, fontsize=9)
    suites = list(dict.fromkeys(f"{run.suite} {run.version}".strip() for run in runs))
    titles = [first_names(suites), *([*series] if many == 1 else [])]
    title = "\n".join(cut(text, 70) for text in titles if text)
    figure.suptitle(title, fontsize=11, fontweight="bold")
    _legend(figure, list(series), list(rows.values()))
    return figure


def _points(axes: Any, rows: Sequence[tuple[float, Score]], number: int, many: int) -> None:
    # The scores of a model, one of many, with their intervals: small ones of parts.
    points = [(y, row) for y, row in rows if row.score is not None]
    lines = [(y, row) for y, row in points if row.ci_low is not None]
    crowded = 0.75 if many > 1 else 1
    look = figures.colour(number)
    axes.hlines(
        [y for y, _ in lines],
        [row.ci_low for _, row in lines],
        [row.ci_high for _, row in lines],
        colors=look,
        linewidth=[(2.4 if row.level == "all" else 1.4) * crowded for _, row in lines],
        zorder=2,
    ).set_gid(f"interval-score-{number}")
    axes.scatter(
        [row.score for _, row in points],
        [y for y, _ in points],
        s=[(44 if row.level == "all" else 24) * crowded for _, row in points],
        marker=figures.mark(number),
        color=[look if row.level == "all" else "white" for _, row in points],
        edgecolors=look,
        linewidths=1.4,
        zorder=4,
    ).set_gid(f"score-{number}")


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


def _legend(figure: Any, names: Sequence[str], rows: Sequence[Score]) -> None:
    many = len(names) > 1
    handles = [
        figures.model_key(number, cut(name, 40) if many else "model")
        for number, name in enumerate(names)
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
#: Ratio from which on a logarithmic axis has powers of ten alone.
_MOST_POWERS = 1_000
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


def write_curves(curves: Sequence[LearningCurve], folder: Path) -> None:
    """Write ``curve.png`` and ``curve.svg``, where there are any curves."""
    if curves:
        with figures.style():
            figures.save(draw_curves(curves), folder / CURVE)


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
    title = "Learning curve" if several else cut(names[0], 70)
    figure.suptitle(title, fontsize=11, fontweight="bold")
    handles = [
        figures.model_key(number, cut(name, 48) if several else "score with 95 % interval")
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
    suite = cut(f"{first.suite}{' †' if first.controlled else ''}", 40)
    axes.set_title(f"{suite}  (n={max(head.n for head in heads):,})", fontsize=9)
    _counts(axes, sorted({count for curve in curves for count in curve.counts}), first.unit)
    axes.grid(color="#e4e4e4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, labelleft=True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _counts(axes: Any, counts: Sequence[float], unit: str) -> None:
    # Logarithmic (and linear below the first step) where steps are far apart.
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

    first = min(count for count in counts if count > 0)
    wide = counts[-1] >= _WIDE * first
    if wide and counts[0] > 0:
        axes.set_xscale("log")
        # Where few powers of ten are in sight, also what is between them.
        subs = (1, 2, 5) if counts[-1] < _MOST_POWERS * first else (1,)
        axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=_MOST_STEPS))
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


def plot_runs(runs: Sequence[Results], folder: Path) -> None:
    """Write the plots of runs into a folder: scores, and learning curves if any."""
    with figures.style():
        figures.save(draw_scores(runs), folder / "scores.png")
    write_curves(learning_curves(table_of(runs)), folder)
