"""The checkpoints of a training against each other: what ``coherencegym compare --steps`` reports.

Of each suite the one number is compared, on the predictions that both checkpoints have: each
checkpoint with the one before it, and the last with the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.results.comparison import PairedJudgements, judged_pairs, obstacles
from coherencegym.eval.results.learning import LearningCurve
from coherencegym.eval.results.paired_scores import of_difference
from coherencegym.eval.results.saved import Saved, SavedTable, read_saved
from coherencegym.eval.statistics.estimate import PairedDifference
from coherencegym.eval.statistics.paired import (
    difference_interval,
    holm,
    macro_difference,
    paired_test,
)
from coherencegym.eval.statistics.scores import CD
from coherencegym.eval.tasks.score.columns import item_values, judgement_columns
from coherencegym.eval.tasks.score.headline import Headline
from coherencegym.eval.tasks.score.summary import cells_of


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
    scored = [curve for curve in curves if curve.heads[0].measure == CD]
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
    """The changes of one curve; no more than three folders are held at once."""
    against: list[str] = []

    def change(before: int, after: int, results: tuple[Saved, Saved]) -> StepChange:
        found = obstacles(*results)
        if found and not anyway:
            raise EvaluationError(
                f"{results[0].folder} and {results[1].folder}: not comparable: {found[0]}; "
                "expected results by the same settings (--anyway compares what both have)"
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
    """The difference of the mean over the cells of a headline, of two checkpoints."""
    import numpy as np

    before, after = results
    cells: dict[tuple[str, str], list[tuple[float, float, bytes]]] = {}
    n = left_out = 0
    for table in before.tables:
        other = after.table(table.config, table.split)
        if table.config not in head.over or other is None:
            continue
        pairs = list(_counted(table, judged_pairs(table, other)))
        ours, theirs = (judgement_columns(pair[side] for pair in pairs) for side in (0, 1))
        # The predictions are paired, and so are their items.
        theirs = theirs.take(slice(None), item=ours.item)
        defined = (ours.reason == 0) & (theirs.reason == 0)
        clusters = ours.clusters.to_pylist()
        items, known = set[int](), set[int]()
        for group, places in cells_of(ours, np.arange(len(ours)), table.headline).items():
            both = places[defined[places]]
            values, others = (item_values(columns, both) for columns in (ours, theirs))
            if len(values):
                names = (clusters[number] for number in values.cluster)
                cells.setdefault((table.config, group), []).extend(
                    zip(values.share.tolist(), others.share.tolist(), names, strict=True)
                )
            known.update(ours.item[places].tolist())
            items.update(values.item.tolist())
        n, left_out = n + len(items), left_out + len(known - items)
    if not cells:
        raise EvaluationError(
            f"{before.folder} and {after.folder}: no item is in both; nothing can be compared"
        )
    return StepChange(
        before=counts[0],
        after=counts[1],
        n=n,
        n_clusters=len({cluster for own in cells.values() for *_, cluster in own}),
        left_out=left_out,
        **_tested(list(cells.values()), seed),
    )


def _tested(cells: Sequence[Sequence[tuple[float, float, bytes]]], seed: int) -> dict[str, Any]:
    """The fields of a change that its difference, the interval and the test give."""
    groups = [([new - old for old, new, _ in own], [c for *_, c in own]) for own in cells]
    if len(groups) == 1:
        old, new, clusters = zip(*cells[0], strict=True)
        test = paired_test(old, new, clusters, seed)
        interval = difference_interval(groups[0][0], clusters, test)
    else:
        test, interval = macro_difference(groups, seed)
    value = fmean(fmean(own) for own, _ in groups)
    found = interval.low, interval.high, interval.method, test.method, test.p
    return of_difference(PairedDifference(value, *found))


def _checked(folder: str, head: Headline) -> Saved:
    """The results of a folder, whose one number comes of its predictions.

    Raises:
        EvaluationError: it does not: an older release did not say which items count in it.
    """
    import numpy as np

    results = read_saved(Path(folder))
    cells: dict[tuple[str, str], list[float]] = {}
    for table in results.tables:
        if table.config in head.over:
            counted = [own for own, _ in _counted(table, ((j, j) for j in table.judgements))]
            columns = judgement_columns(counted)
            cut = cells_of(columns, np.arange(len(columns)), table.headline)
            for group, places in cut.items():
                shares = item_values(columns, places).share.tolist()
                cells.setdefault((table.config, group), []).extend(shares)
    score = fmean(fmean(own) for own in cells.values() if own)
    if head.score is None or not math.isclose(score, head.score, abs_tol=1e-6):
        raise EvaluationError(
            f"{folder}: its predictions do not give the score of the suite, as those of an older "
            "release; score the model again"
        )
    return results


def _counted(table: SavedTable, pairs: Iterable[PairedJudgements]) -> Iterator[PairedJudgements]:
    """The predictions of the items that count in the suite's one number."""
    value = table.headline_value
    return (pair for pair in pairs if not value or value in pair[0].item.columns)
