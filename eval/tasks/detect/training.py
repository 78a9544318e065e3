"""Fine-tune an encoder to find intruders, as Shen et al. 2021, section 5, BERT and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.escapes import markdown_code
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.tasks.detect.classifier import HEAD, by_document, log_odds, pairs_of
from coherencegym.eval.tasks.detect.options import CLASSIFIER, DetectOptions
from coherencegym.eval.tasks.detect.scores import best_threshold, f1_of
from coherencegym.eval.tasks.detect.tables import (
    DetectionInput,
    document_tables,
    pooled_table,
    require_configs,
)
from coherencegym.eval.tasks.detect.task import TASK as DETECT
from coherencegym.eval.tasks.training.training import CardText, TextTraining, TrainingData


def training_documents(
    dataset: str,
    train_on: Sequence[str] = (),
    test_on: Sequence[str] = (),
    split: str = "test",
    *,
    revision: str | None = None,
    max_items: int | None = None,
) -> TrainingData:
    """The documents of a training.

    The validation documents are those that the thresholds of all tested tables are chosen on.

    Args:
        dataset: a folder, or a Hub id.
        train_on: configs; none: all that hold documents.
        test_on, split: configs and their split; none: those that are trained on.
        revision: tag or commit of a Hub dataset; None: the newest.
        max_items: no more documents than this of each table.
    """
    source = find_dataset(dataset, revision, [*train_on, *test_on] if train_on else [])
    wanted = test_on or train_on
    training = pooled_table(source, train_on, "train", max_items)
    validation = pooled_table(source, train_on, "validation", max_items)
    tested = list(document_tables(source, wanted, split, max_items))
    missing = f"no split {split!r} to test on; expected another with --split"
    require_configs(source, wanted, tested, missing)
    return TrainingData(
        source=source,
        configs=training.config,
        rows_sha256=training.rows_sha256,
        texts=len(training.rows),
        training=pairs_of(training.rows),
        validation=pairs_of(validation.rows),
        inputs=[DetectionInput(table, validation) for table in tested],
    )


@dataclass(frozen=True)
class DocumentTraining(TextTraining):
    """Classifiers of pairs of texts, a sentence and the whole document that it stands in.

    The question is whether the sentence is an intruder there. Opening sentences are never asked
    about.
    """

    name = "train-documents"
    texts, rows, best = "documents", "pairs", "best F1"
    task = DETECT
    head = HEAD
    options = DetectOptions(detector=CLASSIFIER)

    def value(self, part: TrainingData) -> Any:
        """F1 over the sentences of the validation documents."""
        return f1_on(part.inputs[0].calibration.rows)

    @property
    def card(self) -> CardText:
        """What the card of a detector says."""
        return CardText(
            pipeline="text-classification",
            title="A detector of intruder sentences",
            about=f"{markdown_code(self.encoder.source.name)}, fine-tuned to decide whether a "
            "sentence of a document comes from another document (INSteD, Shen et al. 2021, TACL "
            "9). Its input is a pair of texts, the sentence and the whole document; label 1 is "
            "`intruder`. The first sentence of a document is never an intruder.",
            use="coherencegym detect --model FOLDER --dataset coherencegym/intruder_sentences",
        )


def f1_on(documents: Sequence[Document]) -> Any:
    """F1 over sentences, from logits of pairs, at its best threshold as the report chooses it."""
    positions = [document.intruder_position for document in documents]

    def compute(logits: Any) -> float:
        scores = by_document(documents, log_odds(logits))
        threshold = best_threshold(scores, positions, "independent")
        return f1_of(scores, positions, threshold, "independent")

    return compute
