"""Linguistic probes as documents: an intruder, or a document's own sentence, edited in one respect.

Shen et al. 2021, section 7.1. Such a table is one of minimal pairs that also has the sentences
around the slot: conditions ``original`` and ``intruder``, where they apply also ``intruder_probe``
and ``original_probe``, and columns ``before`` and ``after``, lists of sentences. Region 2 of a
condition is what it has in the slot, so that its document is ``before``, region 2, ``after``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.documents import COHERENT, DOCUMENTS, Document, validate_document
from coherencegym.eval.kinds.item_tables import ITEMS
from coherencegym.eval.kinds.items import FAMILY, SuiteError, item_from_row, validate_item
from coherencegym.eval.tasks.detect.document_tables import DocumentTable

#: Conditions in which a document's own sentence is in the slot, without and with the probe.
ORIGINAL, ORIGINAL_PROBE = "original", "original_probe"
#: Conditions in which an intruder is there.
INTRUDER, INTRUDER_PROBE = "intruder", "intruder_probe"
CONDITIONS = (ORIGINAL, INTRUDER, INTRUDER_PROBE, ORIGINAL_PROBE)
#: The conditions that a threshold is chosen on: documents as they are without probes.
WITHOUT_PROBE = (ORIGINAL, INTRUDER)
#: Columns with the sentences around the slot.
AROUND = ("before", "after")
#: What a document made from an item has in ``extra``.
ITEM, CONDITION = "item_id", "condition"


def holds_probes(source: Source, configs: Sequence[str]) -> bool:
    """Whether configs, or a dataset without configs of documents, hold items: probes, if anything.

    What the manifest does not know is no probe.
    """
    known = source.manifest.get("configs", {})
    chosen = configs or DOCUMENTS.configs(known) or known
    asked = {name: known[name] for name in chosen if name in known}
    return bool(asked) and len(ITEMS.configs(asked)) == len(asked)


def probe_tables(
    source: Source,
    configs: Sequence[str] = (),
    splits: Sequence[str] | None = None,
    max_items: int | None = None,
) -> Iterator[DocumentTable]:
    """The tables of probes of a dataset, each item as a document for each of its conditions.

    Args:
        source, configs, splits: as for :func:`eval.tasks.detect.document_tables.document_tables`.
        max_items: no more items than this of each table, from its start.

    Raises:
        EvaluationError: a config or split is not there, its items are no probes, or its rows are
            not those that were published.
    """
    for read in table_rows(source, configs, splits, kind=ITEMS):
        try:
            documents = tuple(
                document for row in read.rows[:max_items] for document in documents_of(row)
            )
        except SuiteError as error:
            raise EvaluationError(f"{read.where}: {error}") from None
        says = read.about.get("separator")
        yield DocumentTable(
            source=source,
            config=read.config,
            split=read.split,
            documents=documents,
            rows_sha256=read.rows_sha256,
            verified=read.verified,
            separator=DOCUMENTS.separated(documents) if says is None else bool(says),
            probes=True,
        )


def documents_of(row: Mapping[str, Any]) -> Iterator[Document]:
    """The documents of a row, one for each condition that a probe has.

    Raises:
        SuiteError: the row is no valid item, or is not one of probes.
    """
    item = item_from_row(row)
    validate_item(item)
    for column in AROUND:
        if not isinstance(item.extra.get(column), list):
            raise SuiteError(
                f"{item.item_id}: no list {column!r}; expected documents, or the probes of "
                "linguistic_probes (python -m eval scores other items)"
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
        slot = condition.regions[1].content
        position = len(before) if name in (INTRUDER, INTRUDER_PROBE) else COHERENT
        document = Document(
            f"{item.item_id}/{name}",
            (*before, slot, *after),
            position,
            item.discourse_id,
            item.corpus,
            {ITEM: item.item_id, CONDITION: name, **family},
        )
        validate_document(document)
        yield document
