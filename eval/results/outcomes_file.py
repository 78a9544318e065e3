"""``outcomes.parquet``: what every unit came to under every measure, one row each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.statistics.outcomes import STATISTICS, Outcome
from coherencegym.files.parquet_rows import parquet_rows

#: Its name in the folder of results.
FILE = "outcomes.parquet"
#: Columns that are null where they do not apply.
_NULLABLE = ("value", "truth")


def schema() -> Any:
    """The Arrow schema; the columns are the fields of an outcome."""
    import pyarrow as pa

    kinds = {
        "groups": pa.list_(pa.string()),
        "value": pa.float64(),
        "whole": pa.float64(),
        "truth": pa.bool_(),
    }
    return pa.schema(
        [
            pa.field(name, kinds.get(name, pa.string()), nullable=name in _NULLABLE)
            for name in Outcome.__dataclass_fields__
        ]
    )


def write(outcomes: Iterable[Outcome], folder: Path) -> None:
    """Write them into a folder."""
    import pyarrow
    from pyarrow import parquet

    rows = [asdict(outcome) for outcome in outcomes]
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema()), folder / FILE)


def read(path: Path) -> dict[tuple[str, str], list[Outcome]]:
    """The outcomes by config and split, in the order of the file.

    Raises:
        EvaluationError: it cannot be read, has other columns, or a row contradicts itself.
    """
    found: dict[tuple[str, str], list[Outcome]] = {}
    for number, row in enumerate(parquet_rows(path, schema())):
        where = f"{path}: row {number}"
        for name, value in row.items():
            if name not in _NULLABLE and (
                value is None or (isinstance(value, list) and None in value)
            ):
                raise EvaluationError(f"{where}: {name} is null; expected a value")
        _check(row, where)
        outcome = Outcome(**{**row, "groups": tuple(row["groups"])})
        found.setdefault((outcome.config, outcome.split), []).append(outcome)
    return found


def _check(row: dict[str, Any], where: str) -> None:
    value, whole, statistic = row["value"], row["whole"], row["statistic"]
    if statistic not in STATISTICS:
        raise EvaluationError(f"{where}: statistic; expected one of {', '.join(STATISTICS)}")
    if (value is None) != bool(row["reason"]):
        raise EvaluationError(f"{where}: expected either a value or a reason why there is none")
    if (row["truth"] is None) == (statistic == "ranks"):
        raise EvaluationError(f"{where}: truth; expected it for ranks, and for nothing else")
    if not math.isfinite(whole) or (value is not None and not math.isfinite(value)):
        raise EvaluationError(f"{where}: value or whole is no number")
    if value is not None and statistic != "ranks" and not 0 <= value <= whole:
        raise EvaluationError(f"{where}: a value of {value:g} of {whole:g}; expected a part of it")
    if statistic == "share" and whole != 1:
        raise EvaluationError(f"{where}: a share of {whole:g}; expected one of 1")
