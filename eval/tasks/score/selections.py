"""Which predictions a row of the results is over: all, by formula, by group, by column.

The scores of one run and the comparison of two (:mod:`eval.results.comparison`) have the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, Protocol, TypeVar

from coherencegym.eval.kinds.items import Item


class Predicted(Protocol):
    """What a judgement has that says to which rows it belongs."""

    @property
    def formula(self) -> str:
        """Of the prediction."""

    @property
    def metric(self) -> str:
        """Of the prediction."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Of the prediction, the first being the row of the suite's table."""


J = TypeVar("J", bound=Predicted)


class Selection(NamedTuple):
    """The level of a row (see :class:`eval.tasks.score.summary.Score`), its name, and what it is
    over."""

    level: str
    name: str
    judgements: list[Any]


def column_labels(item: Item, columns: Sequence[str]) -> tuple[str, ...]:
    """``column=value`` for each of some columns of an item, as rows by column are called."""
    return tuple(f"{column}={_text(item.extra[column])}" for column in columns)


def _text(value: Any) -> str:
    """A column's value as a group's name says it: JSON's spelling of truth values."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def select(
    judgements: Sequence[J], columns: Callable[[J], Sequence[str]], headline: str = ""
) -> list[Selection]:
    """The rows of one table, those of level ``detail`` last: they are many.

    Args:
        judgements: of all predictions of the table.
        columns: the :func:`column_labels` of a judgement's item, as many for each.
        headline: the group that the row of all items, and those by column, are over; empty: all.
    """
    kinds = list(dict.fromkeys((j.formula, j.metric) for j in judgements))
    rows: dict[tuple[str, str], list[J]] = {
        ("all", ""): [j for j in judgements if not headline or headline in j.groups]
    }
    if len(kinds) > 1:
        for judgement in judgements:
            name = f"{judgement.formula} {judgement.metric}"
            rows.setdefault(("formula", name), []).append(judgement)
    for judgement in judgements:
        for place, group in enumerate(judgement.groups):
            level = "detail" if headline and place == 0 else "group"
            level = "headline" if headline and group == headline else level
            rows.setdefault((level, group), []).append(judgement)
    labels = [columns(judgement) for judgement in judgements]
    for values in zip(*labels, strict=True):
        if len(set(values)) > 1:  # else its row is that of all items
            for label, judgement in sorted(zip(values, judgements, strict=True), key=itemgetter(0)):
                if not headline or headline in judgement.groups:
                    rows.setdefault(("column", label), []).append(judgement)
    ordered = sorted(rows.items(), key=lambda row: row[0][0] == "detail")
    return [Selection(level, name, chosen) for (level, name), chosen in ordered]
