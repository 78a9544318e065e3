"""Fine-tune an encoder to find intruders in documents, or to answer about texts.

The first is what Shen et al. 2021, section 5, do with BERT and its kin. For the second, Storks and
Chai 2021 fine-tune on whole texts and choose the weights by accuracy on others. Here
classes that weigh alike in the loss weigh alike in that accuracy too, so that saying the most
frequent answer alone is never the best.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.escapes import markdown_code, markdown_text
from coherencegym.eval.data.source import Source, find_dataset
from coherencegym.eval.kinds.documents import SpanText
from coherencegym.eval.kinds.table_kind import rows_digest
from coherencegym.eval.tasks.detect.detectors import HEAD, by_document, log_odds, pairs_of
from coherencegym.eval.tasks.detect.documents import (
    DocumentTable,
    best_threshold,
    document_tables,
    require_configs,
    require_places,
)
from coherencegym.eval.tasks.detect.options import CLASSIFIER as DETECTOR
from coherencegym.eval.tasks.detect.options import DetectOptions
from coherencegym.eval.tasks.detect.task import TASK as DETECT
from coherencegym.eval.tasks.spans.coherence import (
    CHOICE,
    COHERENCE,
    SpanTable,
    dealt_folds,
    read_span_tables,
)
from coherencegym.eval.tasks.spans.options import CLASSIFIER, MULTIPLE_CHOICE, SpanOptions
from coherencegym.eval.tasks.spans.scorers import inputs_of
from coherencegym.eval.tasks.spans.task import TASK as SPANS_TASK
from coherencegym.eval.tasks.training.encoder import Head, TrainingRow, refuse_long_seconds
from coherencegym.eval.tasks.training.training import TextTraining, TrainingData, one_table


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
    training = _pooled_table(source, train_on, "train", max_items)
    validation = _pooled_table(source, train_on, "validation", max_items)
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
        inputs=[table.calibrated_on(validation) for table in tested],
    )


def _pooled_table(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> DocumentTable:
    """The documents of configs as one table to learn from, with an intruder in one at least."""
    read = list(document_tables(source, configs, split, max_items))
    instead = "expected one to train on, or another config with --train-on"
    require_configs(source, configs, read, f"no split {split!r}; {instead}")
    if not any(table.intruded for table in read):
        raise EvaluationError(
            f"dataset {source.name!r}, split {split!r}: no document with an intruder; expected some"
        )
    for table in read:
        require_places(table, "train on")
    return one_table(read)


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
    options = DetectOptions(detector=DETECTOR)

    def value(self, part: TrainingData, logits: Any) -> float:
        """F1 over the sentences of the validation documents, at its best threshold."""
        documents = part.inputs[0].calibration.rows
        positions = [document.intruder_position for document in documents]
        scores = by_document(documents, log_odds(logits))
        return best_threshold(scores, positions, "independent")[1]

    @property
    def card(self) -> dict[str, str]:
        """What the card of a detector says."""
        return {
            "pipeline": "text-classification",
            "title": "A detector of intruder sentences",
            "about": f"{markdown_code(self.encoder.source.name)}, fine-tuned to decide whether a "
            "sentence of a document comes from another document (INSteD, Shen et al. 2021, TACL "
            "9). Its input is a pair of texts, the sentence and the whole document; label 1 is "
            "`intruder`. The first sentence of a document is never an intruder.",
            "use": "coherencegym detect --model FOLDER --dataset coherencegym/intruder_sentences",
        }


#: The splits that are learned from, and that weights are chosen on.
_TRAIN, _VALIDATION = "train", "validation"


def training_texts(
    dataset: str,
    train_on: Sequence[str] = (),
    test_on: Sequence[str] = (),
    split: str = "test",
    *,
    revision: str | None = None,
    max_items: int | None = None,
    folds: int | None = None,
) -> TrainingData:
    """Read the texts of a training.

    In a cross-validation the texts of both splits are dealt to folds by their sources, so that none
    is in two, as Storks and Chai 2021 do.

    Args:
        dataset: a folder, or a Hub id.
        train_on: configs; none: those that are tested on.
        test_on, split: configs and their split; none: those that are trained on, and none of
            either: all that hold spans and have a split ``train``.
        revision: tag or commit of a Hub dataset; None: the newest.
        max_items: no more texts than this of each table.
        folds: their number; None: the splits.
    """
    if split in (_TRAIN, _VALIDATION):
        raise EvaluationError(
            f"--split {split}: its texts train the classifier; expected another split"
        )
    source = find_dataset(dataset, revision, [*train_on, *test_on])
    read, notes = read_span_tables(source, train_on or test_on, _TRAIN, max_items)
    for table in () if folds else read:
        if not table.calibration:
            raise EvaluationError(
                f"dataset {source.name!r}, config {table.config!r}: no split "
                f"{_VALIDATION!r}; expected one, or --folds N"
            )
    learned = [table.config for table in read]
    tested, _ = read_span_tables(source, test_on or learned, split, max_items)
    _check_questions([*read, *tested], f"dataset {source.name!r}")
    rows = [row for table in read for row in table.rows]
    others = [row for table in read for row in table.calibration]
    where = f"dataset {source.name!r}, config {'+'.join(learned)!r}"
    if folds:
        rows, others = [*rows, *others], []
    whole = TrainingData(
        source=source.noted(notes),
        configs="+".join(learned),
        rows_sha256=rows_digest(
            f"{table.config} {digest}" for table in read for digest in table.digests
        ),
        texts=len(rows),
        training=labelled(rows),
        validation=labelled(others),
        inputs=tested,
    )
    if not folds:
        _require_both_answers(whole, where)
        return whole
    number = len(sources := {row.cluster for row in rows})
    if not 2 <= folds <= number:
        raise ConfigError(
            f"{where}: --folds {folds} of {number:,} sources; expected 2 to {number:,}"
        )
    fold_of = dealt_folds(sources, folds)
    each = []
    for fold in range(folds):
        kept = labelled([row for row in rows if fold_of[row.cluster] != fold])
        held = labelled([row for row in rows if fold_of[row.cluster] == fold])
        data = replace(whole, texts=len(kept), training=kept, validation=held, fold=fold)
        _require_both_answers(data, where)
        each.append(data)
    return replace(whole, folds=tuple(each))


def labelled(rows: Sequence[SpanText]) -> tuple[TrainingRow, ...]:
    """What a model reads of whole texts, with the right answers."""
    return tuple(TrainingRow(tuple(inputs_of(row, [(0, row.size - 1)])), row.label) for row in rows)


def _require_both_answers(data: TrainingData, where: str) -> None:
    held = f"split {_VALIDATION!r}" if data.fold is None else f"fold {data.fold}"
    learned = f"split {_TRAIN!r}" if data.fold is None else f"all but fold {data.fold}"
    for name, rows in ((learned, data.training), (held, data.validation)):
        if data.inputs[0].question != CHOICE and len({row.label for row in rows}) < 2:
            positive = data.inputs[0].positive
            raise EvaluationError(
                f"{where}, {name}: all texts have the same answer; expected some that are "
                f"{positive} and some that are not"
            )


def _check_questions(tables: Sequence[SpanTable], where: str) -> None:
    asked = {(table.question, table.positive): table.config for table in tables}
    if len(asked) > 1:
        said = ", ".join(f"{config}: {positive}" for (_, positive), config in asked.items())
        raise EvaluationError(
            f"{where}: configs ask different questions ({said}); expected one, or several that ask "
            "the same, with --train-on and --test-on"
        )
    numbers = sorted({len(table.rows[0].alternatives) for table in tables})
    if len(numbers) > 1:
        raise EvaluationError(
            f"{where}: choices of {numbers[0]} and of {numbers[-1]} alternatives; expected one "
            "number"
        )


@dataclass(frozen=True)
class SpanTraining(TextTraining):
    """Models of whole texts that are asked about every part."""

    name = "train-spans"
    texts, rows, best = "texts", "wholes", "best accuracy"
    task = SPANS_TASK

    def __post_init__(self) -> None:
        learned = (*self.data.training, *self.data.validation)
        seconds = [other for row in learned for _, other in row.inputs]
        seconds += [row.hypothesis.strip() for table in self.data.inputs for row in table.rows]
        refuse_long_seconds(self.encoder.tokenizer, seconds, self.encoder.max_length)

    @property
    def question(self) -> str:
        """The question of all tables."""
        return str(self.data.inputs[0].question)

    @property
    def positive(self) -> str:
        """The positive answer."""
        return str(self.data.inputs[0].positive)

    @property
    def head(self) -> Head:
        """The classes, called so that ``spans`` finds the positive one by its name."""
        labels = () if self.question == CHOICE else (f"not {self.positive}", self.positive)
        return Head(labels, cut="only_first")

    def value(self, part: TrainingData, logits: Any) -> float:
        """Accuracy; classes weigh alike in it as in the loss; of choices each row does."""
        import numpy as np

        labels = np.array([row.label for row in part.validation])
        right = logits.argmax(axis=-1) == labels
        if self.question == CHOICE:
            return float(right.mean())
        return float(np.mean([right[labels == label].mean() for label in np.unique(labels)]))

    @property
    def options(self) -> SpanOptions:
        """The head answers, and texts are cut to fit."""
        scorer = MULTIPLE_CHOICE if self.question == CHOICE else CLASSIFIER
        return SpanOptions(scorer=scorer, truncate=True)

    @property
    def card(self) -> dict[str, str]:
        """What the card of a model of texts says."""
        choice = self.question == CHOICE
        says = f"whether a text makes a hypothesis {markdown_text(self.positive)}"
        what = "a pair of texts, the text and the hypothesis"
        if choice:
            says, what = "which of several texts is better", "each of the texts"
        elif self.question == COHERENCE:
            says, what = f"whether a text is {markdown_text(self.positive)}", "the text"
        labels = "" if choice else f"; label 1 is {markdown_code(self.positive)}"
        configs = shlex.join(table.config for table in self.data.inputs)
        command = "coherencegym spans --model FOLDER --dataset DATASET --truncate --config"
        return {
            "pipeline": "multiple-choice" if choice else "text-classification",
            "title": "A model of texts and their parts",
            "about": f"{markdown_code(self.encoder.source.name)}, fine-tuned to decide {says} "
            f"(Storks and Chai 2021, Results of EMNLP). Its input is {what}, with units joined by "
            f"a space{labels}.",
            "use": f"{command} {configs}",
        }
