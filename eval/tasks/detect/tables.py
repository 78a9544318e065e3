"""Tables of documents: read from a dataset as items are, to learn from, to test on, and scored.

A linguistic probe (Shen et al. 2021, section 7.1) is an intruder, or a document's own sentence,
edited in one respect. A table of probes is one of minimal pairs that also has the sentences around
the slot: conditions ``original`` and ``intruder``, where they apply also ``intruder_probe`` and
``original_probe``, and columns ``before`` and ``after``, lists of sentences. Region 2 of a
condition is what it has in the slot, so that its document is ``before``, region 2, ``after``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.data.notes import Note, of_each
from coherencegym.eval.data.source import Source, find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.documents import DOCUMENTS, NO_INTRUDER, Document
from coherencegym.eval.kinds.items import FAMILY, ITEMS, SuiteError
from coherencegym.eval.tasks.detect.options import DetectOptions
from coherencegym.eval.tasks.task import Table

#: The split that thresholds are chosen on.
_VALIDATION = "validation"
#: Conditions in which a document's own sentence is in the slot, without and with the probe.
ORIGINAL, ORIGINAL_PROBE = "original", "original_probe"
#: Conditions in which an intruder is there.
INTRUDER, INTRUDER_PROBE = "intruder", "intruder_probe"
CONDITIONS = (ORIGINAL, INTRUDER, INTRUDER_PROBE, ORIGINAL_PROBE)
#: The conditions that a threshold is chosen on: documents as they are without probes.
WITHOUT_PROBE = (ORIGINAL, INTRUDER)
#: Columns with the sentences around the slot.
AROUND = ("before", "after")
#: Columns in ``extra`` of a document made from an item.
ITEM, CONDITION = "item_id", "condition"


#: The folder, config and split of a table.
TableKey = tuple[str, str, str]


@dataclass(frozen=True)
class DocumentTable(Table[Document]):
    """The documents of one config and split."""

    @property
    def key(self) -> TableKey:
        """The folder, config and split, which no other table has."""
        return str(self.source.folder), self.config, self.split

    @property
    def located(self) -> bool:
        """The place of every intruder is known; else only whole documents can be judged."""
        return all(document.located for document in self.rows)

    @property
    def intruded(self) -> int:
        """The number of documents with an intruder."""
        return sum(document.intruded for document in self.rows)

    @property
    def probes(self) -> bool:
        """The documents are versions of others, without and with a probe."""
        return any(ITEM in document.extra for document in self.rows[:1])


def was_read(scores: Sequence[float]) -> bool:
    """Tell a document that was read from one that is left out, whose scores are NaN."""
    return scores[-1] == scores[-1]


def why_left_out(scores: Sequence[float]) -> str:
    """The reason why a document that was not read is left out.

    ``too_long``, or ``crossing``, where a token has characters of two sentences: then the score of
    the opening sentence is NaN, too.
    """
    return "too_long" if scores[0] == scores[0] else "crossing"


def split_tables(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> Iterator[DocumentTable]:
    """The tables of a split that are documents, or else those of probes; no more than so many rows
    each.
    """
    if not _holds_probes(source, configs):
        yield from document_tables(source, configs, split, max_items)
        return
    for read in table_rows(source, configs, (split,), kind=ITEMS):
        try:
            rows = islice(read.rows, max_items)
            documents = tuple(document for row in rows for document in documents_of(row))
        except SuiteError as error:
            raise EvaluationError(f"{read.where}: {error}") from None
        says = read.about.get("separator")
        separator = DOCUMENTS.separated(documents) if says is None else bool(says)
        yield DocumentTable.of(source, read, documents, separator=separator, breakdowns=())


def document_tables(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> Iterator[DocumentTable]:
    """The tables of documents; see :func:`split_tables`."""
    for read in table_rows(source, configs, (split,), kind=DOCUMENTS):
        yield DocumentTable.of(source, read, read.read(max_items))


def _holds_probes(source: Source, configs: Sequence[str]) -> bool:
    # Without configs of documents all items are probes. What the manifest does not know is none.
    known = source.manifest.get("configs", {})
    chosen = configs or DOCUMENTS.configs(known) or known
    asked = {name: known[name] for name in chosen if name in known}
    return bool(asked) and len(ITEMS.configs(asked)) == len(asked)


def documents_of(row: Mapping[str, Any]) -> Iterator[Document]:
    """The documents of a row, one for each condition that a probe has."""
    item = ITEMS.from_row(row)
    for column in AROUND:
        if not isinstance(item.extra.get(column), list):
            raise SuiteError(
                f"{item.item_id}: no list {column!r}; expected documents, or the probes of "
                "linguistic_probes (coherencegym score scores other items)"
            )
    before, after = (tuple(item.extra[column]) for column in AROUND)
    names = [condition.condition_name for condition in item.conditions]
    for name in WITHOUT_PROBE:
        if name not in names:
            raise SuiteError(f"{item.item_id}: no condition {name!r}; expected {CONDITIONS}")
    family = {FAMILY: item.extra[FAMILY]} if item.extra.get(FAMILY) else {}
    for condition in item.conditions:
        name = condition.condition_name
        if name not in CONDITIONS:
            continue
        if len(condition.regions) < 2:
            raise SuiteError(f"{item.item_id}: no region 2 in {name!r}; expected the slot's")
        document = Document(
            f"{item.item_id}/{name}",
            (*before, condition.regions[1].content, *after),
            len(before) if name in (INTRUDER, INTRUDER_PROBE) else NO_INTRUDER,
            item.discourse_id,
            item.corpus,
            {ITEM: item.item_id, CONDITION: name, **family},
        )
        DOCUMENTS.check(document)
        yield document


def is_plain(document: Document) -> bool:
    """Tell a document as it is without a probe, on which a threshold may be chosen."""
    return document.extra.get(CONDITION, ORIGINAL) in WITHOUT_PROBE


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
    """The names of configs that are tested and chosen on."""
    elsewhere, _, other = (options.calibrate_on or "").rpartition(":")
    return [*configs, *([other] if other and configs and not elsewhere else [])]


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
    tested = list(split_tables(source, configs, split, max_items))
    require_configs(source, configs, tested, f"no split {split!r}; expected another with --split")
    chosen_on = None
    if calibrate_on:
        there = find_dataset(elsewhere, None, [other]) if elsewhere else source
        chosen_on = _validation(there, other, max_items)

    def with_threshold(table: DocumentTable) -> DetectionInput:
        if not table.rows:
            where = f"config {table.config!r}"
            raise ConfigError(f"{where}: no document; expected at least one")
        if chosen_on is not None or threshold is not None:
            return DetectionInput(table, chosen_on, threshold)
        return DetectionInput(table, _validation(source, table.config, max_items))

    return of_each(tested, with_threshold, named=bool(configs))


def require_configs(
    source: Source, configs: Iterable[str], found: Sequence[DocumentTable], missing: str
) -> None:
    """Refuse configs of which no table was found."""
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


def pooled_table(
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
