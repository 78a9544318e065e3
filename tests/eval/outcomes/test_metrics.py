"""Every metric of the registry: what it agrees with, and what does not matter to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.strategies import FEW

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.estimates import estimates
from coherencegym.eval.outcomes.label_metrics import AreaUnderCurve, PartialSpearman, Spearman
from coherencegym.eval.outcomes.metric import Metric
from coherencegym.eval.outcomes.metrics import (
    KINDS,
    ItemAccuracy,
    Margin,
    SavedMetric,
    described_metrics,
    known_metrics,
)
from coherencegym.eval.outcomes.schema import MODEL, System, UnitRow
from coherencegym.eval.outcomes.tables import Cells, OutcomeTables, OutcomeWriter
from coherencegym.eval.statistics import estimators
from coherencegym.eval.statistics.balance import weighted_interval
from coherencegym.eval.statistics.correlation import (
    RankCorrelation,
    correlation,
    correlation_within,
    correlations_difference,
)
from coherencegym.eval.statistics.effective_size import effective_sample_size
from coherencegym.eval.statistics.intervals import (
    Estimate,
    mean_interval,
    ratio_interval,
    share_interval,
)
from coherencegym.eval.statistics.paired import (
    approximate_randomisation,
    difference_interval,
    paired_test,
    weighted_difference,
)

#: A unit of two models: parts of wholes, values that rank, ratings, its kind and its cluster.
Both = tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int], bool, str]
PART = st.integers(0, 4).flatmap(lambda whole: st.tuples(st.integers(0, whole), st.just(whole)))
PAIR = st.tuples(st.integers(0, 5), st.integers(0, 5))
BOTH = st.tuples(PART, PART, PAIR, PAIR, st.booleans(), st.sampled_from("abcdef"))
UNITS = st.lists(BOTH, min_size=1, max_size=14)


def columns_of(estimator: str, unit: Both, side: int) -> dict[str, float]:
    """What one of both models has on a unit, as a metric of this estimator takes it."""
    part, whole = unit[:2][side]
    if "accuracy" in estimator:
        weight = {"weight": 1.0 + unit[3][0]} if estimator.startswith("weighted") else {}
        return {"value": part / whole if whole else 1.0, **weight}
    if estimator in ("ratio", "F1"):
        return {"value": float(part), "weight": float(whole)}
    if estimator == "auc":
        return {"value": float(unit[2][side]), "target": float(unit[4])}
    return {"value": float(unit[2][side]), "target": float(unit[3][0]), "given": float(unit[3][1])}


def unit(number: int, cluster: str, config: str = "c", groups: Any = ()) -> UnitRow:
    name = f"u{number:02d}"
    return UnitRow(config=config, split="test", item=name, cluster=cluster,
                groups=groups)  # fmt: skip


def table_of(
    units: Sequence[UnitRow], columns: Mapping[str, Sequence[float | None]], metric: str = "m"
) -> OutcomeTables:
    writer = OutcomeWriter()
    values = columns["value"]
    more: Any = {name: own for name, own in columns.items() if name != "value"}
    writer.add(writer.units(units), metric, MODEL, values, **more)
    return writer.tables()


def whole(tables: OutcomeTables) -> Cells:
    return tables.cells(np.arange(len(tables)))


def cells_of(estimator: str, units: Sequence[Both], side: int = 0) -> Cells:
    """The cells of one of both models."""
    rows = [columns_of(estimator, own, side) for own in units]
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else {"value": 0})}
    return whole(table_of([unit(n, own[5]) for n, own in enumerate(units)], columns))


def as_if(cells: Cells, **columns: Any) -> Cells:
    """Cells with other columns, which need not be possible."""
    arrays: Any = {name: np.array(own, float) for name, own in columns.items()}
    return replace(cells, **arrays)


def of_all(kind: type[Metric]) -> Metric:
    return kind("m", "M")


@dataclass(frozen=True)
class Known:
    """The same by functions of arrays, or by other people's code."""

    value: Callable[[Cells], float]
    estimate: Callable[[Cells], Estimate]
    difference: Callable[[Cells, Cells], tuple[Any, str, float]] | None = None


