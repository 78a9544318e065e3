"""What a run of ``detect`` reads: the documents to test on, and those that thresholds are from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import Source, find
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.tasks.detect.document_tables import (
    PREFIX,
    DocumentTable,
    document_tables,
    full_names,
)
from coherencegym.eval.tasks.detect.edited_tables import (
    CONDITION,
    WITHOUT_PROBE,
    holds_probes,
    probe_tables,
)

#: The split that thresholds are chosen on.
VALIDATION = "validation"


@dataclass(frozen=True)
class DetectionData:
    """Documents.

    Attributes:
        source: the dataset that is tested on.
        tested: its tables, at least one.
        calibration: by config of ``tested``, the table that its thresholds are chosen on; empty
            where the user chose the threshold.
        threshold: of the user, or None.
    """

    source: Source
    tested: tuple[DocumentTable, ...]
    calibration: Mapping[str, DocumentTable]
    threshold: float | None = None

    @property
    def tables(self) -> list[DocumentTable]:
        """All tables to read, each once: those that thresholds are chosen on first."""
        both = (*self.calibration.values(), *self.tested)
        return list({table.key: table for table in both}.values())

    def is_tested(self, table: DocumentTable) -> bool:
        """Whether it is one of those that are tested on."""
        return table.key in {one.key for one in self.tested}


def read_data(
    dataset: str,
    configs: Sequence[str] = (),
    split: str = "test",
    *,
    revision: str | None = None,
    calibrate_on: str | None = None,
    threshold: float | None = None,
    max_items: int | None = None,
) -> DetectionData:
    """Read the documents of a run.

    Args:
        dataset: a folder, or a Hub id.
        configs: to test on; none: all that hold documents and have the split.
        split: to test on.
        revision: tag or commit of a Hub dataset; None: the newest.
        calibrate_on: a config of the dataset, or ``DATASET:CONFIG``, on whose validation split the
            thresholds are chosen; None: that of each config that is tested on.
        threshold: in place of one that is chosen.
        max_items: no more documents than this of each table.

    Raises:
        EvaluationError: documents are not there or cannot be read, or there are none to choose the
            thresholds on.
    """
    if threshold is not None and calibrate_on is not None:
        raise EvaluationError("--threshold: nothing is chosen; expected no --calibrate-on with it")
    elsewhere, _, other = (calibrate_on or "").rpartition(":")
    own = [*configs, *([other] if other and configs and not elsewhere else [])]
    source = find(dataset, revision, [*own, *(PREFIX + name for name in own)] if own else [])
    wanted = full_names(source, configs)
    tested = tuple(_tables(source, wanted, split, max_items))
    for name in wanted:
        if name not in {table.config for table in tested}:
            raise EvaluationError(
                f"dataset {source.name!r}, config {name!r}: no split {split!r}; expected another "
                "with --split"
            )
    if not all(table.documents for table in tested):
        raise EvaluationError(f"dataset {source.name!r}: a table without documents")
    if threshold is not None:
        return DetectionData(source, tested, {}, threshold)
    if calibrate_on:
        there = find(elsewhere, None, [other, PREFIX + other]) if elsewhere else source
        table = _validation(there, full_names(there, [other])[0], max_items)
        return DetectionData(source, tested, {one.config: table for one in tested})
    return DetectionData(
        source,
        tested,
        {one.config: _validation(source, one.config, max_items) for one in tested},
    )


def _tables(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> Iterator[DocumentTable]:
    read = probe_tables if holds_probes(source, configs) else document_tables
    return read(source, configs, (split,), max_items)


def _validation(source: Source, config: str, max_items: int | None) -> DocumentTable:
    where = f"dataset {source.name!r}, config {config!r}"
    instead = "expected --threshold X, or --calibrate-on CONFIG or DATASET:CONFIG"
    try:
        (table,) = _tables(source, [config], VALIDATION, max_items)
    except EvaluationError as error:
        if "no split" not in str(error):
            raise
        raise EvaluationError(
            f"{where}: no split {VALIDATION!r} to choose the threshold on; {instead}"
        ) from None
    if not table.intruded:
        raise EvaluationError(
            f"{where}, split {VALIDATION!r}: no document with an intruder to choose the threshold "
            f"on; {instead}"
        )
    return table


def is_plain(document: Document) -> bool:
    """Whether a threshold may be chosen on a document: it is as it is without a probe."""
    return document.extra.get(CONDITION, WITHOUT_PROBE[0]) in WITHOUT_PROBE
