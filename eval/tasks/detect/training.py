"""Fine-tune an encoder to find intruders, as Shen et al. 2021, section 5, BERT and its kin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.escapes import markdown_code
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.tasks.detect.classifier import HEAD, by_document, log_odds, pairs_of
from coherencegym.eval.tasks.detect.options import CLASSIFIER, DetectOptions
from coherencegym.eval.tasks.detect.scores import best_threshold, count_decisions, summed
from coherencegym.eval.tasks.detect.tables import (
    DetectionInput,
    DocumentTable,
    ScoredTable,
    document_tables,
    find_documents,
    full_names,
    pooled_table,
    require_configs,
)
from coherencegym.eval.tasks.detect.task import DETECTION_COLUMNS, detect_detail
from coherencegym.eval.tasks.detect.task import TASK as DETECT
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.training.encoder import TrainingRow
from coherencegym.eval.tasks.training.training import CardText, TextTraining, TrainingData, Words


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
    source = find_documents(dataset, revision, [*train_on, *test_on] if train_on else [])
    learned = full_names(source, train_on)
    wanted = full_names(source, test_on) or learned
    training = pooled_table(source, learned, "train", max_items)
    validation = pooled_table(source, learned, "validation", max_items)
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
    task = DETECT
    words = Words("documents", "pairs", "best F1", tuple(DETECTION_COLUMNS))
    head = HEAD

    @property
    def tables(self) -> list[DocumentTable]:
        """All tables that a trained model reads, each once."""
        every = (table for one in self.data.inputs for table in one.tables)
        return list({one.key: one for one in every}.values())

    @property
    def others(self) -> list[list[TrainingRow]]:
        """The pairs of all tables."""
        return [pairs_of(table.rows) for table in self.tables]

    def value(self, part: TrainingData) -> Any:
        """F1 over the sentences of the validation documents."""
        return f1_on(part.inputs[0].calibration.rows)

    def answers(
        self, loaded: LoadedModel, logits: Sequence[Any], writer: OutcomeWriter
    ) -> tuple[DetectOptions, list[tuple[Any, Any]]]:
        """The documents that are tested on, with the scores of their sentences."""
        options = DetectOptions(detector=CLASSIFIER)
        scored = {}
        for table, own in zip(self.tables, logits, strict=True):
            scores = by_document(table.rows, log_odds(own))
            cut = self.truncated(pairs_of(table.rows))
            scored[table.key] = ScoredTable(table, scores, cut)
        pairs = [(one, detect_detail(one, scored, writer)) for one in self.data.inputs]
        return options, pairs

    def card(self, own: Results) -> CardText:
        """What the card of a detector says."""
        return CardText(
            pipeline="text-classification",
            title="A detector of intruder sentences",
            about=f"{markdown_code(self.encoder.source.name)}, fine-tuned to decide whether a "
            "sentence of a document comes from another document (INSteD, Shen et al. 2021, TACL "
            "9). Its input is a pair of texts, the sentence and the whole document; label 1 is "
            "`intruder`. The first sentence of a document is never an intruder.",
            use="coherencegym detect --model FOLDER --dataset coherencegym/intruder_sentences",
            figures="Document accuracy is the share of documents that are correctly classified as "
            "with or without an intruder. Exact accuracy is the share of documents in which every "
            "sentence is classified correctly. F1, precision, recall and AUC are over all "
            "sentences except the first. Place is the share of the documents with an intruder in "
            "which the intruder has the highest score.",
            learned="The model has learned to recognise the intruders of this data, which may have "
            "other signs than incoherence: Shen et al. (2021) report a substantial drop on other "
            "domains.",
        )


def f1_on(documents: Sequence[Document]) -> Any:
    """F1 over sentences, from logits of pairs, at its best threshold as the report chooses it."""
    positions = [document.intruder_position for document in documents]

    def compute(logits: Any) -> float:
        scores = by_document(documents, log_odds(logits))
        threshold = best_threshold(scores, positions, "independent")
        counts = count_decisions(scores, positions, threshold, "independent")
        parts, wholes = summed(counts, "f1")
        return math.fsum(parts) / math.fsum(wholes)

    return compute
