"""One row of a comparison of two models, and those of units: documents, sentences, ...

Each metric of units has the paired test that suits it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.eval.outcomes.metrics import ItemAccuracy, Metric, pooled, score_level
from coherencegym.eval.outcomes.schema import name_of_group
from coherencegym.eval.outcomes.tables import Cells, OutcomeSeries, OutcomeTables, count_distinct
from coherencegym.eval.statistics.effective_size import effective_sample_size
from coherencegym.eval.statistics.estimators import (
    PairedDifference,
    effective_items,
    smallest_difference,
)
from coherencegym.eval.statistics.scores import ScoreRow
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.eval.tasks.score.outcomes import (
    ACCURACY,
    CONTROLLED,
    inside,
    predictions_of,
    select,
)
from coherencegym.eval.tasks.score.summary import items_by_config, kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedScore(ScoreRow):
    """The scores of two models over the same predictions or units, and their difference.

    Attributes:
        n: items with a prediction that is defined for both models, or documents, or sentences;
            they are of ``n_clusters``.
        left_out: items without one.
        undefined, undefined_baseline: predictions that are undefined for the model (for the
            baseline), or of an item that is too long for it.
        too_close: predictions that are too close to call for either; they are in the scores.
        baseline_score, score: scores over the n items; None without items.
        baseline_plain_score, plain_score: plain CD scores beside controlled ones.
        baseline_higher, higher: items of which more predictions hold for the baseline (for the
            model).
        difference: score minus baseline_score, with a 95 % interval and how it was computed.
        test, p: see :class:`eval.statistics.paired.Test`; empty and None without items.
        p_holm: p adjusted for all tests of its family; None where it is in none.
        visible: the smallest difference that a test of so many items shows with a power of 80 %,
            of a suite's headline scores; None where even the largest would not be shown.
    """

    n_clusters: int
    left_out: int
    undefined_baseline: int
    undefined: int
    too_close: int = 0
    baseline_score: float | None
    score: float | None
    baseline_plain_score: float | None = None
    plain_score: float | None = None
    baseline_higher: int
    higher: int
    difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: str = ""
    test: str = ""
    p: float | None = None
    p_holm: float | None = None
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


def is_compared(results: Results, series: OutcomeSeries) -> bool:
    """Tell whether models are compared by some outcomes.

    Baselines of items decided when the dataset was built: they are the same beside any model.
    """
    metric = results.metrics[series.metric]
    return metric.is_compared and (series.system.role == "model" or not metric.is_of_items)


def count_compared(results: Results, outcomes: OutcomeTables) -> int:
    """The number of units in some outcomes by which models are compared."""
    import numpy as np

    compared = (one for one in outcomes.series() if is_compared(results, one))
    units = [outcomes.units_of(one.places) for one in compared]
    return count_distinct(np.concatenate(units)) if units else 0


#: The outcomes of the baseline and of the model, those that both have in one order.
Sides = tuple[OutcomeTables, OutcomeTables]


def paired_rows(baseline: Results, sides: Sides, seed: int) -> Iterator[PairedScore]:
    """A row of all units that both have by table, metric and system, and one of each group.

    Of predictions the rows are those of a table of scores (:mod:`eval.tasks.score.outcomes`), and
    the row of a whole table is of controlled scores where both have them.
    """
    rows, controlled = [], {}
    for one in sides[0].series():
        if not is_compared(baseline, one):
            continue
        metric, table = baseline.metrics[one.metric], baseline.table(one.config, one.split)
        assert table is not None
        for places, about in _rows_of(sides[0], one, metric, table):
            made = _row(metric, sides, places, seed, about)
            if metric.name == CONTROLLED.name:
                controlled[one.config, one.split] = made
                break
            rows.append(made)
    for made in rows:
        better = controlled.get((made.config, made.split)) if made.level == "all" else None
        if better is not None:
            plain: Any = {"baseline_plain_score": made.baseline_score, "plain_score": made.score}
            made = replace(better, **plain)
        yield made


def _rows_of(
    ours: OutcomeTables, of: OutcomeSeries, metric: Metric, table: TableFacts
) -> Iterator[tuple[Any, dict[str, Any]]]:
    # The places of each row, and what it is about.
    about: dict[str, Any] = {"config": of.config, "split": of.split, "metric": metric.said}
    if metric.is_of_items:
        for row in select(ours, of.places, table.headline, table.breakdowns):
            formula, aggregation = kind_of(ours, row.places)
            group = "" if row.level == "formula" else row.name
            kinds = {"formula": formula, "aggregation": aggregation}
            yield row.places, {**about, **kinds, "level": row.level, "group": group}
        return
    is_whole = of.system.role == "model" and of.system.layer is None
    for part, places in ours.parts(of.places, metric.by_group and is_whole).items():
        level, name = score_level(of.system, part), name_of_group(part) if part else ""
        yield places, {**about, "system": of.system.label, "level": level, "group": name}


def _row(
    metric: Metric, sides: Sides, places: Any, seed: int, about: dict[str, Any]
) -> PairedScore:
    before, after = sides
    has = before.has_value(places), after.has_value(places)
    left, right = (side.cells(places[has[0] & has[1]]) for side in sides)
    counted = metric.counted(left)
    whole = count_distinct(before.items(places)) if metric.is_of_items else len(places)
    shares = metric.rightness(left), metric.rightness(right)
    close = before.flags(places, "too close") | after.flags(places, "too close")
    return PairedScore(
        **about,
        n=len(counted),
        n_clusters=count_distinct(counted.cluster),
        left_out=whole - len(counted),
        undefined_baseline=int((~has[0]).sum()),
        undefined=int((~has[1]).sum()),
        too_close=int(close[has[0] & has[1]].sum()),
        baseline_score=metric.value(left),
        score=metric.value(right),
        baseline_higher=0 if shares[0] is None else int((shares[0] > shares[1]).sum()),
        higher=0 if shares[0] is None else int((shares[1] > shares[0]).sum()),
        **of_difference(metric.compare(left, right, seed)),
    )


def headline_difference(
    baseline: Results, model: Results, sides: Sides, seed: int
) -> PairedScore | None:
    """The headline scores of two models and their difference; None where no item is in both.

    It is of controlled scores, whose weights are those of the items that both have, where both
    headlines are.

    Args:
        baseline, model: results of ``score`` on one suite, whose headlines are over the same
            configs.
        sides: their outcomes.
        seed: draws signs.
    """
    import numpy as np

    ours, theirs = sides
    tables = [one for one in baseline.tables if one.config in baseline.headline_configs]
    every = np.arange(len(ours))
    has_both = ours.has_value(every) & theirs.has_value(every)

    def items(metric: ItemAccuracy) -> list[list[Cells]]:
        both = np.flatnonzero(has_both)
        known = (items_by_config(side.select(both), tables, metric) for side in sides)
        return [[*own.values()] for own in known]

    plain, controlled = items(ACCURACY), items(CONTROLLED)
    if not plain[0]:
        return None
    heads = (baseline.headline, model.headline)
    is_controlled = bool(controlled[0]) and all(head and head.is_controlled for head in heads)
    metric, (before, after) = (CONTROLLED, controlled) if is_controlled else (ACCURACY, plain)
    beside: dict[str, Any] = {}
    if is_controlled:
        values = (ACCURACY.over_items(own).value for own in plain)
        beside = dict(zip(("baseline_plain_score", "plain_score"), values, strict=True))
    whole = 0
    for one in tables:
        own = inside(ours, predictions_of(ours, one.config, one.split), one.headline)
        whole += count_distinct(ours.items(own)) if has_both[own].any() else 0
    chosen = pooled(before, not is_controlled)
    effective = effective_sample_size(chosen.weight)
    independent = effective * effective_items(chosen.cluster) / len(chosen)
    return PairedScore(
        config="",
        split="",
        group="",
        level="all",
        metric=metric.label,
        n=len(chosen),
        n_clusters=count_distinct(chosen.cluster),
        left_out=whole - sum(map(len, plain[0])),
        undefined_baseline=0,
        undefined=0,
        baseline_score=metric.over_items(before).value,
        score=metric.over_items(after).value,
        baseline_higher=0,
        higher=0,
        visible=smallest_difference(independent),
        **beside,
        **of_difference(metric.compare_items(before, after, seed)),
    )
