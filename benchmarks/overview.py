"""``python -m benchmarks.overview``: the picture of the README, from folders of results.

A panel for each metric, in it a row for each suite and a mark for each model at its headline with
the 95 % interval, and the headline's baselines. The file's description has the numbers as JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coherencegym.eval.data.dataset import BASELINE_TITLES
from coherencegym.eval.report import figures
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.statistics.scores import CD, CONTROLLED_CD, SPEARMAN
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results

Rows = dict[str, dict[str, Headline]]


class _Axis(NamedTuple):
    """The axis of a metric: what it says, how much of it 1 is, and what it shows at least."""

    label: str
    one: float
    low: float


_AXES = {
    CONTROLLED_CD: _Axis("controlled: the same of weighted pairs, beyond counted cues, %", 100, 0),
    CD: _Axis("pairs in which the incoherent text is the more surprising one, %", 100, 0),
    "strict": _Axis("texts with a right answer and right spans (strict coherence), %", 100, 0),
    "AUC": _Axis("intruders found: area under the ROC curve", 1, 0),
    SPEARMAN: _Axis("Spearman's correlation with the ratings of people", 1, -0.25),
}


def panels_of(runs: Sequence[Results]) -> dict[str, Rows]:
    """The headlines by metric, suite and model; a run without one is left out."""
    found: dict[str, Rows] = {metric: {} for metric in _AXES}
    for run in runs:
        if run.headline is not None and run.headline.score is not None:
            named = f"{run.suite.replace('_', ' ').capitalize()} {run.version}"
            row = found[run.headline.metric].setdefault(named, {})
            row[Path(run.model_name).name] = run.headline
    return {metric: _counted(rows) for metric, rows in found.items() if rows}


def _counted(rows: Rows) -> Rows:
    counted = {}
    for named, row in rows.items():
        # A model whose context is shorter has fewer items.
        few, most = (end(headline.n for headline in row.values()) for end in (min, max))
        number = f"{most:,}" if few == most else f"{few:,}–{most:,}"
        counted[f"{named}  (n={number})"] = row
    return counted


def draw(panels: Mapping[str, Rows]) -> Any:
    """The figure, a panel a metric; call it inside :func:`figures.style`."""
    every = [name for rows in panels.values() for name in rows]
    models = list(
        dict.fromkeys(m for rows in panels.values() for row in rows.values() for m in row)
    )
    widest = max(figures.text_widths(every, 9, [False] * len(every)))
    sizes = [len(rows) + 1.6 for rows in panels.values()]
    figure = figures.new_figure(8.2, 0.7 + 0.36 * sum(sizes), layout="constrained")
    every_axes = figure.subplots(len(panels), height_ratios=sizes, squeeze=False)[:, 0]
    for axes, (metric, rows) in zip(every_axes, panels.items(), strict=True):
        _draw_panel(axes, _AXES[metric], rows, models)
        figures.row_labels(axes, list(rows), [False] * len(rows), widest)
    handles = [
        figures.key(model, color=figures.colour(n), marker=figures.mark(n), linewidth=2)
        for n, model in enumerate(models)
    ]
    for name, title in BASELINE_TITLES.items():
        look: dict[str, Any] = {**figures.BASELINE_LOOKS[name], "marker": "|", "linestyle": ""}
        handles.append(figures.key(title, **look, markersize=11, markeredgewidth=2.4))
    handles.append(figures.key("chance", color=figures.CHANCE_LINE, linestyle=figures.DASHED))
    figures.legend_below(figure, handles, 3)
    return figure


def _draw_panel(axes: Any, axis: _Axis, rows: Rows, models: Sequence[str]) -> None:
    for place, row in enumerate(rows.values()):
        for number, model in enumerate(models):
            if model in row:
                shift = (number - (len(models) - 1) / 2) * 0.26
                _mark(axes, place + shift, row[model], number, axis.one)
        head = next(iter(row.values()))
        if head.chance is not None:
            ends = axis.one * head.chance, place - 0.5, place + 0.5
            axes.vlines(*ends, color=figures.CHANCE_LINE, linewidth=1, linestyle="--", zorder=1)
        for name, look in figures.BASELINE_LOOKS.items():
            if (score := getattr(head, name)) is not None:
                ends = axis.one * score, place - 0.34, place + 0.34
                axes.vlines(*ends, linewidth=2.4, zorder=5, **look)
    axes.set_xlim((axis.low - 0.02) * axis.one, 1.02 * axis.one)
    axes.set_xlabel(axis.label, fontsize=9, loc="right")


def _mark(axes: Any, place: float, headline: Headline, number: int, one: float) -> None:
    """A model's headline with its interval."""
    colour = figures.colour(number)
    if headline.ci_low is not None and headline.ci_high is not None:
        axes.hlines(place, one * headline.ci_low, one * headline.ci_high, color=colour, linewidth=2)
    score = one * (headline.score or 0)
    axes.scatter([score], [place], s=34, marker=figures.mark(number), color=colour, zorder=4)


def _numbers(panels: Mapping[str, Rows]) -> dict[str, Any]:
    names = ("score", "ci_low", "ci_high", "chance", *BASELINE_TITLES)

    def numbers(head: Headline) -> dict[str, float]:
        found = ((name, getattr(head, name)) for name in names)
        return {name: round(value, 4) for name, value in found if value is not None}

    return {
        named: {model: numbers(head) for model, head in row.items()}
        for rows in panels.values()
        for named, row in rows.items()
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Draw the results of these folders."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overview", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--output", type=Path, default=Path("docs/overview.svg"), metavar="SVG")
    arguments = parser.parse_args(argv)
    panels = panels_of([read_results(folder) for folder in arguments.folders])
    with figures.style():
        figures.write_svg(draw(panels), arguments.output, Description=json.dumps(_numbers(panels)))
    print(f"written to {arguments.output}")


if __name__ == "__main__":
    main()