def _correlated(kind: str) -> Known:
    def found(cells: Cells) -> Any:
        if kind == "within":
            return correlation_within(cells.value, cells.target, cells.cluster)
        held = cells.given if kind == "partial" else None
        return correlation(cells.value, cells.target, cells.cluster, held)

    def value(cells: Cells) -> float:
        sides = [stats.rankdata(own) for own in (cells.value, cells.target)]
        if kind == "within":
            sides = [np.zeros(len(cells)), np.zeros(len(cells))]
            for name in np.unique(cells.cluster):
                own = cells.cluster == name
                for side, given_ in zip(sides, (cells.value, cells.target), strict=True):
                    ranks = stats.rankdata(given_[own])
                    side[own] = (ranks - ranks.mean()) / own.sum()
        elif kind == "partial":
            held = stats.rankdata(cells.given)
            if np.ptp(held):
                sides = [own - np.polyval(np.polyfit(held, own, 1), held) for own in sides]
        return float(np.corrcoef(*sides)[0, 1])

    def estimate(cells: Cells) -> Estimate:
        own = found(cells)
        return Estimate(own.value, own.interval, len(cells))

    def difference(before: Cells, after: Cells) -> tuple[Any, str, float]:
        _, ends, test = correlations_difference(found(before), found(after))
        return ends, test.method, test.p

    return Known(value, estimate, difference)


def _area_difference(before: Cells, after: Cells) -> tuple[Any, str, float]:
    truths = before.target == 1
    found = estimators.ranks_difference(before.value, after.value, truths, before.cluster)
    assert found.test is not None
    return found, found.test.method, found.test.p


def _share_difference(before: Cells, after: Cells) -> tuple[Any, str, float]:
    test = paired_test(before.value, after.value, before.cluster)
    found = difference_interval(after.value - before.value, before.cluster, test)
    return found, test.method, test.p


def _weighted_difference(before: Cells, after: Cells) -> tuple[Any, str, float]:
    change = after.value - before.value
    found = weighted_difference(change, before.weight, before.cluster)
    assert found.test is not None
    return found, found.test.method, found.test.p


def _ratio_difference(before: Cells, after: Cells) -> tuple[Any, str, float]:
    sides = (before.value, before.weight), (after.value, after.weight)
    test = approximate_randomisation(*sides, before.cluster, 0)
    return estimators.ratio_difference(*sides, before.cluster, test.p), test.method, test.p


def _area(cells: Cells) -> float:
    truth = cells.target == 1
    ranks = stats.mannwhitneyu(cells.value[truth], cells.value[~truth])
    return float(ranks.statistic / truth.sum() / (~truth).sum())


def _share(cells: Cells) -> Estimate:
    values = cells.value.tolist()
    return Estimate(sum(values) / len(values), share_interval(values, cells.cluster), len(cells))


def _ratio(cells: Cells, worth: float) -> Estimate:
    interval = ratio_interval(cells.value, cells.weight, cells.cluster, worth)
    return Estimate(float(cells.value.sum() / cells.weight.sum()), interval, len(cells))


KNOWN = {
    "accuracy": Known(
        lambda cells: float(cells.value.mean()),
        _share,
        _share_difference,
    ),
    # Here of one prediction an item; of several see below.
    "accuracy of items": Known(
        lambda cells: float(cells.value.mean()),
        _share,
        _share_difference,
    ),
    "weighted accuracy of items": Known(
        lambda cells: float(np.average(cells.value, weights=cells.weight)),
        lambda cells: Estimate(
            float(np.average(cells.value, weights=cells.weight)),
            weighted_interval(cells.value, cells.weight, cells.cluster),
            len(cells),
        ),
        _weighted_difference,
    ),
    "mean margin": Known(
        lambda cells: float(cells.value.mean()),
        lambda cells: Estimate(
            float(cells.value.mean()), mean_interval(cells.value, cells.cluster), len(cells)
        ),
    ),
    "ratio": Known(
        lambda cells: float(cells.value.sum() / cells.weight.sum()),
        lambda cells: _ratio(cells, cells.weight.sum()),
        _ratio_difference,
    ),
    "F1": Known(
        lambda cells: float(cells.value.sum() / cells.weight.sum()),
        # A hit is in twice the hits and in their whole.
        lambda cells: _ratio(
            cells, cells.weight.sum() ** 2 / (cells.value.sum() + cells.weight.sum())
        ),
        _ratio_difference,
    ),
    "auc": Known(
        _area,
        lambda cells: estimators.area(cells.value, cells.target == 1, cells.cluster),
        _area_difference,
    ),
    "spearman": _correlated("plain"),
    "partial spearman": _correlated("partial"),
    "spearman within clusters": _correlated("within"),
}


def test_every_kind_has_what_it_is_held_against() -> None:
    assert set(KNOWN) == set(KINDS)
    assert all(kind.estimator == name for name, kind in KINDS.items())


