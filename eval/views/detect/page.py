"""``report.html`` of detection: tables, plots, and documents with the scores of their sentences.

It is as safe as the page of items (:mod:`eval.views.html_report`): every text is escaped, nothing
runs, and nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.tasks.detect.decisions import highest, intruders
from coherencegym.eval.tasks.detect.results import DetectionResults, ScoredTable
from coherencegym.eval.views.detect.table import detection_grid, probe_grid
from coherencegym.eval.views.html_report import page_of, title_of, verdict_of, write_html
from coherencegym.eval.views.strips import strip_grid

#: Documents of each table that are on the page.
_MOST_DOCUMENTS = 200

#: Scores that are drawn where they are seen at once; more, and the drawing is folded.
_MOST_DRAWN = 24


def write_page(results: DetectionResults, folder: Path) -> None:
    """Write ``report.html``."""
    grids = [detection_grid(results.scores)] if results.scores else []
    grids += [probe_grid(results.probes)] if results.probes else []
    tables = list(_tables(results))
    strips = [row for row in results.rows if row.level == "all"]
    page = page_of(
        "detect.html.jinja",
        results=results,
        title=title_of(results),
        verdict=verdict_of(results),
        drawn=strip_grid(strips, counts=False),
        strips=strips,
        folded=len(strips) > _MOST_DRAWN,
        grids=grids,
        tables=tables,
    )
    write_html(page, folder)


def _tables(results: DetectionResults) -> Iterator[dict[str, Any]]:
    for one in results.tested:
        own = [t for t in results.thresholds if t.config == one.table.config]
        called = [(t.decision, t.threshold) for t in own]
        documents = one.table.documents
        yield {
            "name": one.table.name,
            "place": f"{one.table.config}/{one.table.split}",
            "total": len(documents),
            "documents": [
                {"name": document.item_id, "sentences": list(_sentences(one, number, called))}
                for number, document in enumerate(documents[:_MOST_DOCUMENTS])
            ],
        }


def _sentences(
    scored: ScoredTable, number: int, called: Sequence[tuple[Any, float]]
) -> Iterator[dict[str, Any]]:
    """Sentences, their scores (bits per token; none for the opening one), and what they are.

    ``marks``: the intruder, the highest score, and by which decisions it was called.
    """
    document, scores = scored.table.documents[number], scored.scores[number]
    too_long = scores[-1] != scores[-1]
    for place, text in enumerate(document.sentences):
        marks = ["intruder"] if place == document.intruder_position else []
        if not too_long:
            marks += ["highest score"] * (place == highest(scores))
            marks += [
                f"called by {decision}"
                for decision, threshold in called
                if place in intruders(scores, threshold, decision)
            ]
        score = "too long" if too_long else f"{scores[place]:+.3f}"
        yield {"text": text, "score": score if place else "", "marks": marks}
