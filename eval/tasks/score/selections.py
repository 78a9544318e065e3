"""The predictions that a row of the results is over: all, by formula, by group, by column.

The scores of one run and the comparison of two (:mod:`eval.results.comparison`) have the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from coherencegym.eval.kinds.items import Item
from coherencegym.eval.statistics.scores import text_of


class Selection(NamedTuple):
    """A row: its level (see :class:`eval.tasks.score.summary.ItemScore`), name and judgements."""

    level: str
    name: str
    judgements: list[Any]


def column_labels(item: Item, columns: Sequence[str]) -> tuple[str, ...]:
    """``column=value`` for each of some columns of an item, as rows by column are called."""
    return tuple(f"{column}={text_of(item.extra[column])}" for column in columns)


def select(
    judgements: Sequence[Any], columns: Callable[[Any], Sequence[str]], headline: str = ""
) -> list[Selection]:
    """The rows of one table, those of level ``detail`` last: they are many.

    Args:
        judgements: one for each prediction of the table, fresh or read from a results folder.
        columns: gives the :func:`column_labels` of a judgement's item, as many for each.
        headline: the group that the row of all items, and those by column, are over; empty: all.
    """
    counted = [j for j in judgements if not headline or headline in j.groups]
    rows: dict[tuple[str, str], list[Any]] = {("all", ""): counted}
    in_rows = (
        *_by_formula(judgements),
        *_by_group(judgements, headline),
        *_by_column(judgements, columns, headline),
    )
    for row, judgement in in_rows:
        rows.setdefault(row, []).append(judgement)
    ordered = sorted(rows.items(), key=lambda row: row[0][0] == "detail")
    return [Selection(level, name, chosen) for (level, name), chosen in ordered]


#: A row, by level and name, and a judgement in it.
_InRow = tuple[tuple[str, str], Any]


def _by_formula(judgements: Sequence[Any]) -> Iterator[_InRow]:
    if len({(j.formula, j.metric) for j in judgements}) > 1:
        for judgement in judgements:
            yield ("formula", f"{judgement.formula} {judgement.metric}"), judgement


def _by_group(judgements: Sequence[Any], headline: str) -> Iterator[_InRow]:
    for judgement in judgements:
        for place, group in enumerate(judgement.groups):
            level = "detail" if headline and place == 0 else "group"
            yield ("headline" if headline and group == headline else level, group), judgement


def _by_column(
    judgements: Sequence[Any], columns: Callable[[Any], Sequence[str]], headline: str
) -> Iterator[_InRow]:
    for values in zip(*map(columns, judgements), strict=True):
        if len(set(values)) > 1:  # else its row is that of all items
            for label, judgement in sorted(zip(values, judgements, strict=True), key=itemgetter(0)):
                if not headline or headline in judgement.groups:
                    yield ("column", label), judgement