def holds_its_value(found: Estimate, metric: Metric) -> None:
    # Of numbers without ends, of one cluster, nothing is known of others.
    if found.value is None or (metric.unit and not found.method):
        assert (found.low, found.high) == (None, None)
        return
    assert found.low is not None
    assert found.high is not None
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9


def is_the_same(one: Estimate | None, other: Estimate | None) -> None:
    """The numbers of two estimates or differences are, but for rounding."""
    left, right = ({} if each is None else asdict(each) for each in (one, other))
    assert left.keys() == right.keys()
    for name, value in left.items():
        parts = value if isinstance(value, dict) else {name: value}
        others = right[name] if isinstance(value, dict) else {name: right[name]}
        assert parts == pytest.approx(others, abs=1e-6), name


@pytest.mark.parametrize("name", KINDS)
@FEW
@given(units=UNITS)
def test_an_estimate_is_that_of_its_function(name: str, units: list[Both]) -> None:
    metric, cells, known = of_all(KINDS[name]), cells_of(name, units), KNOWN[name]
    counted = metric.counted(cells)
    found, value = metric.estimate(counted), metric.value(counted)
    holds_its_value(found, metric)
    assert (found.n, found.clusters) == (len(units), len({own[5] for own in units}))
    if value is None:
        assert found == Estimate(None, None, found.n, found.clusters)
        return
    if not metric.unit:
        assert value + 1e-9 >= -1
        assert value <= 1 + 1e-9
        assert metric.is_signed or value >= 0
    assert found.value == pytest.approx(value, abs=1e-9)
    assert known.value(cells) == pytest.approx(value, abs=1e-6)
    is_the_same(replace(known.estimate(cells), clusters=found.clusters), found)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.is_compared])
@FEW
@given(units=UNITS)
def test_a_difference_is_that_of_its_function(name: str, units: list[Both]) -> None:
    metric = of_all(KINDS[name])
    sides = [metric.counted(cells_of(name, units, side)) for side in (0, 1)]
    values = [metric.value(side) for side in sides]
    found = metric.compare(sides[0], sides[1])
    if found is None:
        assert None in values
        return
    assert values[0] is not None
    assert values[1] is not None
    assert found.value == pytest.approx(values[1] - values[0], abs=1e-9)
    holds_its_value(found, metric)
    assert found.test is not None
    assert 0 <= found.test.p <= 1
    difference = KNOWN[name].difference
    assert difference is not None
    ends, test, p = difference(sides[0], sides[1])
    assert (found.test.method, found.method) == (test, ends.method)
    assert found.test.p == pytest.approx(p)
    assert found.low == pytest.approx(ends.low)
    assert found.high == pytest.approx(ends.high)
    same = metric.compare(sides[0], sides[0])
    assert same is not None
    assert same.test is not None
    assert (same.value, same.test.p) == (0, 1)


@pytest.mark.parametrize("name", KINDS)
@FEW
@given(units=UNITS, random=st.randoms(use_true_random=False))
def test_neither_the_order_of_units_nor_names_of_clusters_matter(
    name: str, units: list[Both], random: Any
) -> None:
    metric = of_all(KINDS[name])
    others = list(units)
    random.shuffle(others)
    # Other names in the same order: sums over clusters are those of the same numbers.
    named = [(*own[:5], f"d{'abcdef'.index(own[5]) * 7:03}") for own in units]
    before, after = (
        [metric.counted(cells_of(name, own, side)) for own in (units, others, named)]
        for side in (0, 1)
    )
    assert metric.estimate(before[2]) == metric.estimate(before[0])
    is_the_same(metric.estimate(before[1]), metric.estimate(before[0]))
    found = [metric.compare(*sides) for sides in zip(before, after, strict=True)]
    assert found[2] == found[0]
    if found[0] and found[0].test and "drawn" not in found[0].test.method:
        is_the_same(found[1], found[0])


@pytest.mark.parametrize("name", KINDS)
def test_without_units_there_is_no_value(name: str) -> None:
    metric = of_all(KINDS[name])
    cells = metric.counted(cells_of(name, []))
    assert metric.value(cells) is None
    assert metric.estimate(cells) == Estimate(None, None, 0, 0)
    assert metric.compare(cells, cells) is None
    assert metric.fault(cells) == ""


