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

from eval.significance import RESAMPLES, Interval, resampled, share_interval, wilson

#: A bootstrap's interval narrower than this has no width but for rounding.
_NO_WIDTH = 1e-9


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


def accuracy(values: Sequence[float], clusters: Sequence[str], seed: int = 0) -> Measure:
    """The mean of values from 0 to 1, one for each document."""
    if not values:
        return Measure(None, None, None, "", 0)
    interval = share_interval(values, clusters, seed)
    return _measure(math.fsum(values) / len(values), interval, len(values))


def ratio(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], seed: int, n: int
) -> Measure:
    """A ratio of sums over documents, such as F1, with a bootstrap over documents.

    Args:
        parts, wholes: of each document; the ratio is the sum of the first over that of the second.
        clusters: what of the documents is drawn as one.
        seed: same seed, same interval.
        n: how many sentences it is over.
    """
    import numpy as np

    if not math.fsum(wholes):
        return Measure(None, None, None, "", n)
    columns = np.array([parts, wholes], dtype=np.float64).T
    names, owner = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.zeros((len(names), 2))
    np.add.at(sums, owner, columns)
    drawn = _ratios(sums, RESAMPLES, seed)
    value = math.fsum(parts) / math.fsum(wholes)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return _measure(value, _with_width(value, float(low), float(high), len(names)), n)


def f1_parts(outcomes: Sequence[Outcome]) -> tuple[list[float], list[float]]:
    """Of each document what F1 sums up: twice the hits, and those with all errors."""
    parts = [2 * one.hits for one in outcomes]
    return parts, [2 * one.hits + one.false_alarms + one.misses for one in outcomes]


def f1_difference(
    before: Sequence[Outcome], after: Sequence[Outcome], clusters: Sequence[str], seed: int
) -> Measure:
    """F1 of the second decisions minus that of the first, on versions of the same documents.

    The interval is from a paired bootstrap: both versions of a document are drawn together.
    """
    return _difference([*f1_parts(before), *f1_parts(after)], clusters, seed)


def share_difference(
    before: Sequence[float], after: Sequence[float], clusters: Sequence[str], seed: int
) -> Measure:
    """The mean of the second values minus that of the first; otherwise as :func:`f1_difference`."""
    ones = [1.0] * len(before)
    return _difference([before, ones, after, ones], clusters, seed)


def _difference(columns: Sequence[Sequence[float]], clusters: Sequence[str], seed: int) -> Measure:
    """Of four columns, the third over the fourth minus the first over the second."""
    import numpy as np

    n = len(clusters)
    if not n:
        return Measure(None, None, None, "", 0)
    names, owner = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.zeros((len(names), 4))
    np.add.at(sums, owner, np.array(columns, dtype=np.float64).T)
    totals = sums.sum(axis=0)
    if not totals[1] or not totals[3]:
        return Measure(None, None, None, "", n)
    value = totals[2] / totals[3] - totals[0] / totals[1]
    # One seed, and so the same documents on both sides of every resample.
    drawn = _ratios(sums[:, 2:], RESAMPLES, seed) - _ratios(sums[:, :2], RESAMPLES, seed)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return _measure(float(value), Interval(float(low), float(high), "paired bootstrap"), n)


def auc(
    scores: Sequence[Sequence[float]],
    positions: Sequence[int],
    clusters: Sequence[str],
    seed: int = 0,
) -> Measure:
    """The area under the ROC curve over all non-opening sentences, ties counting half.

    It is how often an intruder scores higher than another sentence, of whichever document. The
    interval is from a bootstrap over documents.
    """
    import numpy as np

    names, owner = np.unique(np.asarray(clusters), return_inverse=True)
    flat = [
        (score, place == position, document)
        for own, position, document in zip(scores, positions, owner, strict=True)
        for place, score in enumerate(own)
        if place
    ]
    values = np.array([score for score, _, _ in flat])
    order = np.argsort(values, kind="stable")
    values = values[order]
    intruder = np.array([is_one for _, is_one, _ in flat], dtype=np.float64)[order]
    place_of = np.array([document for _, _, document in flat])[order]
    if not 0 < intruder.sum() < len(intruder):
        return Measure(None, None, None, "", len(flat))
    ties = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))

    def areas(counts: Any) -> Any:
        weights = counts[:, place_of].astype(np.float64)
        found = np.add.reduceat(weights * intruder, ties, axis=1)
        others = np.add.reduceat(weights * (1 - intruder), ties, axis=1)
        below = others.cumsum(axis=1) - others / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            return (found * below).sum(axis=1) / (found.sum(axis=1) * others.sum(axis=1))

    value = float(areas(np.ones((1, len(names)), dtype=np.int64))[0])
    blocks = resampled(len(names), RESAMPLES, len(flat), seed)
    low, high = np.nanquantile(np.concatenate([areas(b) for b in blocks]), [0.025, 0.975])
    return _measure(value, _with_width(value, float(low), float(high), len(names)), len(flat))


def _ratios(sums: Any, resamples: int, seed: int) -> Any:
    """The ratio of two sums in each resample; NaN in one that has nothing to divide by."""
    import numpy as np

    found = []
    for counts in resampled(len(sums), resamples, len(sums), seed):
        drawn = counts @ sums
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append(drawn[:, 0] / drawn[:, 1])
    return np.concatenate(found)


def _with_width(value: float, low: float, high: float, clusters: int) -> Interval:
    """A bootstrap's interval; Wilson's where it would have no width, as all documents are alike."""
    if high - low > _NO_WIDTH:
        return Interval(low, high, "bootstrap")
    flat = wilson(clusters * value, clusters)
    return Interval(flat.low, flat.high, "wilson over documents")


def _measure(value: float, interval: Interval, n: int) -> Measure:
    return Measure(value, interval.low, interval.high, interval.method, n)
