"""What a figure takes from a run: its scores, and which model and rows they are of.

:func:`run_of` takes it from results in memory, :func:`read_run` from the ``results.json`` that an
earlier run left, where everything is checked: the file may be somebody else's.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from eval.controls import Difference
from eval.errors import EvaluationError
from eval.strict_json import as_object, as_text, kind, load
from eval.summary import Score

if TYPE_CHECKING:
    from eval.results import Results

_Record = TypeVar("_Record", Score, Difference)
#: The file that every folder of results has.
FILE = "results.json"
#: What a row of scores or differences cannot do without; other fields an older release may not
#: have written.
_NEEDED = ("config", "split", "formula", "metric")
_NEEDED_OF_SCORE = ("group", "level", "n", "score", "ci_low", "ci_high")
_NEEDED_OF_DIFFERENCE = ("control", "difference", "ci_low", "ci_high")
#: Shares, not bits.
_SHARES = ("score", "ci_low", "ci_high", "artefact_score", "human_score")


@dataclass(frozen=True)
class Run:
    """The scores of one model on one dataset.

    Attributes:
        model: as the user named it.
        commit: of the model.
        suite, version: of the dataset; empty where it has none.
        rows: the digest of each table's rows, by config and split.
        scores, differences: as :mod:`eval.results` has them.
        folder: where the results lie; empty for those in memory.
        signature: of the run.
        settings: what the user chose, and what came of it.
        data, repo, data_commit: the dataset as the user named it, and its Hub id and commit; empty
            for one that is not on the Hub.
    """

    model: str
    commit: str
    suite: str
    version: str
    rows: Mapping[tuple[str, str], str]
    scores: Sequence[Score]
    differences: Sequence[Difference] = ()
    folder: str = ""
    signature: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""
    repo: str = ""
    data_commit: str = ""


def run_of(results: Results) -> Run:
    """The run that results in memory are of."""
    return Run(
        model=str(results.model["name"]),
        commit=str(results.model.get("commit") or ""),
        suite=str(results.dataset.get("suite") or ""),
        version=str(results.dataset.get("version") or ""),
        rows={
            (table["config"], table["split"]): table["sha256"]
            for table in results.dataset.get("tables", ())
        },
        scores=results.scores,
        differences=results.differences,
        signature=results.signature,
        settings=results.settings,
        data=str(results.dataset.get("name") or ""),
        repo=str(results.dataset.get("repo") or ""),
        data_commit=str(results.dataset.get("commit") or ""),
    )


def read_run(folder: Path) -> Run:
    """The run whose results lie in a folder.

    Raises:
        EvaluationError: there are none, or they are not what a run writes.
    """
    path = folder / FILE
    if not path.is_file():
        what = "no such folder" if not folder.exists() else f"no {FILE} in it"
        raise EvaluationError(f"{folder}: {what}; expected a folder that python -m eval wrote")
    document = as_object(load(path), str(path))
    for key in ("model", "dataset", "scores"):
        if key not in document:
            raise EvaluationError(
                f"{path}: no {key!r}; expected the {FILE} that python -m eval wrote"
            )
    model = as_object(document["model"], f"{path}: model", "name")
    dataset = as_object(document["dataset"], f"{path}: dataset", "suite", "tables")
    scores = _records(document["scores"], f"{path}: scores", _read_score)
    if not scores:
        raise EvaluationError(f"{path}: no score in it; expected at least one")
    rows = _records(dataset["tables"], f"{path}: dataset.tables", _read_table)
    return Run(
        model=as_text(model["name"], f"{path}: model.name"),
        commit=_text_or_none(model.get("commit"), f"{path}: model.commit"),
        suite=as_text(dataset["suite"], f"{path}: dataset.suite"),
        version=_text_or_none(dataset.get("version"), f"{path}: dataset.version"),
        rows=dict(rows),
        scores=scores,
        differences=_records(
            document.get("differences", []), f"{path}: differences", _read_difference
        ),
        folder=str(folder),
        signature=_text_or_none(document.get("signature"), f"{path}: signature"),
        settings=as_object(document.get("settings", type(document)()), f"{path}: settings"),
        data=_text_or_none(dataset.get("name"), f"{path}: dataset.name"),
        repo=_text_or_none(dataset.get("repo"), f"{path}: dataset.repo"),
        data_commit=_text_or_none(dataset.get("commit"), f"{path}: dataset.commit"),
    )


_Read = TypeVar("_Read")


def _records(value: Any, where: str, read: Callable[[Any, str], _Read]) -> list[_Read]:
    if not isinstance(value, list):
        raise EvaluationError(f"{where}: {kind(value)}; expected an array")
    return [read(record, f"{where}[{number}]") for number, record in enumerate(value)]


def _read_table(value: Any, where: str) -> tuple[tuple[str, str], str]:
    table = as_object(value, where, "config", "split", "sha256")
    config, split, digest = (
        as_text(table[key], f"{where}.{key}") for key in ("config", "split", "sha256")
    )
    return (config, split), digest


def _read_score(value: Any, where: str) -> Score:
    score = _record(Score, value, where, (*_NEEDED, *_NEEDED_OF_SCORE))
    for name in _SHARES:
        share = getattr(score, name)
        if share is not None and not 0 <= share <= 1:
            raise EvaluationError(f"{where}.{name}: {share}; expected a share from 0 to 1")
    return score


def _read_difference(value: Any, where: str) -> Difference:
    return _record(Difference, value, where, (*_NEEDED, *_NEEDED_OF_DIFFERENCE))


def _record(cls: type[_Record], value: Any, where: str, needed: Sequence[str]) -> _Record:
    """A dataclass from an object: each field of its type, unknown ones left out."""
    record = as_object(value, where, *needed)
    types_of = get_type_hints(cls)
    values = {
        each.name: _typed(record[each.name], types_of[each.name], f"{where}.{each.name}")
        if each.name in record
        else _nothing(types_of[each.name])
        for each in fields(cls)
    }
    return cls(**values)


def _typed(value: Any, wanted: Any, where: str) -> Any:
    if get_origin(wanted) in (Union, types.UnionType):
        if value is None:
            return None
        (wanted,) = (choice for choice in get_args(wanted) if choice is not type(None))
    if wanted is str:
        return as_text(value, where)
    if wanted in (int, float):
        kinds = (int,) if wanted is int else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not _is_finite(value):
            what = "a whole number" if wanted is int else "a number"
            raise EvaluationError(f"{where}: {kind(value)}; expected {what}")
        return value if wanted is int else float(value)
    return as_object(value, where)


def _is_finite(value: float) -> bool:
    """JSON can write numbers that no float holds."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _nothing(wanted: Any) -> Any:
    """The value of a field that an older release did not write."""
    if get_origin(wanted) in (Union, types.UnionType):
        return None
    return {str: "", int: 0, float: 0.0}.get(wanted, {})


def _text_or_none(value: Any, where: str) -> str:
    return "" if value is None else as_text(value, where)
