"""The rows of parquet files that anybody wrote."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError, first_line

#: Bytes that the rows of a file may take when unpacked.
_LARGEST = 1 << 30


def parquet_rows(path: Path, schema: Any = None, later: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The rows of a file as plain Python values, held to the columns and types of an Arrow schema.

    Columns that are ``later`` may be missing, as what an earlier release wrote has not got them.

    Raises:
        EvaluationError: it is not there, no whole parquet file or too large, has other columns, or
            texts that are not UTF-8.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            missing = {*later} - {*file.schema_arrow.names}
            if schema is not None and _columns(file.schema_arrow) != _columns(schema, missing):
                raise EvaluationError(
                    f"{path}: other columns; expected {', '.join(schema.names)}, of the types that "
                    "this program writes"
                )
            about = file.metadata
            size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
            if size > _LARGEST:
                raise EvaluationError(
                    f"{path}: {size:,} bytes of rows; expected at most {_LARGEST:,}"
                )
            table = file.read()
        table.validate(full=True)  # also that texts are UTF-8
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows
    except EvaluationError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        # Besides Arrow's errors, a time or a decimal that Python has no value for.
        raise EvaluationError(f"{path}: cannot be read ({first_line(error)[:200]})") from None


def _columns(columns: Any, missing: Collection[str] = ()) -> list[tuple[str, Any]]:
    return [(column.name, column.type) for column in columns if column.name not in missing]
