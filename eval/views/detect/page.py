"""``report.html`` of detection: tables, plots, and documents with the scores of their sentences.

It is as safe as the page of items (:mod:`eval.views.html_report`): every text is escaped, nothing
runs, and nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.eval.tasks.detect.decisions import highest, intruders
from coherencegym.eval.tasks.detect.results import DetectionResults, ScoredTable
from coherencegym.eval.views.detect.table import detection_grid, probe_grid
from coherencegym.eval.views.html_report import FILE, environment, plots_of, policy, title_of

#: Documents of each table that are on the page.
MOST_DOCUMENTS = 200


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence on the page; ``score`` is in bits per token, empty for the opening one.

    ``marks`` say what it is: the intruder, the highest score, and by which decisions it was called.
    """

    text: str
    score: str
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document on the page."""

    name: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class ShownTable:
    """The documents of a table that are on the page, of so many."""

    name: str
    documents: tuple[ShownDocument, ...]
    total: int


def write_page(results: DetectionResults, folder: Path) -> None:
    """Write ``report.html`` with the plots that the folder has already."""
    # A name may hold half a character (a lone surrogate), which no file can.
    text = render_page(results, folder).encode("utf-8", "replace")
    (folder / FILE).write_bytes(text)


def render_page(results: DetectionResults, folder: Path) -> str:
    """The page, with the plots of a folder."""
    from markupsafe import Markup

    templates, source = environment()
    style = source("report.css")
    grids = [detection_grid(results.scores)] if results.scores else []
    grids += [probe_grid(results.probes)] if results.probes else []
    text: str = templates.get_template("detect.html.jinja").render(
        results=results,
        title=title_of(results.model, results.dataset),
        policy=policy("", style),
        style=Markup(style),
        grids=grids,
        plots=plots_of(folder),
        tables=list(_tables(results)),
    )
    return text


def _tables(results: DetectionResults) -> Iterator[ShownTable]:
    for one in results.tested:
        own = [t for t in results.thresholds if t.config == one.table.config]
        called = [(t.decision, t.threshold) for t in own]
        documents = tuple(
            ShownDocument(document.item_id, tuple(_sentences(one, number, called)))
            for number, document in enumerate(one.table.documents[:MOST_DOCUMENTS])
        )
        yield ShownTable(one.table.name, documents, len(one.table.documents))


def _sentences(
    scored: ScoredTable, number: int, called: Sequence[tuple[Any, float]]
) -> Iterator[Sentence]:
    document, scores = scored.table.documents[number], scored.scores[number]
    too_long = scores[-1] != scores[-1]
    for place, text in enumerate(document.sentences):
        marks = ["intruder"] if place == document.intruder_position else []
        if not too_long and place == highest(scores):
            marks.append("highest score")
        if not too_long:
            marks += [
                f"called by {decision}"
                for decision, threshold in called
                if place in intruders(scores, threshold, decision)
            ]
        score = "too long" if too_long else f"{scores[place]:+.3f}"
        yield Sentence(text, score if place else "", tuple(marks))
