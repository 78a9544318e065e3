"""What came of decisions on documents, counted for each document, and measured over many.

Shen et al. 2021, section 4.3: **document accuracy** is whether a document has an intruder at all,
and a document is taken to have one if at least one of its sentences is; **F1** is over its
non-opening sentences, the intruders being the positive class. Beside them the **exact accuracy**
asks for every sentence of the document to be right, and the **accuracy of the place**, for the
highest score to be that of the intruder, where there is one, whatever the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.statistics.effective_size import Clusters, adjusted, owners, worth
from coherencegym.eval.statistics.intervals import (
    Interval,
    interval_of,
    ratio_interval,
    share_interval,
)
from coherencegym.eval.statistics.paired import difference_interval, signs_and_sizes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a decision did on one document; a mean over several decisions has fractions.

    Attributes:
        hits, false_alarms, misses: intruders found, other sentences taken for one, intruders not
            found.
        document: 1 if it was found out whether there is an intruder.
        exact: 1 if every sentence is right.
    """

    hits: float
    false_alarms: float
    misses: float
    document: float
    exact: float


@dataclass(frozen=True, slots=True)
class Measure:
    """A share from 0 to 1, its 95 % interval, and over how many.

    ``value`` is None where nothing can be said: a precision without predictions. ``n`` counts
    documents for accuracies and differences, and sentences for the others.
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    n: int


def outcome(predicted: Sequence[int], position: int) -> Outcome:
    """What came of calling the sentences at these places intruders.

    Args:
        predicted: places, each once.
        position: that of the intruder, -1 for none.
    """
    hit = position in predicted
    intruded = position > 0
    return Outcome(
        hits=float(hit),
        false_alarms=float(len(predicted) - hit),
        misses=float(intruded and not hit),
        document=float(bool(predicted) == intruded),
        exact=float(len(predicted) == intruded and (hit or not intruded)),
    )


def mean_outcome(outcomes: Sequence[Outcome], weights: Sequence[float] = ()) -> Outcome:
    """The mean of several decisions on one document.

    Args:
        outcomes: at least one.
        weights: of each; none: alike.
    """
    weights = weights or [1.0] * len(outcomes)
    total = math.fsum(weights)

    def mean(name: str) -> float:
        pairs = zip(weights, outcomes, strict=True)
        return math.fsum(weight * getattr(one, name) for weight, one in pairs) / total

    return Outcome(*map(mean, ("hits", "false_alarms", "misses", "document", "exact")))


def accuracy(values: Sequence[float], clusters: Sequence[str]) -> Measure:
    """The mean of values from 0 to 1, one for each document."""
    if not values:
        return Measure(None, None, None, "", 0)
    interval = share_interval(values, clusters)
    return _measure(math.fsum(values) / len(values), interval, len(values))


def ratio(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], n: int
) -> Measure:
    """A ratio of counts over documents, such as precision.

    Args:
        parts, wholes: of each document; the ratio is the sum of the first over that of the second.
        clusters: what of the documents belongs together.
        n: how many sentences it is over.
    """
    return _ratio(parts, wholes, clusters, n, math.fsum(wholes))


def f1(outcomes: Sequence[Outcome], clusters: Sequence[str], n: int) -> Measure:
    """F1 of decisions on documents; otherwise as :func:`ratio`."""
    parts, wholes = f1_parts(outcomes)
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


def f1_parts(outcomes: Sequence[Outcome]) -> tuple[list[float], list[float]]:
    """Of each document what F1 sums up: twice the hits, and those with all errors."""
    parts = [2 * one.hits for one in outcomes]
    return parts, [2 * one.hits + one.false_alarms + one.misses for one in outcomes]


def f1_difference(
    before: Sequence[Outcome], after: Sequence[Outcome], clusters: Sequence[str]
) -> Measure:
    """F1 of the second decisions minus that of the first, on versions of the same documents.

    Both versions of a document vary together. The interval is that of :func:`signs_and_sizes` of
    what each cluster adds to the difference: its share of it, and its residual from both ratios.
    """
    import numpy as np

    n = len(clusters)
    columns = np.array([*f1_parts(before), *f1_parts(after)], dtype=np.float64).reshape(4, n)
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
    half = signs_and_sizes((residuals + value * weights) / 2, weights, 2.0 * n)
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
    return _measure(math.fsum(differences) / n, difference_interval(differences, clusters), n)


def auc(
    scores: Sequence[Sequence[float]], positions: Sequence[int], clusters: Sequence[str]
) -> Measure:
    """The area under the ROC curve over all non-opening sentences, ties counting half.

    It is how often an intruder scores higher than another sentence, of whichever document. Each
    sentence adds to its variance by how many of the other kind it is above or below (DeLong, DeLong
    and Clarke-Pearson 1988, Biometrics 44), those of one cluster together (Obuchowski 1997,
    Biometrics 53).
    """
    import numpy as np

    number, owner = owners(clusters)
    flat = [
        (score, place == position, document)
        for own, position, document in zip(scores, positions, owner, strict=True)
        for place, score in enumerate(own)
        if place
    ]
    values = np.array([score for score, _, _ in flat])
    intruder = np.array([is_one for _, is_one, _ in flat], dtype=bool)
    place_of = np.array([document for _, _, document in flat])
    if not 0 < intruder.sum() < len(intruder):
        return Measure(None, None, None, "", len(flat))
    found, others = values[intruder], values[~intruder]
    above = _above(found, others) / len(others)
    below = 1 - _above(others, found) / len(found)
    value = float(above.mean())
    here, there = (np.bincount(place_of[kind], minlength=number) for kind in (intruder, ~intruder))
    weights, other_weights = here / len(found), there / len(others)
    totals = np.bincount(place_of[intruder], weights=above, minlength=number) / len(found)
    back = np.bincount(place_of[~intruder], weights=below, minlength=number) / len(others)
    of_all = Clusters(
        (weights + other_weights) / 2,
        (totals + back) / 2,
        adjusted(totals - value * weights, weights)
        + adjusted(back - value * other_weights, other_weights),
        min(worth(weights), worth(other_weights)),
        float(len(flat)),
    )
    return _measure(value, interval_of(of_all, number), len(flat))


def _above(values: Any, others: Any) -> Any:
    """Of each value, how many of the others it is above, ties counting half."""
    import numpy as np

    order = np.sort(others)
    return (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")) / 2


def _measure(value: float, interval: Interval, n: int) -> Measure:
    return Measure(value, interval.low, interval.high, interval.method, n)
