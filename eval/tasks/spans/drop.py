"""The drop from right about the whole to right about every part, and intervals over sources.

The intervals are those that Storks and Chai's metrics are asked with: a bootstrap over sources
(dialogues of one recording, say), the confidence of choices held as it was chosen. Those of few
sources are too narrow (docs/intervals.md); the scores themselves have intervals that are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coherencegym.eval.outcomes.tables import Cells, count_distinct
from coherencegym.eval.statistics.bootstrap import RESAMPLES, bootstrap_intervals
from coherencegym.eval.statistics.paired import mcnemar


@dataclass(frozen=True)
class Drop:
    """The loss from accuracy to strict coherence.

    Attributes:
        sources: the number of clusters that are drawn; resamples: how often they are.
        intervals: the 95 % intervals of the metrics, of ``strict if right``, and of ``drop``, the
            accuracy less strict coherence; None of one source.
        incoherent: the number of texts that are answered rightly and are not strictly coherent.
        p: McNemar's exact one (two-sided) of accuracy and strict coherence. As whatever is strictly
            coherent is answered rightly it can come out one way only, 2 / 2^incoherent; the
            interval of ``strict if right`` says more.
    """

    sources: int
    resamples: int
    intervals: Mapping[str, tuple[float, float] | None]
    incoherent: int
    p: float


def drop_of(cells: Mapping[str, Cells]) -> Drop:
    """The drop of texts, at least one, from the outcomes of the model by metric."""
    names = ("accuracy", "strict", "lenient", "lenient if right")
    values = {name: cells[name].value for name in names}
    right, strict = values["accuracy"], values["strict"]
    values["drop"] = right - strict
    each = [1.0] * len(right)
    ratios = {name: (own, each) for name, own in values.items()}
    ratios["strict if right"] = strict, right
    clusters = cells["strict"].cluster
    found = bootstrap_intervals(ratios, clusters)
    incoherent = int(values["drop"].sum())
    return Drop(
        sources=count_distinct(clusters),
        resamples=RESAMPLES,
        intervals={name: (own.low, own.high) if own else None for name, own in found.items()},
        incoherent=incoherent,
        p=mcnemar(incoherent, 0),
    )
