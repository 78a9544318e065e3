"""``python -m benchmarks.overview``: the picture of the README, from folders of results.

A row for each suite and task, a mark for each model at its headline with the 95 % interval, and the
headline's artefact and overlap scores.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.report import figures
from coherencegym.eval.results.runs import Run, read_run
from coherencegym.eval.statistics.scores import CD, SPEARMAN
from coherencegym.eval.tasks.headline import Headline

Rows = dict[str, dict[str, Headline]]
#: The metrics that are no CD scores, and what each is per cent of.
_METRICS = {
    SPEARMAN: "Spearman: correlation with people, × 100",
    "AUC": "AUC: × 100",
    "strict": "strict: texts all of whose parts are right, %",
}


def rows_of(runs: Sequence[Run]) -> Rows:
    """The headlines by suite and model, CD scores first; a run without one is left out."""
    found: Rows = {}
    scored = [run for run in runs if run.headline is not None and run.headline.score is not None]
    for run in sorted(scored, key=_other_metric):
        assert run.headline is not None
        metric = run.headline.metric
        named = f"{run.suite.replace('_', ' ').capitalize()} {run.version}"
        named += f", {metric}" if _other_metric(run) else ""
        found.setdefault(named, {})[Path(run.model).name] = run.headline
    rows: Rows = {}
    for named, row in found.items():
        # A model whose context is shorter has fewer items.
        few, most = (end(headline.n for headline in row.values()) for end in (min, max))
        rows[f"{named}  (n={most:,})" if few == most else f"{named}  (n={few:,}–{most:,})"] = row
    return rows


def _other_metric(run: Run) -> bool:
    return run.headline is not None and run.headline.metric != CD


def draw(rows: Rows) -> Any:
    """The figure; call it inside :func:`figures.style`."""
    models = list(dict.fromkeys(model for row in rows.values() for model in row))
    bold = [False] * len(rows)
    widest = max(figures.text_widths(list(rows), 9, bold))
    figure = figures.new_figure(8.2, 1.3 + 0.36 * len(rows), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(rows.values()):
        for number, model in enumerate(models):
            if model in row:
                shift = (number - (len(models) - 1) / 2) * 0.26
                _mark(axes, place + shift, row[model], number)
        head = next(iter(row.values()))
        if head.chance is not None:
            ends = 100 * head.chance, place - 0.5, place + 0.5
            axes.vlines(*ends, color=figures.CHANCE_LINE, linewidth=1, linestyle="--", zorder=1)
        _floor(axes, place, head.artefact_score, color=figures.ARTEFACT)
        _floor(axes, place, head.overlap_score, color=figures.OVERLAP, linestyle=(0, (1, 1)))
    figures.row_labels(axes, list(rows), bold, widest)
    lowest = min((head.ci_low or 0) for row in rows.values() for head in row.values())
    axes.set_xlim(min(0, 100 * lowest) - 2, 102)
    metrics = {head.metric for row in rows.values() for head in row.values()}
    others = "; ".join(said for name, said in _METRICS.items() if name in metrics)
    said = "pairs in which the incoherent text is the more surprising one, %"
    axes.set_xlabel("\n".join(filter(None, (said, others))), fontsize=9, loc="right")
    handles = [
        figures.key(model, color=figures.colour(n), marker=figures.mark(n), linewidth=2)
        for n, model in enumerate(models)
    ]
    floors = {"classifier without context": figures.ARTEFACT, "repeated words": figures.OVERLAP}
    for name, colour in floors.items():
        look: dict[str, Any] = {"color": colour, "marker": "|", "linestyle": ""}
        handles.append(figures.key(name, **look, markersize=11, markeredgewidth=2.4))
    handles.append(figures.key("chance", color=figures.CHANCE_LINE, linestyle=figures.DASHED))
    figures.legend_below(figure, handles, 3)
    return figure


def _mark(axes: Any, place: float, headline: Headline, number: int) -> None:
    """A model's headline with its interval."""
    colour = figures.colour(number)
    if headline.ci_low is not None and headline.ci_high is not None:
        axes.hlines(place, 100 * headline.ci_low, 100 * headline.ci_high, color=colour, linewidth=2)
    score = 100 * (headline.score or 0)
    axes.scatter([score], [place], s=34, marker=figures.mark(number), color=colour, zorder=4)


def _floor(axes: Any, place: float, score: float | None, **look: Any) -> None:
    """The score of what does not read."""
    if score is not None:
        axes.vlines(100 * score, place - 0.34, place + 0.34, linewidth=2.4, zorder=5, **look)


def main(argv: Sequence[str] | None = None) -> None:
    """Draw the results of these folders."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overview", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--output", type=Path, default=Path("docs/overview.svg"), metavar="SVG")
    arguments = parser.parse_args(argv)
    with figures.style():
        figure = draw(rows_of([read_run(folder) for folder in arguments.folders]))
        figures.write_svg(figure, arguments.output)
    print(f"written to {arguments.output}")


if __name__ == "__main__":
    main()
