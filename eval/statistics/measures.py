"""Measures from outcomes of units: shares, ratios such as F1, areas under ROC curves, correlations.

Each has a 95 % interval over clusters of units, and a difference that pairs two sides on the same
units.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from coherencegym.eval.statistics.correlation import (
    RankCorrelation,
    correlation,
    correlation_within,
    correlations_difference,
)
from coherencegym.eval.statistics.effective_size import (
    Clusters,
    adjusted,
    owners,
    quantile_of_t,
    worth,
)
from coherencegym.eval.statistics.intervals import (
    FEWEST,
    Interval,
    interval_of,
    ratio_interval,
    share_interval,
)
from coherencegym.eval.statistics.paired import Test, difference_interval, signs_and_sizes
from coherencegym.eval.statistics.scores import CORRELATIONS, Score, UnitOutcome, level_of

#: Parts and wholes of each unit, whose sums make a ratio.
Counts = tuple[Sequence[float], Sequence[float]]
_T = TypeVar("_T")
#: The value that a judge which reads nothing reaches, where that is known.
_CHANCE = {"ranks": 0.5, **dict.fromkeys(CORRELATIONS, 0.0)}


@dataclass(frozen=True, slots=True)
class Measure:
    """A share from 0 to 1, or a correlation, its 95 % interval, and over how many.

    ``value`` is None where nothing can be said: a precision without predictions. ``n`` counts
    documents for accuracies and differences, and sentences for the others.
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    n: int

    def as_score(self) -> dict[str, Any]:
        """The fields of a :class:`Score` that have it."""
        return {
            "n": self.n,
            "score": self.value,
            "ci_low": self.low,
            "ci_high": self.high,
            "ci_method": self.method,
        }

    def as_people(self) -> dict[str, Any]:
        """The fields of a :class:`Score` that have it where it is of people."""
        if self.value is None:
            return {}
        return {
            "human_score": self.value,
            "human_ci_low": self.low,
            "human_ci_high": self.high,
            "human_n": self.n,
        }


def value_of(outcomes: Sequence[UnitOutcome]) -> float | None:
    """The value that outcomes of one measure, all with a value, add up to; None where they do not.

    A ratio without wholes has none, nor have ranks where all units are of one kind, and
    correlations where a side does not vary.
    """
    values = [one.value for one in outcomes if one.value is not None]
    if not values:
        return None
    if outcomes[0].statistic in CORRELATIONS:
        found_one = correlation_of([one for one in outcomes if one.value is not None])
        return found_one.value if found_one else None
    if outcomes[0].statistic == "ranks":
        truths = [bool(one.truth) for one in outcomes]
        found = [v for v, truth in zip(values, truths, strict=True) if truth]
        others = [v for v, truth in zip(values, truths, strict=True) if not truth]
        return float(above(found, others).mean() / len(others)) if found and others else None
    whole = math.fsum(one.whole for one in outcomes)
    return math.fsum(values) / whole if whole else None


def measured(outcomes: Sequence[UnitOutcome]) -> Measure:
    """The value that outcomes of one measure, at least one, add up to, with its interval."""
    known = [one for one in outcomes if one.value is not None]
    values, clusters = [one.value or 0.0 for one in known], [one.cluster for one in known]
    if outcomes[0].statistic in CORRELATIONS:
        if (found := correlation_of(known)) is None:
            return Measure(None, None, None, "", len(known))
        return _measure(found.value, found.interval, len(known))
    if outcomes[0].statistic == "ranks":
        return area(values, [bool(one.truth) for one in known], clusters)
    if outcomes[0].statistic == "ratio":
        return ratio(values, [one.whole for one in known], clusters, len(known))
    return accuracy(values, clusters)


def correlation_of(outcomes: Sequence[UnitOutcome]) -> RankCorrelation | None:
    """The correlation of outcomes that all have a value; None where it is not defined."""
    if not outcomes:
        return None
    sides = [one.value or 0.0 for one in outcomes], [one.against or 0.0 for one in outcomes]
    clusters = [one.cluster for one in outcomes]
    if outcomes[0].statistic == "within":
        return correlation_within(*sides, clusters)
    is_partial = outcomes[0].statistic == "partial"
    given = [one.given or 0.0 for one in outcomes] if is_partial else None
    return correlation(*sides, clusters, given)


