"""What ``train-detector`` reads: documents to learn from, to choose on, and to test on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import Source, find
from coherencegym.eval.tasks.detect.detection_data import VALIDATION, DetectionData
from coherencegym.eval.tasks.detect.document_tables import (
    PREFIX,
    DocumentTable,
    document_tables,
    full_names,
)

#: The split that is learned from.
TRAIN = "train"


@dataclass(frozen=True)
class TrainingData:
    """Documents of a training.

    Attributes:
        training: to learn from, of all configs that are trained on.
        validation: to choose weights and thresholds on, of the same configs.
        detection: what is tested on, with ``validation`` for the thresholds of all of it.
    """

    training: DocumentTable
    validation: DocumentTable
    detection: DetectionData


def read_training_data(
    dataset: str,
    train_on: Sequence[str] = (),
    test_on: Sequence[str] = (),
    split: str = "test",
    *,
    revision: str | None = None,
    max_items: int | None = None,
) -> TrainingData:
    """Read the documents of a training.

    Args:
        dataset: a folder, or a Hub id.
        train_on: configs; none: all that hold documents.
        test_on: configs; none: those that are trained on.
        split: to test on.
        revision: tag or commit of a Hub dataset; None: the newest.
        max_items: no more documents than this of each table.

    Raises:
        EvaluationError: documents are not there or cannot be read, or none that are learned from,
            or chosen on, has an intruder.
    """
    named = [*train_on, *test_on] if train_on else []
    source = find(dataset, revision, [*named, *(PREFIX + name for name in named)])
    learned = full_names(source, train_on)
    tested = full_names(source, test_on) or learned
    training = _pooled(source, learned, TRAIN, max_items)
    validation = _pooled(source, learned, VALIDATION, max_items)
    tables = tuple(document_tables(source, tested, (split,), max_items))
    for name in tested:
        if name not in {table.config for table in tables}:
            raise EvaluationError(
                f"dataset {source.name!r}, config {name!r}: no split {split!r} to test on; "
                "expected another with --split"
            )
    calibration = {table.config: validation for table in tables}
    return TrainingData(training, validation, DetectionData(source, tables, calibration))


def _pooled(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> DocumentTable:
    """The documents of several configs as one table."""
    tables = list(document_tables(source, configs, (split,), max_items))
    for name in configs:
        if name not in {table.config for table in tables}:
            raise EvaluationError(
                f"dataset {source.name!r}, config {name!r}: no split {split!r}; expected one to "
                "train on, or another config with --train-on"
            )
    if not any(table.intruded for table in tables):
        raise EvaluationError(
            f"dataset {source.name!r}, split {split!r}: no document with an intruder; expected some"
        )
    if len(tables) == 1:
        return tables[0]
    digests = "\n".join(f"{table.config} {table.rows_sha256}" for table in tables)
    return DocumentTable(
        source=source,
        config="+".join(table.config for table in tables),
        split=split,
        documents=tuple(document for table in tables for document in table.documents),
        rows_sha256=hashlib.sha256(digests.encode()).hexdigest(),
        verified=all(table.verified for table in tables),
        separator=any(table.separator for table in tables),
    )
