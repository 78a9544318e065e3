"""Tables and datasets of people's own, as their files have them: no type is guessed.

Small ones are data frames. Datasets are read by each file itself: ``datasets`` holds every file to
the types of the first one, and makes points in time of days in JSON.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from glob import has_magic
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, first_line
from coherencegym.files.parquet import row_batches

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

#: How pandas reads CSV: texts stay as they are, and no column becomes an index.
_AS_TEXT = {"dtype": str, "keep_default_na": False, "index_col": False}
#: The endings of files that are read, and how pandas reads them.
_READERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    ".csv": ("read_csv", _AS_TEXT),
    ".tsv": ("read_csv", {**_AS_TEXT, "sep": "\t"}),
    ".jsonl": ("read_json", {"dtype": False, "lines": True, "convert_dates": False}),
    ".parquet": ("read_parquet", {}),
}
FRAME_SUFFIXES = tuple(_READERS)
#: Rows that are held at a time.
_BATCH = 500
#: Files that are read here; ``datasets`` unpacks others.
_READ = re.compile(r"\.(jsonl?|ndjson|csv|tsv|parquet)(\.(gz|bz2|xz))?$")


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
    if (ending := path.suffix.lower()) not in _READERS:
        endings = ", ".join(FRAME_SUFFIXES)
        raise EvaluationError(f"{path}: expected a file that ends in {endings}")
    import pandas

    reader, how = _READERS[ending]
    try:
        if not is_blank(path):
            with _all_fields():
                frame = getattr(pandas, reader)(path, **how)
            # pandas writes an index as columns, and makes it one again.
            return frame.reset_index() if any(frame.index.names) else frame
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{path}: cannot be read ({first_line(error)[:200]})") from None
    raise EvaluationError(f"{path}: the file is empty; expected {columns}, and rows")


@contextmanager
def _all_fields() -> Iterator[None]:
    """Refuse rows of CSV with more fields than the header, which pandas would cut off."""
    import warnings

    import pandas

    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        try:
            yield
        except pandas.errors.ParserWarning:
            raise ValueError(
                "rows have more fields than the header; expected quotes around a field with a comma"
            ) from None


def _next_frame(frames: Iterator[pandas.DataFrame]) -> pandas.DataFrame | None:
    # Nobody is handed a row while warnings are errors.
    with _all_fields():
        return next(frames, None)


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


def config_names(folder: str) -> list[str]:
    """The names of the configurations of a folder; errors are those of ``datasets``."""
    import datasets

    _refuse_pattern(folder)
    names: list[str] = datasets.get_dataset_config_names(folder)
    return names


def builder_of(name: str, config: str | None = None, revision: str | None = None) -> Any:
    """The ``datasets`` builder of a repository or folder; errors are those of ``datasets``."""
    import datasets

    _refuse_pattern(name)
    return datasets.load_dataset_builder(name, config, revision=revision)


def _refuse_pattern(name: str) -> None:
    # The library takes such a name for those of several files, and finds none or others.
    folder = Path(name).resolve()
    if folder.is_dir() and has_magic(str(folder)):
        raise EvaluationError(
            f"{folder}: its name has *, ? or [, which stand for other names; rename the folder"
        )


def rows_of(
    builder: Any, split: str, columns: Collection[str] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of a split; errors are those of whatever reads its files.

    Args:
        builder: that of :func:`builder_of`.
        split: its name.
        columns: those that are asked for: of a parquet file nothing else is read (others are None),
            and all of a CSV file are text; none: all, and numbers in CSV are numbers.
    """
    addresses = [str(address) for address in builder.config.data_files[split]]
    kind = _kind(builder) if all(map(_READ.search, addresses)) else ""
    if kind == "Csv" and columns is not None:
        import pandas

        how = {**builder.config.pd_read_csv_kwargs, **_AS_TEXT}
        for address in addresses:
            frames = iter(pandas.read_csv(address, **how))
            while (frame := _next_frame(frames)) is not None:
                yield from frame.to_dict("records")
    elif kind == "Json":
        for address in addresses:
            yield from _json_rows(address, builder.config)
    elif kind == "Parquet":
        for address in addresses:
            yield from parquet_rows(address, columns)
    else:
        yield from builder.as_streaming_dataset(split)


def parquet_rows(
    address: str, columns: Collection[str] | None = None, groups: Sequence[int] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of a parquet file, all or those of some row groups, as :func:`rows_of` has them."""
    with parquet_file(address) as file:
        schema = file.schema_arrow
        asked = [name for name in schema.names if columns is None or name in columns]
        others, decode = dict.fromkeys(schema.names), None
        if columns is not None and b'"Json"' in (schema.metadata or {}).get(b"huggingface", b""):
            decode = _features(map(schema.field, asked), schema.metadata).decode_example
        for batch in row_batches(file, _BATCH, groups, asked):
            for row in batch.to_pylist():
                yield {**others, **(row if decode is None else decode(row))}


@contextmanager
def parquet_file(address: str) -> Iterator[Any]:
    """A parquet file on a disk or the Hub, of which no more is fetched than is asked for."""
    from pyarrow import parquet

    # What is read ahead, is read in threads of pyarrow's that may outlive Python, and abort it.
    with _opened(address) as stream, parquet.ParquetFile(stream, pre_buffer=False) as file:
        yield file


def class_names(builder: Any, split: str) -> Mapping[str, Any]:
    """The features of a split, as dictionaries that have the names of classes."""
    features = builder.info.features
    if features is None and _kind(builder) == "Parquet":
        with parquet_file(str(builder.config.data_files[split][0])) as file:
            features = _features(file.schema_arrow, file.schema_arrow.metadata)
    found: Mapping[str, Any] = {} if features is None else features.to_dict()
    return found


def _kind(builder: Any) -> str:
    # The class of a builder is made for its dataset, from that of its files.
    names = (one.__name__ for one in type(builder).__mro__)
    return next((name for name in names if name in ("Csv", "Json", "Parquet")), "")


def _features(fields: Any, metadata: Any) -> Any:
    import pyarrow
    from datasets import Features

    return Features.from_arrow_schema(pyarrow.schema(list(fields), metadata=metadata))


@contextmanager
def _opened(address: str) -> Iterator[Any]:
    import fsspec

    # `fsspec.open` takes a name with `*` for those of several files.
    system, path = fsspec.url_to_fs(address)
    with system.open(path, "rb", compression="infer") as stream:
        yield stream


def _json_rows(address: str, config: Any) -> Iterator[dict[str, Any]]:
    encoding = "utf-8-sig" if config.encoding == "utf-8" else config.encoding
    with (
        _opened(address) as stream,
        io.TextIOWrapper(stream, encoding, config.encoding_errors or "strict") as text,
    ):
        first = text.readline()
        if config.field is None and not first.lstrip().startswith("[") and _is_json(first):
            for number, line in enumerate(chain([first], text), start=1):
                if line.strip():
                    yield _json(line, f"{Path(address).name}:{number}")
            return
        whole = _json(first + text.read(), Path(address).name)
    whole = whole if config.field is None else whole[config.field]
    if isinstance(whole, dict):  # lists by the names of columns
        whole = [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]
    yield from (row if isinstance(row, dict) else {"text": row} for row in whole)


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _json(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