@pytest.mark.parametrize("name", KINDS)
@FEW
@given(units=UNITS)
def test_how_right_units_are_is_from_0_to_1(name: str, units: list[Both]) -> None:
    metric = of_all(KINDS[name])
    found = metric.rightness(metric.counted(cells_of(name, units)))
    assert (found is None) == ("accuracy" not in name and name not in ("ratio", "F1"))
    if found is not None:
        shares = [part / all_ if all_ else 1.0 for (part, all_), *_ in units]
        assert found.tolist() == pytest.approx(shares)


NAN = math.nan


@pytest.mark.parametrize(
    ("name", "columns", "said"),
    [
        ("accuracy", {"value": [0.5, 1.5]}, "a value of 1.5; expected 0 to 1"),
        ("accuracy", {"value": [-0.1, 1]}, "a value of -0.1; expected 0 to 1"),
        ("ratio", {"value": [1, 3], "weight": [1, 2]}, "a value of 3 of 2; expected a part of it"),
        ("ratio", {"value": [-1, 0], "weight": [1, 2]}, "a value of -1 of 1; expected a part"),
        ("ratio", {"value": [0, 0], "weight": [1, NAN]}, "a value of 0 of nan; expected a part"),
        ("ratio", {"value": [0, -1], "weight": [0, -1]}, "a value of -1 of -1; expected a part"),
        ("auc", {"target": [0, 2]}, "target; expected 0 or 1"),
        ("auc", {"target": [1, NAN]}, "target; expected 0 or 1"),
        ("spearman", {"target": [1, NAN]}, "target; expected a number"),
        ("spearman within clusters", {"target": [NAN, 1]}, "target; expected a number"),
        ("partial spearman", {"target": [1, NAN]}, "target; expected a number"),
        ("partial spearman", {"given": [1, NAN]}, "given; expected a number"),
    ],
)
def test_a_fault_is_said(name: str, columns: dict[str, list[float]], said: str) -> None:
    units: list[Both] = [((1, 1), (1, 1), (n, n), (n, n), bool(n), "a") for n in (0, 1)]
    metric, cells = of_all(KINDS[name]), cells_of(name, units)
    assert metric.fault(cells) == ""
    assert metric.fault(as_if(cells, **columns)).startswith(said)


#: Those of files: a number from 1e150 on is refused.
FLOATS = st.floats(-9e149, 9e149)
ANY = st.tuples(FLOATS, *[st.one_of(st.just(NAN), st.sampled_from([0.0, 1.0]), FLOATS)] * 3)


@pytest.mark.parametrize("name", KINDS)
@FEW
@given(rows=st.lists(st.tuples(ANY, st.sampled_from("ab")), min_size=1, max_size=5))
def test_what_has_no_fault_has_an_estimate(name: str, rows: list[Any]) -> None:
    """Finite values of any size, as files may have them."""
    named: list[Both] = [((1, 1), (1, 1), (0, 0), (0, 0), True, cluster) for _, cluster in rows]
    columns = dict(zip(("value", "weight", "target", "given"), zip(*(own for own, _ in rows),
               strict=True), strict=True))  # fmt: skip
    metric, cells = of_all(KINDS[name]), as_if(cells_of(name, named), **columns)
    if not metric.fault(cells):
        counted = metric.counted(cells)
        holds_its_value(metric.estimate(counted), metric)
        metric.compare(counted, counted)


# ---------------------------------------------------------------- predictions of items

#: An item: the outcomes of its predictions for two models, and its cluster.
ItemOfBoth = tuple[list[tuple[float, float]], str]
SHARES = st.sampled_from([0.0, 1.0])
MARGINS = st.floats(-99, 99)


def items_of(number: st.SearchStrategy[float]) -> st.SearchStrategy[list[ItemOfBoth]]:
    outcomes = st.lists(st.tuples(number, number), min_size=1, max_size=4)
    return st.lists(st.tuples(outcomes, st.sampled_from("abcdefgh")), min_size=1, max_size=14)


def item_cells(items: Sequence[ItemOfBoth], side: int, order: Sequence[int]) -> Cells:
    """The outcomes of one model, which come in some order."""
    rows = [
        (UnitRow(config="c", split="test", item=f"i{number}", unit=f"#{place}",
                 cluster=cluster), both[side])
        for number, (own, cluster) in enumerate(items)
        for place, both in enumerate(own)
    ]  # fmt: skip
    units, values = zip(*(rows[number] for number in order), strict=True)
    return whole(table_of(units, {"value": values}))


