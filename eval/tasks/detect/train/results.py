"""Results of several seeds of a trained detector.

``results.json`` has the mean and spread over seeds; ``seed-N/`` the model of a seed as safetensors,
with its tokenizer, its card (``README.md``), its ``results.json`` and ``documents.parquet``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.data.signature import signature, versions
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.tasks.collect import results_of
from coherencegym.eval.tasks.detect.data import TrainingData
from coherencegym.eval.tasks.detect.decisions import DECISIONS
from coherencegym.eval.tasks.detect.options import DetectOptions
from coherencegym.eval.tasks.detect.results import detect_detail
from coherencegym.eval.tasks.detect.scores import MODEL, NAMES, DetectionRow, DetectionScore
from coherencegym.eval.tasks.detect.task import TASK as DETECT
from coherencegym.eval.tasks.detect.train.train import Trained, pairs_of
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.training.encoder import Encoder
from coherencegym.eval.tasks.training.fine_tuning import Settings
from coherencegym.eval.tasks.training.seeds import (
    ResultsOfSeeds,
    Spread,
    about_encoder,
    mean_over_seeds,
    signed_data,
    signed_settings,
    trained_parts,
)


@dataclass(frozen=True)
class SeedScore(DetectionRow):
    """A score of all seeds on the documents of a group, with a spread by metric."""

    metrics: Mapping[str, Spread]

    def cell(self, name: str) -> str:
        """A metric for people; baselines and people are the same for all seeds."""
        if (spread := self.metrics.get(name)) is None:
            return ""
        return spread.cell(varies=self.system == MODEL or self.system in DECISIONS)


@dataclass(frozen=True, kw_only=True, repr=False)
class TrainingResults(ResultsOfSeeds):
    """The models that were trained, and their results; those of a seed are of ``detect``.

    Attributes:
        trained: the models, in the order of the seeds.
        summary: scores over the seeds.
    """

    trained: Sequence[Trained]
    summary: Sequence[SeedScore]

    def of_training(self) -> dict[str, Any]:
        """The keys of ``results.json`` that only this task has."""
        seeds = [
            {
                **_about(trained),
                "folder": f"seed-{trained.seed}",
                "thresholds": own.more["thresholds"],
            }
            for own, trained in zip(self.seeds, self.trained, strict=True)
        ]
        return {"seeds": seeds, "summary": [asdict(score) for score in self.summary]}


def collect_training(
    data: TrainingData,
    encoder: Encoder,
    settings: Settings,
    trained: Sequence[Trained],
    chosen: Mapping[str, Any],
) -> TrainingResults:
    """The results of a run.

    Args:
        data: the documents.
        encoder, settings: the beginning of all seeds.
        trained: the models of the seeds, with the scores of ``data.tables``.
        chosen: other options: ``configs``, ``split``, ``max_items``, ``decision``.
    """
    about = about_encoder(encoder, trained[0].model)
    read = [table.documents for table in (data.training, *data.tables)]
    recorded = {
        **chosen,
        **asdict(settings),
        "train_on": data.training.config,
        "training_sha256": data.training.rows_sha256,
        "training_documents": len(data.training.documents),
        "training_pairs": len(pairs_of(data.training.documents)),
        "pairs": sum(len(pairs_of(documents)) for documents in read),
        "truncated_pairs": sum(encoder.truncated(pairs_of(documents)) for documents in read),
        "intervals": INTERVALS,
        "versions": versions(about),
    }
    seeds = [_of_seed(data, about, recorded, one) for one in trained]
    heads = [one.headline for one in seeds if one.headline is not None]
    return TrainingResults(
        signature=_signed(about, recorded, trained, seeds[0].dataset),
        model=about,
        dataset=seeds[0].dataset,
        settings=seeds[0].settings,
        notes=[*data.source.notes, *_notes(recorded, trained)],
        seeds=seeds,
        trained=trained,
        summary=over_seeds(
            [[score for own in one.details for score in own.scores] for one in seeds]
        ),
        task="train-documents",
        headline=mean_over_seeds(heads) if len(heads) == len(seeds) else None,
    )


def _of_seed(
    data: TrainingData, about: Mapping[str, Any], recorded: Mapping[str, Any], one: Trained
) -> Results:
    # As results of a run of ``detect`` with its model.
    writer = OutcomeWriter()
    options = DetectOptions(decision=recorded["decision"] or "")
    scores = {table.key: own for table, own in zip(data.tables, one.scores, strict=True)}
    pairs = [(each, detect_detail(each, scores, options.decisions, writer)) for each in data.inputs]
    found = results_of(DETECT, pairs, writer.tables(), about, options)
    return replace(
        found,
        task="train-documents",
        signature=_signed(about, recorded, [one], found.dataset),
        settings={**recorded, "training": _about(one)},
        notes=[*data.source.notes, *_notes(recorded, [one]), *found.notes],
    )


def _about(trained: Trained) -> dict[str, Any]:
    names = ("seed", "best_f1", "epochs", "steps", "intruder_weight")
    return {name: getattr(trained, name) for name in names}


def _signed(
    about: Mapping[str, Any],
    recorded: Mapping[str, Any],
    trained: Sequence[Trained],
    dataset: Mapping[str, Any],
) -> str:
    learned = signed_data(recorded["train_on"], recorded["training_sha256"])
    seeds = ",".join(str(one.seed) for one in trained)
    own = {"seeds": seeds, **signed_settings(recorded)}
    return signature("train-documents", about, dataset, recorded, own, train=learned)


def _notes(recorded: Mapping[str, Any], trained: Sequence[Trained]) -> Iterator[Note]:
    yield detail(
        f"{trained_parts(recorded)} on {recorded['training_documents']:,} documents of "
        f"{recorded['train_on']} ({recorded['training_pairs']:,} pairs)"
    )
    if recorded["truncated_pairs"]:
        yield caution(
            f"{recorded['truncated_pairs']:,} of {recorded['pairs']:,} pairs are cut to "
            f"{recorded['max_length']} tokens"
        )
    for one in trained:
        yield detail(
            f"seed {one.seed}: best F1 on validation {100 * one.best_f1:.1f} %, "
            f"{one.epochs:g} epochs, {one.steps:,} steps"
        )


def over_seeds(seeds: Sequence[Sequence[DetectionScore]]) -> list[SeedScore]:
    """Means and spreads of the scores of several seeds, the same ones in the same order."""
    found = []
    for scores in zip(*seeds, strict=True):
        one = scores[0]
        metrics = {}
        for name in NAMES:
            read = [getattr(score, name) for score in scores]
            values = [own.value for own in read if own is not None and own.value is not None]
            if values:
                metrics[name] = Spread.of(values)
        about = one.config, one.split, one.group, one.system, one.documents, one.intruded
        found.append(SeedScore(*about, metrics))
    return found
