"""Documents of a run: to learn from, to choose thresholds on, and to test on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.data.notes import Note, of_each
from coherencegym.eval.data.source import Source, find_dataset
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.tasks.detect.options import DetectOptions
from coherencegym.eval.tasks.detect.tables import (
    DETECT_PREFIX,
    DocumentTable,
    document_tables,
    split_tables,
)

#: The splits that are learned from, and that thresholds are chosen on.
_TRAIN, _VALIDATION = "train", "validation"


@dataclass(frozen=True)
class DetectionInput:
    """Documents to test on.

    Attributes:
        table: the documents.
        calibration: those that the threshold is chosen on; None where the user chose it.
        threshold: that of the user.
    """

    table: DocumentTable
    calibration: DocumentTable | None
    threshold: float | None = None

    @property
    def rows(self) -> list[Document]:
        """All documents that are read."""
        return [document for table in self.tables for document in table.rows]

    @property
    def tables(self) -> list[DocumentTable]:
        """All tables to read, each once: that which the threshold is chosen on first."""
        both = (self.calibration, self.table)
        return list({one.key: one for one in both if one is not None}.values())


def detection_names(configs: Sequence[str], options: DetectOptions) -> list[str]:
    """The names, with and without their beginning, of configs that are tested and chosen on."""
    elsewhere, _, other = (options.calibrate_on or "").rpartition(":")
    named = [*configs, *([other] if other and configs and not elsewhere else [])]
    return [*named, *(DETECT_PREFIX + name for name in named)]


def read_inputs(
    source: Source,
    configs: Sequence[str],
    split: str,
    max_items: int | None,
    options: DetectOptions,
) -> tuple[list[DetectionInput], list[Note]]:
    """The documents of a run, and what was left out.

    Args:
        source: the dataset.
        configs, split: tested; none: all configs that hold documents and have the split.
        max_items: no more documents than this of each table.
        options: ``calibrate_on`` is a config of the dataset, or ``DATASET:CONFIG``, on whose
            validation split the thresholds are chosen; None: that of each config that is tested
            on. ``threshold`` replaces one that is chosen.
    """
    calibrate_on, threshold = options.calibrate_on, options.threshold
    elsewhere, _, other = (calibrate_on or "").rpartition(":")
    if other and not elsewhere and Path(other).is_dir():
        _refuse_folder(other, source)
    wanted = _full_names(source, configs)
    tested = split_tables(source, wanted, split, max_items)
    _require(source, wanted, tested, f"no split {split!r}; expected another with --split")
    chosen_on = None
    if calibrate_on:
        there = _found(elsewhere, None, [other]) if elsewhere else source
        chosen_on = _validation(there, _full_names(there, [other])[0], max_items)

    def with_threshold(table: DocumentTable) -> DetectionInput:
        if not table.rows:
            where = f"config {table.config!r}"
            raise ConfigError(f"{where}: no document; expected at least one")
        if chosen_on is not None or threshold is not None:
            return DetectionInput(table, chosen_on, threshold)
        return DetectionInput(table, _validation(source, table.config, max_items))

    return of_each(tested, with_threshold, named=bool(configs))


def read_training_tables(
    dataset: str,
    train_on: Sequence[str] = (),
    test_on: Sequence[str] = (),
    split: str = "test",
    *,
    revision: str | None = None,
    max_items: int | None = None,
) -> tuple[DocumentTable, DocumentTable, tuple[DetectionInput, ...]]:
    """Read the documents of a training: to learn from, to choose weights on, and to test on.

    The validation documents are those that the thresholds of all tested tables are chosen on.

    Args:
        dataset: a folder, or a Hub id.
        train_on: configs; none: all that hold documents.
        test_on, split: configs and their split; none: those that are trained on.
        revision: tag or commit of a Hub dataset; None: the newest.
        max_items: no more documents than this of each table.
    """
    source = _found(dataset, revision, [*train_on, *test_on] if train_on else [])
    learned = _full_names(source, train_on)
    wanted = _full_names(source, test_on) or learned
    training = _pooled(source, learned, _TRAIN, max_items)
    validation = _pooled(source, learned, _VALIDATION, max_items)
    tested = tuple(document_tables(source, wanted, split, max_items))
    missing = f"no split {split!r} to test on; expected another with --split"
    _require(source, wanted, tested, missing)
    return training, validation, tuple(DetectionInput(table, validation) for table in tested)


def _found(dataset: str, revision: str | None, configs: Sequence[str]) -> Source:
    # Configs are named with or without their beginning; none: all.
    return find_dataset(dataset, revision, [*configs, *(DETECT_PREFIX + name for name in configs)])


def _refuse_folder(given: str, source: Source) -> None:
    # Unless a config of the dataset has its name.
    if _full_names(source, [given])[0] not in source.manifest.get("configs", {}):
        raise EvaluationError(f"--calibrate-on {given}: a folder; expected {given}:CONFIG")


def _full_names(source: Source, configs: Sequence[str]) -> list[str]:
    # Those named without ``detect_`` get it. A dataset without a manifest is left to its own names.
    known = source.manifest.get("configs", {})
    return [
        DETECT_PREFIX + name if name not in known and DETECT_PREFIX + name in known else name
        for name in configs
    ]


def _require(
    source: Source, configs: Iterable[str], found: Sequence[DocumentTable], missing: str
) -> None:
    for name in configs:
        if name not in {table.config for table in found}:
            raise EvaluationError(f"dataset {source.name!r}, config {name!r}: {missing}")


def _validation(source: Source, config: str, max_items: int | None) -> DocumentTable:
    where = f"config {config!r}"
    instead = "expected --threshold X, or --calibrate-on CONFIG or DATASET:CONFIG"
    try:
        (table,) = split_tables(source, [config], _VALIDATION, max_items)
    except EvaluationError as error:
        if "no split" not in str(error):
            raise
        raise ConfigError(
            f"{where}: no split {_VALIDATION!r} to choose the threshold on; {instead}"
        ) from None
    if not table.intruded:
        raise ConfigError(
            f"{where}, split {_VALIDATION!r}: no document with an intruder to choose the threshold "
            f"on; {instead}"
        )
    _require_places(table, "choose the threshold on")
    return table


def _require_places(table: DocumentTable, what: str) -> None:
    if not table.located:
        raise ConfigError(
            f"{table.name}: intruders in unknown places; expected another config to {what}"
        )


def _pooled(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> DocumentTable:
    read = list(document_tables(source, configs, split, max_items))
    instead = "expected one to train on, or another config with --train-on"
    _require(source, configs, read, f"no split {split!r}; {instead}")
    if not any(table.intruded for table in read):
        raise EvaluationError(
            f"dataset {source.name!r}, split {split!r}: no document with an intruder; expected some"
        )
    for table in read:
        _require_places(table, "train on")
    if len(read) == 1:
        return read[0]
    digests = "\n".join(f"{table.config} {table.rows_sha256}" for table in read)
    return DocumentTable(
        source=source,
        config="+".join(table.config for table in read),
        split=split,
        rows=tuple(document for table in read for document in table.rows),
        rows_sha256=hashlib.sha256(digests.encode()).hexdigest(),
        verified=all(table.verified for table in read),
        separator=any(table.separator for table in read),
    )
