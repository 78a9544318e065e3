"""The names of the rows of tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from coherencegym.eval.statistics.scores import ScoreRow


class OfPrediction(Protocol):
    """A row that is over one prediction of a table."""

    @property
    def config(self) -> str:
        """The config."""

    @property
    def split(self) -> str:
        """The split."""

    @property
    def formula(self) -> str:
        """The formula; empty where there are several."""

    @property
    def aggregation(self) -> str:
        """The region aggregation."""


def labels(rows: Sequence[ScoreRow]) -> list[str]:
    """The names of the rows: the config, or indented what it is a part of."""
    splits = len({row.split for row in rows}) > 1
    names = []
    for row, formula in zip(rows, formula_labels(rows), strict=True):
        what = f": {row.what}" if row.what else ""
        if row.level == "all":
            names.append((f"{row.config} ({row.split})" if splits else row.config) + what)
        else:
            names.append("  " + ": ".join(filter(None, (row.group or formula.strip(), row.what))))
    return names


def formula_labels(rows: Sequence[OfPrediction]) -> list[str]:
    """The predictions of rows: by the aggregation alone where only that tells them apart."""
    formulas: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        formulas.setdefault((row.config, row.split), set()).add(row.formula)
    return [
        row.aggregation
        if len(formulas[row.config, row.split] - {""}) == 1
        else f"{row.formula} {row.aggregation}"
        for row in rows
    ]
