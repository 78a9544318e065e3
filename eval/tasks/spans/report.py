"""The report of span coherence: its tables, and texts with a triangle each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from coherencegym.eval.data.baselines import HUMAN_PERFORMANCE
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import Figure, ReportSection, Strips, Triangles
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, shown_rows
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.baselines import BEST_CONSTANT, COIN
from coherencegym.eval.tasks.spans.coherence import Coherence
from coherencegym.eval.tasks.spans.figure import draw_coherence
from coherencegym.eval.tasks.spans.results import (
    ACCURACY,
    METRIC_NAMES,
    MONOTONE,
    ONE_UNIT,
    SEVERAL_UNITS,
    SPAN_ACCURACY,
    STRICT_IF_RIGHT,
    SpanDetail,
    SpanScores,
)
from coherencegym.eval.tasks.spans.triangles import CELL, described_triangle, triangles_of

#: The heading of the table in the published mode.
_RELEASED = "as the released program computes it"
#: The name of the answers by the other side of a threshold that came out inverted.
ONE_SIDED = "not inverted"
_METRICS = (ACCURACY, *METRIC_NAMES.values(), STRICT_IF_RIGHT, MONOTONE)


def span_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    yield ReportSection("Scores", coherence_grid(found))
    for table in beside_grids(found):
        is_detail = not table.headers[0].startswith((_RELEASED, "fold"))
        title = table.headers[0][0].upper() + table.headers[0][1:]
        yield ReportSection(title, table, is_detail=is_detail)
    scores = tuple(shown_rows(found.rows))
    yield ReportSection("Scores by group of texts", Strips(scores, ("bag of words", BEST_CONSTANT)))
    details: list[SpanDetail] = list(found.details)
    title = f"{short_model(str(found.model['name']))} on {found.dataset['name']}"
    words = "; ".join(described_triangle(one.answered) for one in details)
    yield ReportSection(
        "Share of right answers by first and last unit of a span",
        Figure("coherence", words, lambda: draw_coherence(details, title)),
    )
    yield ReportSection(
        "Texts",
        Triangles(tuple(triangles_of(one.answered) for one in details), CELL),
        "Each cell is a span: its row is the first unit, its column the last, and the upper right "
        "corner is the whole text. A fuller colour means a more probable positive answer, or "
        "chosen text. A bold outline marks spans whose right answer is positive, or decided; a "
        "cross marks wrong answers. Texts that are right as a whole and wrong in most parts come "
        "first.",
    )


def coherence_grid(found: Results) -> grid.Grid:
    """The metrics of each config, of all texts, of one unit and of more, and the baselines."""
    by_key = {
        (one.config, one.split, one.group, one.metric): one for one in found.rows if not one.system
    }
    judged = any(one.human_n for one in by_key.values())
    rows: list[grid.GridRow] = []
    for own in _scores(found):
        both = own.one_unit is not None and own.several_units is not None
        for group in ("", *((ONE_UNIT, SEVERAL_UNITS) if both else ())):
            scores = [by_key[own.config, own.split, group, metric] for metric in _METRICS]
            name = group or f"{own.config} ({own.split})"
            needed = "" if group else _confidence(own)
            cells = [name, _number(scores[0]), *map(_cell, scores), needed]
            if judged:
                of_spans = by_key[own.config, own.split, group, SPAN_ACCURACY]
                people = of_spans.human_score, of_spans.human_n
                cells += [_cell(of_spans), grid.share_of_people(*people)]
            rows.append(grid.GridRow(tuple(cells), int(bool(group)), bold=not group))
        if own.one_sided is not None:
            rows.append(grid.GridRow((ONE_SIDED, "", *_shares(own.one_sided), ""), 1))
        rows += _baselines(own)
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


def _confidence(own: SpanScores) -> str:
    if not own.thresholds:
        return ""
    low, high = own.thresholds["strict"]
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


def _baselines(own: SpanScores) -> Iterator[grid.GridRow]:
    for name, found in own.baselines.items():
        yield grid.GridRow((name, "", *_shares(found), ""), 1)
    coin = [own.coin[key] for key in (ACCURACY, *METRIC_NAMES)]
    cells = (COIN, "", *map(grid.share_cell, (*coin, None, None)), "")
    yield grid.GridRow(cells, 1)


def _shares(found: Coherence) -> list[str]:
    values = (
        *(found.accuracy, found.strict, found.lenient, found.lenient_if_right),
        *(found.strict_if_right, found.monotone),
    )
    return [grid.share_cell(value) for value in values]


def beside_grids(found: Results) -> Iterator[grid.Grid]:
    """The drop, accuracy by where a span stands, choices by spans, templates, the program."""
    yield drop_grid(found)
    positions = ("whole", "contains", "overlaps", "misses")
    rows = [
        grid.GridRow(
            (
                f"{own.config} ({own.split})",
                grid.share_cell(own.coherence.span_accuracy),
                *(_at(own.coherence, position) for position in positions),
            )
        )
        for own in _scores(found)
    ]
    named = ("all spans", "the whole", "contains the evidence", "overlaps it", "misses it")
    yield grid.made("accuracy by span position, % (spans)", named, rows)
    rows = [
        grid.GridRow((f"{own.config}: {what}", *(grid.share_cell(by[n]) for n in METRIC_NAMES)))
        for own in _scores(found)
        for what, by in (*own.selections.items(), *_areas(own))
    ]
    if rows:
        yield grid.made("choice by selection of spans", tuple(METRIC_NAMES.values()), rows)
    for name in ("template", "fold"):
        both = [(own.config, getattr(own, f"{name}s")) for own in _scores(found)]
        rows = [row for config, parts in both if parts for row in _of_parts(config, parts)]
        if rows:
            yield grid.made(name, _METRICS, rows)
    yield from released_grids(found)


def drop_grid(found: Results) -> grid.Grid:
    """The drop from accuracy to strict coherence, with intervals by a bootstrap over sources."""
    names = {
        **{"accuracy": ACCURACY, **METRIC_NAMES},
        "drop": "drop to strict",
        "strict_if_right": "strict / accuracy",
    }
    rows = []
    for own in _scores(found):
        values = {**asdict(own.coherence), "drop": own.coherence.accuracy - own.coherence.strict}
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


def _at(found: Coherence, position: str) -> str:
    if position not in found.by_position:
        return "–"
    share, number = found.by_position[position]
    return f"{grid.share_cell(share)} ({number:,})"


def _areas(own: SpanScores) -> Iterator[tuple[str, Any]]:
    if own.areas:
        yield "area under the curve", own.areas


def _of_parts(config: str, parts: Mapping[str, Coherence]) -> Iterator[grid.GridRow]:
    for name, own in parts.items():
        yield grid.GridRow((f"{config}: {name}", *_shares(own)))
    keys = ("accuracy", *METRIC_NAMES)
    every = [[getattr(found, key) for found in parts.values()] for key in keys]
    means = (grid.share_cell(sum(values) / len(values)) for values in every)
    yield grid.GridRow((f"{config}: mean", *means, "", ""), bold=True)
    ranges = (f"{grid.share_cell(min(v))} to {grid.share_cell(max(v))}" for v in every)
    yield grid.GridRow((f"{config}: range", *ranges, "", ""))


def released_grids(found: Results) -> Iterator[grid.Grid]:
    """The figures of the released program, and the published ones."""
    rows = []
    for own in _scores(found):
        if not own.released:
            continue
        beside = {"": own.released, **own.released_baselines}
        for name, each in beside.items():
            accuracy = own.baselines[name].accuracy if name else own.coherence.accuracy
            cells = (
                name or f"{own.config} ({own.split})",
                grid.share_cell(accuracy),
                *(_released(each, key) for key in ("strict", "lenient")),
            )
            rows.append(grid.GridRow(cells, int(bool(name)), bold=not name))
        for row in own.published:
            cells = (
                f"{row['model']}, published",
                *(f"{row[key]:.1f}" for key in ("accuracy", "strict", "lenient")),
            )
            rows.append(grid.GridRow(cells, 1))
    if rows:
        names = (ACCURACY, "strict", "lenient")
        yield grid.made(f"{_RELEASED}, %", names, rows)


def _released(found: Any, key: str) -> str:
    at = found[f"{key}_at"]
    return grid.share_cell(found[key]) + (f" (ρ {at:.2f})" if at is not None else "")


def _scores(found: Results) -> list[SpanScores]:
    return [one.scores for one in found.details]
