"""A training: data, the models of its seeds or folds, and what came of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from statistics import fmean, stdev
from typing import Any, ClassVar, TypeVar

from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.data.signature import signature, versions
from coherencegym.eval.data.source import Source
from coherencegym.eval.kinds.table_kind import rows_digest
from coherencegym.eval.models.in_memory import in_memory
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.report.blocks import ReportSection
from coherencegym.eval.report.score_table import score_table
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.scores import REFERENCE, Score
from coherencegym.eval.tasks.collect import collect_results
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.options import signed_options
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.table import Table
from coherencegym.eval.tasks.task import Task, TaskContext
from coherencegym.eval.tasks.training import Settings
from coherencegym.eval.tasks.training.encoder import (
    Encoder,
    Head,
    Trained,
    count_truncated,
    fine_tune,
)

_Mean = TypeVar("_Mean", Score, Headline)
_Table = TypeVar("_Table", bound=Table[Any])


def mean_over_seeds(scores: Sequence[_Mean], over: str) -> _Mean:
    """The mean of the same score of several seeds, or folds; of one that score."""
    values = [score.score for score in scores if score.score is not None]
    if len(scores) == 1 or len(values) < len(scores) or len(set(values)) == 1:
        return scores[0]
    method = f"mean of {len(scores)} {over}"
    return replace(scores[0], score=fmean(values), ci_low=None, ci_high=None, ci_method=method)


def over_seeds(values: Sequence[float]) -> dict[str, float]:
    """What ``results.json`` has of a metric over seeds: the deviation is that of a sample."""
    deviation = stdev(values) if len(values) > 1 else 0.0
    numbers = {"mean": fmean(values), "deviation": deviation}
    return {**numbers, "low": min(values), "high": max(values), "seeds": len(values)}


#: Fields of a score that say what it is.
_PLACE = ("config", "split", "group", "system", "metric")


def one_table(tables: Sequence[_Table]) -> _Table:
    """The rows of several configs, at least one, as one table."""
    if len(tables) == 1:
        return tables[0]
    return replace(
        tables[0],
        config="+".join(table.config for table in tables),
        rows=tuple(row for table in tables for row in table.rows),
        rows_sha256=rows_digest(f"{table.config} {table.rows_sha256}" for table in tables),
        verified=all(table.verified for table in tables),
        separator=any(table.separator for table in tables),
    )


@dataclass(frozen=True)
class TrainingData:
    """Texts to learn from, to choose the weights on, and to test on.

    Attributes:
        source: the dataset.
        configs: those that are learned from, joined by ``+``.
        rows_sha256: digest (hex) of the rows that are learned from.
        texts: the number of texts that are learned from.
        training, validation: what is read of texts, with the right answers.
        inputs: those of the task that is tested on.
        fold: that of a cross-validation on which the weights are chosen, from 0; None: the split.
        folds: the same with the weights chosen on each fold in turn, where this is a
            cross-validation; ``training`` then has all texts, and ``validation`` none.
    """

    source: Source
    configs: str
    rows_sha256: str
    texts: int
    training: Sequence[Any]
    validation: Sequence[Any]
    inputs: Sequence[Any]
    fold: int | None = None
    folds: tuple[TrainingData, ...] = ()

    @property
    def parts(self) -> tuple[TrainingData, ...]:
        """What models are trained on: each fold, or all."""
        return self.folds or (self,)


@dataclass(frozen=True)
class Training(ABC):
    """Models to train, one of each seed or fold.

    Attributes:
        data: the texts.
        encoder: the beginning.
        settings: those of the training.
        chosen: other options: ``configs``, ``split``, ``max_items``.
        own: those that only this training has, as results record them.
    """

    data: TrainingData
    encoder: Any
    settings: Settings
    chosen: Mapping[str, Any]
    own: Mapping[str, Any]

    #: The name of the task in results.
    name: ClassVar[str]
    #: What is learned from, and what is read of it, in the plural.
    texts: ClassVar[str]
    rows: ClassVar[str]
    #: The metric by which the best weights are told.
    best: ClassVar[str]
    #: The metrics are losses, and no shares.
    in_nats: ClassVar[bool] = False

    @property
    def truncated_rows(self) -> int | None:
        """The number of rows that are cut; None where nobody counted."""
        return None

    @abstractmethod
    def train(self, part: TrainingData, seed: int, *, progress: bool = False) -> Trained:
        """Train a model from one seed, and let it answer the texts to test on."""

    @property
    @abstractmethod
    def card(self) -> dict[str, str]:
        """What the card of a model says that only its task knows.

        ``pipeline`` is the Hub's name of what the model does, ``title`` and ``about`` its heading
        and a paragraph on what it is, ``use`` the command that tests it.
        """

    def recorded(self) -> dict[str, Any]:
        """The settings that results record."""
        data = self.data
        return {
            **self.chosen,
            **asdict(self.settings),
            **self.own,
            "train_on": data.configs,
            "training_sha256": data.rows_sha256,
            "training_texts": data.texts,
            "training_rows": len(data.training),
            "validation_rows": len(data.validation),
            "truncated_rows": self.truncated_rows,
        }

    @property
    def learned(self) -> str:
        """The data of the training, as a signature has them."""
        return f"{self.data.configs}@{self.data.rows_sha256[:12]}"

    def signed(self) -> dict[str, Any]:
        """The choices that a signature has."""
        chosen = signed_options({**self.own, **asdict(self.settings)})
        # The device is the model's.
        del chosen["device"]
        return chosen

    def notes(self, trained: Trained) -> Iterator[Note]:
        """Lines on how a model was made."""
        data = self.data
        folds = f", without one of {len(data.folds)} folds each" if data.folds else ""
        rows = f"{len(data.training):,} {self.rows}"
        yield detail(f"trained on {data.texts:,} {self.texts} of {data.configs} ({rows}){folds}")
        if self.truncated_rows:
            total = len(data.training) + len(data.validation)
            yield caution(
                f"{self.truncated_rows:,} of {total:,} {self.rows} of the training are cut to "
                f"{self.settings.max_length} tokens"
            )
        yield self.best_note(trained)

    def best_note(self, trained: Trained) -> Note:
        """A line on the best evaluation of a model."""
        best = f"{trained.best:.3f} nats" if self.in_nats else f"{100 * trained.best:.1f} %"
        return detail(
            f"{trained.name}: {self.best} on validation {best}, {trained.epochs:g} epochs, "
            f"{trained.steps:,} steps"
        )

    @property
    def over(self) -> str:
        """The word for what the models differ in."""
        return "folds" if self.data.folds else "seeds"

    def results(self, trained: Sequence[Trained]) -> Results:
        """The results over models of seeds or folds."""
        seeds = [one.results for one in trained]
        notes, scores = [one.notes for one in seeds], [one.rows for one in seeds]
        heads = [one.headline for one in seeds if one.headline is not None]
        head = mean_over_seeds(heads, self.over) if len(heads) == len(seeds) else None
        return replace(self.collect(trained, seeds[0].dataset, notes, scores), headline=head)

    def collect(
        self,
        trained: Sequence[Trained],
        dataset: Mapping[str, Any],
        notes: Sequence[Sequence[Note]],
        scores: Sequence[Sequence[Score]],
    ) -> Results:
        """The results over models, from the notes and scores of each, the same ones in one order.

        ``dataset`` has facts on the data that were tested on.
        """
        model, count = trained[0].model, len(trained)
        about = {
            **self.encoder.about,
            "parameters": model.num_parameters(),
            "dtype": str(model.dtype).removeprefix("torch."),
            "device": str(model.device),
        }
        recorded = {**self.recorded(), "intervals": INTERVALS, "versions": versions(about)}
        numbers = ",".join(dict.fromkeys(str(one.seed) for one in trained))
        signed = {"seeds": numbers, **self.signed()}
        notes_of_all = [note for note in notes[0] if all(note in own for own in notes)]
        if count > 1:
            means = f"mean ± standard deviation of {count} {self.over}; the figures of each "
            means += f"{self.over.removesuffix('s')} are in its folder"
            if self.data.folds:
                best = over_seeds([one.best for one in trained])
                said = f"{100 * best['mean']:.1f} ± {100 * best['deviation']:.1f}"
                means += f"; {self.best} on the fold that is held out: {said} %"
            notes_of_all += [*map(self.best_note, trained), detail(means)]
        every = list(zip(*scores, strict=True))
        known = ([one.score for one in same if one.score is not None] for same in every)
        return Results(
            signature=signature(self.name, about, dataset, recorded, signed, train=self.learned),
            model=about,
            dataset=dataset,
            settings=recorded,
            notes=notes_of_all,
            task=self.name,
            rows=[mean_over_seeds(same, self.over) for same in every],
            more={
                "seeds": [{**one.about, "folder": one.folder} for one in trained],
                "summary": [
                    {**{name: getattr(same[0], name) for name in _PLACE}, **over_seeds(values)}
                    for same, values in zip(every, known, strict=True)
                    if values
                ],
            },
            asked=self,
            details=trained,
        )

    def sections(self, results: Results) -> list[ReportSection]:
        """The report: a table of the models and of baselines, on each table and its groups."""
        spreads = {tuple(one[name] for name in _PLACE): one for one in results.more["summary"]}
        times, form = (1, ".3f") if self.in_nats else (100, ".1f")

        def cell(score: Score) -> str:
            own = spreads.get(tuple(getattr(score, name) for name in _PLACE))
            if own is None:
                return ""
            # What no seed can change has no deviation.
            varies = score.level != REFERENCE or own["low"] < own["high"]
            deviation = f" ± {times * own['deviation']:{form}}" if varies else ""
            return f"{times * own['mean']:{form}}{deviation}"

        unit = "" if self.in_nats else ", %"
        return [ReportSection("Scores", score_table(results.rows, cell, unit))]


@dataclass(frozen=True)
class TextTraining(Training):
    """Encoders to fine-tune on texts with a head, each tested as a run of a task with its model."""

    encoder: Encoder

    #: The task.
    task: ClassVar[Task[Any, Any, Any]]

    @property
    @abstractmethod
    def options(self) -> Any:
        """The options of the task by which the models are asked."""

    @property
    @abstractmethod
    def head(self) -> Head:
        """The answers to learn."""

    @abstractmethod
    def value(self, part: TrainingData, logits: Any) -> float:
        """The metric by which the best weights are told, of the logits of the validation rows.

        The shape of these is (rows, classes or alternatives).
        """

    @cached_property
    def truncated_rows(self) -> int:
        """The number of inputs to learn from, and to choose the weights on, that are cut."""
        rows = [*self.data.training, *self.data.validation]
        return count_truncated(self.encoder.tokenizer, rows, self.encoder.max_length)

    def train(self, part: TrainingData, seed: int, *, progress: bool = False) -> Trained:
        """Train a model from one seed, and let it answer the texts to test on."""
        tuned = fine_tune(
            self.encoder,
            self.head,
            part.training,
            part.validation,
            partial(self.value, part),
            self.settings,
            seed,
            progress=progress,
        )
        tuned = replace(tuned, fold=part.fold)
        fold = "" if part.fold is None else f", fold {part.fold}"
        name = f"{self.encoder.source.name}, fine-tuned on {part.configs}, seed {seed}{fold}"
        loaded = in_memory(tuned.model.eval(), tuned.tokenizer, name, scores=False)
        writer, options = OutcomeWriter(), self.options
        how = TaskContext(loaded), self.data.inputs, options, writer
        pairs, _ = self.task.ask(*how, is_named=True)
        source, outcomes = self.data.source, writer.tables()
        of_model = {"train": self.learned, "seed": seed, "fold": part.fold, **self.signed()}
        found = collect_results(
            *(self.task, source, loaded, pairs, outcomes, self.recorded(), options),
            {**of_model, **self.task.record(options)},
        )
        settings = {**found.settings, "training": tuned.about}
        notes = [*found.notes, *self.notes(tuned)]
        return replace(tuned, results=replace(found, settings=settings, notes=notes))
