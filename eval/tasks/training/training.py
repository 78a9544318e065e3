"""A training: data, the models of its seeds or folds, and what came of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, ClassVar, TypeVar

from coherencegym.eval.data.benchmark import signature, versions
from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.data.source import Source
from coherencegym.eval.models.in_memory import in_memory
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.options import DEFAULT_OPTIONS
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.scores import REFERENCE, Score
from coherencegym.eval.tasks.collect import collect_results
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.options import signed_options
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.task import Task
from coherencegym.eval.tasks.training.encoder import (
    Encoder,
    Head,
    Trained,
    TrainingRow,
    count_truncated,
    fine_tune,
)
from coherencegym.eval.tasks.training.options import Settings


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


#: Settings that a signature has, by what it calls them.
_SIGNED = {
    "rate": "learning_rate",
    "epochs": "epochs",
    "batch": "batch_size",
    "evaluations": "evaluations",
    "patience": "patience",
    "length": "max_length",
    "dtype": "dtype",
}
#: Fields of a score that say what it is.
_PLACE = ("config", "split", "group", "system", "metric")


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
class CardText:
    """What the card of a model says that only its task knows.

    Attributes:
        pipeline: the Hub's name of what the model does.
        tags: words that it is found by.
        title, about: its heading, and a paragraph on what it is.
        use: the command that tests it.
        figures: a paragraph below its figures.
        learned: a sentence on what it may have learned.
    """

    pipeline: str
    title: str
    about: str
    use: str
    figures: str
    learned: str
    tags: Sequence[str] = ("coherencegym", "discourse", "coherence")


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

    @property
    @abstractmethod
    def words(self) -> Words:
        """The words for people."""

    @property
    def truncated_rows(self) -> int | None:
        """The number of rows that are cut; None where nobody counted."""
        return None

    @abstractmethod
    def train(self, part: TrainingData, seed: int, *, progress: bool = False) -> Trained:
        """Train a model from one seed, and let it answer the texts to test on."""

    @abstractmethod
    def card(self, own: Results) -> CardText:
        """What the card of a model with these results says."""

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
        settings = {key: getattr(self.settings, name) for key, name in _SIGNED.items()}
        trained = {"trained": "head"} if self.settings.freeze else {}
        return {**signed_options(self.own), **settings, **trained}

    def notes(self, trained: Trained) -> Iterator[Note]:
        """Lines on how a model was made."""
        what = "only the head was trained" if self.settings.freeze else "trained"
        folds = f", without one of {len(self.data.folds)} folds each" if self.data.folds else ""
        yield detail(f"{what} on {self.learned_from}{folds}")
        yield from self.cut_notes()
        yield self.best_note(trained)

    @property
    def learned_from(self) -> str:
        """A few words on what is learned from."""
        data, words = self.data, self.words
        rows = f"{len(data.training):,} {words.rows}"
        return f"{data.texts:,} {words.texts} of {data.configs} ({rows})"

    def cut_notes(self) -> Iterator[Note]:
        """A line on rows that are cut, if there are any."""
        if self.truncated_rows:
            total = len(self.data.training) + len(self.data.validation)
            yield caution(
                f"{self.truncated_rows:,} of {total:,} {self.words.rows} of the training are cut "
                f"to {self.settings.max_length} tokens"
            )

    def best_note(self, trained: Trained) -> Note:
        """A line on the best evaluation of a model."""
        best = trained.best
        said = f"{best:.3f} nats" if self.words.in_nats else f"{100 * best:.1f} %"
        return detail(
            f"{trained.name}: {self.words.best} on validation {said}, {trained.epochs:g} epochs, "
            f"{trained.steps:,} steps"
        )

    def results(self, trained: Sequence[Trained]) -> TrainingResults:
        """The results over models of seeds or folds."""
        seeds = [one.results for one in trained]
        notes, scores = [one.notes for one in seeds], [one.rows for one in seeds]
        return self.collect(trained, seeds[0].dataset, notes, scores, seeds)

    def collect(
        self,
        trained: Sequence[Trained],
        dataset: Mapping[str, Any],
        notes: Sequence[Sequence[Note]],
        scores: Sequence[Sequence[Score]],
        seeds: Sequence[Results] = (),
    ) -> TrainingResults:
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
        over = "folds" if self.data.folds else "seeds"
        if count > 1:
            means = f"mean ± standard deviation of {count} {over}; the figures of each "
            means += f"{over.removesuffix('s')} are in its folder"
            if self.data.folds:
                best = Spread.of([one.best for one in trained]).cell()
                means += f"; {self.words.best} on the fold that is held out: {best} %"
            notes_of_all += [*map(self.best_note, trained), detail(means)]
        every = list(zip(*scores, strict=True))
        rows = [mean_over_seeds(same, over) for same in every]
        known = ([one.score for one in same if one.score is not None] for same in every)
        spreads = [Spread.of(values) if values else None for values in known]
        heads = [one.headline for one in seeds if one.headline is not None]
        return TrainingResults(
            signature=signature(self.name, about, dataset, recorded, signed, train=self.learned),
            model=about,
            dataset=dataset,
            settings=recorded,
            notes=notes_of_all,
            task=self.name,
            rows=rows,
            headline=mean_over_seeds(heads, over) if heads and len(heads) == count else None,
            more={
                "seeds": [{**one.about, "folder": one.folder} for one in trained],
                "summary": [
                    {**{name: getattr(row, name) for name in _PLACE}, **asdict(spread)}
                    for row, spread in zip(rows, spreads, strict=True)
                    if spread is not None
                ],
            },
            summary=spreads,
            trained=trained,
            seeds=seeds,
            task_words=self.words,
        )


@dataclass(frozen=True)
class TextTraining(Training):
    """Encoders to fine-tune on texts with a head, each tested as a run of a task with its model."""

    encoder: Encoder

    #: The task, and its metrics in tables.
    task: ClassVar[Task[Any, Any, Any]]

    @property
    @abstractmethod
    def head(self) -> Head:
        """The answers to learn."""

    @abstractmethod
    def value(self, part: TrainingData) -> Any:
        """The metric of the logits of the validation rows by which the best weights are told."""

    @property
    def others(self) -> Sequence[Sequence[TrainingRow]]:
        """Rows that the model reads in its training."""
        return ()

    @abstractmethod
    def answers(
        self, loaded: LoadedModel, logits: Sequence[Any], writer: OutcomeWriter
    ) -> tuple[Any, list[tuple[Any, Any]]]:
        """The options of a run of the task, and its inputs with their details.

        Args:
            loaded: the model.
            logits: those of ``others``.
            writer: the outcomes are added to it.
        """

    def truncated(self, rows: Sequence[TrainingRow]) -> int:
        """The number of inputs that are cut."""
        return count_truncated(self.encoder.tokenizer, rows, self.encoder.max_length)

    @cached_property
    def truncated_rows(self) -> int:
        """The number of inputs to learn from, and to choose the weights on, that are cut."""
        return self.truncated([*self.data.training, *self.data.validation])

    def train(self, part: TrainingData, seed: int, *, progress: bool = False) -> Trained:
        """Train a model from one seed, and let it answer the texts to test on."""
        tuned, logits = fine_tune(
            self.encoder,
            self.head,
            part.training,
            part.validation,
            self.value(part),
            self.settings,
            seed,
            self.others,
            progress=progress,
        )
        tuned = replace(tuned, fold=part.fold)
        fold = "" if part.fold is None else f", fold {part.fold}"
        name = f"{self.encoder.source.name}, fine-tuned on {part.configs}, seed {seed}{fold}"
        loaded = in_memory(tuned.model.eval(), tuned.tokenizer, name, scores=False)
        writer, recorded = OutcomeWriter(), self.recorded()
        options, pairs = self.answers(loaded, logits, writer)
        of_model = {"train": self.learned, "seed": seed, "fold": part.fold, **self.signed()}
        found = collect_results(
            *(self.task, self.data.source, loaded, pairs, writer.tables(), recorded, options),
            {**of_model, **self.task.record(options, DEFAULT_OPTIONS)},
        )
        settings = {**found.settings, "training": tuned.about}
        notes = [*found.notes, *self.notes(tuned)]
        return replace(tuned, results=replace(found, settings=settings, notes=notes))
