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

from coherencegym.eval.statistics import measures
from coherencegym.eval.statistics.measures import Measure


@dataclass(frozen=True, slots=True)
class Tally:
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


def tally(predicted: Sequence[int], position: int) -> Tally:
    """What came of calling the sentences at these places intruders.

    Args:
        predicted: places, each once.
        position: that of the intruder, -1 for none.
    """
    hit = position in predicted
    intruded = position > 0
    return Tally(
        hits=float(hit),
        false_alarms=float(len(predicted) - hit),
        misses=float(intruded and not hit),
        document=float(bool(predicted) == intruded),
        exact=float(len(predicted) == intruded and (hit or not intruded)),
    )


def mean_tally(tallies: Sequence[Tally], weights: Sequence[float] = ()) -> Tally:
    """The mean of several decisions on one document.

    Args:
        tallies: at least one.
        weights: of each; none: alike.
    """
    weights = weights or [1.0] * len(tallies)
    total = math.fsum(weights)

    def mean(name: str) -> float:
        pairs = zip(weights, tallies, strict=True)
        return math.fsum(weight * getattr(one, name) for weight, one in pairs) / total

    return Tally(*map(mean, ("hits", "false_alarms", "misses", "document", "exact")))


def f1(tallies: Sequence[Tally], clusters: Sequence[str], n: int) -> Measure:
    """F1 of decisions on documents, over ``n`` sentences."""
    return measures.f1(*f1_parts(tallies), clusters, n)


def f1_parts(tallies: Sequence[Tally]) -> tuple[list[float], list[float]]:
    """Of each document what F1 sums up: twice the hits, and those with all errors."""
    parts = [2 * one.hits for one in tallies]
    return parts, [2 * one.hits + one.false_alarms + one.misses for one in tallies]


def f1_difference(
    before: Sequence[Tally], after: Sequence[Tally], clusters: Sequence[str]
) -> Measure:
    """F1 of the second decisions minus that of the first, on versions of the same documents."""
    return measures.ratio_difference(f1_parts(before), f1_parts(after), clusters)
