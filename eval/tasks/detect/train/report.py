"""What several seeds of a trained detector reach, the folder that they leave, and its cards.

``results.json`` has the mean and spread over seeds; ``seed-N/`` the model of a seed as safetensors,
with its tokenizer, its card (``README.md``), its ``results.json`` and ``documents.parquet``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.detect.results import DetectionResults
from coherencegym.eval.tasks.detect.train.seed_scores import SeedScore
from coherencegym.eval.tasks.detect.train.train import Trained

TASK = "train-detector"


@dataclass(frozen=True)
class TrainingResults:
    """What was trained, and what came of it.

    Attributes:
        signature: one line from which it can be reproduced.
        seeds: the results of each seed, as a run of ``detect`` has them.
        trained: the models, in the same order.
        summary: over the seeds.
        notes: what a reader must know.
    """

    signature: str
    seeds: Sequence[DetectionResults]
    trained: Sequence[Trained]
    summary: Sequence[SeedScore]
    notes: Sequence[str]

    @property
    def rows(self) -> list[Score]:
        """Means over the seeds, in the form that every task has; without intervals of their own."""
        return [_mean(scores) for scores in zip(*(one.rows for one in self.seeds), strict=True)]


def _mean(scores: Sequence[Score]) -> Score:
    """The mean of the same score of several seeds; of one seed that score."""
    values = [score.score for score in scores if score.score is not None]
    if len(scores) == 1 or len(values) < len(scores) or len(set(values)) == 1:
        return scores[0]
    return replace(
        scores[0],
        score=fmean(values),
        ci_low=None,
        ci_high=None,
        ci_method=f"mean of {len(scores)} seeds",
    )


def as_json(results: TrainingResults) -> dict[str, Any]:
    """What ``results.json`` has."""
    first = results.seeds[0]
    return {
        "task": TASK,
        "signature": results.signature,
        "model": dict(first.model),
        "dataset": first.dataset,
        "settings": dict(first.settings),
        "scores": [asdict(score) for score in results.rows],
        "seeds": [
            {
                **about_training(trained),
                "folder": f"seed-{trained.seed}",
                "thresholds": [asdict(threshold) for threshold in own.thresholds],
            }
            for own, trained in zip(results.seeds, results.trained, strict=True)
        ],
        "summary": [asdict(score) for score in results.summary],
        "notes": list(results.notes),
    }


def about_training(trained: Trained) -> dict[str, Any]:
    """What results record of the training of a seed."""
    return {
        "seed": trained.seed,
        "best_f1": trained.best_f1,
        "epochs": trained.epochs,
        "steps": trained.steps,
        "intruder_weight": trained.intruder_weight,
    }
