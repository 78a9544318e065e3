"""Means and spreads over the seeds of a training, and the results that have them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, TypeVar

from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.training.encoder import Encoder

#: Settings that a signature has, by what it calls them.
_SIGNED = {
    "rate": "learning_rate",
    "epochs": "epochs",
    "batch": "batch_size",
    "evaluations": "evaluations",
    "patience": "patience",
    "length": "max_length",
    "weights": "class_weights",
    "dtype": "dtype",
}


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

    def cell(self, *, varies: bool = True) -> str:
        """The mean and its deviation, in percent; the mean alone of what no seed can change."""
        if not varies:
            return f"{100 * self.mean:.1f}"
        return f"{100 * self.mean:.1f} ± {100 * self.deviation:.1f}"


_Mean = TypeVar("_Mean", Score, Headline)


def mean_over_seeds(scores: Sequence[_Mean], over: str = "seeds") -> _Mean:
    """The mean of the same score of several seeds, or folds; of one that score."""
    values = [score.score for score in scores if score.score is not None]
    if len(scores) == 1 or len(values) < len(scores) or len(set(values)) == 1:
        return scores[0]
    method = f"mean of {len(scores)} {over}"
    return replace(scores[0], score=fmean(values), ci_low=None, ci_high=None, ci_method=method)


@dataclass(frozen=True, kw_only=True, repr=False)
class ResultsOfSeeds(Results):
    """Results over the seeds of a training, or over the folds of its cross-validation.

    Attributes:
        seeds: those of each seed or fold, as a run of a task has them.
        over: the word for them.
    """

    seeds: Sequence[Results]
    over: str = field(default="seeds", kw_only=True)

    def __post_init__(self) -> None:
        # Means over the seeds, without intervals of their own.
        every = zip(*(seed.rows for seed in self.seeds), strict=True)
        means = [mean_over_seeds(scores, self.over) for scores in every]
        object.__setattr__(self, "rows", means)
        object.__setattr__(self, "more", self.of_training())

    def of_training(self) -> dict[str, Any]:
        """The keys of ``results.json`` that only a training has."""
        return {}

    @property
    def means(self) -> str:
        """A line on what the table has."""
        return (
            f"mean ± standard deviation of {len(self.seeds)} {self.over}; the intervals of each "
            f"{self.over.removesuffix('s')} are in its folder"
        )


def about_encoder(encoder: Encoder, model: Any) -> dict[str, Any]:
    """The facts of an encoder that results record, and of the model that came of it."""
    return {
        "name": encoder.source.name,
        "commit": encoder.source.identity(),
        "hub": encoder.source.commit is not None,
        "parameters": model.num_parameters(),
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": str(model.device),
    }


def signed_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a training that a signature has, by what it calls them."""
    named = {key: settings[name] for key, name in _SIGNED.items()}
    return named | ({"trained": "head"} if settings["freeze"] else {})


def trained_parts(settings: Mapping[str, Any]) -> str:
    """The words of a note on what a training changed: the head alone, or all weights."""
    return "only the head was trained" if settings["freeze"] else "trained"


def signed_data(name: str, rows_sha256: str) -> str:
    """The data of a training, as a signature has it."""
    return f"{name}@{rows_sha256[:12]}"


def common_notes(seeds: Sequence[Sequence[Any]]) -> list[Any]:
    """The notes that the results of all seeds have, in their order."""
    return [note for note in seeds[0] if all(note in own for own in seeds[1:])]
