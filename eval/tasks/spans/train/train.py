"""Fine-tune an encoder to answer about texts, and ask it about their parts.

Storks and Chai 2021 fine-tune on whole texts and choose the weights by accuracy on others. Here
classes that weigh alike in the loss weigh alike in that accuracy too, so that saying the most
frequent answer alone is never the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.models.in_memory import in_memory
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.tasks.spans.answers import SpanAnswers
from coherencegym.eval.tasks.spans.data import CHOICE
from coherencegym.eval.tasks.spans.heads import HeadOptions, head_answers
from coherencegym.eval.tasks.spans.options import CLASSIFIER, MULTIPLE_CHOICE
from coherencegym.eval.tasks.spans.train.data import SpanTraining
from coherencegym.eval.tasks.training.encoder import Encoder, TrainingRow
from coherencegym.eval.tasks.training.fine_tuning import (
    BestWeights,
    FineTuned,
    Settings,
    fine_tune,
)


@dataclass(frozen=True)
class TrainedOnTexts:
    """A model that was fine-tuned, and its answers.

    Attributes:
        tuned: the outcome of the training; ``best`` is the accuracy on validation.
        loaded: the same model, ready to be asked.
        scorer: the one that reads its head.
        answers: those to the spans of each table that is tested on.
        fold: that of a cross-validation on which its weights were chosen, from 0; None: no fold.
    """

    tuned: FineTuned
    loaded: LoadedModel
    scorer: str
    answers: tuple[SpanAnswers, ...]
    fold: int | None = None

    @property
    def name(self) -> str:
        """Its fold, or else its seed, which no other model of the training has."""
        return f"seed {self.tuned.seed}" if self.fold is None else f"fold {self.fold}"

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return self.name.replace(" ", "-")


def train_on_texts(
    data: SpanTraining,
    encoder: Encoder,
    settings: Settings,
    seed: int = 0,
    *,
    progress: bool = False,
) -> TrainedOnTexts:
    """Train a model from one seed, and let it answer the spans of the tables that are tested on.

    Texts are cut to what the encoder reads, those of the test too.

    Args:
        data: the texts.
        encoder: the beginning.
        settings: those of the training.
        seed: draws the new head, the order of the texts and the dropout.
        progress: bars may be shown.

    Raises:
        EvaluationError: the encoder cannot be loaded.
    """
    best = best_accuracy(data, settings)
    tuned = fine_tune(
        encoder, data.head, data.training, best, (), settings, seed, progress=progress
    )
    name = f"{encoder.source.name}, fine-tuned on {data.name}, seed {seed}"
    name += "" if data.fold is None else f", fold {data.fold}"
    tuned.model.eval()
    loaded = in_memory(tuned.model, tuned.tokenizer, name, scores=False)
    scorer = MULTIPLE_CHOICE if data.question == CHOICE else CLASSIFIER
    options = HeadOptions(truncate=True, max_length=encoder.max_length)
    answers = tuple(head_answers(loaded, scorer, table, options) for table in data.tested)
    return TrainedOnTexts(tuned, loaded, scorer, answers, data.fold)


def best_accuracy(data: SpanTraining, settings: Settings) -> BestWeights:
    """The metric by which the best weights are told: accuracy on the validation rows.

    Classes that weigh alike in the loss weigh alike in it; of choices each row weighs alike.
    """
    alike = data.question != CHOICE and settings.class_weights == "balanced"
    return BestWeights("accuracy", data.validation, accuracy_on(data.validation, alike))


def accuracy_on(rows: Sequence[TrainingRow], alike: bool) -> Any:
    """Accuracy on rows, from logits of shape (rows, classes or alternatives).

    ``alike``: the mean of the accuracies on each class, so that all weigh alike.
    """
    import numpy as np

    labels = np.array([row.label for row in rows])

    def compute(logits: Any) -> float:
        right = logits.argmax(axis=-1) == labels
        if not alike:
            return float(right.mean())
        return float(np.mean([right[labels == label].mean() for label in np.unique(labels)]))

    return compute
