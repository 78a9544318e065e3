"""The names of the rows of tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coherencegym.eval.results.saved import Saved
from coherencegym.eval.statistics.scores import ScoreRow
from coherencegym.eval.tasks.score.controls import Difference
from coherencegym.eval.tasks.score.lengths import LengthCorrelation


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


def formula_labels(rows: Sequence[ScoreRow | LengthCorrelation | Difference]) -> list[str]:
    """The predictions of rows: by the metric alone where only that tells them apart."""
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


def model_labels(results: Sequence[Saved]) -> list[str]:
    """The names of the models of several folders of results: no two alike.

    The model's name where that tells them apart, or else with its precision, or else the folder.
    """
    names = [printable(Path(one.model.name).name or one.model.name) for one in results]
    whole = [printable(one.model.name) for one in results]
    typed = [f"{name} ({one.model.dtype})" for name, one in zip(names, results, strict=True)]
    folders = [printable(one.folder.resolve().name) for one in results]
    paths = [printable(str(one.folder)) for one in results]
    for labels_ in (names, whole, typed, folders, paths):
        if len(set(labels_)) == len(labels_):
            return labels_
    return [f"{number}: {path}" for number, path in enumerate(paths, 1)]


def printable(text: str) -> str:
    """The text without what a terminal would obey: names come from files that anybody wrote."""
    return "".join(char if char.isprintable() else "�" for char in text)
