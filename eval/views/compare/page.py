"""``comparison.html``: two models item by item, those first of which only one has it right.

It is as safe as the page of a run (:mod:`eval.views.html_report`). Folders of results have no
texts: they are read from the dataset where it is on this machine, and each item leads to itself on
the pages of both runs, where those are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from coherencegym.eval.data.notes import first_names
from coherencegym.eval.report.grid import (
    Grid,
    GridRow,
    made,
    share_cell,
    share_with_interval,
)
from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.results.saved import Saved
from coherencegym.eval.views.compare.items import OUTCOMES, collect_pairs
from coherencegym.eval.views.compare.texts import ItemPlace, Texts
from coherencegym.eval.views.compare_table import (
    comparison_grid,
    comparison_legend,
    comparison_notes,
    significant,
    suite_titles,
)
from coherencegym.eval.views.html_report import page_of, source

#: Most configs or metrics of which each has a sentence.
_MOST_SENTENCES = 3
_NOT_SHOWN = "this does not show that they differ"
#: Tasks whose units are documents with their sentences.
_OF_DOCUMENTS = frozenset({"detect", "train-documents"})


@dataclass(frozen=True)
class SitePlace:
    """The place of a page on a site for others.

    Attributes:
        title: the title of the page.
        headings: those of the comparisons.
        trail: names and addresses of the pages above it.
        most_characters: the length of its items, about.
        read_texts: gives the texts of some of a run's items that may be shown there.
    """

    title: str
    headings: Sequence[str]
    trail: Sequence[tuple[str, str]]
    most_characters: int
    read_texts: Callable[[Saved, Set[ItemPlace]], Texts]


def render_comparisons(
    comparisons: Sequence[ModelComparison],
    names: Sequence[tuple[str, str]],
    folder: Path | None,
    place: SitePlace | None = None,
) -> str:
    """The page that will lie in a folder, or at a ``place``; ``names``: (model, baseline)."""
    headings = place.headings if place else _headings(comparisons, names)
    how: dict[str, Any] = {"headings": headings}
    if place is not None:
        how |= {"most_characters": place.most_characters, "read_texts": place.read_texts}
    items = collect_pairs(comparisons, names, folder, **how)
    runs = headings or [f"{model} against {baseline}" for model, baseline in names]
    parts = [
        {
            "heading": heading,
            "signatures": (comparison.model.signature, comparison.baseline.signature),
            "model": model,
            "baseline": baseline,
            "said": list(_sentences(comparison, model, baseline)),
            "grid": _named(comparison_grid(comparison.shown), model, baseline),
            "notes": list(comparison_notes(comparison)),
            "counted": _counted(comparison, items.data),
            "outcomes": _outcomes(counts, heading if len(names) > 1 else ""),
        }
        for comparison, (model, baseline), counts, heading in zip(
            comparisons, names, items.counts, runs, strict=True
        )
    ]
    return page_of(
        "compare.html.jinja",
        source("listing.js") + source("compare.js"),
        title=place.title if place else _title(comparisons, names),
        trail=place.trail if place else (),
        parts=parts,
        items=items,
        in_predictions=any(one.baseline.task == "score" for one in comparisons),
        in_documents=any(one.baseline.task in _OF_DOCUMENTS for one in comparisons),
        summary=_summary(headings, comparisons, names) if place else None,
        legend=list(comparison_legend(comparisons)),
    )


def _headings(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]]
) -> Sequence[str]:
    # None where models tell the comparisons apart.
    suites = suite_titles(comparisons)
    if not any(suites):
        return ()
    several = len(set(suites)) < len(suites)
    return [
        suite + (f": {model} against {baseline}" if several else "")
        for suite, (model, baseline) in zip(suites, names, strict=True)
    ]


def _title(comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]]) -> str:
    title = f"{names[0][0]} against {names[0][1]}"
    if len(set(names)) > 1:
        title = f"{len({name for pair in names for name in pair})} models compared"
    suites = {f"{c.baseline.dataset.suite} {c.baseline.dataset.version or ''}" for c in comparisons}
    return f"{title} on {first_names(sorted(one.strip() for one in suites))}"


def _summary(
    headings: Sequence[str],
    comparisons: Sequence[ModelComparison],
    names: Sequence[tuple[str, str]],
) -> Grid:
    rows: list[GridRow] = []
    for number, (heading, comparison) in enumerate(zip(headings, comparisons, strict=True), 1):
        whole = [row for row in comparison.shown if row.level == "all"]
        table = comparison_grid(whole, ("items", "left out", "too close", "test", "p"))
        rows.append(GridRow((heading, *[""] * 4), bold=True, links={0: f"#comparison-{number}"}))
        rows += [replace(row, level=1, bold=False) for row in table.rows]
    heads = ("reference, %", "model, %", "difference [95 % interval]", "p (Holm)")
    return _named(made("suite, config", heads, rows), *names[0])


def _counted(comparison: ModelComparison, data: Mapping[str, Any]) -> str:
    if comparison.baseline.task == "score":
        return "Predictions that hold"
    return f"Right ({data['kinds'][0]})" if data["kinds"] else ""


def _outcomes(counts: Mapping[str, int], runs: str) -> dict[str, dict[str, Any]]:
    about = {"runs": runs} if runs else {}
    return {
        name: {"n": counts.get(name, 0), "link": f"#{urlencode(about | {'outcome': name})}"}
        for name in (OUTCOMES if counts else ())
    }


def _sentences(comparison: ModelComparison, model: str, baseline: str) -> Iterator[dict[str, Any]]:
    # One a config; of many configs or metrics one says how many differ, and the first that do
    # follow.
    rows = [r for r in comparison.shown if r.level == "all" and r.difference is not None]
    if len(rows) > _MOST_SENTENCES:
        differ = [row for row in rows if significant(row)]
        yield {
            "config": "",
            "text": f"{model} and {baseline}, by {len(rows)} scores",
            "shows": f"they differ in {len(differ)}" if differ else _NOT_SHOWN,
            "p": " (each corrected for all rows of the table)",
        }
        rows = differ[:_MOST_SENTENCES]
    named = [(row.config + (f", {row.what}" if row.what else ""), row) for row in rows]
    if comparison.headline is not None:
        named.insert(0, ("headline score", comparison.headline))
    for name, row in named:
        points = share_with_interval(row.difference, row.ci_low, row.ci_high, "+.1f")
        p = "" if row.p_holm is None else f"p = {row.p_holm:.3f}".replace("= 0.000", "< 0.001")
        yield {
            "config": name,
            "text": f"{model} reaches {share_cell(row.score)} %, {baseline} "
            f"{share_cell(row.baseline_score)} %, a difference of {points} points",
            "shows": "they differ" if significant(row) else _NOT_SHOWN,
            "p": p and f" ({p}{', corrected for all rows' if row.config else ''})",
        }


def _named(grid: Grid, model: str, baseline: str) -> Grid:
    names = {"model, %": f"{model}, %", "reference, %": f"{baseline} (reference), %"}
    return replace(grid, headers=tuple(names.get(head, head) for head in grid.headers))
