"""``comparison.html``: two models item by item, those first of which only one has it right.

It is as safe as the page of a run (:mod:`eval.views.html_report`). Folders of results have no
texts: they are read from the dataset where it is on this machine, and each item leads to itself on
the pages of both runs, where those are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.views.compare.items import OUTCOMES, collect_pairs
from coherencegym.eval.views.compare_table import (
    comparison_grid,
    comparison_legend,
    comparison_notes,
    significant,
)
from coherencegym.eval.views.grid import Grid, share_cell, share_with_interval
from coherencegym.eval.views.html_report import page_of, source

#: Most configs or measures of which each has a sentence.
_MOST_SENTENCES = 3
_NOT_SHOWN = "this does not show that they differ"


def render_comparisons(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], folder: Path
) -> str:
    """The page that will lie in a folder; ``names``: (model, baseline)."""
    items = collect_pairs(comparisons, names, folder)
    parts = [
        {
            "model": model,
            "baseline": baseline,
            "said": list(_sentences(comparison, model, baseline)),
            "grid": _named(comparison_grid(comparison.shown), model, baseline),
            "notes": list(comparison_notes(comparison)),
            "counted": _counted(comparison, items.data),
            "outcomes": _outcomes(counts, f"{model} against {baseline}" if len(names) > 1 else ""),
        }
        for comparison, (model, baseline), counts in zip(
            comparisons, names, items.counts, strict=True
        )
    ]
    title = f"{names[0][0]} against {names[0][1]}"
    if len(names) > 1:
        title = f"{len({name for pair in names for name in pair})} models compared"
    suites = {f"{c.baseline.dataset.suite} {c.baseline.dataset.version or ''}" for c in comparisons}
    return page_of(
        "compare.html.jinja",
        source("listing.js") + source("compare.js"),
        title=f"{title} on {', '.join(sorted(one.strip() for one in suites))}",
        parts=parts,
        items=items,
        in_predictions=all(one.baseline.task == "score" for one in comparisons),
        legend=list(comparison_legend(comparisons)),
    )


def _counted(comparison: ModelComparison, data: Mapping[str, Any]) -> str:
    """The beginning of the sentence that counts outcomes: what is counted."""
    if comparison.baseline.task == "score":
        return "Predictions that hold"
    return f"Right ({data['kinds'][0]})" if data["kinds"] else ""


def _outcomes(counts: Mapping[str, int], runs: str) -> dict[str, dict[str, Any]]:
    """The number of each outcome, and the address of these items; nothing where none is counted."""
    about = {"runs": runs} if runs else {}
    return {
        name: {"n": counts.get(name, 0), "link": f"#{urlencode(about | {'outcome': name})}"}
        for name in (OUTCOMES if counts else ())
    }


def _sentences(comparison: ModelComparison, model: str, baseline: str) -> Iterator[dict[str, Any]]:
    """Sentences on by how much the models differ, and whether that is shown: one a config.

    If there are many configs or measures, one says how many differ, and the first that do follow.
    """
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
    for row in rows:
        points = share_with_interval(row.difference, row.ci_low, row.ci_high, "+.1f")
        p = "" if row.p_holm is None else f"p = {row.p_holm:.3f}".replace("= 0.000", "< 0.001")
        yield {
            "config": row.config + (f", {row.what}" if row.what else ""),
            "text": f"{model} reaches {share_cell(row.score)} %, {baseline} "
            f"{share_cell(row.baseline_score)} %, a difference of {points} points",
            "shows": "they differ" if significant(row) else _NOT_SHOWN,
            "p": p and f" ({p}, corrected for all rows)",
        }


def _named(grid: Grid, model: str, baseline: str) -> Grid:
    """The table with the names of the models in its heads."""
    names = {"model, %": f"{model}, %", "baseline, %": f"{baseline} (baseline), %"}
    return replace(grid, headers=tuple(names.get(head, head) for head in grid.headers))
