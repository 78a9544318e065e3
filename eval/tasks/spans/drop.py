"""The drop from right about the whole to right about every part, and intervals over sources.

The intervals are those that Storks and Chai's metrics are asked with: a bootstrap over sources
(dialogues of one recording, say), the confidence of choices held as it was chosen. Those of few
sources are too narrow (docs/intervals.md); the scores themselves have intervals that are not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coherencegym.eval.statistics.bootstrap import RESAMPLES, bootstrap_intervals
from coherencegym.eval.statistics.paired import mcnemar
from coherencegym.eval.tasks.spans.coherence import COHERENCE_METRICS, TextPrediction


@dataclass(frozen=True)
class Drop:
    """The loss from accuracy to strict coherence.

    Attributes:
        sources: the number of clusters that are drawn; resamples: how often they are.
        intervals: the 95 % intervals of the metrics, of ``strict_if_right``, and of ``drop``, the
            accuracy less strict coherence; None of one source.
        incoherent: the number of texts that are answered rightly and are not strictly coherent.
        p: McNemar's exact one (two-sided) of accuracy and strict coherence. As whatever is strictly
            coherent is answered rightly it can come out one way only, 2 / 2^incoherent; the
            interval of ``strict_if_right`` says more.
    """

    sources: int
    resamples: int
    intervals: Mapping[str, tuple[float, float] | None]
    incoherent: int
    p: float


def drop_of(judged: Sequence[TextPrediction], at: Mapping[str, Sequence[float]]) -> Drop:
    """The drop of texts, at least one; ``at`` is the confidence of each metric and text."""
    values = {
        name: [one.metric(name, least) for one, least in zip(judged, at[name], strict=True)]
        for name in COHERENCE_METRICS
    }
    right = [float(one.right) for one in judged]
    values["accuracy"] = right
    values["drop"] = [one - own for one, own in zip(right, values["strict"], strict=True)]
    each = [1.0] * len(judged)
    ratios = {name: (own, each) for name, own in values.items()}
    ratios["strict_if_right"] = values["strict"], right
    clusters = [one.text.cluster for one in judged]
    found = bootstrap_intervals(ratios, clusters)
    incoherent = int(sum(values["drop"]))
    return Drop(
        sources=len({*clusters}),
        resamples=RESAMPLES,
        intervals={name: (own.low, own.high) if own else None for name, own in found.items()},
        incoherent=incoherent,
        p=mcnemar(incoherent, 0),
    )
