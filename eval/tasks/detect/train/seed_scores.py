"""Scores over the seeds of a trained detector: means and spreads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coherencegym.eval.tasks.detect.decisions import DECISIONS
from coherencegym.eval.tasks.detect.detection_scores import MODEL, DetectionScore

#: The fields of a score that are measures.
MEASURES = (
    "document_accuracy",
    "exact_accuracy",
    "f1",
    "precision",
    "recall",
    "auc",
    "place",
)


@dataclass(frozen=True)
class Spread:
    """A measure over seeds; ``deviation`` is the sample standard deviation, 0 of one seed."""

    mean: float
    deviation: float
    low: float
    high: float
    seeds: int


@dataclass(frozen=True)
class SeedScore:
    """What the seeds reach on the documents of a group: as a score, with a spread by measure."""

    config: str
    split: str
    group: str
    judge: str
    documents: int
    intruded: int
    measures: Mapping[str, Spread]


def summarise(seeds: Sequence[Sequence[DetectionScore]]) -> list[SeedScore]:
    """Means and spreads of the scores of several seeds.

    Args:
        seeds: of each seed the scores, the same ones in the same order.
    """
    found = []
    for scores in zip(*seeds, strict=True):
        first = scores[0]
        measures = {}
        for name in MEASURES:
            read = [getattr(score, name) for score in scores]
            values = [one.value for one in read if one is not None and one.value is not None]
            if values:
                measures[name] = _spread(values)
        found.append(
            SeedScore(
                first.config,
                first.split,
                first.group,
                first.judge,
                first.documents,
                first.intruded,
                measures,
            )
        )
    return found


def _spread(values: Sequence[float]) -> Spread:
    mean = math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else 0.0
    return Spread(mean, deviation, min(values), max(values), len(values))


def spread_cell(spread: Spread, judge: str) -> str:
    """A mean and its standard deviation; baselines and people are the same for all seeds."""
    if judge != MODEL and judge not in DECISIONS:
        return f"{spread.mean:.3f}"
    return f"{spread.mean:.3f} ± {spread.deviation:.3f}"
