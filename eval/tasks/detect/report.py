"""The report of detection: its tables, and documents with the scores of their sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from coherencegym.eval.outcomes.schema import name_of_group
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import DocumentLists, ReportSection, Strips
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, by_line
from coherencegym.eval.tasks.detect.decisions import (
    Decision,
    highest,
    intruders,
    was_read,
    why_left_out,
)
from coherencegym.eval.tasks.detect.probes import probe_differences
from coherencegym.eval.tasks.detect.results import DetectDetail, ScoredTable
from coherencegym.eval.tasks.detect.scores import (
    ANNOTATOR,
    MAJORITY,
    NOT_JUDGED,
    RANDOM,
    VOTE,
    groups_of,
)
from coherencegym.eval.tasks.results import Results

#: Columns by their metrics, with intervals where there is room.
DETECTION_COLUMNS = {
    "document accuracy": "document acc.",
    "exact accuracy": "exact acc.",
    **{name: name for name in ("F1", "precision", "recall", "AUC", "place")},
}
_PROBE_COLUMNS = (
    *("incoherent", "F1, %", "F1, probe, %", "difference, points"),
    *("coherent", "right, %", "right, probe, %", "difference, points "),
)


#: Documents of each table that are listed.
_MOST_DOCUMENTS = 200


def detect_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    details: list[DetectDetail] = list(found.details)
    if any(not one.tested.table.probes for one in details):
        yield ReportSection("Metrics by decision rule", detection_grid(found))
    if any(one.tested.table.probes for one in details):
        yield ReportSection("Detection without and with a probe", probe_grid(found))
    drawn = tuple(row for row in found.rows if row.level == "all")
    yield ReportSection("Scores", Strips(drawn, ("partial input", "chance")))
    yield ReportSection(
        "Documents",
        DocumentLists(tuple(map(_listed, details))),
        "Each sentence has a score from the detector that the signature names; a higher score "
        "means more like an intruder. The opening sentence has no score.",
    )


def _listed(one: DetectDetail) -> dict[str, Any]:
    table = one.tested.table
    predicted = [(own.decision, own.threshold) for own in one.thresholds]
    return {
        "name": table.name,
        "place": f"{table.config}/{table.split}",
        "total": len(table.documents),
        "documents": [
            {
                "name": document.item_id,
                "sentences": list(_sentences(one.tested, number, predicted)),
            }
            for number, document in enumerate(table.documents[:_MOST_DOCUMENTS])
        ],
    }


def _sentences(
    scored: ScoredTable, number: int, predicted: Sequence[tuple[Decision, float]]
) -> Iterator[dict[str, Any]]:
    # Scores are in bits per token, none for the opening sentence.
    document, scores = scored.table.documents[number], scored.scores[number]
    why = "" if was_read(scores) else why_left_out(scores).replace("_", " ")
    for place, text in enumerate(document.sentences):
        marks = ["intruder"] if place == document.intruder_position else []
        if not why:
            marks += ["highest score"] * (place == highest(scores))
            marks += [
                f"predicted by {decision}"
                for decision, threshold in predicted
                if place in intruders(scores, threshold, decision)
            ]
        score = why or f"{scores[place]:+.3f}"
        yield {"text": text, "score": score if place else "", "marks": marks}


def detection_grid(found: Results) -> grid.Grid:
    """The table of detection: a line for each group, and below it who decides.

    Baselines are there for all documents, people where they judged all documents of a group.
    """
    lines, rows = by_line(found.rows), []
    for one in found.details:
        table = one.tested.table
        documents, intruded = Counter[str](), Counter[str]()
        for document, scores in zip(table.documents, one.tested.scores, strict=True):
            named = map(name_of_group, groups_of(table, document))
            for group in ("", *named) if was_read(scores) else ():
                documents[group] += 1
                intruded[group] += document.intruded
        decisions = [own.decision for own in one.thresholds]
        for group in sorted(documents):
            baselines = () if group else (MAJORITY, RANDOM)
            for system in ("", *decisions, *baselines, ANNOTATOR, VOTE):
                line = lines.get((table.config, table.split, group, system), {})
                in_part = any(NOT_JUDGED in score.counts for score in line.values())
                if system and (in_part or not line):
                    continue
                name = f"    {system}" if system else f"  {group}" if group else table.name
                known = (line.get(metric) for metric in DETECTION_COLUMNS)
                metrics = (_cell(score) if score else "" for score in known)
                cells = (name, _count(documents[group]), f"{intruded[group]:,}", *metrics)
                is_part = bool(group or system)
                rows.append(grid.GridRow(cells, int(is_part), bold=not is_part))
    return grid.made(
        "config, group, decision",
        ("documents", "intruded", *(f"{name}, %" for name in DETECTION_COLUMNS.values())),
        rows,
    )


def probe_grid(found: Results) -> grid.Grid:
    """The table of probes, without and with each."""
    lines, differences, rows = by_line(found.rows), probe_differences(found.outcomes), []
    for table, decision in (
        (one.tested.table, own.decision) for one in found.details for own in one.thresholds
    ):
        changes = differences.get((table.config, table.split, decision), {})
        scores = lines.get((table.config, table.split, "", decision), {})
        cells = [f"{table.name} {decision}"]
        for side in ("F1", "coherent"):
            change = changes.get(f"{side} with probe")
            both = [scores.get(f"{side} {which} probe") for which in ("without", "with")]
            cells.append(_count(both[0].n if both[0] else 0))
            cells += [_cell(score) if score else "–" for score in both]
            limits = (change.value, change.low, change.high) if change else (None, None, None)
            cells.append(grid.share_with_interval(*limits, "+.1f"))
        rows.append(grid.GridRow(tuple(cells)))
    return grid.made("probe, decision", _PROBE_COLUMNS, rows)


def _cell(score: Score) -> str:
    return grid.share_with_interval(score.score, score.ci_low, score.ci_high)


def _count(n: int) -> str:
    return f"{n:,}" + (" !" if n < FEW_ITEMS else "")
