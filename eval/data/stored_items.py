"""Items of a table that are read anew whenever one goes through them, as there are many."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.table_rows import TableRows
from coherencegym.eval.kinds.items import ITEMS, Item
from coherencegym.eval.kinds.table_kind import IDENTITY


@dataclass(frozen=True)
class StoredItems:
    """Items of a table that are read anew whenever one goes through them: there are many.

    All of them were read once, and are valid; ``corpora`` are those that they are from.
    """

    rows: TableRows[Item]
    number: int
    corpora: frozenset[str]

    def __len__(self) -> int:
        return self.number

    def __iter__(self) -> Iterator[Item]:
        return self.rows.each(self.number)

    def __contains__(self, item: object) -> bool:
        return any(item == own for own in self)


def _stored(read: TableRows[Item], number: int) -> tuple[StoredItems, bool]:
    """So many items of a table, and whether ``[SEP]`` in a text is a change of speaker."""
    digests, corpora = bytearray(), set()
    separator = False
    for item in read.each(number):
        digests += _digest(item)
        corpora.add(item.corpus)
        separator = separator or ITEMS.separated((item,))
    if (twice := _repeated(digests)) is not None:
        name = next(item.item_id for item in read.each(number) if _digest(item) == twice)
        raise EvaluationError(f"{read.where}: {IDENTITY} {name!r} is there more than once")
    known = read.about.get("separator") is not None
    stored = StoredItems(read, number, frozenset(corpora))
    return stored, read.separated(()) if known else separator


def _digest(item: Item) -> bytes:
    """A digest of an id, which is all that stays of it where there are many."""
    return hashlib.blake2b(item.item_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _repeated(digests: bytearray) -> bytes | None:
    import numpy as np

    ordered = np.sort(np.frombuffer(digests, "<u8,<u8"))
    places = (ordered[1:] == ordered[:-1]).nonzero()[0]
    return ordered[places[0]].tobytes() if len(places) else None
