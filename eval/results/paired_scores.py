"""One row of a comparison of two models, and those of units: documents, sentences, ...

Each measure of units has the paired test that suits it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.statistics.intervals import Interval
from coherencegym.eval.statistics.measures import (
    Counts,
    Measure,
    correlation_difference,
    grouped,
    ranks_difference,
    ratio_difference,
    value_of,
)
from coherencegym.eval.statistics.paired import Test, difference_interval, paired_test, swaps
from coherencegym.eval.statistics.scores import CORRELATIONS, ScoreRow, UnitOutcome, level_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedScore(ScoreRow):
    """The scores of two models over the same predictions or units, and their difference.

    Attributes:
        n: items with a prediction that is defined for both models, or documents, or sentences;
            they are from ``n_discourses``, of ``n_clusters``.
        left_out: items without one.
        undefined, undefined_baseline: predictions that are undefined for the model (for the
            baseline), or of an item that is too long for it.
        too_close: predictions that are too close to call for either; they are in the scores.
        baseline_score, score: scores over the n items; None without items.
        baseline_higher, higher: items of which more predictions hold for the baseline (for the
            model).
        difference: score minus baseline_score, with a 95 % interval and how it was computed.
        test, p: see :class:`eval.statistics.paired.Test`; empty and None without items.
        p_holm: p adjusted for all tests of its family; None where it is in none.
    """

    n_discourses: int
    n_clusters: int
    left_out: int
    undefined_baseline: int
    undefined: int
    too_close: int = 0
    baseline_score: float | None
    score: float | None
    baseline_higher: int
    higher: int
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: str = ""
    test: str = ""
    p: float | None = None
    p_holm: float | None = None


def of_difference(difference: float, interval: Interval | Measure, test: Test) -> dict[str, Any]:
    """The fields of a row that have a difference."""
    return {
        "difference": difference,
        "ci_low": interval.low,
        "ci_high": interval.high,
        "ci_method": interval.method,
        "test": test.method,
        "p": test.p,
    }


#: A unit as the baseline and the model met it.
UnitPair = tuple[UnitOutcome, UnitOutcome]


def unit_pairs(baseline: Sequence[UnitOutcome], model: Sequence[UnitOutcome]) -> Iterator[UnitPair]:
    """The outcomes that both have, of one table."""
    theirs = {(one.measure, one.judge, one.unit_id): one for one in model}
    for one in baseline:
        if (other := theirs.get((one.measure, one.judge, one.unit_id))) is not None:
            yield one, other


def unit_rows(pairs: Sequence[UnitPair], seed: int) -> Iterator[PairedScore]:
    """A row of all units by measure and judge, and one of each group."""
    for group, members in grouped(pairs, lambda pair: pair[0]):
        yield _row(group, members, seed)


def _row(group: str, pairs: Sequence[UnitPair], seed: int) -> PairedScore:
    both = [pair for pair in pairs if None not in (pair[0].value, pair[1].value)]
    left, right = [pair[0] for pair in both], [pair[1] for pair in both]
    baseline, score = value_of(left), value_of(right)
    difference: dict[str, Any] = {}
    if baseline is not None and score is not None:
        test, interval = _tested(left, right, seed)
        difference = of_difference(score - baseline, interval, test)
    first = pairs[0][0]
    return PairedScore(
        config=first.config,
        split=first.split,
        group=group,
        level=level_of(group, first.judge),
        n=len(both),
        n_discourses=len({one.discourse_id for one in left}),
        n_clusters=len({one.cluster for one in left}),
        left_out=len(pairs) - len(both),
        undefined_baseline=sum(one.value is None for one, _ in pairs),
        undefined=sum(other.value is None for _, other in pairs),
        baseline_score=baseline,
        score=score,
        baseline_higher=_higher(right, left),
        higher=_higher(left, right),
        measure=first.measure,
        judge=first.judge,
        **difference,
    )


def _higher(these: Sequence[UnitOutcome], those: Sequence[UnitOutcome]) -> int:
    """The units of which the second have more; values that rank have scales of their own."""
    if these and these[0].statistic in {"ranks", *CORRELATIONS}:
        return 0
    return sum(_share(that) > _share(this) for this, that in zip(these, those, strict=True))


def _share(outcome: UnitOutcome) -> float:
    return (outcome.value or 0.0) / outcome.whole if outcome.whole else 1.0


def _tested(
    left: Sequence[UnitOutcome], right: Sequence[UnitOutcome], seed: int
) -> tuple[Test, Interval | Measure]:
    """The test of a difference, and its interval."""
    clusters = [one.cluster for one in left]
    values, others = ([one.value or 0.0 for one in side] for side in (left, right))
    statistic = left[0].statistic
    if statistic in CORRELATIONS:
        measure, test = correlation_difference(left, right)
    elif statistic == "ranks":
        measure, test = ranks_difference(values, others, [bool(o.truth) for o in left], clusters)
    elif statistic == "ratio":
        before: Counts = values, [one.whole for one in left]
        after: Counts = others, [one.whole for one in right]
        test = swaps(before, after, clusters, seed)
        measure = ratio_difference(before, after, clusters, test.p)
    else:
        test = paired_test(values, others, clusters, seed)
        differences = [new - old for old, new in zip(values, others, strict=True)]
        return test, difference_interval(differences, clusters, test)
    return test, measure
