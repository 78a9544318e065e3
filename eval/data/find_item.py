"""Find the one item that somebody means."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.items import Item

#: How many identifiers an error lists.
_LISTED = 3


def find_item(tables: Sequence[ItemTable], wanted: str) -> tuple[ItemTable, Item]:
    """The item of that id, or the only one whose id begins or ends with it.

    Raises:
        EvaluationError: there is none (the nearest ids are named), or there are several, of several
            ids or in several tables.
    """
    ids = list(dict.fromkeys(item.item_id for table in tables for item in table.items))
    found = [wanted] if wanted in ids else []
    found = found or [name for name in ids if name.startswith(wanted) or name.endswith(wanted)]
    if not wanted or not found:
        near = get_close_matches(wanted, ids, n=_LISTED, cutoff=0.0)
        raise EvaluationError(
            f"--item {wanted!r}: no such item among {len(ids):,}; "
            + (f"the nearest are {_list(near)}" if near else "the tables are empty")
        )
    if len(found) > 1:
        raise EvaluationError(
            f"--item {wanted!r}: {len(found):,} items begin or end so: {_list(found)}; "
            "expected the whole id, or more of it"
        )
    places = [(table, item) for table in tables for item in table.items if item.item_id == found[0]]
    if len(places) > 1:
        raise EvaluationError(f"--item {found[0]}: is in {_where([t for t, _ in places])}")
    return places[0]


def _where(tables: Sequence[ItemTable]) -> str:
    """The tables that have the item, and the option that chooses one of them."""
    configs = list(dict.fromkeys(table.config for table in tables))
    splits = list(dict.fromkeys(table.split for table in tables))
    if len(configs) > 1:
        return f"the configs {_list(configs)}; choose one with --config"
    return f"the splits {_list(splits)}; choose one with --split"


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
