"""The predictions that a row of the results is over: all, by formula, by group, by column.

The scores of one run and the comparison of two (:mod:`eval.results.comparison`) have the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from coherencegym.eval.tasks.score.columns import Columns, by_first_place, places_where


class Selection(NamedTuple):
    """A row: its level (see :class:`eval.tasks.score.summary.ItemScore`), its name, and the places
    of its predictions."""

    level: str
    name: str
    places: Any


def select(columns: Columns, headline: str = "") -> Iterator[Selection]:
    """The rows of one table, those of level ``detail`` last: they are many.

    Args:
        columns: the predictions of the table.
        headline: the group that the row of all items, and those by column, are over; empty: all.
    """
    counted = columns.inside(headline)
    yield Selection("all", "", counted)
    yield from _by_formula(columns)
    groups = _groups(columns, headline)
    details = {row: codes for row, codes in groups.items() if row[0] == "detail"}
    yield from _by_group(columns, {k: v for k, v in groups.items() if k not in details})
    yield from _by_column(columns, counted)
    yield from _by_group(columns, details)


def _by_formula(columns: Columns) -> Iterator[Selection]:
    kinds = by_first_place(columns.kind)
    for number in kinds if len(kinds) > 1 else ():
        name = " ".join(columns.kinds[number])
        yield Selection("formula", name, places_where(columns.kind == number))


#: A row, by level and name.
_Row = tuple[str, str]


def _groups(columns: Columns, headline: str) -> dict[_Row, list[int]]:
    """The groups in their order, and which combinations of groups have each of them."""
    rows: dict[_Row, list[int]] = {}
    for number in by_first_place(columns.group):
        for place, group in enumerate(columns.groups[number]):
            level = "detail" if headline and place == 0 else "group"
            row = "headline" if headline and group == headline else level, group
            rows.setdefault(row, []).append(number)
    return rows


def _by_group(columns: Columns, rows: dict[_Row, list[int]]) -> Iterator[Selection]:
    import numpy as np

    for (level, name), numbers in rows.items():
        # A prediction may name a group twice, and then is in it twice.
        times = np.bincount(numbers, minlength=len(columns.groups)).astype(np.uint8)
        everything = np.arange(len(columns), dtype=np.int32)
        yield Selection(level, name, np.repeat(everything, times[columns.group]))


def _by_column(columns: Columns, counted: Any) -> Iterator[Selection]:
    for place, names in enumerate(columns.label_names):
        there = by_first_place(columns.label(place, slice(None)))
        inside = columns.label(place, counted)
        # Of one value its row is that of all items.
        for number in sorted(there, key=names.__getitem__) if len(there) > 1 else ():
            if len(own := counted[inside == number]):
                yield Selection("column", names[number], own)
