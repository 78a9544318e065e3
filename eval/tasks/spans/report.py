"""The report of span coherence: its tables, and texts with a triangle each.

Cells are shaded by probability; right answers that are positive are outlined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.eval.data.dataset import HUMAN_PERFORMANCE
from coherencegym.eval.kinds.spans import NEGATIVE, UNDECIDED
from coherencegym.eval.report import figures, grid
from coherencegym.eval.report.blocks import Figure, ReportSection, Strips, Triangles
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.report.grid import share_cell
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, by_line, shown_rows
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.baselines import BAG, BEST_CONSTANT, COIN, CONSTANTS
from coherencegym.eval.tasks.spans.coherence import THRESHOLDS, SpanPlace, TextPrediction
from coherencegym.eval.tasks.spans.data import unit_texts
from coherencegym.eval.tasks.spans.results import (
    ACCURACY,
    FOLD,
    METRIC_NAMES,
    MONOTONE,
    ONE_SIDED,
    ONE_UNIT,
    SEVERAL_UNITS,
    SPAN_ACCURACY,
    STRICT_IF_RIGHT,
    TEMPLATE,
    Answered,
    SpanFacts,
    released_system,
)


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


#: Texts of each table that are on the page, and units of the longest.
_MOST_TEXTS, _MOST_UNITS = 100, 20
#: Pixels of a cell.
CELL = 22


@dataclass(frozen=True)
class SpanCell:
    """A cell of a triangle: where it is, how it looks, and what it says in words.

    ``shade`` is from 0, the paper, to 1, the full colour.
    """

    x: int
    y: int
    shade: float
    gold: bool
    wrong: bool
    said: str


def described_triangle(one: Answered) -> str:
    """The triangle of a config in words."""
    size = usual_size(one.judged)
    shares = ", ".join(
        f"units {start + 1} to {end + 1}: {100 * share:.0f} %"
        for (start, end), (share, _) in accuracy_by_place(one, size).items()
    )
    return f"{one.table.table.config}, right answers to spans of texts of {size} units: {shares}"


def triangles_of(one: Answered) -> dict[str, Any]:
    """The texts of a table; first those that are right for the wrong parts, worst first."""
    thresholds = one.at["strict"]
    order = sorted(
        range(len(one.judged)),
        key=lambda n: (
            not one.judged[n].right,
            one.judged[n].metric("lenient", thresholds[n]),
            one.judged[n].text.item_id,
        ),
    )
    shown = [n for n in order if one.judged[n].text.size <= _MOST_UNITS][:_MOST_TEXTS]
    return {
        "name": one.table.table.name,
        "total": len(one.judged),
        "positive": one.table.positive,
        "rows": [_row(one.judged[n], thresholds[n], one.table.positive) for n in shown],
    }


def _row(own: TextPrediction, threshold: float, positive: str) -> dict[str, Any]:
    text = own.text
    alternatives = range(max(1, len(text.alternatives)))
    return {
        "name": text.item_id,
        "right": own.right,
        "state": _state(own, threshold),
        "hypothesis": text.hypothesis,
        "units": [
            [unit_texts(text, number)[unit] for number in alternatives] for unit in range(text.size)
        ],
        "size": text.size,
        "cells": list(_cells(own, threshold, positive)),
    }


def _state(own: TextPrediction, threshold: float) -> str:
    rights = own.span_rights(threshold)
    parts = f"{sum(rights)} of {len(rights)} spans right"
    return f"{'right' if own.right else 'wrong'}, {parts}"


def _cells(own: TextPrediction, threshold: float, positive: str) -> Iterator[SpanCell]:
    none = UNDECIDED if own.text.is_choice else NEGATIVE
    for place, gold in own.gold.items():
        answer = own.answer(place, threshold)
        yield SpanCell(
            x=place[1] * CELL + 2,
            y=place[0] * CELL + 2,
            shade=round(own.predicted[place].probability, 3),
            gold=gold != none,
            wrong=answer != gold,
            said=_said(own, place, answer, gold, positive),
        )


def _said(own: TextPrediction, place: SpanPlace, answer: int, gold: int, positive: str) -> str:
    def name(number: int) -> str:
        if not own.text.is_choice:
            return positive if number else f"not {positive}"
        return "undecided" if number == UNDECIDED else f"text {number + 1}"

    predicted = own.predicted[place]
    return (
        f"units {place[0] + 1} to {place[1] + 1}: {name(answer)} "
        f"({share_cell(predicted.probability)} %); right is {name(gold)}"
    )


#: The heading of the table in the published mode.
_RELEASED = "as the released program computes it"
_METRICS = (ACCURACY, *METRIC_NAMES.values(), STRICT_IF_RIGHT, MONOTONE)
#: The systems below the model, in their order.
_BELOW = (ONE_SIDED, *CONSTANTS, BAG, COIN)

#: The scores of a line by metric.
_Line = Mapping[str, Score]


def span_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    yield ReportSection("Scores", coherence_grid(found))
    for table in beside_grids(found):
        is_detail = not table.headers[0].startswith((_RELEASED, "fold"))
        title = table.headers[0][0].upper() + table.headers[0][1:]
        yield ReportSection(title, table, is_detail=is_detail)
    scores = tuple(row for row in shown_rows(found.rows) if not row.group.startswith(FOLD))
    yield ReportSection("Scores by group of texts", Strips(scores, ("bag of words", BEST_CONSTANT)))
    title = f"{short_model(str(found.model['name']))} on {found.dataset['name']}"
    words = "; ".join(map(described_triangle, found.details))
    yield ReportSection(
        "Share of right answers by first and last unit of a span",
        Figure("coherence", words, lambda: draw_coherence(found, title)),
    )
    yield ReportSection(
        "Texts",
        Triangles(tuple(map(triangles_of, found.details)), CELL),
        "Each cell is a span: its row is the first unit, its column the last, and the upper right "
        "corner is the whole text. A fuller colour means a more probable positive answer, or "
        "chosen text. A bold outline marks spans whose right answer is positive, or decided; a "
        "cross marks wrong answers. Texts that are right as a whole and wrong in most parts come "
        "first.",
    )


def coherence_grid(found: Results) -> grid.Grid:
    """The metrics of each config, of all texts, of one unit and of more, and the baselines."""
    lines = by_line(found.rows)
    judged = any(row.human_n for row in found.rows if not row.system)
    rows: list[grid.GridRow] = []
    for own in found.summary:
        sizes = [lines.get((own.config, own.split, size, "")) for size in (ONE_UNIT, SEVERAL_UNITS)]
        both = all(line and line[ACCURACY].n for line in sizes)
        for group in ("", *((ONE_UNIT, SEVERAL_UNITS) if both else ())):
            line = lines[own.config, own.split, group, ""]
            name = group or f"{own.config} ({own.split})"
            needed = "" if group else _confidence(own.thresholds)
            cells = [name, _number(line[ACCURACY]), *(_cell(line[m]) for m in _METRICS), needed]
            if judged:
                people = line[SPAN_ACCURACY].human_score, line[SPAN_ACCURACY].human_n
                cells += [_cell(line[SPAN_ACCURACY]), grid.share_of_people(*people)]
            rows.append(grid.GridRow(tuple(cells), int(bool(group)), bold=not group))
        for system in _BELOW:
            if below := lines.get((own.config, own.split, "", system)):
                rows.append(grid.GridRow((system, "", *_shares(below), ""), 1))
    names = ["texts", *(f"{metric}, %" for metric in _METRICS), "ρ"]
    if judged:
        names += [f"{SPAN_ACCURACY}, %", f"{HUMAN_PERFORMANCE} (texts)"]
        width = 1 + len(names)
        rows = [replace(row, cells=(*row.cells, *[""] * (width - len(row.cells)))) for row in rows]
    return grid.made("config", names, rows)


def _number(score: Score) -> str:
    return f"{score.n:,}" + (" !" if score.n < FEW_ITEMS else "")


def _cell(score: Score) -> str:
    return grid.share_with_interval(score.score, score.ci_low, score.ci_high)


def _confidence(thresholds: Mapping[str, tuple[float, float]]) -> str:
    if not thresholds:
        return ""
    low, high = thresholds["strict"]
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


def _shares(line: _Line) -> list[str]:
    return [grid.share_cell(line[name].score if name in line else None) for name in _METRICS]


def beside_grids(found: Results) -> Iterator[grid.Grid]:
    """The drop, accuracy by where a span stands, choices by spans, templates, the program."""
    yield drop_grid(found)
    yield _position_grid(found)
    rows = [
        grid.GridRow((f"{own.config}: {what}", *(grid.share_cell(by[n]) for n in METRIC_NAMES)))
        for own in found.summary
        for what, by in {**own.selections, "area under the curve": own.areas}.items()
        if by
    ]
    if rows:
        yield grid.made("choice by selection of spans", tuple(METRIC_NAMES.values()), rows)
    templates: dict[str, dict[str, _Line]] = {}
    folds: dict[str, dict[str, _Line]] = {}
    for (config, _, group, system), line in by_line(found.rows).items():
        if system.startswith(TEMPLATE) and not group:
            templates.setdefault(config, {})[system.removeprefix(TEMPLATE)] = line
        if group.startswith(FOLD) and not system and line[ACCURACY].n:
            folds.setdefault(config, {})[group] = line
    for name, parts in (("template", templates), ("fold", folds)):
        rows = [row for config, own in parts.items() for row in _of_parts(config, own)]
        if rows:
            yield grid.made(name, _METRICS, rows)
    yield from released_grids(found)


def drop_grid(found: Results) -> grid.Grid:
    """The drop from accuracy to strict coherence, with intervals by a bootstrap over sources."""
    names = {
        **{name: name for name in (ACCURACY, *METRIC_NAMES.values())},
        "drop": "drop to strict",
        STRICT_IF_RIGHT: "strict / accuracy",
    }
    lines, rows = by_line(found.rows), []
    for own in found.summary:
        line = lines[own.config, own.split, "", ""]
        values = {name: score.score for name, score in line.items()}
        values["drop"] = (values[ACCURACY] or 0.0) - (values["strict"] or 0.0)
        cells = [
            grid.share_with_interval(values[name], *(own.drop.intervals[name] or (None, None)))
            for name in names
        ]
        tested = f"{own.drop.incoherent:,}", f"{own.drop.p:.2g}"
        name = f"{own.config} ({own.split})"
        rows.append(grid.GridRow((name, f"{own.drop.sources:,}", *cells, *tested)))
    columns = ("sources", *(f"{name}, %" for name in names.values()))
    tests = ("right, not strict", "p (McNemar)")
    return grid.made("drop to strict, by bootstrap", (*columns, *tests), rows)


def _position_grid(found: Results) -> grid.Grid:
    # With the number of spans, which is what the shares of texts are parts of.
    lines, cells, rows = by_line(found.rows), found.outcomes.cells_by_key(), []
    for own in found.summary:
        shares = lines[own.config, own.split, "", ""]
        at = [grid.share_cell(shares[SPAN_ACCURACY].score)]
        for position in ("whole", "contains", "overlaps", "misses"):
            metric = f"{ACCURACY}, span {position}"
            if metric in shares:
                number = cells[own.config, own.split, "", metric].weight.sum()
                at.append(f"{grid.share_cell(shares[metric].score)} ({number:,.0f})")
            else:
                at.append("–")
        rows.append(grid.GridRow((f"{own.config} ({own.split})", *at)))
    named = ("all spans", "the whole", "contains the evidence", "overlaps it", "misses it")
    return grid.made("accuracy by span position, % (spans)", named, rows)


def _of_parts(config: str, parts: Mapping[str, _Line]) -> Iterator[grid.GridRow]:
    # Folds by their numbers.
    number = {name: int(name.removeprefix(FOLD)) if FOLD in name else 0 for name in parts}
    for name, line in sorted(parts.items(), key=lambda part: number[part[0]]):
        yield grid.GridRow((f"{config}: {name}", *_shares(line)))
    every: list[Sequence[float]] = [
        [line[name].score or 0.0 for line in parts.values()]
        for name in (ACCURACY, *METRIC_NAMES.values())
    ]
    means = (grid.share_cell(sum(values) / len(values)) for values in every)
    yield grid.GridRow((f"{config}: mean", *means, "", ""), bold=True)
    ranges = (f"{grid.share_cell(min(v))} to {grid.share_cell(max(v))}" for v in every)
    yield grid.GridRow((f"{config}: range", *ranges, "", ""))


def released_grids(found: Results) -> Iterator[grid.Grid]:
    """The figures of the released program, and the published ones."""
    lines, rows = by_line(found.rows), []
    for own in found.summary:
        for name, thresholds in own.released_at.items():
            each = lines[own.config, own.split, "", released_system(name)]
            accuracy = lines[own.config, own.split, "", name][ACCURACY].score
            cells = [name or f"{own.config} ({own.split})", grid.share_cell(accuracy)]
            for metric, at in thresholds.items():
                chosen = f" (ρ {at:.2f})" if at is not None else ""
                cells.append(grid.share_cell(each[metric].score) + chosen)
            rows.append(grid.GridRow(tuple(cells), int(bool(name)), bold=not name))
        for row in own.published:
            figures = (f"{row[key]:.1f}" for key in ("accuracy", "strict", "lenient"))
            rows.append(grid.GridRow((f"{row['model']}, published", *figures), 1))
    if rows:
        names = (ACCURACY, "strict", "lenient")
        yield grid.made(f"{_RELEASED}, %", names, rows)