def mean_correlation(tables: Sequence[Sequence[UnitOutcome]]) -> Measure:
    """The unweighted mean of the correlations of tables, each of outcomes that all have a value.

    A cluster may be in several tables, and then adds to all of their correlations at once.

    Raises:
        ValueError: that of a table is not defined.
    """
    import numpy as np

    found = [one for table in tables if (one := correlation_of(table)) is not None]
    if not found or len(found) < len(tables):
        raise ValueError("a correlation needs units of which both sides vary")
    number, owner = owners([one.cluster for table in tables for one in table])
    ends = np.cumsum([len(table) for table in tables])
    added, weights = np.zeros(number), np.zeros(number)
    for one, own in zip(found, np.split(owner, ends[:-1]), strict=True):
        # What each cluster adds stands in the order of their names, as the numbers here do.
        added[np.unique(own)] += one.added / len(found)
        weights += np.bincount(own, minlength=number) / len(own) / len(found)
    mean = RankCorrelation(
        math.fsum(one.value for one in found) / len(found), added, worth(weights)
    )
    return _measure(mean.value, mean.interval, int(ends[-1]))


def correlation_difference(
    before: Sequence[UnitOutcome], after: Sequence[UnitOutcome]
) -> tuple[Measure, Test]:
    """The correlation of the second outcomes minus that of the first, on the same units, its test.

    Raises:
        ValueError: one of them is not defined.
    """
    left, right = correlation_of(before), correlation_of(after)
    if left is None or right is None:
        raise ValueError("a correlation needs units of which both sides vary")
    value, interval, test = correlations_difference(left, right)
    return _measure(value, interval, len(after)), test


def added_up(outcomes: Iterable[UnitOutcome]) -> list[Score]:
    """The scores of outcomes: of each table, measure and judge one of all units, and by group."""
    scores = []
    for group, members in grouped(outcomes, lambda outcome: outcome):
        first = members[0]
        left_out = Counter(one.reason for one in members if one.value is None)
        scores.append(
            Score(
                config=first.config,
                split=first.split,
                measure=first.measure,
                judge=first.judge,
                group=group,
                level=level_of(group),
                **measured(members).as_score(),
                chance=_CHANCE.get(first.statistic),
                counts=dict(left_out),
            )
        )
    return scores


def grouped(units: Iterable[_T], of: Callable[[_T], UnitOutcome]) -> Iterator[tuple[str, list[_T]]]:
    """Units by table, measure and judge: all of them (no name), then those of each group.

    Groups by one column come together.
    """
    found: dict[tuple[str, ...], dict[str, list[_T]]] = {}
    for unit in units:
        one = of(unit)
        groups = found.setdefault((one.config, one.split, one.measure, one.judge), {})
        for name in ("", *one.groups):
            groups.setdefault(name, []).append(unit)
    for groups in found.values():
        columns = list(dict.fromkeys(name.partition("=")[0] for name in groups))
        for name in sorted(groups, key=lambda name: columns.index(name.partition("=")[0])):
            yield name, groups[name]


def accuracy(values: Sequence[float], clusters: Sequence[str]) -> Measure:
    """The mean of values from 0 to 1, one for each document."""
    if not values:
        return Measure(None, None, None, "", 0)
    interval = share_interval(values, clusters)
    return _measure(math.fsum(values) / len(values), interval, len(values))


def ratio(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], n: int
) -> Measure:
    """A ratio of counts over documents, such as precision: the sum of parts over that of wholes.

    ``n`` is the number of sentences that it is over.
    """
    return _ratio(parts, wholes, clusters, n, math.fsum(wholes))


