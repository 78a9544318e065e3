"""Results over the seeds of a training, or over the folds of its cross-validation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeVar

from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection
from coherencegym.eval.statistics.scores import REFERENCE, Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.training.fine_tuning import Trained


@dataclass(frozen=True)
class Spread:
    """A metric over seeds; ``deviation`` is the sample standard deviation, 0 of one seed."""

    mean: float
    deviation: float
    low: float
    high: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """That of one value or more, one of each seed or fold."""
        mean = math.fsum(values) / len(values)
        squares = math.fsum((value - mean) ** 2 for value in values)
        deviation = math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else 0.0
        return cls(mean, deviation, min(values), max(values), len(values))

    def cell(self, *, varies: bool = True, in_nats: bool = False) -> str:
        """The mean and its deviation, shares in per cent; the mean alone of what does not vary."""
        times, form = (1, ".3f") if in_nats else (100, ".1f")
        deviation = f" ± {times * self.deviation:{form}}" if varies else ""
        return f"{times * self.mean:{form}}{deviation}"


@dataclass(frozen=True)
class Words:
    """What a training is called where people read of it.

    Attributes:
        texts, rows: what is learned from, and what is read of these, in the plural.
        best: the metric by which the best weights are told.
        columns: the metrics of tables, of which the first one is of all texts.
        in_nats: they are losses, and no shares.
    """

    texts: str
    rows: str
    best: str
    columns: tuple[str, ...]
    in_nats: bool = False


_Mean = TypeVar("_Mean", Score, Headline)


def mean_over_seeds(scores: Sequence[_Mean], over: str) -> _Mean:
    """The mean of the same score of several seeds, or folds; of one that score."""
    values = [score.score for score in scores if score.score is not None]
    if len(scores) == 1 or len(values) < len(scores) or len(set(values)) == 1:
        return scores[0]
    method = f"mean of {len(scores)} {over}"
    return replace(scores[0], score=fmean(values), ci_low=None, ci_high=None, ci_method=method)


@dataclass(frozen=True, kw_only=True, repr=False)
class TrainingResults(Results):
    """Results over the seeds of a training; ``summary`` has a spread for each row, or None.

    Attributes:
        trained: the models.
        seeds: the results of each.
        task_words: those for people.
    """

    trained: Sequence[Trained]
    seeds: Sequence[Results]
    task_words: Words

    @property
    def over(self) -> str:
        """The word for what the models differ in."""
        return "seeds" if self.trained[0].fold is None else "folds"

    @property
    def sections(self) -> list[ReportSection]:
        """The report: a table of the models and of baselines, on each table and its groups.

        A group that has all texts of its table is left out.
        """
        words = self.task_words
        sizes: dict[tuple[str, str, str], int] = {}
        cells: dict[tuple[str, str, str], dict[str, dict[str, str]]] = {}
        for row, spread in zip(self.rows, self.summary, strict=True):
            place = row.config, row.split, row.group
            if row.metric == words.columns[0]:
                sizes[place] = row.n
            if spread is not None:
                systems = cells.setdefault(place, {"": {}})
                # What no seed can change has no deviation.
                varies = row.level != REFERENCE or spread.low < spread.high
                cell = spread.cell(varies=varies, in_nats=words.in_nats)
                systems.setdefault(row.system, {})[row.metric] = cell
        rows = []
        for (config, split, group), systems in cells.items():
            n = sizes[config, split, group]
            if group and n == sizes[config, split, ""]:
                continue
            for system, own in systems.items():
                level = bool(group) + bool(system)
                name = "  " * level + (system or group or f"{config} ({split})")
                shown = (own.get(metric, "") for metric in words.columns)
                rows.append(grid.GridRow((name, f"{n:,}", *shown), level, bold=not level))
        first, names = "config", [words.texts, *(f"{name}, %" for name in words.columns)]
        if words.in_nats:
            first, names = "prediction", [words.rows, *words.columns]
        return [ReportSection("Scores", grid.made(first, names, rows))]
