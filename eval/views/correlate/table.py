"""The table of correlations with ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    LENGTH,
    ONE_RATER,
    REPEATED_WORDS,
    Score,
)
from coherencegym.eval.tasks.correlate.results import CorrelationResults
from coherencegym.eval.tasks.correlate.task import BY_TOKEN, MEASURES, SCORES
from coherencegym.eval.views import grid
from coherencegym.eval.views.table import headline_line, items

#: The names of rows that are not the model's.
_BASELINES = {
    LENGTH: "length alone: longer texts higher",
    REPEATED_WORDS: "repeated words alone",
    BAG_OF_WORDS: "a bag of words, cross-validated",
    ONE_RATER: "one person, beside the others",
}


def print_correlations(
    results: CorrelationResults, console: Any = None, *, verbose: bool = True
) -> None:
    """Print the correlations, notes and signature."""
    console = grid.console_for(console)
    about = results.dataset
    grid.print_heading(console, about["suite"], about["version"], results.model["name"])
    if results.headline is not None:
        console.print(grid.plain_text(headline_line(results.headline)))
    console.print(grid.in_width(correlation_grid(results.rows), width=console.width))
    grid.print_notes(console, results.notes, results.signature, verbose=verbose)


def correlation_grid(scores: Sequence[Score]) -> grid.Grid:
    """A row for each score of each config, its groups below the first, and the baselines."""
    found = {(s.config, s.split, s.group, s.judge, s.measure): s for s in scores}
    headings, cells = [], []
    for config, split in dict.fromkeys((s.config, s.split) for s in scores):
        groups = dict.fromkeys(s.group for s in scores if (s.config, s.split) == (config, split))
        for name, group, judge in _rows(list(groups)):
            own = {m: found.get((config, split, group, judge, m)) for m in MEASURES}
            if not any(own.values()):
                continue
            n = max(one.n for one in own.values() if one is not None)
            is_first = judge == BY_TOKEN and not group
            if is_first:
                headings.append(grid.GridRow((f"{config} ({split})",), bold=True))
                cells.append(dict.fromkeys(("texts", *map(_headed, MEASURES)), ""))
            headings.append(grid.GridRow((f"  {name}",), 1))
            cells.append({"texts": items(n), **{_headed(m): _cell(s) for m, s in own.items()}})
    return grid.of_cells("config, score", headings, cells, ("", "–"))


def _headed(measure: str) -> str:
    return f"{measure} [95 % interval]"


def _rows(groups: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """The name, group and judge of each row of a config."""
    for judge in SCORES:
        yield f"− {judge}", "", judge
        if judge == BY_TOKEN:
            yield from ((f"  {group}", group, judge) for group in groups if group)
    for judge, name in _BASELINES.items():
        yield name, "", judge


def _cell(score: Score | None) -> str:
    if score is None:
        return "–"
    return grid.with_interval(score.score, score.ci_low, score.ci_high, "+.2f")