def f1(parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], n: int) -> Measure:
    """F1 from counts, twice the hits over those with all errors; otherwise as :func:`ratio`."""
    # What the documents are worth if sentences are independent: each hit is counted twice.
    squares = math.fsum(parts) + math.fsum(wholes)
    most = math.fsum(wholes) ** 2 / squares if squares else 0.0
    return _ratio(parts, wholes, clusters, n, most)


def _ratio(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], n: int, most: float
) -> Measure:
    if not math.fsum(wholes):
        return Measure(None, None, None, "", n)
    value = math.fsum(parts) / math.fsum(wholes)
    return _measure(value, ratio_interval(parts, wholes, clusters, most), n)


def ratio_difference(
    before: Counts, after: Counts, clusters: Sequence[str], p: float | None = None
) -> Measure:
    """The ratio of the second counts minus that of the first, on the same units.

    Both versions of a unit vary together. The interval is that of :func:`signs_and_sizes` of what
    each cluster adds to the difference: its share of it, and its residual from both ratios; it
    agrees with a test of the same difference that gave ``p``.
    """
    import numpy as np

    n = len(clusters)
    columns = np.array([*before, *after], dtype=np.float64).reshape(4, n)
    wholes = columns[1].sum(), columns[3].sum()
    if not all(wholes):
        return Measure(None, None, None, "", n)
    number, owner = owners(clusters)
    value = float(columns[2].sum() / wholes[1] - columns[0].sum() / wholes[0])
    if number == 1:
        return _measure(value, Interval(-1.0, 1.0, "one cluster"), n)
    left, left_all, right, right_all = (np.bincount(owner, weights=own) for own in columns)
    weights = (left_all / wholes[0] + right_all / wholes[1]) / 2
    residuals = (right - right.sum() / wholes[1] * right_all) / wholes[1]
    residuals -= (left - left.sum() / wholes[0] * left_all) / wholes[0]
    # In halves: where a document weighs more in one version, it adds up to twice its mean weight.
    half = signs_and_sizes((residuals + value * weights) / 2, weights, 2.0 * n, p)
    return _measure(
        value, Interval(max(-1.0, 2 * half.low), min(1.0, 2 * half.high), half.method), n
    )


def share_difference(
    before: Sequence[float], after: Sequence[float], clusters: Sequence[str]
) -> Measure:
    """The mean of the second values minus that of the first, on versions of the same documents."""
    n = len(clusters)
    if not n:
        return Measure(None, None, None, "", 0)
    differences = [new - old for old, new in zip(before, after, strict=True)]
    interval = difference_interval(differences, clusters)
    return _measure(math.fsum(differences) / n, interval, n)


def auc(
    scores: Sequence[Sequence[float]], positions: Sequence[int], clusters: Sequence[str]
) -> Measure:
    """The :func:`area` over all non-opening sentences of documents, of which one is looked for."""
    flat = [
        (score, place == position, cluster)
        for own, position, cluster in zip(scores, positions, clusters, strict=True)
        for place, score in enumerate(own)
        if place
    ]
    return area([one[0] for one in flat], [one[1] for one in flat], [one[2] for one in flat])


def area(values: Sequence[float], truths: Sequence[bool], clusters: Sequence[str]) -> Measure:
    """The area under the ROC curve, ties counting half.

    It is how often a true unit has a higher value than another. Each unit adds to its variance by
    how many of the other kind it is above or below (DeLong, DeLong and Clarke-Pearson 1988,
    Biometrics 44), those of one cluster together (Obuchowski 1997, Biometrics 53).
    """
    import numpy as np

    truth = np.array(truths, dtype=bool)
    if not 0 < truth.sum() < len(truth):
        return Measure(None, None, None, "", len(truth))
    number, owner = owners(clusters)
    value, of_all = _ranked(np.array(values, dtype=np.float64), truth, owner, number)
    return _measure(value, interval_of(of_all, number), len(truth))


