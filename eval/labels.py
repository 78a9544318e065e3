"""How the rows of tables and plots are named."""

from __future__ import annotations

from collections.abc import Sequence

from eval.controls import Difference
from eval.lengths import LengthCorrelation
from eval.summary import Score


def labels(rows: Sequence[Score]) -> list[str]:
    """The names of the rows: the config, or indented what it is a part of."""
    splits = len({row.split for row in rows}) > 1
    names = []
    for row, formula in zip(rows, formula_labels(rows), strict=True):
        if row.level == "all":
            names.append(f"{row.config} ({row.split})" if splits else row.config)
        else:
            names.append(f"  {row.group or formula}")
    return names


def formula_labels(rows: Sequence[Score] | Sequence[LengthCorrelation]) -> list[str]:
    """How to name the prediction of a row: by its metric alone where only that tells them apart."""
    formulas: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        formulas.setdefault((row.config, row.split), set()).add(row.formula)
    return [
        row.metric
        if len(formulas[row.config, row.split] - {""}) == 1
        else f"{row.formula} {row.metric}"
        for row in rows
    ]


def difference_labels(rows: Sequence[Difference]) -> list[str]:
    """The names of the rows: config and control, with the prediction where there are several."""
    splits = len({row.split for row in rows}) > 1
    pairs = [(row.config, row.split, row.control) for row in rows]
    names = []
    for row, pair in zip(rows, pairs, strict=True):
        split = f" ({row.split})" if splits else ""
        prediction = f", {row.formula} {row.metric}" if pairs.count(pair) > 1 else ""
        names.append(f"{row.config} − {row.control}{split}{prediction}")
    return names
