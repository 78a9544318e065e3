"""A folder of results: its files, figures and page."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from coherencegym.eval.report import figures, grid
from coherencegym.eval.report.blocks import (
    DocumentLists,
    Figure,
    ReportSection,
    Strips,
    TextLists,
    Triangles,
    Verdict,
)
from coherencegym.eval.results.folder import write_results
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.results import ScoreSummary
from coherencegym.eval.views.html_report import (
    copied_results,
    page_of,
    render_report,
    source,
    title_of,
    verdict_of,
    write_html,
)
from coherencegym.eval.views.plots import plot_runs
from coherencegym.eval.views.strips import strip_grid
from coherencegym.files.folders import written_beside


def write_results_folder(
    found: Results,
    folder: Path,
    *,
    overwrite: bool = False,
    more: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write a folder of results, whole or not at all; ``more`` are texts of further files.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    with written_beside(folder, overwrite) as work:
        write_results(found, work)
        write_results_files(found, work)
        for name, text in more.items():
            (work / name).write_bytes(text.encode("utf-8", "replace"))


def write_results_files(found: Results, work: Path) -> None:
    """Write what a folder of results has beside what those of every task have."""
    found.asked.files(found, work)
    write_pages(found, work)


def write_pages(found: Results, work: Path) -> None:
    """Write the figures and the page of a folder of results."""
    plot_runs([found], work)
    is_score = isinstance(found.summary, ScoreSummary)
    write_html(render_report(found) if is_score else _page(found, work), work)


def _grids(sections: Sequence[ReportSection]) -> list[grid.Grid]:
    return [one.body for one in sections if isinstance(one.body, grid.Grid)]


def _page(found: Results, folder: Path) -> str:
    sections = found.sections
    drawn = {
        one.title: _drawn(one.body, title_of(found), folder)
        for one in sections
        if isinstance(one.body, Figure)
    }
    return page_of(
        "task.html.jinja",
        source("copy.js"),
        results=found,
        title=title_of(found),
        verdict=_verdict(found),
        sections=sections,
        kinds={one.title: _kind(one) for one in sections},
        strip_grid=strip_grid,
        drawn=drawn,
        copied=copied_results(found, _grids(sections)),
    )


def _verdict(found: Results) -> Verdict | None:
    own = found.asked.verdict
    return verdict_of(found, found.asked.command.units) if own is None else own(found)


def _kind(section: ReportSection) -> str:
    return _KINDS[type(section.body)]


#: Names of blocks in the page's template.
_KINDS: dict[type, str] = {
    grid.Grid: "grid",
    Figure: "figure",
    TextLists: "texts",
    Strips: "strips",
    Triangles: "triangles",
    DocumentLists: "documents",
}


def _drawn(figure: Figure, title: str, folder: Path) -> str:
    with figures.style():
        made = figure.draw()
        made.suptitle(figures.cut(title, 70), fontsize=11, fontweight="bold")
        figures.save(made, folder / f"{figure.name}.png")
    content = base64.b64encode((folder / f"{figure.name}.svg").read_bytes()).decode()
    return f"data:image/svg+xml;base64,{content}"
