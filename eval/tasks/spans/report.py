"""The report of span coherence: its tables, and texts with a triangle each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from coherencegym.eval.data.baselines import HUMAN_PERFORMANCE
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import Figure, ReportSection, Strips, Triangles
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, by_line, shown_rows
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.baselines import BAG, BEST_CONSTANT, COIN, CONSTANTS
from coherencegym.eval.tasks.spans.figure import draw_coherence
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
    released_system,
)
from coherencegym.eval.tasks.spans.triangles import CELL, described_triangle, triangles_of

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
