"""The checkpoints of a training against each other: what ``coherencegym compare --steps`` reports.

Of each suite the one number is compared, on the predictions that both checkpoints have: each
checkpoint with the one before it, and the last with the first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import fmean

from coherencegym.errors import EvaluationError
from coherencegym.eval.results.comparison import obstacles
from coherencegym.eval.results.headline_difference import headline_difference
from coherencegym.eval.results.learning import LearningCurve
from coherencegym.eval.results.saved import Saved, read_saved
from coherencegym.eval.statistics.paired import holm
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
    before, after = results
    found = headline_difference(before, after, head.over, seed)
    if found is None or found.difference is None:
        raise EvaluationError(
            f"{before.folder} and {after.folder}: no item is in both; nothing can be compared"
        )
    names = {one.name for one in fields(StepChange)} - {"before", "after", "p_holm"}
    return StepChange(*counts, **{name: getattr(found, name) for name in names})


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
