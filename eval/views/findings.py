"""Findings of a task of the registry on a terminal, a page, in a folder and a notebook."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from coherencegym.eval.data.baselines import BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.metrics.estimates import EstimateRow, score_of
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
from coherencegym.eval.report.labels import labels
from coherencegym.eval.results.folder import results_folder
from coherencegym.eval.results.runs import run_of
from coherencegym.eval.statistics.scores import CD, FEW_ITEMS, is_correlation
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.score.results import ScoreSummary
from coherencegym.eval.tasks.task import Findings
from coherencegym.eval.views import frames
from coherencegym.eval.views.html_report import (
    copied_results,
    notebook_cell,
    page_of,
    render_report,
    source,
    title_of,
    verdict_of,
    write_html,
)
from coherencegym.eval.views.plots import plot_runs
from coherencegym.eval.views.strips import strip_grid

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]


@dataclass(frozen=True, repr=False)
class ShownFindings(Findings):
    """Findings that a notebook shows as tables, and that print as the terminal has them."""

    def to_pandas(self, kind: frames.Kind = "scores") -> pandas.DataFrame:
        """A table of the results as a data frame; see :func:`eval.views.frames.rows`."""
        return frames.to_pandas(self, kind)

    def __str__(self) -> str:
        return grid.as_printed(
            lambda console: print_findings(self, console, verbose=False, shown_by=grid.IN_REPORT)
        )

    def _repr_html_(self) -> str:
        return notebook_cell(_grids(sections_of(self)), self)


def shown_findings(found: Findings) -> ShownFindings:
    """The same findings, which show themselves."""
    return ShownFindings(**{field.name: getattr(found, field.name) for field in fields(found)})


def sections_of(found: Findings) -> list[ReportSection]:
    """The sections of a task's report; of one that has none of its own, a table."""
    if found.asked.sections is not None:
        return list(found.asked.sections(found))
    return [ReportSection("Scores", estimate_grid(found.estimates))]


def estimate_grid(rows: Sequence[EstimateRow]) -> grid.Grid:
    """A table of all estimates, with what was left out."""
    scores = [score_of(row) for row in rows]
    made = []
    for row, score, name in zip(rows, scores, labels(scores), strict=True):
        value = row.estimate
        cells = (
            name,
            f"{value.n:,}" + (" !" if value.n < FEW_ITEMS else ""),
            _cell(row),
            ", ".join(f"{number:,} {why}" for why, number in row.left_out.items()),
        )
        is_part = score.level != "all"
        made.append(grid.GridRow(cells, int(is_part), bold=not is_part))
    return grid.made("config, group: metric", ("n", "score [95 % interval]", "left out"), made)


def _cell(row: EstimateRow) -> str:
    found = row.estimate
    if row.metric.is_signed:
        return grid.with_interval(found.value, found.low, found.high, "+.2f")
    return f"{grid.share_with_interval(found.value, found.low, found.high)} %"


def print_findings(
    found: Findings,
    console: Any = None,
    *,
    verbose: bool = True,
    shown_by: str = grid.BY_OPTION,
) -> None:
    """Print the tables, notes and signature; arguments are those of :func:`grid.print_notes`."""
    console = grid.console_for(console, 200)
    about = found.dataset
    grid.print_heading(console, about["suite"], about["version"], found.model["name"])
    said: object = found.asked.verdict(found) if found.asked.verdict is not None else None
    if found.asked.verdict is None and found.headline is not None:
        said = headline_line(found.headline)
    if said is not None:
        console.print(grid.plain_text(str(said)), soft_wrap=True)
    hidden = []
    for section in sections_of(found):
        if verbose or not section.is_detail:
            _print_section(section, console)
        else:
            hidden.append(section.title.lower())
    grid.print_notes(
        console,
        found.notes,
        found.signature,
        verbose=verbose,
        hidden=hidden,
        shown_by=shown_by,
    )


def headline_line(headline: Headline) -> str:
    """The one number of a suite in a line, with what it is to be held against."""
    ends = headline.ci_low, headline.ci_high
    score = grid.score_with_interval(headline.score, *ends, headline.metric)
    cells = f"{headline.counted}, " if headline.counted else ""
    beside = {
        **{words: getattr(headline, name) for name, words in BASELINE_WORDS.items()},
        headline.chance_name: headline.chance,
    }
    said = grid.share_cell
    if is_correlation(headline.metric):
        said = partial(grid.number_cell, form="+.2f")
    others = [f"{name} {said(value)}" for name, value in beside.items() if value is not None]
    if headline.human_score is not None:
        ends = headline.human_ci_low, headline.human_ci_high
        human = grid.score_with_interval(headline.human_score, *ends, headline.metric)
        human = human.removesuffix(" %")
        others.append(f"{HUMAN_PERFORMANCE} {human} (n = {headline.human_n:,})")
    what = "CD" if headline.metric == CD else headline.metric
    return f"{what} {score} ({cells}{headline.n:,} items); {', '.join(others)}"


def _print_section(section: ReportSection, console: Any) -> None:
    if isinstance(section.body, grid.Grid):
        shown = [section.body, *([section.narrow] if section.narrow else [])]
        table = grid.in_width(*shown, width=console.width)
        console.print(grid.rich_block(section.body, console.width) if section.body.title else table)
    for sentence in section.sentences:
        console.print(grid.plain_text(sentence), soft_wrap=True)


def write_findings(
    found: Findings,
    folder: Path,
    *,
    overwrite: bool = False,
    more: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write a folder of results, whole or not at all; ``more`` are texts of further files.

    Raises:
        EvaluationError: the folder exists and overwriting was not asked for.
    """
    with results_folder(found, folder, overwrite=overwrite) as work:
        write_findings_files(found, work)
        for name, text in more.items():
            (work / name).write_bytes(text.encode("utf-8", "replace"))


def write_findings_files(found: Findings, work: Path) -> None:
    """Write what a folder of results has beside what those of every task have."""
    found.asked.files(found, work)
    write_pages(found, work)


def write_pages(found: Findings, work: Path) -> None:
    """Write the figures and the page of a folder of results."""
    plot_runs([run_of(found)], work)
    is_score = isinstance(found.summary, ScoreSummary)
    write_html(render_report(found) if is_score else _page(found, work), work)


def _grids(sections: Sequence[ReportSection]) -> list[grid.Grid]:
    return [one.body for one in sections if isinstance(one.body, grid.Grid)]


def _page(found: Findings, folder: Path) -> str:
    sections = sections_of(found)
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


def _verdict(found: Findings) -> Verdict | None:
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
