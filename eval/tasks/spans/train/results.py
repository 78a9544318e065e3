"""Results of several seeds of a model that was fine-tuned on texts.

``results.json`` has the mean and spread over seeds; ``seed-N/`` the model of a seed with its card,
and what ``spans`` leaves behind of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.data.signature import signature, versions
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.collect import collect_results
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.options import SpanOptions
from coherencegym.eval.tasks.spans.results import Answered, span_detail
from coherencegym.eval.tasks.spans.task import TASK as SPANS_TASK
from coherencegym.eval.tasks.spans.train.data import SpanTraining
from coherencegym.eval.tasks.spans.train.train import TrainedOnTexts
from coherencegym.eval.tasks.training.encoder import Encoder
from coherencegym.eval.tasks.training.fine_tuning import Settings
from coherencegym.eval.tasks.training.seeds import (
    ResultsOfSeeds,
    Spread,
    about_encoder,
    common_notes,
    mean_over_seeds,
    signed_data,
    signed_settings,
    trained_parts,
)

#: The task of the results over all seeds; those of a seed are of ``spans``.
TASK = "train-spans"


@dataclass(frozen=True)
class SeedCoherence:
    """The metrics of all seeds on the texts of a group, with a spread by metric.

    Attributes:
        config, split, group: the table, and the texts; empty: all.
        system: a baseline; empty: the models.
        texts: their number.
        metrics: the spreads, by the names that ``spans`` has for metrics.
    """

    config: str
    split: str
    group: str
    system: str
    texts: int
    metrics: Mapping[str, Spread]

    def cell(self, name: str) -> str:
        """A metric for people; baselines are the same for all seeds."""
        spread = self.metrics.get(name)
        return "" if spread is None else spread.cell(varies=not self.system)


@dataclass(frozen=True, kw_only=True, repr=False)
class SpanTrainingResults(ResultsOfSeeds):
    """The models that were trained, and their results; those of a seed are of ``spans``.

    Attributes:
        trained: the models, in the order of the seeds.
        summary: metrics over the seeds.
    """

    trained: Sequence[TrainedOnTexts]
    summary: Sequence[SeedCoherence]

    def of_training(self) -> dict[str, Any]:
        """The keys of ``results.json`` that only this task has."""
        seeds = [{**about_training(one), "folder": one.folder} for one in self.trained]
        return {"seeds": seeds, "summary": [asdict(score) for score in self.summary]}


def about_training(trained: TrainedOnTexts) -> dict[str, Any]:
    """The training of a seed as results record it."""
    tuned = trained.tuned
    return {
        "seed": tuned.seed,
        "best_accuracy": tuned.best,
        "epochs": tuned.epochs,
        "steps": tuned.steps,
        "weights": list(tuned.weights),
        **({} if trained.fold is None else {"fold": trained.fold}),
    }


def collect_span_training(
    data: SpanTraining,
    encoder: Encoder,
    settings: Settings,
    trained: Sequence[TrainedOnTexts],
    chosen: Mapping[str, Any],
) -> SpanTrainingResults:
    """The results of a run.

    Args:
        data: the texts.
        encoder, settings: the beginning of all seeds.
        trained: the models of the seeds, with their answers.
        chosen: other options: ``configs``, ``split``, ``max_items``, ``parts``, ``folds``.
    """
    about = about_encoder(encoder, trained[0].tuned.model)
    recorded = {
        **chosen,
        **asdict(settings),
        "train_on": data.name,
        "training_sha256": data.rows_sha256,
        "training_texts": data.texts,
        "training_rows": len(data.training),
        "validation_rows": len(data.validation),
        "truncated_rows": encoder.truncated([*data.training, *data.validation]),
        "scorer": trained[0].scorer,
    }
    learned = signed_data(data.name, data.rows_sha256)
    of_training = {"parts": recorded["parts"] or None, "folds": recorded["folds"]}
    signed = {**signed_settings(recorded), **of_training}
    notes = list(_notes(recorded, trained))
    seeds = [
        _of_seed(
            data,
            one,
            recorded,
            {"train": learned, "seed": one.tuned.seed, "fold": one.fold, **signed},
        )
        for one in trained
    ]
    everything = {**recorded, "intervals": INTERVALS, "versions": versions(about)}
    numbers = ",".join(str(seed) for seed in dict.fromkeys(one.tuned.seed for one in trained))
    over = "folds" if data.folds else "seeds"
    heads = [one.headline for one in seeds if one.headline is not None]
    return SpanTrainingResults(
        signature=signature(
            *(TASK, about, seeds[0].dataset, everything),
            {"seeds": numbers, **signed},
            train=learned,
        ),
        model=about,
        dataset=seeds[0].dataset,
        settings=everything,
        notes=[*common_notes([one.notes for one in seeds]), *notes],
        seeds=seeds,
        trained=trained,
        summary=spreads_of([one.rows for one in seeds]),
        task=TASK,
        headline=mean_over_seeds(heads, over) if len(heads) == len(seeds) else None,
        over=over,
    )


def _of_seed(
    data: SpanTraining,
    trained: TrainedOnTexts,
    recorded: Mapping[str, Any],
    signed: Mapping[str, Any],
) -> Results:
    # As results of a run of ``spans`` with its model.
    writer = OutcomeWriter()
    pairs = [
        (table, span_detail(Answered(table, answers), writer))
        for table, answers in zip(data.tested, trained.answers, strict=True)
    ]
    own: dict[str, Any] = {
        "scorer": trained.scorer,
        "decision": "argmax",
        "truncate": True,
        "rho": "folds",
    }
    about = data.source, trained.loaded, pairs, writer.tables(), recorded, SpanOptions(**own)
    found = collect_results(SPANS_TASK, *about, {**own, **signed})
    settings = {**found.settings, "training": about_training(trained)}
    return replace(found, settings=settings)


def _notes(recorded: Mapping[str, Any], trained: Sequence[TrainedOnTexts]) -> list[Note]:
    read = "parts" if recorded["parts"] else "wholes"
    notes = [
        detail(
            f"{trained_parts(recorded)} on {recorded['training_texts']:,} texts of "
            f"{recorded['train_on']} ({recorded['training_rows']:,} {read})"
            + (f", without one of {recorded['folds']} folds each" if recorded["folds"] else "")
        )
    ]
    if recorded["truncated_rows"]:
        total = recorded["training_rows"] + recorded["validation_rows"]
        notes.append(
            caution(
                f"{recorded['truncated_rows']:,} of {total:,} texts of the training are cut to "
                f"{recorded['max_length']} tokens"
            )
        )
    if recorded["folds"]:
        mean = Spread.of([one.tuned.best for one in trained]).cell()
        notes.append(detail(f"best accuracy on the fold that is held out: {mean} %"))
    for one in trained:
        tuned = one.tuned
        notes.append(
            detail(
                f"{one.name}: best accuracy on validation {100 * tuned.best:.1f} %, "
                f"{tuned.epochs:g} epochs, {tuned.steps:,} steps"
            )
        )
    return notes


def spreads_of(seeds: Sequence[Sequence[Score]]) -> list[SeedCoherence]:
    """Means and spreads of the scores of several seeds, the same ones in the same order."""
    metrics: dict[tuple[str, str, str, str], dict[str, Spread]] = {}
    texts: dict[tuple[str, str, str, str], int] = {}
    for scores in zip(*seeds, strict=True):
        one = scores[0]
        values = [score.score for score in scores if score.score is not None]
        if values:
            key = one.config, one.split, one.group, one.system
            metrics.setdefault(key, {})[one.metric] = Spread.of(values)
            # Some metrics are of fewer texts, such as those that have a span of a kind.
            texts[key] = max(texts.get(key, 0), one.n)
    return [SeedCoherence(*key, texts[key], own) for key, own in metrics.items()]
