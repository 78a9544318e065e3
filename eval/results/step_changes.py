"""The checkpoints of a training against each other: what ``coherencegym compare --steps`` reports.

Of each suite the one number is compared, on the predictions that both checkpoints have: each
checkpoint with the one before it, and the last with the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.metrics.metric import difference_of
from coherencegym.eval.outcomes.tables import count_distinct
from coherencegym.eval.results.comparison import obstacles
from coherencegym.eval.results.learning import LearningCurve
from coherencegym.eval.results.paired_scores import compared_outcomes, of_difference
from coherencegym.eval.results.saved import Saved, read_saved
from coherencegym.eval.statistics.paired import (
    difference_interval,
    holm,
    macro_difference,
    paired_test,
)
from coherencegym.eval.statistics.scores import CD
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.score.headline import headline_cells
from coherencegym.eval.tasks.score.outcomes import ACCURACY


@dataclass(frozen=True, slots=True)
class StepChange:
    """The difference of a suite's one number between two checkpoints.

    Attributes:
        before, after: their counts.
        difference: the one number after minus that before, over what both have.
        ci_low, ci_high, ci_method: the interval.
        test, p: see :class:`eval.statistics.paired.Test`.
        n, n_clusters: items, and the clusters that they are from.
        left_out: items that are undefined or too long for one of the two.
        p_holm: p adjusted for all tests of its family.
    """

    before: float
    after: float
    difference: float
    ci_low: float
    ci_high: float
    ci_method: str
    test: str
    p: float
    n: int
    n_clusters: int
    left_out: int
    p_holm: float = 1.0


@dataclass(frozen=True)
class CurveChanges:
    """A curve with what is known of its changes.

    Attributes:
        curve: the scores by step.
        steps: each checkpoint against the one before it.
        whole: the last against the first; None of two checkpoints, whose change is in ``steps``.
        obstacles: reasons against comparing, where it was done nevertheless.
    """

    curve: LearningCurve
    steps: tuple[StepChange, ...]
    whole: StepChange | None
    obstacles: tuple[str, ...] = ()

    @property
    def all(self) -> list[StepChange]:
        """All changes that were tested."""
        return [*self.steps, *([self.whole] if self.whole else [])]

    @property
    def last_against_first(self) -> StepChange:
        """The change from the first checkpoint to the last."""
        return self.whole or self.steps[0]


def step_changes(
    curves: Sequence[LearningCurve], *, anyway: bool = False, seed: int = 0
) -> list[CurveChanges]:
    """The changes of learning curves, with p-values corrected (Holm) for the tests of all curves.

    The last against the first, which is one question of a suite however many checkpoints there
    are, is a family by itself beside the steps.

    Args:
        curves: those of results in folders, from :func:`eval.results.learning.learning_curves`.
        anyway: compare what both have where settings differ.
        seed: draws signs.

    Raises:
        EvaluationError: no curve has CD scores, settings differ, or a folder cannot be read.
    """
    scored = [curve for curve in curves if curve.heads[0].metric == CD]
    if not scored:
        raise EvaluationError(
            "--steps: no two results of coherencegym score are of checkpoints of one training on "
            "the same rows; expected revisions or folders such as step1000 or checkpoint-500"
        )
    found = [_changes(curve, anyway, seed) for curve in scored]
    steps = iter(holm([change.p for one in found for change in one.steps]))
    wholes = iter(holm([one.whole.p for one in found if one.whole]))
    return [
        replace(
            one,
            steps=tuple(replace(change, p_holm=next(steps)) for change in one.steps),
            whole=replace(one.whole, p_holm=next(wholes)) if one.whole else None,
        )
        for one in found
    ]


def _changes(curve: LearningCurve, anyway: bool, seed: int) -> CurveChanges:
    # No more than three folders are held at once.
    against: list[str] = []

    def change(before: int, after: int, results: tuple[Saved, Saved]) -> StepChange:
        found = obstacles(*results)
        if found and not anyway:
            raise EvaluationError(
                f"{results[0].folder} and {results[1].folder}: not comparable: {found[0]}; "
                "expected results by the same settings (--anyway compares the items that both have)"
            )
        against.extend(found)
        return _change((curve.counts[before], curve.counts[after]), curve.heads[0], results, seed)

    first = last = _checked(curve.folders[0], curve.heads[0])
    steps = []
    for number, folder in enumerate(curve.folders[1:]):
        current = _checked(folder, curve.heads[number + 1])
        steps.append(change(number, number + 1, (last, current)))
        last = current
    whole = change(0, len(curve.folders) - 1, (first, last)) if len(steps) > 1 else None
    return CurveChanges(curve, tuple(steps), whole, tuple(dict.fromkeys(against)))


def _change(
    counts: tuple[float, float], head: Headline, results: tuple[Saved, Saved], seed: int
) -> StepChange:
    import numpy as np

    before, after = results
    sides = before.outcomes, after.outcomes
    cells: dict[tuple[str, str], list[tuple[Any, Any, Any]]] = {}
    n = left_out = 0
    for one, there in compared_outcomes(before, after):
        table = before.table(one.config, one.split)
        if table is None or one.config not in head.over:
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
                cells.setdefault(key, []).append((old.value, new.value, old.cluster))
            known.update(sides[0].items(own).tolist())
            items.update(old.item.tolist())
        n, left_out = n + len(items), left_out + len(known - items)
    if not cells:
        raise EvaluationError(
            f"{before.folder} and {after.folder}: no item is in both; nothing can be compared"
        )
    joined = [tuple(map(np.concatenate, zip(*own, strict=True))) for own in cells.values()]
    return StepChange(
        before=counts[0],
        after=counts[1],
        n=n,
        n_clusters=count_distinct(np.concatenate([clusters for *_, clusters in joined])),
        left_out=left_out,
        **_tested(joined, seed),
    )


def _tested(cells: Sequence[tuple[Any, ...]], seed: int) -> dict[str, Any]:
    groups = [(new - old, clusters) for old, new, clusters in cells]
    if len(groups) == 1:
        old, new, clusters = cells[0]
        test = paired_test(old, new, clusters, seed)
        interval = difference_interval(*groups[0], test)
    else:
        test, interval = macro_difference(groups, seed)
    value = fmean(fmean(own) for own, _ in groups)
    return of_difference(difference_of(value, interval, test))


def _checked(folder: str, head: Headline) -> Saved:
    # Its one number comes of its predictions.
    results = read_saved(Path(folder))
    found = results.outcomes
    values: dict[tuple[str, str], list[float]] = {}
    for table in results.tables:
        cells = headline_cells(found, table) if table.config in head.over else {}
        for group, places in cells.items():
            items = ACCURACY.counted(found.cells(places))
            values.setdefault((table.config, group), []).extend(items.value.tolist())
    score = fmean(fmean(own) for own in values.values() if own)
    if head.score is None or not math.isclose(score, head.score, abs_tol=1e-6):
        raise EvaluationError(
            f"{folder}: its predictions do not give the score of the suite; score the model again"
        )
    return results
