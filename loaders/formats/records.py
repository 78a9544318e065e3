"""A record of a file, such as an object of a JSON file or a row of a parquet file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
