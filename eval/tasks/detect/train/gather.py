"""From trained detectors to everything that a run of ``train-detector`` reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from coherencegym.eval.data.signature import versions
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.tasks.detect.report import (
    about_datasets,
    chosen_thresholds,
    detection_scores,
    notes,
)
from coherencegym.eval.tasks.detect.results import DetectionResults, ScoredTable
from coherencegym.eval.tasks.detect.train.report import TASK, TrainingResults, about_training
from coherencegym.eval.tasks.detect.train.seed_scores import summarise
from coherencegym.eval.tasks.detect.train.train import Encoder, Settings, Trained
from coherencegym.eval.tasks.detect.train.training_data import TrainingData
from coherencegym.eval.tasks.detect.train.training_pairs import pairs_of


def gather(
    data: TrainingData,
    encoder: Encoder,
    settings: Settings,
    trained: Sequence[Trained],
    chosen: Mapping[str, Any],
) -> TrainingResults:
    """The results of a run.

    Args:
        data: what was read.
        encoder: what was trained.
        settings: how.
        trained: the models of the seeds, with the scores of ``data.detection.tables``.
        chosen: what else the user chose: ``configs``, ``split``, ``max_items``, ``decision``.
    """
    source = encoder.source
    first = trained[0].model
    about = {
        "name": source.name,
        "commit": source.identity(),
        "hub": source.commit is not None,
        "parameters": first.num_parameters(),
        "dtype": str(first.dtype).removeprefix("torch."),
        "device": str(first.device),
    }
    pairs = sum(len(pairs_of(table.documents)) for table in _all(data))
    recorded = {
        **chosen,
        **asdict(settings),
        "train_on": data.training.config,
        "training_sha256": data.training.rows_sha256,
        "training_documents": len(data.training.documents),
        "training_pairs": len(pairs_of(data.training.documents)),
        "pairs": pairs,
        "truncated_pairs": sum(encoder.truncated(table.documents) for table in _all(data)),
        "intervals": INTERVALS,
        "versions": versions(about),
    }
    seeds = [_seed_results(data, about, recorded, one) for one in trained]
    datasets = seeds[0].datasets
    return TrainingResults(
        signature=_signature(about, datasets[0], recorded, [one.seed for one in trained]),
        seeds=seeds,
        trained=trained,
        summary=summarise([one.scores for one in seeds]),
        notes=[*data.detection.source.notes, *_training_notes(recorded, trained)],
    )


def _all(data: TrainingData) -> list[Any]:
    return [data.training, *data.detection.tables]


def _seed_results(
    data: TrainingData, about: Mapping[str, Any], recorded: Mapping[str, Any], trained: Trained
) -> DetectionResults:
    tables = [
        ScoredTable(table, scores)
        for table, scores in zip(data.detection.tables, trained.scores, strict=True)
    ]
    thresholds = chosen_thresholds(data.detection, tables, recorded["decision"])
    scores = detection_scores(data.detection, tables, thresholds)
    datasets = about_datasets(data.detection, tables)
    return DetectionResults(
        signature=_signature(about, datasets[0], recorded, [trained.seed]),
        model=about,
        datasets=datasets,
        settings={**recorded, "training": about_training(trained)},
        thresholds=thresholds,
        scores=scores,
        notes=[
            *data.detection.source.notes,
            *_training_notes(recorded, [trained]),
            *notes(data.detection, tables, scores, thresholds, None),
        ],
        tables=tables,
        task=TASK,
    )


def _training_notes(recorded: Mapping[str, Any], trained: Sequence[Trained]) -> Iterator[str]:
    yield (
        f"trained on {recorded['training_documents']:,} documents of {recorded['train_on']} "
        f"({recorded['training_pairs']:,} pairs)"
    )
    if recorded["truncated_pairs"]:
        yield (
            f"{recorded['truncated_pairs']:,} of {recorded['pairs']:,} pairs are cut to "
            f"{recorded['max_length']} tokens"
        )
    for one in trained:
        yield (
            f"seed {one.seed}: best F1 on validation {one.best_f1:.3f}, {one.epochs:g} epochs, "
            f"{one.steps:,} steps"
        )


def _signature(
    model: Mapping[str, Any],
    dataset: Mapping[str, Any],
    recorded: Mapping[str, Any],
    seeds: Sequence[int],
) -> str:
    """``key:value`` pairs joined by ``|``, as :mod:`eval.data.signature` has them."""
    prefix, colon, digits = str(model["commit"]).rpartition(":")
    parts = {
        "model": f"{model['name']}@{prefix}{colon}{digits[:12]}",
        "data": dataset["name"] + (f"@{dataset['revision']}" if dataset["revision"] else ""),
        "version": dataset["version"],
        "commit": dataset["commit"] and dataset["commit"][:12],
        "rows": dataset["rows_sha256"][:12],
        "task": TASK,
        "train": f"{recorded['train_on']}@{recorded['training_sha256'][:12]}",
        "configs": ",".join(recorded["configs"]) or "all",
        "split": recorded["split"],
        "max": recorded["max_items"],
        "seeds": ",".join(map(str, seeds)),
        "rate": recorded["learning_rate"],
        "epochs": recorded["epochs"],
        "batch": recorded["batch_size"],
        "evaluations": recorded["evaluations"],
        "patience": recorded["patience"],
        "length": recorded["max_length"],
        "weights": recorded["class_weights"],
        "dtype": recorded["dtype"],
        "device": model["device"],
        "ci": recorded["intervals"],
        **recorded["versions"],
    }
    return "|".join(
        f"{key}:{str(value).replace('|', '/')}" for key, value in parts.items() if value is not None
    )
