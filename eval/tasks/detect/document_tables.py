"""Tables of documents, read from a dataset as items are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.documents import DOCUMENTS, Document

#: What the names of configs of documents begin with; they may be named without it.
PREFIX = "detect_"


@dataclass(frozen=True)
class DocumentTable:
    """The documents of one config and split.

    Attributes:
        source: the dataset.
        config, split: which.
        documents: in the order of the table.
        rows_sha256: digest (hex) over the row hashes of the whole table, in order.
        verified: the row hashes were compared with those that the build wrote.
        separator: ``[SEP]`` in a text is a change of speaker.
        breakdowns: columns by whose values scores are also reported.
        probes: they are versions of documents, without and with a linguistic probe.
    """

    source: Source
    config: str
    split: str
    documents: tuple[Document, ...]
    rows_sha256: str
    verified: bool
    separator: bool
    breakdowns: tuple[str, ...] = ()
    probes: bool = False

    @property
    def name(self) -> str:
        """Config and split, for people."""
        return f"{self.config} ({self.split})"

    @property
    def key(self) -> tuple[str, str, str]:
        """What no other table has: where it is, config and split."""
        return str(self.source.folder), self.config, self.split

    @property
    def intruded(self) -> int:
        """How many of the documents have an intruder."""
        return sum(document.intruded for document in self.documents)


def cluster(document: Document) -> str:
    """What of all documents counts as one in an interval: the family, or else the discourse."""
    return document.cluster


def document_tables(
    source: Source,
    configs: Sequence[str] = (),
    splits: Sequence[str] | None = None,
    max_items: int | None = None,
) -> Iterator[DocumentTable]:
    """The tables of documents of a dataset.

    Args:
        source: from :func:`eval.data.source.find`.
        configs: only these; none: every config that holds documents.
        splits: only these, of the configs that have them; None: all.
        max_items: no more documents than this of each table, from its start.

    Raises:
        EvaluationError: a config or split is not there, holds another kind of table, or its rows
            are not those that were published.
    """
    for read in table_rows(source, configs, splits, kind=DOCUMENTS):
        documents, breakdowns = read.read(max_items), list(read.breakdowns)
        if "difficulty" not in breakdowns and any(d.extra.get("difficulty") for d in documents):
            breakdowns.append("difficulty")
        yield DocumentTable(
            source=source,
            config=read.config,
            split=read.split,
            documents=documents,
            rows_sha256=read.rows_sha256,
            verified=read.verified,
            separator=read.separated(documents),
            breakdowns=tuple(breakdowns),
        )


def full_names(source: Source, configs: Sequence[str]) -> list[str]:
    """The configs, of which those that were named without ``detect_`` get it.

    A dataset without a manifest is left to its own names.
    """
    known = source.manifest.get("configs", {})
    return [
        PREFIX + name if name not in known and PREFIX + name in known else name for name in configs
    ]