def mean_area(tables: Sequence[Sequence[UnitOutcome]]) -> Measure:
    """The unweighted mean of :func:`area` over tables, each of outcomes that all have a value.

    A cluster may be in several tables, and then adds to all of their areas at once.

    Raises:
        ValueError: a table without units of both kinds.
    """
    import numpy as np

    if not all(len({one.truth for one in table}) == 2 for table in tables):
        raise ValueError("an area under the curve needs units of both kinds")
    if len(tables) == 1:
        return measured(tables[0])
    number, owner = owners([one.cluster for table in tables for one in table])
    ends = np.cumsum([len(table) for table in tables])
    found = [
        _ranked(
            np.array([one.value for one in table], dtype=np.float64),
            np.array([one.truth for one in table], dtype=bool),
            own,
            number,
        )
        for table, own in zip(tables, np.split(owner, ends[:-1]), strict=True)
    ]
    weights, totals, residuals = (
        np.mean([getattr(own, name) for _, own in found], axis=0)
        for name in ("weights", "totals", "residuals")
    )
    fewest = min(worth(weights), len(found) * min(own.fewest for _, own in found))
    most = len(found) ** 2 / math.fsum(1 / own.most for _, own in found)
    of_all = Clusters(weights, totals, residuals, fewest, max(fewest, most))
    value = math.fsum(area for area, _ in found) / len(found)
    return _measure(value, interval_of(of_all, number), int(ends[-1]))


def ranks_difference(
    before: Sequence[float],
    after: Sequence[float],
    truths: Sequence[bool],
    clusters: Sequence[str],
) -> tuple[Measure, Test]:
    """The area under the ROC curve of the second scores minus that of the first, and its test.

    Both rank the same units, each on its own scale. What a unit adds to either area varies together
    with what it adds to the other (DeLong et al. 1988), and with those of its cluster (Obuchowski
    1997); the distribution is Student's, of as many degrees of freedom as the clusters are worth,
    less one.

    Raises:
        ValueError: all units are of one kind.
    """
    import numpy as np
    from scipy.stats import t

    number, owner = owners(clusters)
    truth = np.array(truths, dtype=bool)
    if not 0 < truth.sum() < len(truth):
        raise ValueError("an area under the curve needs units of both kinds")
    (left, here), (right, there) = (
        _ranked(np.array(own, dtype=np.float64), truth, owner, number) for own in (before, after)
    )
    value = right - left
    if here.fewest < FEWEST:
        one = Interval(-1.0, 1.0, "one cluster")
        return _measure(value, one, len(truth)), Test(1.0, "DeLong")
    change = there.residuals - here.residuals
    error, freedom = math.sqrt(float(change @ change)), here.fewest - 1
    half = quantile_of_t(freedom) * error
    interval = Interval(max(-1.0, value - half), min(1.0, value + half), "DeLong")
    p = 2 * float(t.sf(abs(value) / error, freedom)) if error else float(not value)
    return _measure(value, interval, len(truth)), Test(p, "DeLong")


def _ranked(values: Any, truth: Any, owner: Any, number: int) -> tuple[float, Clusters]:
    """The area under the curve, and what each of so many clusters adds to it."""
    import numpy as np

    found, others = values[truth], values[~truth]
    higher = above(found, others) / len(others)
    lower = 1 - above(others, found) / len(found)
    value = float(higher.mean())
    here, there = (np.bincount(owner[kind], minlength=number) for kind in (truth, ~truth))
    weights, other_weights = here / len(found), there / len(others)
    totals = np.bincount(owner[truth], weights=higher, minlength=number) / len(found)
    back = np.bincount(owner[~truth], weights=lower, minlength=number) / len(others)
    return value, Clusters(
        (weights + other_weights) / 2,
        (totals + back) / 2,
        adjusted(totals - value * weights, weights)
        + adjusted(back - value * other_weights, other_weights),
        min(worth(weights), worth(other_weights)),
        float(len(truth)),
    )


def above(values: Any, others: Any) -> Any:
    """The number of others that each value is above, ties counting half."""
    import numpy as np

    order = np.sort(others)
    return (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")) / 2


def _measure(value: float, interval: Interval, n: int) -> Measure:
    return Measure(value, interval.low, interval.high, interval.method, n)
