"""One row of a comparison of two models, and those of units: documents, sentences, ...

Each metric of units has the paired test that suits it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from coherencegym.eval.metrics.estimates import score_level
from coherencegym.eval.metrics.metric import Metric, difference_of
from coherencegym.eval.outcomes.schema import name_of_group
from coherencegym.eval.outcomes.tables import OutcomeSeries, OutcomeTables, count_distinct
from coherencegym.eval.statistics.estimators import (
    PairedDifference,
    effective_items,
    smallest_difference,
)
from coherencegym.eval.statistics.paired import difference_interval, macro_difference, paired_test
from coherencegym.eval.statistics.scores import ScoreRow
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.eval.tasks.score.outcomes import ACCURACY
from coherencegym.eval.tasks.score.selections import Selection, select
from coherencegym.eval.tasks.score.summary import headline_cells, kind_of


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
        equivalent: the whole interval is within the margin of a test of equivalence; None where
            there is no interval, or nobody asked.
        visible: the smallest difference that a test of so many items shows with a power of 80 %,
            of a suite's headline scores; None where even the largest would not be shown.
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
    equivalent: bool | None = None
    visible: float | None = None


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


def compared_outcomes(baseline: Results, model: Results) -> Iterator[tuple[OutcomeSeries, Any]]:
    """The outcomes that both have, of those by which models are compared.

    The series have their places in the baseline, those in the model come beside them.
    """
    for one, there in baseline.outcomes.paired(model.outcomes):
        if len(there) and is_compared(baseline, one):
            yield one, there


def is_compared(results: Results, series: OutcomeSeries) -> bool:
    """Tell whether models are compared by some outcomes.

    Baselines of items decided when the dataset was built: they are the same beside any model.
    """
    metric = results.metrics[series.metric]
    return metric.is_compared and (series.system.role == "model" or not metric.is_of_items)


def count_compared(results: Results, series: Iterable[OutcomeSeries]) -> int:
    """The number of units in some outcomes by which models are compared."""
    import numpy as np

    outcomes = results.outcomes
    units = [outcomes.units_of(one.places) for one in series if is_compared(results, one)]
    return count_distinct(np.concatenate(units)) if units else 0


def tested_for_equivalence(row: PairedScore, margin: float) -> PairedScore:
    """The row with the outcome of a test that the difference is smaller than a margin, either way.

    Two one-sided tests at 2.5 % (Schuirmann 1987, "A comparison of the two one-sided tests
    procedure and the power approach", Journal of Pharmacokinetics and Biopharmaceutics 15): both
    reject where the 95 % interval is within the margin.
    """
    if row.ci_low is None or row.ci_high is None:
        return row
    return replace(row, equivalent=-margin < row.ci_low and row.ci_high < margin)


def paired_rows(baseline: Results, model: Results, seed: int) -> Iterator[PairedScore]:
    """A row of all units that both have by table, metric and system, and one of each group.

    Of predictions the rows are those of a table of scores (:mod:`eval.tasks.score.selections`).
    """
    import numpy as np

    ours, theirs = baseline.outcomes, model.outcomes
    for one, there in compared_outcomes(baseline, model):
        metric, table = baseline.metrics[one.metric], baseline.table(one.config, one.split)
        assert table is not None
        place_of = np.full(len(ours), -1)
        place_of[one.places] = there
        for row, about in _rows_of(ours, one, metric, table):
            sides = (ours, row.places), (theirs, place_of[row.places])
            yield replace(_row(metric, sides, seed), **about)


def _rows_of(
    ours: OutcomeTables, of: OutcomeSeries, metric: Metric, table: TableFacts
) -> Iterator[tuple[Selection, dict[str, Any]]]:
    about: dict[str, Any] = {"config": of.config, "split": of.split}
    if metric.is_of_items:
        for row in select(ours, of.places, table.headline, table.breakdowns):
            formula, aggregation = kind_of(ours, row.places)
            group = "" if row.level == "formula" else row.name
            kinds = {"formula": formula, "aggregation": aggregation}
            yield row, {**about, **kinds, "level": row.level, "group": group}
        return
    about |= {"metric": metric.said, "system": of.system.label}
    is_whole = of.system.role == "model" and of.system.layer is None
    for part, places in ours.parts(of.places, metric.by_group and is_whole).items():
        level, name = score_level(of.system, part), name_of_group(part) if part else ""
        yield Selection(level, name, places), {**about, "level": level, "group": name}


def _row(metric: Metric, sides: Any, seed: int) -> PairedScore:
    (before, places), (after, others) = sides
    has = before.has_value(places), after.has_value(others)
    both = has[0] & has[1]
    left = before.cells(places[both])
    # The units are paired, and so are their items and clusters.
    right = replace(after.cells(others[both]), cluster=left.cluster, item=left.item)
    counted = metric.counted(left)
    whole = count_distinct(before.items(places)) if metric.is_of_items else len(places)
    shares = metric.rightness(left), metric.rightness(right)
    close = before.flags(places, "too close") | after.flags(others, "too close")
    return PairedScore(
        config="",
        split="",
        group="",
        level="",
        n=len(counted),
        n_discourses=count_distinct(counted.discourse),
        n_clusters=count_distinct(counted.cluster),
        left_out=whole - len(counted),
        undefined_baseline=int((~has[0]).sum()),
        undefined=int((~has[1]).sum()),
        too_close=int(close[both].sum()),
        baseline_score=metric.value(left),
        score=metric.value(right),
        baseline_higher=0 if shares[0] is None else int((shares[0] > shares[1]).sum()),
        higher=0 if shares[0] is None else int((shares[1] > shares[0]).sum()),
        **of_difference(metric.compare(left, right, seed)),
    )


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
