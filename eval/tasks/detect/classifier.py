"""Scores of sentences from a detector that was trained: ``coherencegym train documents``.

Shen et al. 2021, section 5: a classifier reads a sentence and its document, and says whether the
sentence is an intruder there. It is asked about any documents, also of another domain or dataset
than it has learned from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.models.machine import world
from coherencegym.eval.tasks.detect.options import CLASSIFIER, DetectOptions
from coherencegym.eval.tasks.detect.tables import DocumentTable
from coherencegym.eval.tasks.task import Loader
from coherencegym.eval.tasks.training.encoder import (
    Head,
    TrainingRow,
    cut_inputs,
    most_tokens,
    read_logits,
)
from coherencegym.words import join_texts

#: The answers of a detector.
HEAD = Head(("coherent", "intruder"))
#: A part of the names of classes of transformers.
_CLASS = "ForSequenceClassification"


def with_detector(
    options: DetectOptions, config: Callable[[], Any], kind: str = ""
) -> DetectOptions:
    """The options with the detector that fits a model: a classifier answers with its head.

    Args:
        options: those of the run.
        config: gives the model's, which names the class that it was saved from.
        kind: the name of the class of a model that is loaded.
    """
    made = kind or " ".join(getattr(config(), "architectures", None) or ())
    return replace(options, detector=CLASSIFIER) if _CLASS in made else options


def load_for_detection(options: DetectOptions, loader: Loader) -> LoadedModel:
    """The classifier."""
    from transformers import AutoModelForSequenceClassification

    if world().size > 1:
        raise EvaluationError("detect: several processes with a classifier; expected one")
    loaded = loader.head(AutoModelForSequenceClassification)
    labels = tuple(loaded.model.config.id2label.values())
    if labels != HEAD.labels:
        raise EvaluationError(
            f"model {loaded.name!r}: labels {', '.join(map(str, labels))}; expected "
            f"{', '.join(HEAD.labels)}, as coherencegym train documents leaves them"
        )
    return loaded


def classify(
    loaded: LoadedModel,
    table: DocumentTable,
    step: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[list[list[float]], int]:
    """Ask a classifier about every sentence of documents but the opening ones.

    Args:
        loaded: the classifier.
        table: the documents.
        step: told how many pairs are read, and how many there are.

    Returns:
        The log-odds (nats) of each sentence that it is an intruder, minus infinity for the opening
        one; and the number of pairs that were read without their end.
    """
    most = most_tokens(loaded.model.config, loaded.tokenizer)
    inputs = [pair.inputs[0] for pair in pairs_of(table.rows)]
    logits = read_logits(loaded, inputs, most, step=step)
    values = [float(own[1] - own[0]) for own in logits]
    cut = cut_inputs(loaded.tokenizer, inputs, most)
    return by_document(table.rows, values), sum(one in cut for one in inputs)


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


def log_odds(logits: Any) -> Any:
    """Log-odds (nats) that sentences are intruders, from logits of shape (pairs, 2)."""
    return logits[:, 1] - logits[:, 0]