def item_means(items: Sequence[ItemOfBoth], side: int) -> list[float]:
    """The mean of each item."""
    means = []
    for own, _ in items:
        total = 0.0
        for both in own:
            total += both[side]
        means.append(total / len(own))
    return means


def orders(items: Sequence[ItemOfBoth], random: Any) -> list[list[int]]:
    """The outcomes item by item, and mixed."""
    known = list(range(sum(len(own) for own, _ in items)))
    return [known, random.sample(known, len(known))]


@given(items=items_of(SHARES), random=st.randoms(use_true_random=False))
def test_the_accuracy_of_items_is_that_of_a_loop(items: list[ItemOfBoth], random: Any) -> None:
    metric = ItemAccuracy("m")
    left, right = (item_means(items, side) for side in (0, 1))
    clusters = [cluster for _, cluster in items]
    ends = share_interval(left, clusters, [len(own) for own, _ in items])
    known = Estimate(sum(left) / len(left), ends, len(items))
    test = paired_test(left, right, clusters)
    between = [after - before for before, after in zip(left, right, strict=True)]
    limits = difference_interval(between, clusters, test)
    for order in orders(items, random):
        before, after = (metric.counted(item_cells(items, side, order)) for side in (0, 1))
        found = metric.estimate(before)
        is_the_same(found, replace(known, clusters=len(set(clusters))))
        assert metric.value(before) == pytest.approx(known.value)
        assert before.weight.sum() == len(order)
        assert sorted(metric.rightness(before)) == pytest.approx(sorted(left))
        compared = metric.compare(before, after)
        assert compared is not None
        assert compared.value == pytest.approx(sum(between) / len(between))
        assert compared.test is not None
        assert compared.test.method == test.method
        assert compared.test.p == pytest.approx(test.p)
        assert (compared.low, compared.high) == pytest.approx((limits.low, limits.high))


@given(items=items_of(MARGINS), random=st.randoms(use_true_random=False))
def test_the_mean_and_median_margin_are_those_of_a_loop(
    items: list[ItemOfBoth], random: Any
) -> None:
    metric = Margin("m")
    means, clusters = item_means(items, 0), [cluster for _, cluster in items]
    number, ends = len(means), mean_interval(means, clusters)
    for order in orders(items, random):
        cells = metric.counted(item_cells(items, 0, order))
        known = Estimate(sum(means) / number, ends, number)
        is_the_same(metric.estimate(cells), replace(known, clusters=len(set(clusters))))
        assert metric.value(cells) == pytest.approx(sum(means) / number, abs=1e-9)
        assert metric.compare(cells, cells) is None
        assert metric.rightness(cells) is None


# ---------------------------------------------------------------- means over tables


