"""Tables of people's own, as data frames: CSV, TSV, JSON lines, parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, first_line

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

#: The endings of files that are read, and how pandas reads them: texts stay as they are.
_READERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    ".csv": ("read_csv", {"dtype": str, "keep_default_na": False}),
    ".tsv": ("read_csv", {"dtype": str, "keep_default_na": False, "sep": "\t"}),
    ".jsonl": ("read_json", {"dtype": False, "lines": True, "convert_dates": False}),
    ".parquet": ("read_parquet", {}),
}
FRAME_SUFFIXES = tuple(_READERS)


def is_blank(path: Path) -> bool:
    """Tell whether there is nothing in a file but white space."""
    with path.open("rb") as file:
        return not any(line.strip(b"\xef\xbb\xbf \t\r\n") for line in file)


def blank_file(folder: Path) -> str:
    """Name the first table of a folder that has nothing in it: ``a.csv is empty``; else empty."""
    files = (path for path in sorted(folder.rglob("*")) if path.suffix in (*_READERS, ".json"))
    return next((f"{path} is empty" for path in files if path.is_file() and is_blank(path)), "")


def read_frame(path: Path, columns: str = "a column of texts") -> pandas.DataFrame:
    """The table of a file, by its ending; ``columns`` are those that errors expect, in words."""
    if path.suffix not in _READERS:
        endings = ", ".join(FRAME_SUFFIXES)
        raise EvaluationError(f"{path}: expected a file that ends in {endings}")
    import pandas

    reader, how = _READERS[path.suffix]
    try:
        if not is_blank(path):
            return getattr(pandas, reader)(path, **how)
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{path}: cannot be read ({first_line(error)[:200]})") from None
    raise EvaluationError(f"{path}: the file is empty; expected {columns}, and rows")


def data_frame(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Rows as a data frame."""
    try:
        import pandas
    except ImportError:
        raise EvaluationError(
            "pandas is not installed; expected pip install pandas, or rows()"
        ) from None
    return pandas.DataFrame(rows)


def records(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table; a missing value (NaN, NaT, NA) is None."""
    found: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return found


def read_text(path: Path) -> str:
    """The text of a file in UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path}: cannot be read ({first_line(error)[:200]})") from None
