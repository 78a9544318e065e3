"""The work of builds on the kinds of tables, by the kind's name: a line where there is more to
do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coherencegym.builders.making.document_tables import DOCUMENT_TABLES
from coherencegym.builders.making.item_tables import ITEM_TABLES
from coherencegym.builders.making.tables import Making
from coherencegym.eval.kinds.documents import DOCUMENTS
from coherencegym.eval.kinds.item_tables import ITEMS
from coherencegym.eval.kinds.table_kind import TableKind

MAKINGS: Mapping[str, Making[Any]] = {
    ITEMS.name: ITEM_TABLES,
    DOCUMENTS.name: DOCUMENT_TABLES,
}
_PLAIN: Making[Any] = Making()


def making(kind: TableKind[Any]) -> Making[Any]:
    """Find the way in which tables of a kind are made."""
    return MAKINGS.get(kind.name, _PLAIN)
