"""The predictions that a row of the results is over: all, by formula, by group, by column.

The scores of one run and the comparison of two (:mod:`eval.results.comparison`) have the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from coherencegym.eval.outcomes.schema import name_of_group
from coherencegym.eval.outcomes.tables import OutcomeTables, first_places

if TYPE_CHECKING:
    import numpy as np


class Selection(NamedTuple):
    """A row: its level (see :class:`eval.statistics.scores.ScoreRow`), its name, and the places
    of its predictions among the outcomes."""

    level: str
    name: str
    places: np.ndarray


def select(
    outcomes: OutcomeTables, places: np.ndarray, headline: str = "", breakdowns: Sequence[str] = ()
) -> Iterator[Selection]:
    """The rows of one table, those of level ``detail`` last: they are many.

    Args:
        outcomes, places: the predictions of the table.
        headline: the group that the row of all items, and those by column, are over; empty: all.
        breakdowns: the columns by which there are rows.
    """
    counted = inside(outcomes, places, headline)
    yield Selection("all", "", counted)
    yield from _by_formula(outcomes, places)
    groups = list(_by_group(outcomes, places, headline))
    yield from (row for row in groups if row.level != "detail")
    yield from _by_column(outcomes, places, counted, breakdowns)
    yield from (row for row in groups if row.level == "detail")


def inside(outcomes: OutcomeTables, places: np.ndarray, group: str) -> np.ndarray:
    """The predictions that are in a group, by its whole name; empty: all."""
    import numpy as np

    if not group:
        return places
    of, codes, names = outcomes.memberships(places)
    there = np.array([name_of_group(name) == group for name in names], bool)
    return np.unique(of[there[codes]])


def by_kind(outcomes: OutcomeTables, places: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
    """Predictions by formula and region aggregation, in the order in which these first occur."""
    units = outcomes.units_of(places)
    formula, formulas = outcomes.unit_codes("formula", units)
    aggregation, aggregations = outcomes.unit_codes("aggregation", units)
    kind = formula.astype("i") * len(aggregations) + aggregation
    return {
        (formulas[code // len(aggregations)], aggregations[code % len(aggregations)]): places[
            kind == code
        ]
        for code, _ in first_places(kind)
    }


def _by_formula(outcomes: OutcomeTables, places: np.ndarray) -> Iterator[Selection]:
    kinds = by_kind(outcomes, places)
    for kind, own in kinds.items() if len(kinds) > 1 else ():
        yield Selection("formula", " ".join(kind), own)


def _by_group(outcomes: OutcomeTables, places: np.ndarray, headline: str) -> Iterator[Selection]:
    # A prediction may be in a group twice.
    import numpy as np

    of, codes, names = outcomes.memberships(places)
    own = np.array([not column for column, _ in names], bool)[codes]
    other = np.array([bool(headline) and name != headline for _, name in names], bool)
    is_detail = (_positions(of) == 0) & other[codes]
    of, rows = of[own], (codes * 2 + is_detail)[own]
    for row, _ in first_places(rows):
        name = names[row // 2][1]
        level = "headline" if headline and name == headline else "detail" if row % 2 else "group"
        yield Selection(level, name, of[rows == row])


def _by_column(
    outcomes: OutcomeTables, places: np.ndarray, counted: np.ndarray, breakdowns: Sequence[str]
) -> Iterator[Selection]:
    of, codes, names = outcomes.memberships(places)
    there = {names[code]: code for code, _ in first_places(codes)}
    if len(counted) < len(places):
        of, codes, _ = outcomes.memberships(counted)
    for column in breakdowns:
        own = sorted((name for name in there if name[0] == column), key=name_of_group)
        # Of one value its row is that of all items.
        for name in own if len(own) > 1 else ():
            if len(found := of[codes == there[name]]):
                yield Selection("column", name_of_group(name), found)


def _positions(of: np.ndarray) -> np.ndarray:
    # The number of each membership among those of its prediction.
    import numpy as np

    starts = np.flatnonzero(np.diff(of, prepend=np.int32(-1))).astype(np.int32)
    sizes = np.diff(starts, append=np.int32(len(of)))
    return np.arange(len(of), dtype=np.int32) - np.repeat(starts, sizes)
