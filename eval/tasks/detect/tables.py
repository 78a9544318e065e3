"""Tables of documents, read from a dataset as items are; and linguistic probes as documents.

A probe (Shen et al. 2021, section 7.1) is an intruder, or a document's own sentence, edited in one
respect. A table of probes is one of minimal pairs that also has the sentences around the slot:
conditions ``original`` and ``intruder``, where they apply also ``intruder_probe`` and
``original_probe``, and columns ``before`` and ``after``, lists of sentences. Region 2 of a
condition is what it has in the slot, so that its document is ``before``, region 2, ``after``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.documents import DOCUMENTS, NO_INTRUDER, Document, validate_document
from coherencegym.eval.kinds.items import FAMILY, ITEMS, SuiteError, item_from_row, validate_item
from coherencegym.eval.tasks.table import Table

#: The beginning of the names of configs of documents, which may be named without it.
DETECT_PREFIX = "detect_"
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
    """The documents of one config and split; ``probes``: versions without and with a probe."""

    probes: bool = False

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


@dataclass(frozen=True)
class ScoredTable:
    """A table, and the scores of its sentences; see :func:`eval.tasks.detect.detect.detect`.

    ``cut``: the number of pairs that a classifier read without their end.
    """

    table: DocumentTable
    scores: Sequence[Sequence[float]]
    cut: int = 0

    @property
    def left_out(self) -> Counter[str]:
        """The number of documents that are left out, by reason."""
        return Counter(why_left_out(own) for own in self.scores if not was_read(own))


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
) -> list[DocumentTable]:
    """The tables of a split that are documents, or else those of probes; no more than so many rows
    each.
    """
    read = _probes if _holds_probes(source, configs) else document_tables
    return list(read(source, configs, split, max_items))


def document_tables(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> Iterator[DocumentTable]:
    """The tables of documents; see :func:`split_tables`."""
    for rows in table_rows(source, configs, (split,), kind=DOCUMENTS):
        documents, breakdowns = rows.read(max_items), list(rows.breakdowns)
        if "difficulty" not in breakdowns and any(d.extra.get("difficulty") for d in documents):
            breakdowns.append("difficulty")
        yield _table(source, rows, documents, rows.separated(documents), tuple(breakdowns))


def _holds_probes(source: Source, configs: Sequence[str]) -> bool:
    # Without configs of documents all items are probes. What the manifest does not know is none.
    known = source.manifest.get("configs", {})
    chosen = configs or DOCUMENTS.configs(known) or known
    asked = {name: known[name] for name in chosen if name in known}
    return bool(asked) and len(ITEMS.configs(asked)) == len(asked)


def _probes(
    source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> Iterator[DocumentTable]:
    for rows in table_rows(source, configs, (split,), kind=ITEMS):
        try:
            documents = tuple(d for row in islice(rows.rows, max_items) for d in documents_of(row))
        except SuiteError as error:
            raise EvaluationError(f"{rows.where}: {error}") from None
        says = rows.about.get("separator")
        separator = DOCUMENTS.separated(documents) if says is None else bool(says)
        yield _table(source, rows, documents, separator, probes=True)


def _table(
    source: Source,
    rows: TableRows[Any],
    documents: tuple[Document, ...],
    separator: bool,
    breakdowns: tuple[str, ...] = (),
    probes: bool = False,
) -> DocumentTable:
    about = source, rows.config, rows.split, documents, rows.rows_sha256, rows.verified
    return DocumentTable(*about, separator, breakdowns, probes)


def documents_of(row: Mapping[str, Any]) -> Iterator[Document]:
    """The documents of a row, one for each condition that a probe has."""
    item = item_from_row(row)
    validate_item(item)
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
        validate_document(document)
        yield document


def is_plain(document: Document) -> bool:
    """Tell a document as it is without a probe, on which a threshold may be chosen."""
    return document.extra.get(CONDITION, ORIGINAL) in WITHOUT_PROBE
