"""Fine-tune an encoder to find intruders, as Shen et al. 2021, section 5, BERT and its kin.

The input is a pair of texts, a sentence and the whole document that it stands in; the question is
whether the sentence is an intruder there. Opening sentences are never asked about.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.tasks.detect.decisions import best_threshold, count_decisions, summed
from coherencegym.eval.tasks.training.encoder import Encoder, Head, TrainingRow
from coherencegym.eval.tasks.training.fine_tuning import BestWeights, Settings, fine_tune
from coherencegym.words.scripts import join_texts

#: The answers of a detector.
HEAD = Head(("coherent", "intruder"))


@dataclass(frozen=True)
class Trained:
    """A trained classifier.

    Attributes:
        model, tokenizer: those to be saved; the weights are those of the best evaluation.
        seed: draws the new head, the order of the pairs and the dropout.
        scores: log-odds (nats) of each sentence of the documents that were asked for, that it is
            an intruder; minus infinity for the opening one.
        best_f1: the best F1 over sentences on the validation documents, at its best threshold.
        epochs, steps: numbers of those that were run.
        intruder_weight: the weight of a pair with an intruder in the loss; others weigh 1.
    """

    model: Any
    tokenizer: Any
    seed: int
    scores: list[list[list[float]]]
    best_f1: float
    epochs: float
    steps: int
    intruder_weight: float


def train(
    encoder: Encoder,
    training: Sequence[Document],
    validation: Sequence[Document],
    others: Sequence[Sequence[Document]] = (),
    settings: Settings | None = None,
    seed: int = 0,
    *,
    progress: bool = False,
) -> Trained:
    """Train a classifier from one seed, and let it score documents.

    Args:
        encoder: the beginning.
        training: documents to learn from.
        validation: documents on which F1 decides which weights are kept, and when to stop.
        others: documents to score with the weights that are kept.
        settings: None: the defaults.
        seed: draws the new head, the order of the pairs and the dropout.
        progress: bars may be shown.

    Raises:
        EvaluationError: no training document has an intruder, or none that is to choose the
            weights, or the encoder cannot be loaded.
    """
    for what, documents in (("train on", training), ("choose the weights on", validation)):
        if not any(document.intruded for document in documents):
            raise EvaluationError(f"no document with an intruder to {what}; expected some")
    found = fine_tune(
        encoder,
        HEAD,
        pairs_of(training),
        BestWeights("F1", pairs_of(validation), _f1_on(validation)),
        [pairs_of(documents) for documents in others],
        settings,
        seed,
        progress=progress,
    )
    return Trained(
        model=found.model,
        tokenizer=found.tokenizer,
        seed=seed,
        scores=[
            by_document(documents, log_odds(logits))
            for documents, logits in zip(others, found.logits, strict=True)
        ],
        best_f1=found.best,
        epochs=found.epochs,
        steps=found.steps,
        intruder_weight=found.weights[1],
    )


def pairs_of(documents: Iterable[Document]) -> list[TrainingRow]:
    """The pairs of documents, in order: of each every sentence but the opening one."""
    pairs = []
    for document in documents:
        text = join_texts(sentence.strip() for sentence in document.sentences)
        for place, sentence in enumerate(document.sentences[1:], start=1):
            label = int(place == document.intruder_position)
            pairs.append(TrainingRow(((sentence.strip(), text),), label))
    return pairs


def by_document(documents: Sequence[Document], values: Sequence[float]) -> list[list[float]]:
    """Values of pairs as scores of sentences: minus infinity for each opening sentence."""
    scores, start = [], 0
    for document in documents:
        end = start + len(document.sentences) - 1
        scores.append([float("-inf"), *map(float, values[start:end])])
        start = end
    return scores


def _f1_on(documents: Sequence[Document]) -> Any:
    # At its best threshold, as the report chooses it.
    positions = [document.intruder_position for document in documents]

    def compute(logits: Any) -> float:
        scores = by_document(documents, log_odds(logits))
        threshold = best_threshold(scores, positions, "independent")
        counts = count_decisions(scores, positions, threshold, "independent")
        parts, wholes = summed(counts, "f1")
        return math.fsum(parts) / math.fsum(wholes)

    return compute


def log_odds(logits: Any) -> Any:
    """Log-odds (nats) that sentences are intruders, from logits of shape (pairs, 2)."""
    return logits[:, 1] - logits[:, 0]
