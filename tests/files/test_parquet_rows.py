"""Rows of parquet files that are read a few at a time."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from coherencegym.files.parquet import stored_rows

_GROUPS, _ROWS = 40, 500


def test_what_was_read_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    schema = pa.schema([("number", pa.int64()), ("text", pa.string())])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for group in range(_GROUPS):
            numbers = range(group * _ROWS, (group + 1) * _ROWS)
            rows = [{"number": number, "text": f"{number:0200}"} for number in numbers]
            writer.write_table(pa.Table.from_pylist(rows, schema))
    before, held = pa.total_allocated_bytes(), []
    for place, row in enumerate(stored_rows(path)):
        assert row == {"number": place, "text": f"{place:0200}"}
        if place % _ROWS == _ROWS - 1:
            held.append(pa.total_allocated_bytes() - before)
    assert len(held) == _GROUPS
    # Of the whole file, of which each row group is a fortieth, never more than some of them.
    assert max(held) < path.stat().st_size / 4
