"""What several seeds of a trained detector reach, the folder that they leave, and its cards.

``results.json`` has the mean and spread over seeds; ``seed-N/`` the model of a seed as safetensors,
with its tokenizer, its card (``README.md``), its ``results.json`` and ``documents.parquet``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coherencegym.eval.tasks.detect.results import FORMAT, MARKER, DetectionResults, write_files
from coherencegym.eval.tasks.detect.train.card import render_card
from coherencegym.eval.tasks.detect.train.seed_scores import SeedScore
from coherencegym.eval.tasks.detect.train.train import Trained
from coherencegym.files.folders import written_beside

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


def write(results: TrainingResults, folder: Path, *, overwrite: bool = False) -> None:
    """Write models, cards and results, whole or not at all.

    Raises:
        FileExistsError: the folder exists and overwriting was not asked for.
    """
    with written_beside(folder, overwrite, MARKER) as work:
        for own, trained in zip(results.seeds, results.trained, strict=True):
            place = work / f"seed-{trained.seed}"
            place.mkdir()
            trained.model.save_pretrained(place)
            trained.tokenizer.save_pretrained(place)
            write_files(own, place)
            card = render_card(own, trained, results.summary)
            (place / "README.md").write_text(card, encoding="utf-8")
        text = json.dumps(as_json(results), ensure_ascii=False, indent=1, allow_nan=False)
        (work / MARKER).write_text(text + "\n", encoding="utf-8")


def as_json(results: TrainingResults) -> dict[str, Any]:
    """What ``results.json`` has."""
    first = results.seeds[0]
    return {
        "format": FORMAT,
        "task": TASK,
        "signature": results.signature,
        "model": dict(first.model),
        "datasets": [dict(dataset) for dataset in first.datasets],
        "settings": dict(first.settings),
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
