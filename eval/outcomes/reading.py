"""The outcomes of a folder of results, which anybody may have written, read and checked."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.files import OUTCOMES_FILE, SYSTEMS_FILE, UNITS_FILE
from coherencegym.eval.outcomes.schema import (
    FLAGS,
    OPTIONAL,
    ROLES,
    System,
    groups_of_text,
    outcome_schemas,
)
from coherencegym.eval.outcomes.tables import OutcomeTables, codes_of
from coherencegym.files.parquet import parquet_table

#: Numbers from here on have a square that is none.
_MOST = 1e150


def read_outcome_tables(folder: Path) -> OutcomeTables:
    """The tables of a folder of results."""
    found = {}
    for name, schema in outcome_schemas().items():
        path = folder / f"{name}.parquet"
        if not path.is_file():
            raise EvaluationError(f"{folder}: no {path.name}; expected the whole folder of results")
        found[name] = parquet_table(path, schema, OPTIONAL)
    path = folder / SYSTEMS_FILE
    systems = found["systems"].to_pylist()
    names = [field.name for field in fields(System)]
    for number, row in enumerate(systems):
        if row["id"] != number or row["role"] not in ROLES:
            raise EvaluationError(
                f"{path}: row {number}: id {row['id']}, role {row['role']!r}; expected id "
                f"{number}, and one of {', '.join(ROLES)}"
            )
    tables = OutcomeTables(
        found["units"],
        tuple(System(**{name: row[name] for name in names}) for row in systems),
        found["outcomes"],
    )
    _check(tables, folder)
    return tables


def _check(tables: OutcomeTables, folder: Path) -> None:
    import numpy as np

    ids = tables.units["id"].to_numpy()
    if not np.array_equal(ids, np.arange(len(ids))):
        raise EvaluationError(f"{folder / UNITS_FILE}: ids; expected 0, 1, 2, ... in this order")
    codes, texts = codes_of(tables.units["groups"])
    is_wrong = np.array([not _is_of_groups(text) for text in texts], bool)
    what = "groups; expected JSON, a list of pairs of a column and its value"
    _refuse(folder / UNITS_FILE, is_wrong[codes] if len(texts) else is_wrong, what)
    others = "the item's cluster is other than before"
    _refuse(folder / UNITS_FILE, tables.moved_items(), others)
    path = folder / OUTCOMES_FILE
    own = tables.outcomes
    for name, most in (("unit_id", len(ids)), ("system_id", len(tables.systems))):
        numbers = own[name].to_numpy()
        _refuse(path, (numbers < 0) | (numbers >= most), f"{name}; expected 0 to {most - 1}")
    for name in ("value", *OPTIONAL):
        if name not in own.column_names:
            continue
        wrong = ~(np.abs(own[name].to_numpy()) < _MOST) & own[name].is_valid().to_numpy()
        _refuse(path, wrong, f"{name} is not finite, or vast; expected a number")
    metric, metrics = codes_of(own["metric"])
    key = own["unit_id"].to_numpy().astype(np.int64)
    for codes, number in (
        (own["system_id"].to_numpy(), len(tables.systems)),
        (metric, len(metrics)),
    ):
        key *= number
        key += codes
    order = np.argsort(key, kind="stable")
    is_again = np.zeros(len(own), bool)
    is_again[order[1:]] = key[order[1:]] == key[order[:-1]]
    _refuse(path, is_again, "the unit has another outcome of this system and metric; expected one")
    holds_by_tie = (own["flags"].to_numpy() & FLAGS["tie"] > 0) & (own["value"].to_numpy() == 1)
    _refuse(path, holds_by_tie, "a tie that holds; expected one of the two")
    codes, reasons = codes_of(own["reason"])
    has_reason = np.array([reason != "" for reason in reasons], bool)[codes]
    wrong = has_reason != own["value"].is_null().to_numpy()
    _refuse(path, wrong, "expected either a value or a reason why there is none")


def _is_of_groups(text: str) -> bool:
    try:
        groups_of_text(text)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(path: Path, wrong: Any, what: str) -> None:
    if len(wrong) and wrong.any():
        raise EvaluationError(f"{path}: row {int(wrong.argmax())}: {what}")
