"""Parquet files: those that anybody wrote, and the one way in which they are written.

Pages are cut by content, so that a repository that keeps chunks stores again only what changed
(https://huggingface.co/docs/hub/datasets-libraries), and have an index, by which the dataset viewer
finds rows without reading what stands before them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError, first_line

#: Bytes that the rows of a file, or of the part of it that is in memory, may take when unpacked.
_LARGEST = 1 << 30
#: Rows that are in memory at a time, of those that are read in parts.
_AT_A_TIME = 1000
#: Rows that are in memory at a time, of those of which few become Python objects.
_FILTERED = 1 << 16
#: Rows of a row group, and those that are plain Python values at a time.
_ROW_GROUP, _PYTHON_ROWS = 1 << 15, 1 << 13
#: Rows of a row group of a table that is written whole.
_WHOLE_ROW_GROUP = 1 << 16
#: The options of every file.
_OPTIONS: dict[str, Any] = {"use_content_defined_chunking": True, "write_page_index": True}


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

    def rows() -> Iterator[dict[str, Any]]:
        for batch in _batches(path, schema, _AT_A_TIME):
            yield from batch.to_pylist()

    with _opened(path, schema) as file:
        _check_row_groups(path, file)
        return StoredRows(file.metadata.num_rows, rows)


def rows_among(
    path: Path, schema: Any, column: str, values: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The rows of a file that have one of these values in a column, a few at a time."""
    import pyarrow as pa
    from pyarrow import compute

    wanted = pa.array(sorted(values), pa.string())
    for batch in _batches(path, schema, _FILTERED):
        yield from batch.filter(compute.is_in(batch[column], wanted)).to_pylist()


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


def write_parquet(table: Any, path: Path) -> None:
    """Write a table; the bytes do not depend on how it was put together.

    Args:
        table: a ``pyarrow.Table``, whose schema may have metadata, such as the features by which
            ``datasets`` reads the file.
        path: the file, in a folder that is there.
    """
    from pyarrow import parquet

    # In one piece, or the bytes would depend on its chunks.
    parquet.write_table(table.combine_chunks(), path, row_group_size=_WHOLE_ROW_GROUP, **_OPTIONS)


def parquet_writer(path: Path, schema: Any) -> Any:
    """A ``pyarrow.parquet.ParquetWriter``, for tables that come in parts."""
    from pyarrow import parquet

    return parquet.ParquetWriter(path, schema, **_OPTIONS)


def row_schema(*columns: str) -> Any:
    """The Arrow schema of columns, each a name and a type: ``score double``."""
    import pyarrow as pa

    named = (column.split() for column in columns)
    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in named])


def write_rows(rows: Iterable[Mapping[str, Any]], schema: Any, path: Path) -> None:
    """Write a table of parquet."""
    with RowWriter(path, schema) as file:
        file.add(rows)


class RowWriter:
    """Writes a table of parquet as its rows come; its end is the end of the ``with``."""

    def __init__(self, path: Path, schema: Any) -> None:
        self._schema = schema
        self._batches: list[Any] = []
        self._writer = parquet_writer(path, schema)

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows."""
        import pyarrow

        left = iter(rows)
        while part := list(islice(left, _PYTHON_ROWS)):
            self._batches.append(pyarrow.RecordBatch.from_pylist(part, schema=self._schema))
            if sum(map(len, self._batches)) >= _ROW_GROUP:
                self._write()

    def _write(self) -> None:
        import pyarrow

        whole = pyarrow.Table.from_batches(self._batches, schema=self._schema)
        # In one piece, or the bytes would depend on how the rows came.
        self._writer.write_table(whole.combine_chunks(), row_group_size=_ROW_GROUP * 2)
        self._batches = []

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        with self._writer:
            if kind is None and self._batches:
                self._write()