def normal(config: str, seed: int) -> OutcomeTables:
    """30 texts of 15 prompts, whose scores are about their ratings."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=30)
    ratings = values + generator.normal(size=30)
    units = [unit(number, f"c{number // 2}", config) for number in range(30)]
    return table_of(units, {"value": values.tolist(), "target": ratings.tolist()})


def test_outcomes_add_up_to_scipys() -> None:
    tables, metric = normal("a", 1), Spearman("m", "Spearman")
    cells = whole(tables)
    ((_, _, score),) = estimates(tables, {"m": metric})
    expected = stats.spearmanr(cells.value, cells.target)[0]
    assert score.score == pytest.approx(float(expected))
    assert metric.value(cells) == score.score
    assert score.chance == 0
    assert score.ci_method == "influence"


@given(UNITS)
def test_a_mean_over_tables_holds_its_value(units: list[Both]) -> None:
    """Two tables of the same clusters: a mean of both values, where both have one."""
    for metric in (AreaUnderCurve("m"), Spearman("m")):
        tables = [cells_of(metric.estimator, units, side) for side in (0, 1)]
        values = [metric.value(own) for own in tables]
        known = [value for value in values if value is not None]
        if len(known) < 2:
            with pytest.raises(ValueError, match=r"of both kinds|both sides vary"):
                metric.mean(tables)
            continue
        found = metric.mean(tables)
        holds_its_value(found, metric)
        assert found.value == pytest.approx(sum(known) / 2, abs=1e-9)
        assert (found.n, found.clusters) == (2 * len(units), len({own[5] for own in units}))


def test_the_mean_over_tables_counts_a_shared_cluster_once() -> None:
    metric = Spearman("m")
    first, second = whole(normal("a", 1)), whole(normal("b", 2))
    mean = metric.mean([first, second])
    values = [metric.value(own) for own in (first, second)]
    assert mean.value == pytest.approx(sum(v for v in values if v is not None) / 2)
    # The same table twice says no more than once.
    score = metric.estimate(first)
    twice = metric.mean([first, first])
    assert (twice.low, twice.high) == pytest.approx((score.low, score.high))
    assert mean.high is not None
    assert mean.low is not None
    assert twice.high is not None
    assert twice.low is not None
    assert mean.high - mean.low < twice.high - twice.low
    flat = as_if(first, value=np.ones(30))
    with pytest.raises(ValueError, match="both sides vary"):
        metric.mean([first, flat])


def test_what_a_cluster_adds_to_a_mean_is_of_all_its_tables() -> None:
    """The second table has some of the clusters of the first, and others."""
    metric, first, second = Spearman("m"), whole(normal("a", 1)), whole(normal("b", 2))
    second = replace(second, cluster=second.cluster + 6)
    both = [one for own in (first, second) if (one := metric.found(own)) is not None]
    added, weights = np.zeros(21), np.zeros(21)
    for start, one in zip((0, 6), both, strict=True):
        added[start : start + 15] += one.added / 2
        weights[start : start + 15] += 1 / 30
    value = (both[0].value + both[1].value) / 2
    known = RankCorrelation(value, added, effective_sample_size(weights)).interval
    found = metric.mean([first, second])
    assert found.clusters == 21
    assert found.low == pytest.approx(known.low)
    assert found.high == pytest.approx(known.high)


# ---------------------------------------------------------------- rows, and what files say


def test_estimates_are_of_all_units_and_then_of_groups() -> None:
    writer = OutcomeWriter()
    groups = [(("genre", "ab"[n % 2]), ("", "causal")) for n in range(4)]
    units = writer.units(unit(n, "c", groups=own) for n, own in enumerate(groups))
    layer = System(label="layer 1", layer=1)
    beside = System(role="baseline", label="length")
    for system in (MODEL, layer, beside):
        writer.add(units, "m", system, [1.0, 0.0, 1.0, None], reason="too_long")
    writer.add(units, "whole", MODEL, [1.0] * 4)
    kind = KINDS["accuracy"]
    metrics = {"m": kind("m", "said"), "whole": kind("whole", by_group=False)}
    found = [score for _, _, score in estimates(writer.tables(), metrics)]
    assert [(s.metric, s.system, s.group, s.level, s.n, s.score) for s in found] == [
        ("said", "", "", "all", 3, 2 / 3),
        ("said", "", "genre=a", "column", 2, 1.0),
        ("said", "", "genre=b", "column", 1, 0.0),
        ("said", "", "causal", "group", 3, 2 / 3),
        ("said", "layer 1", "", "detail", 3, 2 / 3),
        ("said", "length", "", "reference", 3, 2 / 3),
        ("said", "length", "genre=a", "reference", 2, 1.0),
        ("said", "length", "genre=b", "reference", 1, 0.0),
        ("said", "length", "causal", "reference", 3, 2 / 3),
        ("whole", "", "", "all", 4, 1.0),
    ]
    assert found[0].counts == found[2].counts == {"too_long": 1}
    assert found[1].counts == {}


@pytest.mark.parametrize(
    ("value", "kind"), [(-0.1, "accuracy"), (6.685, "ratio"), (1.5, "spearman")]
)
def test_a_score_outside_of_its_range_is_refused(
    value: float, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = table_of([unit(0, "c")], {"value": [1.0]})

    def found(kind: str, value: float) -> float | None:
        fixed = Estimate(value, None, 1)
        monkeypatch.setattr(KINDS[kind], "estimate", lambda metric, cells: fixed)
        ((_, _, score),) = estimates(tables, {"m": KINDS[kind]("m", "M")})
        return score.score

    with pytest.raises(EvaluationError, match=r"^metric 'M': .*; expected (0|-1) to 1$"):
        found(kind, value)
    assert found("spearman", -0.5) == -0.5


def test_metrics_are_read_as_they_were_described() -> None:
    metrics = [
        kind(f"m{n}", f"M{n}", by_group=bool(n % 2)) for n, kind in enumerate(KINDS.values())
    ]
    saved = [SavedMetric(**one) for one in described_metrics(metrics)]
    assert list(known_metrics(saved, "results.json").values()) == metrics
    assert PartialSpearman("m0") != metrics[0]
    with pytest.raises(
        EvaluationError, match=r"^results.json: metric 'm': estimator 'median'; exp"
    ):
        known_metrics([SavedMetric("m", "", True, "median")], "results.json")
