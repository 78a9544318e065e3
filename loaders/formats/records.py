"""Records: the objects of a JSON file, or the rows of a parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coherencegym.files.frames import is_blank
from coherencegym.files.parquet_rows import row_batches
from coherencegym.loaders.corpus import CorpusError, CorpusFile
from coherencegym.loaders.formats.lines import shown, tidy

#: Bytes that the rows of a parquet file may take when unpacked.
_LARGEST = 1 << 30
#: Rows that are unpacked at once.
_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Record:
    """Named values, and where they stand.

    Attributes:
        number: its number in the file, from 1; bad ones count.
        line: the line at which it begins, from 1; of a parquet file, which has none, its number.
        place: ``file:line``, and in a JSON array (often a single line) its number.
        values: the values by name.
    """

    number: int
    line: int
    place: str
    values: dict[str, Any]


def parquet_records(file: CorpusFile) -> Iterator[Record]:
    """The rows of a parquet file as plain values; ``CorpusError`` if it is none or too large."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(file.path) as parquet:
            about = parquet.metadata
            size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
            if size > _LARGEST:
                raise CorpusError(
                    f"{file.path}:1: {size:,} bytes of rows, expected at most {_LARGEST:,}"
                )
            for batch in row_batches(parquet, _BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield Record(number, number, f"{file.path}:{number}", row)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        problem = f"no parquet from this row on ({shown(tidy(str(error)), 80)})"
        problem = "the file is empty" if is_blank(file.path) else problem
        raise CorpusError(f"{file.path}:{number + 1}: {problem}, expected a parquet file") from None
