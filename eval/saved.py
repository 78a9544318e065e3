"""A folder of results, read back: what ``python -m eval score`` wrote, now or on another machine.

It may come from anybody, so every value is held to its type, and the judgements to the scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval import predictions_file
from eval.errors import EvaluationError
from eval.predictions_file import SavedJudgement
from eval.report import FORMAT, MARKER
from eval.selections import select
from eval.strict_json import (
    Object,
    as_array,
    as_boolean,
    as_integer,
    as_number,
    as_object,
    as_text,
    kind,
    load,
)
from eval.summary import item_values


@dataclass(frozen=True, slots=True)
class SavedModel:
    """Which model was scored: ``commit`` is the Hub's, or a digest of the files of a folder."""

    name: str
    commit: str
    dtype: str
    device: str


@dataclass(frozen=True, slots=True)
class SavedDataset:
    """What it was scored on; ``commit`` is None for a folder, ``version`` where it has none."""

    name: str
    suite: str
    version: str | None
    commit: str | None
    rows_sha256: str


@dataclass(frozen=True)
class SavedTable:
    """One config and split.

    Attributes:
        config, split: which.
        sha256: digest over the hashes of all its rows, scored or not.
        items: how many were scored: the first of the table.
        headline: the group of predictions that the table's own score is over; empty: all.
        breakdowns: columns by whose values scores are reported.
        families: items of different discourses share text, and intervals are over families.
        judgements: one for each prediction of each item, in their order.
    """

    config: str
    split: str
    sha256: str
    items: int
    headline: str
    breakdowns: tuple[str, ...]
    families: bool
    judgements: tuple[SavedJudgement, ...] = field(repr=False)


@dataclass(frozen=True)
class Saved:
    """A folder of results.

    Attributes:
        folder: as it was named.
        signature: the line from which the scores can be reproduced.
        model, dataset: what was scored.
        settings: what the user chose, and what came of it; JSON.
        tables: at least one.
    """

    folder: Path
    signature: str
    model: SavedModel
    dataset: SavedDataset
    settings: Mapping[str, Any]
    tables: tuple[SavedTable, ...]

    def table(self, config: str, split: str) -> SavedTable | None:
        """The table of that name, or None."""
        same = (t for t in self.tables if (t.config, t.split) == (config, split))
        return next(same, None)


def read(folder: Path) -> Saved:
    """Read a folder of results.

    Raises:
        EvaluationError: it is no folder of results, is of an older or newer release, or is damaged.
        OSError: a file cannot be read.
    """
    path = folder / MARKER
    if not folder.is_dir():
        raise EvaluationError(
            f"{folder}: no such folder; expected one that python -m eval has written"
        )
    if not path.is_file():
        raise EvaluationError(f"{folder}: no {MARKER}; expected a folder of results")
    results = as_object(load(path), str(path), "signature", "model", "dataset", "settings")
    file = folder / predictions_file.FILE
    if "format" not in results:
        raise EvaluationError(f"{path}: written by an older release; score the model again")
    if (found := results["format"]) != FORMAT:
        raise EvaluationError(
            f"{path}: format {kind(found)}; expected {FORMAT} (a newer release may read it)"
        )
    if not file.is_file():
        raise EvaluationError(
            f"{folder}: no {predictions_file.FILE}; expected the whole folder of results"
        )
    dataset = as_object(results["dataset"], f"{path}: dataset", "tables")
    return Saved(
        folder=folder,
        signature=as_text(results["signature"], f"{path}: signature"),
        model=_model(results["model"], f"{path}: model"),
        dataset=_dataset(dataset, f"{path}: dataset"),
        settings=_settings(results["settings"], f"{path}: settings"),
        tables=tuple(_tables(dataset, path, file, _scores(results, path))),
    )


def _model(value: Any, where: str) -> SavedModel:
    names = ("name", "commit", "dtype", "device")
    about = as_object(value, where, *names)
    return SavedModel(*(as_text(about[name], f"{where}: {name}") for name in names))


def _dataset(about: Object, where: str) -> SavedDataset:
    as_object(about, where, "name", "suite", "version", "commit", "rows_sha256")
    texts = {n: as_text(about[n], f"{where}: {n}") for n in ("name", "suite", "rows_sha256")}
    may_miss = {
        n: None if about[n] is None else as_text(about[n], f"{where}: {n}")
        for n in ("version", "commit")
    }
    return SavedDataset(**texts, **may_miss)  # type: ignore[arg-type]


