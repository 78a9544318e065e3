"""The table beside which a page draws each score on a line."""

from __future__ import annotations

from collections.abc import Sequence

from coherencegym.eval.report.grid import Grid, GridRow, made, share_with_interval
from coherencegym.eval.report.labels import labels
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score


def strip_grid(scores: Sequence[Score], counts: bool = True) -> Grid:
    """The table of scores, with their counts of units that are left out, or are of a kind."""
    rows = []
    for score, name in zip(scores, labels(scores), strict=True):
        value = share_with_interval(score.score, score.ci_low, score.ci_high)
        n = f"{score.n:,}" + (" !" if score.n < FEW_ITEMS else "")
        own = ", ".join(f"{number:,} {what}" for what, number in score.counts.items())
        is_part = score.level != "all"
        cells = (name, n, value, *([own] if counts else []))
        rows.append(GridRow(cells, int(is_part), bold=not is_part))
    names = ("n", "score, % [95 % interval]", *(["counts"] if counts else []))
    return made("config, group: metric", names, rows)
