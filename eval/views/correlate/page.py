"""The folder of a run of ``correlate``: a figure of scores by ratings, and ``report.html``.

The page is as safe as that of items (:mod:`eval.views.html_report`): every text is escaped, nothing
runs, and nothing is fetched.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.kinds.ratings import RatedText
from coherencegym.eval.results.folder import results_folder
from coherencegym.eval.results.runs import run_of
from coherencegym.eval.statistics.scores import SPEARMAN
from coherencegym.eval.tasks.correlate.results import CorrelationResults
from coherencegym.eval.tasks.correlate.task import BY_TOKEN
from coherencegym.eval.tasks.task import Table
from coherencegym.eval.views import figures
from coherencegym.eval.views.correlate.table import correlation_grid
from coherencegym.eval.views.html_report import page_of, title_of, verdict_of, write_html

#: The figure, and the texts of each table that are on the page.
FIGURE, _MOST_TEXTS = "ratings.svg", 100

#: A text, its score, and how many shares of all texts the score puts it above its rating's place.
Misplaced = tuple[RatedText, float, float]


def write_correlations(
    results: CorrelationResults, folder: Path, *, overwrite: bool = False
) -> None:
    """Write a folder of results, whole or not at all.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    from coherencegym.eval.views.plots import plot_runs

    with results_folder(results, folder, overwrite=overwrite) as work:
        plot_runs([run_of(results)], work)
        placed = {table.name: by_misplacement(results, table) for table in results.tables}
        _draw(results, placed, work)
        write_html(_page(results, placed, work / FIGURE), work)


def by_misplacement(results: CorrelationResults, table: Table[RatedText]) -> list[Misplaced]:
    """The texts of a table that have a score, those first that it places worst."""
    from scipy.stats import rankdata

    scores = {
        one.unit_id: one.value
        for one in results.outcomes
        if (one.config, one.split) == (table.config, table.split)
        and (one.measure, one.judge) == (SPEARMAN, BY_TOKEN)
    }
    known = [(row, value) for row in table.rows if (value := scores[row.item_id]) is not None]
    if not known:
        return []
    ranks = [rankdata(own) for own in ([v for _, v in known], [row.rating for row, _ in known])]
    moved = (ranks[0] - ranks[1]) / len(known)
    found = [(*one, float(by)) for one, by in zip(known, moved, strict=True)]
    return sorted(found, key=lambda one: (-abs(one[2]), one[0].item_id))


def _draw(results: CorrelationResults, placed: dict[str, list[Misplaced]], folder: Path) -> None:
    """The score of each text by its rating, a panel for each table."""
    with figures.style():
        figures.save(_panels(results, placed), folder / "ratings.png")


def _panels(results: CorrelationResults, placed: dict[str, list[Misplaced]]) -> Any:
    many = len(placed)
    figure = figures.new_figure(max(4.5, 3.6 * many), 3.6, layout="constrained")
    panels = figure.subplots(1, many, squeeze=False)[0]
    for axes, (name, own) in zip(panels, placed.items(), strict=True):
        axes.scatter(
            [row.rating for row, _, _ in own],
            [value for _, value, _ in own],
            s=18,
            color=figures.colour(0),
            alpha=0.5,
            linewidths=0,
        )
        axes.set_title(figures.cut(name, 40), fontsize=10)
        axes.set_xlabel("rating", fontsize=9)
        axes.set_ylabel(f"− {BY_TOKEN}", fontsize=9)
    figure.suptitle(figures.cut(title_of(results), 70), fontsize=11, fontweight="bold")
    return figure


def _page(results: CorrelationResults, placed: dict[str, list[Misplaced]], figure: Path) -> str:
    drawn = base64.b64encode(figure.read_bytes()).decode()
    return page_of(
        "correlate.html.jinja",
        results=results,
        title=title_of(results),
        verdict=verdict_of(results, "texts"),
        grids=[correlation_grid(results.rows)],
        figure=f"data:image/svg+xml;base64,{drawn}",
        tables=[_listed(name, own) for name, own in placed.items()],
    )


def _listed(name: str, own: Sequence[Misplaced]) -> dict[str, Any]:
    rows = [
        {
            "name": row.item_id,
            "rating": f"{row.rating:g}",
            "ratings": ", ".join(f"{one:g}" for one in row.ratings) if len(row.ratings) > 1 else "",
            "score": f"{value:.3f}",
            "moved": f"{100 * moved:+.0f}",
            "prompt": row.prompt,
            "text": row.text,
        }
        for row, value, moved in own[:_MOST_TEXTS]
    ]
    return {"name": name, "total": len(own), "rows": rows}
