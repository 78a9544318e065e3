"""Parquet files as every part of the project writes them."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from coherencegym.files.parquet import RowWriter, row_schema, write_parquet

_TEXTS = ["".join(random.Random(n).choices("abcdefgh ", k=900)) for n in range(6000)]


def pages(path: Path) -> set[bytes]:
    """Stretches of a file that stand between two marks of its content, wherever they lie."""
    content = path.read_bytes()
    marks = [place for place in range(0, len(content) - 2) if content[place : place + 2] == b"ab"]
    return {content[a:b] for a, b in itertools.pairwise(marks) if b - a > 60}


def write(texts: list[str], path: Path, **options: Any) -> None:
    """A file of texts, by the project's writer, or by pyarrow's with options of its own."""
    table = pa.table({"text": texts})
    if options:
        parquet.write_table(table, path, **options)
    else:
        write_parquet(table, path)


def test_files_have_a_page_index(tmp_path: Path) -> None:
    write(_TEXTS[:10], tmp_path / "whole.parquet")
    with RowWriter(tmp_path / "rows.parquet", row_schema("text string")) as file:
        file.add({"text": text} for text in _TEXTS[:10])
    for path in tmp_path.iterdir():
        column = parquet.read_metadata(path).row_group(0).column(0)
        assert column.has_offset_index
        assert column.has_column_index


def test_a_row_more_at_the_start_leaves_the_other_pages_as_they_are(tmp_path: Path) -> None:
    shared = {}
    for name, options in (("ours", {}), ("plain", {"write_page_index": True})):
        before, after = (tmp_path / f"{name}{number}.parquet" for number in range(2))
        write(_TEXTS, before, **options)
        write(["one more", *_TEXTS], after, **options)
        shared[name] = len(pages(before) & pages(after)) / len(pages(before))
    assert shared["ours"] > 0.7 > 0.3 > shared["plain"]


def test_bytes_do_not_depend_on_how_a_table_was_put_together(tmp_path: Path) -> None:
    whole = pa.table({"text": _TEXTS})
    parts = pa.concat_tables([whole.slice(at, 700) for at in range(0, len(whole), 700)])
    write_parquet(whole, tmp_path / "whole.parquet")
    write_parquet(parts, tmp_path / "parts.parquet")
    assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "parts.parquet").read_bytes()
