"""``comparison.html``: two models item by item, those first on which they differ most.

It is as safe as the page of a run (:mod:`eval.views.html_report`). Folders of results have no
texts, so each item leads to itself on the pages of both runs, where those are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from coherencegym.eval.results.comparison import ModelComparison, PairedJudgements, judged_pairs
from coherencegym.eval.results.saved import Saved
from coherencegym.eval.views.compare_table import (
    comparison_grid,
    comparison_legend,
    comparison_notes,
    significant,
)
from coherencegym.eval.views.grid import share_cell, share_with_interval
from coherencegym.eval.views.html_report import page_of

#: Items of each side that are shown.
_MOST = 60


@dataclass(frozen=True, slots=True)
class ItemPair:
    """A prediction as both models met it: margins in bits, and where its item is on their pages."""

    config: str
    item_id: str
    groups: tuple[str, ...]
    baseline: float
    model: float
    links: tuple[str, str]

    @property
    def difference(self) -> float:
        """The model's margin minus the baseline's."""
        return self.model - self.baseline


@dataclass(frozen=True, slots=True)
class Side:
    """The items on which one of the two does better, the largest difference first."""

    title: str
    total: int
    shown: tuple[ItemPair, ...]


def render_comparisons(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], folder: Path
) -> str:
    """The page that will lie in a folder; ``names``: (model, baseline)."""
    parts = []
    for comparison, (model, baseline) in zip(comparisons, names, strict=True):
        pairs = list(item_pairs(comparison, folder))
        parts.append(
            {
                "model": model,
                "baseline": baseline,
                "said": list(_sentences(comparison, model, baseline)),
                "grid": comparison_grid(comparison.shown),
                "notes": list(comparison_notes(comparison)),
                "outcomes": _outcomes(pairs),
                "sides": [_side(pairs, model, 1), _side(pairs, baseline, -1)],
                "reach": max((abs(m) for p in pairs for m in (p.baseline, p.model)), default=0.0)
                or 1.0,
            }
        )
    title = f"{names[0][0]} against {names[0][1]}"
    if len(names) > 1:
        title = f"{len({name for pair in names for name in pair})} models compared"
    suites = {f"{c.baseline.dataset.suite} {c.baseline.dataset.version or ''}" for c in comparisons}
    return page_of(
        "compare.html.jinja",
        title=f"{title} on {', '.join(sorted(one.strip() for one in suites))}",
        parts=parts,
        legend=list(comparison_legend(comparisons)),
    )


def item_pairs(comparison: ModelComparison, folder: Path) -> Iterator[ItemPair]:
    """The predictions that have a margin with both models."""
    pages = [_page(one, folder) for one in (comparison.baseline, comparison.model)]
    for table in comparison.baseline.tables:
        other = comparison.model.table(table.config, table.split)
        for pair in judged_pairs(table, other) if other is not None else ():
            margins = [one.outcome.margin if one.outcome else None for one in pair]
            if margins[0] is not None and margins[1] is not None:
                place = {"config": table.config, "split": table.split}
                hash_ = urlencode({**place, "item": pair[0].item.item_id}, errors="replace")
                links = [page and f"{page}#{hash_}" for page in pages]
                yield ItemPair(
                    *(table.config, pair[0].item.item_id, _groups(pair)),
                    *(margins[0], margins[1], (links[0], links[1])),
                )


def _groups(pair: PairedJudgements) -> tuple[str, ...]:
    return (*pair[0].groups, *pair[0].item.columns)


def _page(results: Saved, folder: Path) -> str:
    """The page of a run, as a folder reaches it; empty where there is none."""
    page = results.folder / "report.html"
    with suppress(ValueError, OSError):  # on another drive; not to be read
        if page.is_file():
            return quote(Path(os.path.relpath(page.resolve(), folder.resolve())).as_posix())
    return ""


def _side(pairs: Sequence[ItemPair], name: str, sign: int) -> Side:
    own = [pair for pair in pairs if sign * pair.difference > 0]
    own.sort(key=lambda pair: -abs(pair.difference))
    return Side(f"{name} holds by more bits", len(own), tuple(own[:_MOST]))


def _outcomes(pairs: Sequence[ItemPair]) -> dict[str, int]:
    """The number of predictions that hold for both models, for one of them, for none."""
    held = [(pair.baseline > 0, pair.model > 0) for pair in pairs]
    return {
        "both": held.count((True, True)),
        "model": held.count((False, True)),
        "baseline": held.count((True, False)),
        "neither": held.count((False, False)),
    }


def _sentences(comparison: ModelComparison, model: str, baseline: str) -> Iterator[dict[str, Any]]:
    """A sentence for each config: by how much the models differ, and whether that is shown."""
    for row in comparison.shown:
        if row.level != "all" or row.difference is None:
            continue
        points = share_with_interval(row.difference, row.ci_low, row.ci_high, "+.1f")
        yield {
            "config": row.config + (f", {row.what}" if row.what else ""),
            "text": f"{model} reaches {share_cell(row.score)} %, {baseline} "
            f"{share_cell(row.baseline_score)} %, a difference of {points} points",
            "shows": "they differ" if significant(row) else "this does not show that they differ",
            "p": "" if row.p_holm is None else f" (p = {row.p_holm:.3f}, corrected for all rows)",
        }
