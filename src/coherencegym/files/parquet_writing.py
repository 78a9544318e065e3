"""Parquet files: the one way in which they are written, whole or as their rows come.

Pages are cut by content, so that a repository that keeps chunks stores again only what changed
(https://huggingface.co/docs/hub/datasets-libraries), and have an index, by which the dataset viewer
finds rows without reading what stands before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

#: Rows of a row group, and those that are plain Python values at a time.
_ROW_GROUP, _AT_A_TIME = 1 << 15, 1 << 13
#: Rows of a row group of a table that is written whole.
_WHOLE_ROW_GROUP = 1 << 16
#: The options of every file.
_OPTIONS: dict[str, Any] = {"use_content_defined_chunking": True, "write_page_index": True}


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
