"""The tables of a run in its folder: ``units.parquet``, ``systems.parquet``, ``outcomes.parquet``.

They may come from anybody, so that everything is held to its type when they are read.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.schema import FLAGS, OPTIONAL, ROLES, System, outcome_schemas
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.files.parquet_rows import parquet_table

#: The names of the files.
UNITS_FILE, SYSTEMS_FILE = "units.parquet", "systems.parquet"
OUTCOMES_FILE = "outcomes.parquet"
#: Numbers from here on have a square that is none.
_MOST = 1e150


def write_tables(tables: OutcomeTables, folder: Path) -> None:
    """Write the three files into a folder that is there."""
    import pyarrow as pa
    from pyarrow import parquet

    systems = pa.Table.from_pylist(
        [{"id": number, **asdict(one)} for number, one in enumerate(tables.systems)],
        schema=outcome_schemas()["systems"],
    )
    for table, name in (
        (tables.units, UNITS_FILE),
        (systems, SYSTEMS_FILE),
        (tables.outcomes, OUTCOMES_FILE),
    ):
        parquet.write_table(table, folder / name)


def read_outcome_tables(folder: Path) -> OutcomeTables:
    """The tables of a folder of results.

    Raises:
        EvaluationError: a file is not there or cannot be read, has other columns, or contradicts
            another.
        OSError: a file cannot be read.
    """
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
    others = "the item's discourse or cluster is other than before"
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
    metric = np.unique(own["metric"].to_pylist(), return_inverse=True)[1]
    key = own["unit_id"].to_numpy().astype(np.int64) * max(len(tables.systems), 1)
    key = (key + own["system_id"].to_numpy()) * (int(metric.max(initial=0)) + 1) + metric
    is_again = np.ones(len(own), bool)
    is_again[np.unique(key, return_index=True)[1]] = False
    _refuse(path, is_again, "the unit has another outcome of this system and metric; expected one")
    holds_by_tie = (own["flags"].to_numpy() & FLAGS["tie"] > 0) & (own["value"].to_numpy() == 1)
    _refuse(path, holds_by_tie, "a tie that holds; expected one of the two")
    has_reason = np.array(own["reason"].to_pylist()) != ""
    wrong = has_reason != np.array(own["value"].is_null().to_pylist(), bool)
    _refuse(path, wrong, "expected either a value or a reason why there is none")


def _refuse(path: Path, wrong: Any, what: str) -> None:
    if len(wrong) and wrong.any():
        raise EvaluationError(f"{path}: row {int(wrong.argmax())}: {what}")
