"""The texts of items, which folders of results do not have: read again from the dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import (
    Source,
    credit_of,
    find_dataset,
    find_fetched,
    published_part,
)
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.table_kind import SuiteError
from coherencegym.eval.results.saved import Saved, SavedTable
from coherencegym.eval.tasks.detect.tables import split_tables
from coherencegym.licence import YES, closed_line, is_closed

#: Config, split and item.
ItemPlace = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Texts:
    """Items or documents by their places; ``missing`` says why some have none, or is empty.

    ``credits`` are the corpora that they are from, with their licences, where that was asked for.
    """

    found: Mapping[ItemPlace, Item | Document] = field(default_factory=dict)
    missing: str = ""
    credits: tuple[str, ...] = ()


def texts_of(results: Saved, places: Set[ItemPlace], publishable: bool = False) -> Texts:
    """Some items of the rows that were scored, where their dataset is on this machine.

    It is read at the name that the user gave, or from the cache of the Hub; no server is asked.
    Rows other than those that were scored are not taken; and only those that everybody may read, if
    they are to be ``publishable``: see :func:`eval.data.source.published_part`.
    """
    name = results.dataset.name
    found: dict[ItemPlace, Item | Document] = {}
    missing: dict[str, None] = {}
    credited: dict[str, None] = {}
    try:
        if (source := _source(results)) is None:
            return Texts(missing=f"the dataset {name} is not to be found from here")
        for table in results.tables:
            part = published_part(source.manifest, table.config)
            if publishable and part != YES:
                missing[closed_line(table.config, part)] = None
                continue
            rows_sha256, rows = _rows(source, table, results.task)
            if rows_sha256 != table.sha256:
                missing[f"the rows of the dataset {name} are not those that were scored"] = None
                continue
            named = (((table.config, table.split, row.item_id), row) for row in rows)
            own = {place: row for place, row in named if place in places}
            # The rows say what they are from, too, and a manifest is changed more easily.
            if publishable and any(map(is_closed, {row.corpus for row in own.values()})):
                missing[closed_line(table.config)] = None
                continue
            found |= own
            if publishable:
                credited[credit_of(source.manifest, table.config)] = None
    except (EvaluationError, SuiteError, OSError, ValueError):
        return Texts(
            found, f"the dataset {name} cannot be read as items or documents", tuple(credited)
        )
    return Texts(found, "; ".join(missing), tuple(credited))


def _source(results: Saved) -> Source | None:
    about = results.dataset
    if Path(about.name).is_dir():
        return find_dataset(about.name)
    return find_fetched(about.name, about.commit) if about.commit is not None else None


def _rows(source: Source, table: SavedTable, task: str) -> tuple[str, Iterable[Item | Document]]:
    if task == "score":
        (items,) = tables(source, [table.config], table.split, in_parts=True)
        return items.rows_sha256, items.items
    (documents,) = split_tables(source, [table.config], table.split, None)
    return documents.rows_sha256, documents.documents
