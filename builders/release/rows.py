"""Rows on disk: parquet shards, and the hash of every row beside them.

One function writes them, from an in-memory table. Its schema has the features by which ``datasets``
reads the files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.eval.kinds.table_kind import IDENTITY, SuiteError, row_hash, with_numbers
from coherencegym.files.parquet import parquet_rows, write_parquet
from coherencegym.files.strict_json import held

#: Uncompressed bytes of a table that go into one parquet file.
_SHARD_BYTES = 500_000_000


def data_path(config: str, split: str, shard: int = 0, shards: int = 1) -> str:
    """The path of a shard inside a release."""
    return f"data/{config}/{split}-{shard:05d}-of-{shards:05d}.parquet"


def hashes_path(config: str, split: str) -> str:
    """The path of a split's row hashes inside a release."""
    return f"hashes/{config}-{split}.parquet"


@dataclass(frozen=True)
class _RowHash:
    item_id: str
    sha256: str


def read_hashes(path: Path) -> dict[str, str]:
    """Item id -> row hash, from a file of row hashes, which anybody may have written."""
    return {row.item_id: row.sha256 for row in (held(row, _RowHash) for row in parquet_rows(path))}


def to_table(rows: Sequence[Mapping[str, Any]], features: Any) -> Any:
    """Rows as a ``pyarrow.Table`` with the schema of ``features``, classes by their numbers."""
    import pyarrow as pa

    numbered = [with_numbers(row, features) for row in rows]
    return pa.Table.from_pylist(numbered, schema=features.arrow_schema)


def write_split(
    folder: Path, config: str, split: str, table: Any, shard_bytes: int = _SHARD_BYTES
) -> dict[str, Any]:
    """Write a table as the shards and hashes of a split below ``folder``.

    Returns:
        The sizes, and the hash of all row hashes, as the manifest has them.
    """
    import pyarrow as pa

    if not table.num_rows:
        raise ValueError(f"{config}/{split}: no rows to write")
    shards = max(1, -(-table.nbytes // shard_bytes))
    size = 0
    for shard in range(shards):
        start = table.num_rows * shard // shards
        stop = table.num_rows * (shard + 1) // shards
        path = folder / data_path(config, split, shard, shards)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(table.slice(start, stop - start), path)
        size += path.stat().st_size

    rows = table.to_pylist()
    identifiers = [str(row[IDENTITY]) for row in rows]
    if len(set(identifiers)) != len(identifiers):
        twice = next(i for i in identifiers if identifiers.count(i) > 1)
        raise SuiteError(f"{config}/{split}: {IDENTITY} {twice!r} stands twice; expected once")
    hashes = [row_hash(row) for row in rows]
    hash_table = pa.table({IDENTITY: identifiers, "sha256": hashes})
    path = folder / hashes_path(config, split)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(hash_table, path)
    content_hash = row_hash({"rows": hashes})
    sizes = {"rows": table.num_rows, "num_bytes": table.nbytes, "download_size": size}
    return {**sizes, "content_hash": content_hash}
