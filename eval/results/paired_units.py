"""Two models on the same documents or sentences: each measure by the paired test that suits it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from coherencegym.eval.results.paired_scores import PairedScore
from coherencegym.eval.statistics.measures import Counts, ranks_difference, ratio_difference
from coherencegym.eval.statistics.outcomes import Outcome, value_of
from coherencegym.eval.statistics.paired import Test, difference_interval, paired_test, swaps

#: A unit as the baseline and the model met it.
Pair = tuple[Outcome, Outcome]


def unit_pairs(baseline: Sequence[Outcome], model: Sequence[Outcome]) -> Iterator[Pair]:
    """The outcomes that both have, of one table."""
    theirs = {(one.measure, one.judge, one.unit_id): one for one in model}
    for one in baseline:
        if (other := theirs.get((one.measure, one.judge, one.unit_id))) is not None:
            yield one, other


def unit_rows(pairs: Sequence[Pair], seed: int) -> Iterator[PairedScore]:
    """Of each measure and judge a row of all units, and one of each group.

    Args:
        pairs: of one table.
        seed: of what is drawn for a test.
    """
    measured: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        measured.setdefault((pair[0].measure, pair[0].judge), []).append(pair)
    for own in measured.values():
        groups: dict[str, list[Pair]] = {"": own}
        for pair in own:
            for group in pair[0].groups:
                groups.setdefault(group, []).append(pair)
        for group, members in groups.items():
            yield _row(group, members, seed)


def _row(group: str, pairs: Sequence[Pair], seed: int) -> PairedScore:
    both = [pair for pair in pairs if None not in (pair[0].value, pair[1].value)]
    left, right = [pair[0] for pair in both], [pair[1] for pair in both]
    scores = value_of(left), value_of(right)
    first, level = pairs[0][0], "column" if "=" in group else "group"
    row = PairedScore(
        config=first.config,
        split=first.split,
        formula="",
        metric="",
        group=group,
        level=level if group else "all",
        n=len(both),
        n_discourses=len({one.discourse_id for one in left}),
        n_clusters=len({one.cluster for one in left}),
        left_out=len(pairs) - len(both),
        undefined_baseline=sum(one.value is None for one, _ in pairs),
        undefined=sum(other.value is None for _, other in pairs),
        too_close=0,
        baseline_score=scores[0],
        score=scores[1],
        baseline_higher=_higher(right, left),
        higher=_higher(left, right),
        difference=None,
        ci_low=None,
        ci_high=None,
        ci_method="",
        test="",
        p=None,
        measure=first.measure,
        judge=first.judge,
    )
    if scores[0] is None or scores[1] is None:
        return row
    test, low, high, method = _tested(left, right, seed)
    return replace(
        row,
        difference=scores[1] - scores[0],
        ci_low=low,
        ci_high=high,
        ci_method=method,
        test=test.method,
        p=test.p,
    )


def _higher(these: Sequence[Outcome], those: Sequence[Outcome]) -> int:
    """Of how many units the second have more; scores that rank have scales of their own."""
    if these and these[0].statistic == "ranks":
        return 0
    return sum(_share(that) > _share(this) for this, that in zip(these, those, strict=True))


def _share(outcome: Outcome) -> float:
    return (outcome.value or 0.0) / outcome.whole if outcome.whole else 1.0


def _tested(
    left: Sequence[Outcome], right: Sequence[Outcome], seed: int
) -> tuple[Test, float | None, float | None, str]:
    """The test of a difference, and its interval with how it was computed."""
    clusters = [one.cluster for one in left]
    values, others = ([one.value or 0.0 for one in side] for side in (left, right))
    statistic = left[0].statistic
    if statistic == "ranks":
        measure, test = ranks_difference(values, others, [bool(o.truth) for o in left], clusters)
        return test, measure.low, measure.high, measure.method
    if statistic == "ratio":
        before: Counts = values, [one.whole for one in left]
        after: Counts = others, [one.whole for one in right]
        test = swaps(before, after, clusters, seed)
        measure = ratio_difference(before, after, clusters, test.p)
        return test, measure.low, measure.high, measure.method
    test = paired_test(values, others, clusters, seed)
    differences = [new - old for old, new in zip(values, others, strict=True)]
    interval = difference_interval(differences, clusters, test)
    return test, interval.low, interval.high, interval.method
