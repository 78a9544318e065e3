"""One row of a comparison of two models, and those of units: documents, sentences, ...

Each measure of units has the paired test that suits it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.eval.metrics.estimates import score_level
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.outcomes.schema import Group, name_of_group
from coherencegym.eval.outcomes.tables import OutcomeSeries, OutcomeTables
from coherencegym.eval.statistics.estimate import PairedDifference
from coherencegym.eval.statistics.scores import ScoreRow


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


def of_difference(found: PairedDifference | None) -> dict[str, Any]:
    """The fields of a row that have a difference."""
    if found is None:
        return {}
    return {
        "difference": found.value,
        "ci_low": found.low,
        "ci_high": found.high,
        "ci_method": found.method,
        "test": found.test,
        "p": found.p,
    }


def unit_rows(
    baseline: OutcomeTables, model: OutcomeTables, metrics: Mapping[str, Metric], seed: int
) -> Iterator[PairedScore]:
    """A row of all units that both have by table, metric and system, and one of each group."""
    for one, theirs in baseline.paired(model):
        there = dict(zip(one.places.tolist(), theirs.tolist(), strict=True))
        is_whole = one.system.role == "model" and one.system.layer is None
        by_group = metrics[one.metric].by_group and is_whole
        for group, places in baseline.parts(one.places, by_group).items():
            if len(places):
                yield _row(one, group, (baseline, places), (model, there), metrics, seed)


def _row(
    of: OutcomeSeries,
    group: Group | None,
    ours: tuple[OutcomeTables, Any],
    theirs: tuple[OutcomeTables, Mapping[int, int]],
    metrics: Mapping[str, Metric],
    seed: int,
) -> PairedScore:
    import numpy as np

    (before, places), (after, there) = ours, theirs
    others = np.array([there[place] for place in places.tolist()])
    has = before.has_value(places), after.has_value(others)
    both = has[0] & has[1]
    left = before.cells(places[both])
    right = replace(after.cells(others[both]), cluster=left.cluster)
    metric = metrics[of.metric]
    shares = metric.rightness(left), metric.rightness(right)
    return PairedScore(
        config=of.config,
        split=of.split,
        group=name_of_group(group) if group else "",
        level=score_level(of.system, group),
        n=len(left),
        n_discourses=len(np.unique(left.discourse)),
        n_clusters=len(np.unique(left.cluster)),
        left_out=len(places) - len(left),
        undefined_baseline=int((~has[0]).sum()),
        undefined=int((~has[1]).sum()),
        baseline_score=metric.value(left),
        score=metric.value(right),
        baseline_higher=0 if shares[0] is None else int((shares[0] > shares[1]).sum()),
        higher=0 if shares[0] is None else int((shares[1] > shares[0]).sum()),
        measure=metric.said,
        judge=of.system.label,
        **of_difference(metric.compare(left, right, seed)),
    )
