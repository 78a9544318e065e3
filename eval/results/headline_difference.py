"""The difference of a suite's one number between two models, over what both have."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from coherencegym.eval.metrics.metric import difference_of
from coherencegym.eval.outcomes.tables import count_distinct
from coherencegym.eval.results.paired_scores import PairedScore, compared_outcomes, of_difference
from coherencegym.eval.statistics.paired import (
    difference_interval,
    macro_difference,
    paired_test,
)
from coherencegym.eval.statistics.power import effective_items, smallest_difference
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.headline import headline_cells
from coherencegym.eval.tasks.score.outcomes import ACCURACY


def headline_difference(
    baseline: Results, model: Results, over: Collection[str], seed: int
) -> PairedScore | None:
    """The headline scores of two models and their difference; None where no item is in both.

    Args:
        baseline, model: results of ``score`` on one suite.
        over: the configs that are averaged.
        seed: draws signs.
    """
    import numpy as np

    sides = baseline.outcomes, model.outcomes
    cells: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    n = left_out = 0
    for one, there in compared_outcomes(baseline, model):
        table = baseline.table(one.config, one.split)
        if table is None or one.config not in over:
            continue
        place_of = np.full(len(sides[0]), -1)
        place_of[one.places] = there
        items, known = set[int](), set[int]()
        for group, places in headline_cells(sides[0], table).items():
            own = places[place_of[places] >= 0]
            others = place_of[own]
            has = sides[0].has_value(own) & sides[1].has_value(others)
            left = sides[0].cells(own[has])
            right = replace(sides[1].cells(others[has]), item=left.item)
            old, new = ACCURACY.counted(left), ACCURACY.counted(right)
            if len(old):
                key = table.config, group
                found = old.value, new.value, old.cluster, old.discourse
                cells.setdefault(key, []).append(found)
            known.update(sides[0].items(own).tolist())
            items.update(old.item.tolist())
        n, left_out = n + len(items), left_out + len(known - items)
    if not cells:
        return None
    joined = [tuple(map(np.concatenate, zip(*own, strict=True))) for own in cells.values()]
    return PairedScore(
        config="",
        split="",
        group="",
        level="all",
        n=n,
        n_discourses=count_distinct(np.concatenate([own[3] for own in joined])),
        n_clusters=count_distinct(np.concatenate([own[2] for own in joined])),
        left_out=left_out,
        undefined_baseline=0,
        undefined=0,
        baseline_score=fmean(fmean(own[0]) for own in joined),
        score=fmean(fmean(own[1]) for own in joined),
        baseline_higher=0,
        higher=0,
        visible=smallest_difference(effective_items(np.concatenate([own[2] for own in joined]))),
        **_tested(joined, seed),
    )


def _tested(cells: Sequence[tuple[Any, ...]], seed: int) -> dict[str, Any]:
    groups = [(new - old, clusters) for old, new, clusters, _ in cells]
    if len(groups) == 1:
        old, new, clusters, _ = cells[0]
        test = paired_test(old, new, clusters, seed)
        interval = difference_interval(*groups[0], test)
    else:
        test, interval = macro_difference(groups, seed)
    value = fmean(fmean(own) for own, _ in groups)
    return of_difference(difference_of(value, interval, test))
