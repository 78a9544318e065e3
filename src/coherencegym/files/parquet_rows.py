"""The rows of parquet files that anybody wrote."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError, first_line

#: Bytes that the rows of a file, or of the part of it that is in memory, may take when unpacked.
_LARGEST = 1 << 30
#: Rows that are in memory at a time, of those that are read in parts.
_AT_A_TIME = 1000
#: Rows that are in memory at a time, of those of which few become Python objects.
_FILTERED = 1 << 16


@dataclass(frozen=True)
class StoredRows:
    """Rows that are read anew whenever one goes through them, a few at a time.

    ``rows`` gives them; ``number`` is how many there are.
    """

    number: int
    rows: Callable[[], Iterator[dict[str, Any]]]

    def __len__(self) -> int:
        return self.number

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()


def parquet_rows(path: Path, schema: Any = None) -> list[dict[str, Any]]:
    """The rows of a file as plain Python values, held to the columns and types of a schema."""
    with _opened(path, schema) as file:
        rows: list[dict[str, Any]] = _whole(path, file).to_pylist()
        return rows


def parquet_table(path: Path, schema: Any, optional: Sequence[str] = ()) -> Any:
    """The rows of a file as an Arrow table of a schema, without a null where it allows none.

    Columns that are ``optional`` may be missing.
    """
    with _opened(path, schema, optional) as file:
        table = _whole(path, file)
        for field in schema:
            if not field.nullable and table[field.name].null_count:
                raise EvaluationError(f"{path}: {field.name} is null; expected a value")
        return table


def _whole(path: Path, file: Any) -> Any:
    _check_size(path, file, range(file.metadata.num_row_groups))
    table = file.read()
    table.validate(full=True)  # also that texts are UTF-8
    return table


def stored_rows(path: Path, schema: Any = None) -> StoredRows:
    """The rows of a file as :func:`parquet_rows` gives them, a few at a time."""
    with _opened(path, schema) as file:
        _check_row_groups(path, file)
        return StoredRows(file.metadata.num_rows, lambda: _in_parts(path, schema))


def rows_among(
    path: Path, schema: Any, column: str, values: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The rows of a file that have one of these values in a column, a few at a time."""
    import pyarrow as pa
    from pyarrow import compute

    wanted = pa.array(sorted(values), pa.string())
    for batch in _batches(path, schema, _FILTERED):
        yield from batch.filter(compute.is_in(batch[column], wanted)).to_pylist()


def _in_parts(path: Path, schema: Any) -> Iterator[dict[str, Any]]:
    for batch in _batches(path, schema, _AT_A_TIME):
        yield from batch.to_pylist()


def _batches(path: Path, schema: Any, most: int) -> Iterator[Any]:
    with _opened(path, schema) as file:
        _check_row_groups(path, file)
        for batch in row_batches(file, most):
            batch.validate(full=True)
            yield batch


def row_batches(
    file: Any,
    most: int,
    groups: Sequence[int] | None = None,
    columns: Sequence[str] | None = None,
) -> Iterator[Any]:
    """Arrow batches of at most so many rows of a ``ParquetFile``, all or those of some row groups.

    Of one row group after another: an iterator over several keeps what it has read of each.
    """
    for group in range(file.metadata.num_row_groups) if groups is None else groups:
        how = {"row_groups": [group], "columns": columns, "use_threads": False}
        yield from file.iter_batches(most, **how)


@contextmanager
def _opened(path: Path, schema: Any, optional: Sequence[str] = ()) -> Iterator[Any]:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            missing = {*optional} - {*file.schema_arrow.names}
            if schema is not None and _columns(file.schema_arrow) != _columns(schema, missing):
                raise EvaluationError(
                    f"{path}: other columns; expected {', '.join(schema.names)}, of the types that "
                    "this program writes"
                )
            yield file
    except EvaluationError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        # Besides Arrow's errors, a time or a decimal that Python has no value for.
        raise EvaluationError(f"{path}: cannot be read ({first_line(error)[:200]})") from None


def _check_row_groups(path: Path, file: Any) -> None:
    # One is in memory at a time.
    for number in range(file.metadata.num_row_groups):
        _check_size(path, file, [number])


def _check_size(path: Path, file: Any, row_groups: Any) -> None:
    size = sum(file.metadata.row_group(number).total_byte_size for number in row_groups)
    if size > _LARGEST:
        raise EvaluationError(f"{path}: {size:,} bytes of rows; expected at most {_LARGEST:,}")


def _columns(columns: Any, missing: Collection[str] = ()) -> list[tuple[str, Any]]:
    return [(column.name, column.type) for column in columns if column.name not in missing]
