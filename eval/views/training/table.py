"""The suites of a training by its steps: scores, and when baselines are left behind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from coherencegym.eval.data.baselines import BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.report import grid
from coherencegym.eval.results.learning import LearningCurve
from coherencegym.eval.results.steps import short_count
from coherencegym.eval.statistics.scores import chance_names
from coherencegym.eval.tasks.headline import Headline

#: Checkpoints that have a column; of more those that are evenly apart on a logarithmic axis.
MOST_COLUMNS = 8
#: The column of the first step from which on a score is above its baselines.
ABOVE = "above baselines since"
#: Lines below the tables.
LEGEND = (
    "* the whole interval is above chance and above the known baselines; the figure shows the "
    "intervals of all checkpoints",
    f"{ABOVE}: the first checkpoint from which on all have a *; – if the last has none",
)


def training_grids(curves: Sequence[LearningCurve]) -> Iterator[grid.Grid]:
    """A table for each training, of its suites by its steps."""
    trainings: dict[tuple[str, str], list[LearningCurve]] = {}
    for curve in curves:
        trainings.setdefault((curve.training, curve.unit), []).append(curve)
    for (name, unit), own in trainings.items():
        counts = sorted({count for curve in own for count in curve.counts})
        shown = [*few_of(counts[:-1], MOST_COLUMNS - 1), counts[-1]]
        left_out = len(counts) - len(shown)
        title = f"{name}: scores in per cent by {unit or 'count'}"
        title += f" ({len(shown)} of {len(counts)} checkpoints)" if left_out else ""
        headings = [grid.GridRow((curve.suite + " †" * curve.controlled,)) for curve in own]
        baselines = (
            *BASELINE_WORDS.values(),
            HUMAN_PERFORMANCE,
            chance_names(head for curve in own for head in curve.heads),
        )
        cells = [_cells(curve, shown, baselines) for curve in own]
        always = [column for column in cells[0] if column not in baselines]
        yield replace(grid.of_cells("suite", headings, cells, ("–",), always), title=title)


def few_of(counts: Sequence[float], most: int) -> list[float]:
    """So many of increasing numbers, first and last too, evenly apart in their logarithms."""
    if len(counts) <= most:
        return list(counts)
    places = [math.log(count + 1) for count in counts]
    wanted = [places[0] + (places[-1] - places[0]) * k / (most - 1) for k in range(most)]
    near = {min(range(len(places)), key=lambda n: abs(places[n] - one)) for one in wanted}
    return [counts[place] for place in sorted(near)]


def _cells(curve: LearningCurve, shown: Sequence[float], names: Sequence[str]) -> dict[str, str]:
    heads = dict(zip(curve.counts, curve.heads, strict=True))
    *before, last = shown
    end, any_head, above = heads.get(last), curve.heads[-1], curve.above_from
    beside = [
        *(grid.share_cell(getattr(any_head, name)) for name in BASELINE_WORDS),
        grid.share_of_people(any_head.human_score, any_head.human_n),
        grid.share_cell(any_head.chance),
    ]
    return {
        "items": f"{any_head.n:,}",
        **{short_count(count): _cell(heads.get(count)) for count in before},
        f"{short_count(last)} [95 % interval]": _cell(end, with_interval=True),
        ABOVE: "–" if above is None or curve.controlled else short_count(above),
        **dict(zip(names, beside, strict=True)),
    }


def _cell(head: Headline | None, with_interval: bool = False) -> str:
    if head is None:
        return "–"
    interval = (head.ci_low, head.ci_high) if with_interval else (None, None)
    return grid.share_with_interval(head.score, *interval) + (" *" if head.is_above_known else "  ")
