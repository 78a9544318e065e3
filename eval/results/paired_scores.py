"""One row of a comparison of two models, and those of units: documents, sentences, ...

Each metric of units has the paired test that suits it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.eval.outcomes.metrics import ItemAccuracy, Metric, pooled, score_level
from coherencegym.eval.outcomes.schema import MODEL, name_of_group
from coherencegym.eval.outcomes.tables import (
    Cells,
    OutcomeSeries,
    OutcomeTables,
    count_distinct,
    join_cells,
)
from coherencegym.eval.statistics.effective_size import effective_sample_size
from coherencegym.eval.statistics.estimators import (
    PairedDifference,
    effective_items,
    smallest_difference,
)
from coherencegym.eval.statistics.scores import ScoreRow
from coherencegym.eval.tasks.results import Results, TableFacts
from coherencegym.eval.tasks.score.outcomes import ACCURACY, CONTROLLED, Selection, inside, select
from coherencegym.eval.tasks.score.summary import kind_of


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


def paired_rows(baseline: Results, model: Results, seed: int) -> Iterator[PairedScore]:
    """A row of all units that both have by table, metric and system, and one of each group.

    Of predictions the rows are those of a table of scores (:mod:`eval.tasks.score.outcomes`), and
    the row of a whole table is of controlled scores where both have them.
    """
    import numpy as np

    ours, theirs = baseline.outcomes, model.outcomes
    rows, controlled = [], {}
    for one, there in compared_outcomes(baseline, model):
        metric, table = baseline.metrics[one.metric], baseline.table(one.config, one.split)
        assert table is not None
        place_of = np.full(len(ours), -1)
        place_of[one.places] = there
        for row, about in _rows_of(ours, one, metric, table):
            sides = (ours, row.places), (theirs, place_of[row.places])
            made = replace(_row(metric, sides, seed), **about)
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
) -> Iterator[tuple[Selection, dict[str, Any]]]:
    about: dict[str, Any] = {"config": of.config, "split": of.split}
    if metric.is_of_items:
        for row in select(ours, of.places, table.headline, table.breakdowns):
            formula, aggregation = kind_of(ours, row.places)
            group = "" if row.level == "formula" else row.name
            kinds = {"formula": formula, "aggregation": aggregation, "metric": metric.said}
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
    left, right = _both(*sides)
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


def _both(before: tuple[OutcomeTables, Any], after: tuple[OutcomeTables, Any]) -> Any:
    """The cells at places at which both sides have a value, of the same units in their order."""
    (ours, places), (theirs, others) = before, after
    both = ours.has_value(places) & theirs.has_value(others)
    left = ours.cells(places[both])
    # The units are paired, and so are their items and clusters.
    right = replace(theirs.cells(others[both]), cluster=left.cluster, item=left.item)
    return left, right


def headline_difference(
    baseline: Results, model: Results, over: Collection[str], seed: int
) -> PairedScore | None:
    """The headline scores of two models and their difference; None where no item is in both.

    It is of controlled scores, whose weights are those of the items that both have, where both
    headlines are.

    Args:
        baseline, model: results of ``score`` on one suite.
        over: the configs that are averaged.
        seed: draws signs.
    """
    plain, controlled = (_items_of(baseline, model, over, one) for one in (ACCURACY, CONTROLLED))
    if not plain:
        return None
    heads = (baseline.headline, model.headline)
    is_controlled = bool(controlled) and all(head and head.is_controlled for head in heads)
    metric, chosen = (CONTROLLED, controlled) if is_controlled else (ACCURACY, plain)
    (before, after, _), (old, new, _) = (
        [[*own] for own in zip(*of.values(), strict=True)] for of in (chosen, plain)
    )
    beside: dict[str, Any] = {}
    if is_controlled:
        sides = (("baseline_plain_score", old), ("plain_score", new))
        beside = {name: ACCURACY.over_items(own).value for name, own in sides}
    items = pooled(before, not is_controlled)
    independent = effective_sample_size(items.weight) * effective_items(items.cluster) / len(items)
    return PairedScore(
        config="",
        split="",
        group="",
        level="all",
        metric=metric.label,
        n=len(items),
        n_clusters=count_distinct(items.cluster),
        left_out=sum(whole - len(left) for left, _, whole in plain.values()),
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


def _items_of(
    baseline: Results, model: Results, over: Collection[str], metric: ItemAccuracy
) -> dict[str, tuple[Cells, Cells, int]]:
    # Of each config the items that both have, by both, and the number that either has.
    import numpy as np

    found: dict[str, list[tuple[Cells, Cells, int]]] = {}
    for one, there in compared_outcomes(baseline, model):
        table = baseline.table(one.config, one.split)
        if table is None or one.config not in over:
            continue
        if (one.metric, one.system) != (metric.name, MODEL):
            continue
        place_of = np.full(len(baseline.outcomes), -1)
        place_of[one.places] = there
        places = inside(baseline.outcomes, one.places, table.headline)
        sides = (baseline.outcomes, places), (model.outcomes, place_of[places])
        left, right = map(metric.counted, _both(*sides))
        if len(left):
            whole = count_distinct(baseline.outcomes.items(places))
            found.setdefault(one.config, []).append((left, right, whole))
    return {
        config: (
            join_cells([o[0] for o in own]),
            join_cells([o[1] for o in own]),
            sum(o[2] for o in own),
        )
        for config, own in found.items()
    }
