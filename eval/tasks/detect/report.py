"""The report of detection: its tables, and documents with the scores of their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import DocumentLists, ReportSection, Strips
from coherencegym.eval.statistics.estimate import Estimate
from coherencegym.eval.statistics.scores import FEW_ITEMS
from coherencegym.eval.tasks.detect.decisions import (
    Decision,
    highest,
    intruders,
    was_read,
    why_left_out,
)
from coherencegym.eval.tasks.detect.probes import ProbeScore
from coherencegym.eval.tasks.detect.results import DetectDetail, ScoredTable
from coherencegym.eval.tasks.detect.scores import MODEL, DetectionRow, DetectionScore
from coherencegym.eval.tasks.results import Results

#: Columns, from the fields of a score, with their intervals where there is room.
DETECTION_COLUMNS = {
    "document acc.": "document_accuracy",
    "exact acc.": "exact_accuracy",
    "F1": "f1",
    "precision": "precision",
    "recall": "recall",
    "AUC": "auc",
    "place": "place",
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
    scores = [score for one in details for score in one.scores]
    probes = [probe for one in details for probe in one.probes]
    if scores:
        yield ReportSection("Metrics by decision rule", detection_grid(scores))
    if probes:
        yield ReportSection("Detection without and with a probe", probe_grid(probes))
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


def detection_grid(scores: Sequence[DetectionScore]) -> grid.Grid:
    """The table of detection."""
    return detection_table(
        [
            detection_row(s, (_cell(getattr(s, field)) for field in DETECTION_COLUMNS.values()))
            for s in scores
        ]
    )


def detection_row(score: DetectionRow, metrics: Iterable[str]) -> grid.GridRow:
    """A score under its config or group, and below it who decides."""
    first = score.system == MODEL and not score.group
    if score.system != MODEL:
        name = f"    {score.system}"
    else:
        name = f"  {score.group}" if score.group else f"{score.config} ({score.split})"
    cells = (name, _count(score.documents), f"{score.intruded:,}", *metrics)
    return grid.GridRow(cells, 0 if first else 1, bold=first)


def detection_table(rows: Sequence[grid.GridRow]) -> grid.Grid:
    """The table of such rows."""
    return grid.made(
        "config, group, decision",
        ("documents", "intruded", *(f"{name}, %" for name in DETECTION_COLUMNS)),
        rows,
    )


def probe_grid(scores: Sequence[ProbeScore]) -> grid.Grid:
    """The table of probes, without and with each."""
    rows = [
        grid.GridRow(
            (
                f"{score.config} ({score.split}) {score.decision}",
                _count(score.documents),
                _cell(score.f1),
                _cell(score.f1_probe),
                _cell(score.difference, "+.1f"),
                _count(score.coherent_documents),
                _cell(score.coherent),
                _cell(score.coherent_probe),
                _cell(score.coherent_difference, "+.1f"),
            )
        )
        for score in scores
    ]
    return grid.made("probe, decision", _PROBE_COLUMNS, rows)


def _cell(metric: Estimate | None, form: str = ".1f") -> str:
    if metric is None:
        return ""
    return grid.share_with_interval(metric.value, metric.low, metric.high, form)


def _count(n: int) -> str:
    return f"{n:,}" + (" !" if n < FEW_ITEMS else "")
