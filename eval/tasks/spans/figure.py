"""Coherence by confidence, and accuracy by where a span begins and ends: ``coherence.png``."""

from __future__ import annotations

from collections import Counter
from typing import Any

from coherencegym.eval.report import figures
from coherencegym.eval.statistics.scores import by_line
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.coherence import THRESHOLDS, SpanPlace, TextPrediction
from coherencegym.eval.tasks.spans.results import ACCURACY, METRIC_NAMES, Answered, SpanFacts


def draw_coherence(found: Results, title: str) -> Any:
    """A row for each config: the triangle of accuracies, and of a choice the curves."""
    down, lines = len(found.details), by_line(found.rows)
    across = 2 if any(own.curves for own in found.summary) else 1
    width = max(5.0, 4.2 * across)
    figure = figures.new_figure(width, 1.0 + 3.2 * down, layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    for row, one, own in zip(grid, found.details, found.summary, strict=True):
        _triangle(figure, row[0], one)
        if own.curves:
            accuracy = lines[own.config, own.split, "", ""][ACCURACY].score
            _curves(row[1], own, accuracy or 0.0)
        elif across > 1:
            row[1].set_axis_off()
    figure.suptitle(figures.cut(title, 70), fontsize=11, fontweight="bold")
    return figure


def usual_size(judged: list[TextPrediction]) -> int:
    """The number of units that most texts have, of those with three or more if there are any."""
    sizes = Counter(own.text.size for own in judged)
    longer = {size: number for size, number in sizes.items() if size >= 3} or sizes
    return max(sorted(longer), key=lambda size: longer[size])


def accuracy_by_place(one: Answered, size: int) -> dict[SpanPlace, tuple[float, int]]:
    """The share of right answers to each span of the texts of one size, and of how many."""
    found: dict[SpanPlace, list[bool]] = {}
    for own, at in zip(one.judged, one.at["strict"], strict=True):
        if own.text.size == size:
            for place, right in zip(own.counted(), own.span_rights(at), strict=True):
                found.setdefault(place, []).append(right)
    return {place: (sum(own) / len(own), len(own)) for place, own in sorted(found.items())}


def _triangle(figure: Any, axes: Any, one: Answered) -> None:
    import numpy as np

    size = usual_size(one.judged)
    found = accuracy_by_place(one, size)
    values = np.full((size, size), np.nan)
    for (start, end), (share, _) in found.items():
        values[start, end] = 100 * share
    image = axes.imshow(values, cmap="cividis", vmin=0, vmax=100)
    if size <= 6:
        for (start, end), (share, _) in found.items():
            axes.text(
                *(end, start, f"{100 * share:.0f}"),
                ha="center",
                va="center",
                fontsize=8,
                color="black" if share > 0.55 else "white",
            )
    number = max(number for _, number in found.values())
    axes.set_title(
        figures.cut(f"{one.table.table.config}: {number:,} texts of {size} units", 46), fontsize=9
    )
    axes.set_xlabel("last unit of the span", fontsize=9)
    axes.set_ylabel("first unit", fontsize=9)
    ticks = range(0, size, max(1, size // 6))
    axes.set_xticks(ticks, [str(tick + 1) for tick in ticks])
    axes.set_yticks(ticks, [str(tick + 1) for tick in ticks])
    axes.tick_params(labelsize=8)
    figure.colorbar(image, ax=axes, shrink=0.8).set_label("right, %", fontsize=8)


def _curves(axes: Any, own: SpanFacts, accuracy: float) -> None:
    for number, (key, curve) in enumerate(own.curves.items()):
        axes.plot(
            THRESHOLDS,
            [100 * value for value in curve],
            color=figures.colour(number),
            marker=figures.mark(number),
            markersize=3,
            label=f"{METRIC_NAMES[key]}, area {100 * own.areas[key]:.1f}",
        )
    axes.axhline(
        100 * accuracy,
        color=figures.CHANCE_LINE,
        linestyle=figures.DASHED,
        linewidth=1.2,
        label="accuracy",
    )
    axes.set_ylim(0, 100)
    axes.set_title(figures.cut(own.config, 40), fontsize=9)
    axes.set_xlabel("ρ: confidence that an answer needs", fontsize=9)
    axes.set_ylabel("%", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.legend(fontsize=7, frameon=False)