def _settings(value: Any, where: str) -> Mapping[str, Any]:
    settings = as_object(value, where, "versions")
    versions = as_object(settings["versions"], f"{where}: versions")
    for name, version in versions.items():
        as_text(version, f"{where}: versions: {kind(name)}")
    return settings


def _scores(results: Object, path: Path) -> dict[tuple[str, str], tuple[int, float]]:
    """Items and items met of the score of each table."""
    found = {}
    for number, value in enumerate(as_array(results.get("scores"), f"{path}: scores", "scores")):
        where = f"{path}: score {number}"
        score = as_object(value, where, "config", "split", "level", "n", "met")
        if score["level"] == "all":
            table = (
                as_text(score["config"], f"{where}: config"),
                as_text(score["split"], f"{where}: split"),
            )
            n = as_integer(score["n"], f"{where}: n")
            found[table] = n, as_number(score["met"], f"{where}: met")
    return found


def _tables(
    dataset: Object,
    path: Path,
    file: Path,
    scores: Mapping[tuple[str, str], tuple[int, float]],
) -> Iterator[SavedTable]:
    judged = predictions_file.read(file)
    listed = as_array(dataset["tables"], f"{path}: dataset: tables", "tables")
    seen: set[tuple[str, str]] = set()
    for number, value in enumerate(listed):
        where = f"{path}: table {number}"
        table = _table(value, where, judged)
        if (table.config, table.split) in seen:
            raise EvaluationError(f"{where}: there twice; expected each config and split once")
        seen.add((table.config, table.split))
        _check_agreement(table, scores.get((table.config, table.split)), where, file)
        yield table
    if others := set(judged) - seen:
        raise EvaluationError(f"{file}: {kind(min(others)[0])}: not in {path.name}; {_AGAIN}")


_AGAIN = "the files are not of one run: score the model again"


def _table(
    value: Any, where: str, judged: Mapping[tuple[str, str], list[SavedJudgement]]
) -> SavedTable:
    wanted = ("config", "split", "sha256", "items", "headline", "breakdowns", "families")
    about = as_object(value, where, *wanted)
    config, split, sha256, headline = (
        as_text(about[name], f"{where}: {name}")
        for name in ("config", "split", "sha256", "headline")
    )
    columns = about["breakdowns"]
    if not isinstance(columns, list):
        raise EvaluationError(f"{where}: breakdowns: {kind(columns)}; expected an array of names")
    return SavedTable(
        config=config,
        split=split,
        sha256=sha256,
        items=as_integer(about["items"], f"{where}: items"),
        headline=headline,
        breakdowns=tuple(as_text(name, f"{where}: breakdowns") for name in columns),
        families=as_boolean(about["families"], f"{where}: families"),
        judgements=tuple(judged.get((config, split), ())),
    )


def _check_agreement(
    table: SavedTable, score: tuple[int, float] | None, where: str, file: Path
) -> None:
    """Hold the judgements to what ``results.json`` says of them."""
    items = {judgement.item.item_id for judgement in table.judgements}
    if len(items) != table.items:
        raise EvaluationError(
            f"{where}: {table.items} items, but {len(items)} in {file.name}; {_AGAIN}"
        )
    labels = table.judgements[0].item.columns if table.judgements else table.breakdowns
    if len(labels) != len(table.breakdowns) or not all(
        map(str.startswith, labels, table.breakdowns)
    ):
        raise EvaluationError(
            f"{file}: {kind(table.config)}: columns other than its breakdowns; {_AGAIN}"
        )
    rows = select(table.judgements, lambda j: j.item.columns, table.headline)
    shares = [value.share for value in item_values(rows[0].judgements)]
    if score is None:
        raise EvaluationError(f"{where}: no score of the table; {_AGAIN}")
    if len(shares) != score[0] or not math.isclose(math.fsum(shares), score[1], abs_tol=1e-6):
        raise EvaluationError(
            f"{where}: the score is over {score[0]} items of which "
            f"{score[1]:g} hold, but in {file.name} it is {math.fsum(shares):g} of {len(shares)}; "
            f"{_AGAIN}"
        )
