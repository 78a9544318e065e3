"""Parquet files whose rows come a few at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

#: Rows of a row group, and those that are plain Python values at a time.
_ROW_GROUP, _AT_A_TIME = 1 << 15, 1 << 13


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
        from pyarrow import parquet

        self._schema = schema
        self._batches: list[Any] = []
        self._writer = parquet.ParquetWriter(path, schema)

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows."""
        import pyarrow

        left = iter(rows)
        while part := list(islice(left, _AT_A_TIME)):
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
