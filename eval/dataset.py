"""The items of a dataset, verified against the row hashes that its build wrote."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.errors import EvaluationError
from eval.predictions import read_by
from eval.source import Source
from eval.suite import SEPARATOR, Item, SuiteError, item_from_row, row_hash, validate_item

#: Tables of another kind, and the command that reads them.
OTHER_KINDS = {
    "documents": "python -m eval probe",
    "examples": "python -m eval detect",
}


Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class ItemTable:
    """The items of one config and split.

    Attributes:
        config, split: which.
        items: in the order of the table.
        rows_sha256: digest (hex) over the row hashes of the whole table, in order.
        verified: the row hashes were compared with those that the build wrote.
        separator: ``[SEP]`` in a text is a change of speaker.
        breakdowns: columns by whose values scores are also reported.
        headline: the group of predictions that the table's own score is over; empty: all.
        artefacts: the build's artefact scores of this table.
        humans: what people found of this table, where the build has it.
        controls: the configs that are its controls.
        length_confound: the suite wants the correlation of margin and length shown.
    """

    config: str
    split: str
    items: tuple[Item, ...]
    rows_sha256: str
    verified: bool
    separator: bool
    breakdowns: tuple[str, ...] = ()
    artefacts: tuple[Mapping[str, Any], ...] = ()
    headline: str = ""
    controls: tuple[str, ...] = ()
    length_confound: bool = False
    humans: tuple[Mapping[str, Any], ...] = ()


def tables(
    source: Source,
    configs: Sequence[str] = (),
    split: str | None = None,
    max_items: int | None = None,
) -> Iterator[ItemTable]:
    """The items tables of a dataset.

    Args:
        source: from :func:`find`.
        configs: only these; none: every config that holds items.
        split: only this one; None: every split, but of a config with a split ``train`` only
            ``test``.
        max_items: no more items than this of each table, from its start.

    Raises:
        EvaluationError: a config or split is not there, holds another kind of table, or its rows
            are not those that were published.
    """
    reader = _built_tables if source.manifest else _foreign_tables
    for config, split_name, rows, verified, about in reader(source, configs, split):
        where = f"dataset {source.name!r}, config {config!r}, split {split_name!r}"
        hashes = _hashes(rows, where)
        if verified:
            _verify(
                source.folder / "hashes" / f"{config}-{split_name}.parquet", rows, hashes, where
            )
        try:
            items = tuple(item_from_row(row) for row in rows[:max_items])
            for item in items:
                validate_item(item)
                read_by(item)
        except (SuiteError, EvaluationError) as error:
            raise EvaluationError(f"{where}: {error}") from None
        repeated = [name for name, n in Counter(i.item_id for i in items).items() if n > 1]
        if repeated:
            raise EvaluationError(f"{where}: item_id {repeated[0]!r} is there more than once")
        breakdowns = tuple(about.get("breakdowns", ()))
        for column in breakdowns:
            if items and column not in items[0].extra:
                raise EvaluationError(f"{where}: no column {column!r}, which the manifest names")
        quality = about.get("quality", {}).get(split_name, {})
        yield ItemTable(
            config=config,
            split=split_name,
            items=items,
            rows_sha256=hashlib.sha256("\n".join(hashes).encode()).hexdigest(),
            verified=verified,
            separator=about.get("separator", any(_has_separator(item) for item in items)),
            breakdowns=breakdowns,
            artefacts=tuple(quality.get("artefact", ())),
            humans=tuple(quality.get("human", {}).get("scores", ())),
            headline=str(about.get("headline", "")),
            controls=tuple(about.get("controls", ())),
            length_confound=bool(about.get("length_confound", False)),
        )


def _hashes(rows: Rows, where: str) -> list[str]:
    try:
        return [row_hash(row) for row in rows]
    except (TypeError, ValueError) as error:
        raise EvaluationError(f"{where}: a value that JSON cannot hold ({error})") from None


_Table = tuple[str, str, Rows, bool, Mapping[str, Any]]


def _built_tables(source: Source, configs: Sequence[str], split: str | None) -> Iterator[_Table]:
    """Tables of a dataset with a manifest."""
    known = source.manifest["configs"]
    _require(configs, known, f"dataset {source.name!r}: no config")
    if not known:
        raise EvaluationError(f"dataset {source.name!r}: the manifest names no config")
    chosen = configs or [name for name, about in known.items() if about["kind"] == "items"]
    for config in chosen or known:
        kind = known[config]["kind"]
        if kind != "items":
            command = OTHER_KINDS.get(kind, "another command")
            raise EvaluationError(
                f"dataset {source.name!r}, config {config!r}: a table of kind {kind!r}; "
                f"expected items ({command} reads it)"
            )
    if split is not None and not any(split in known[config]["splits"] for config in chosen):
        splits = sorted({name for config in chosen for name in known[config]["splits"]})
        raise EvaluationError(
            f"dataset {source.name!r}: no split {split!r}; expected one of {', '.join(splits)}"
        )
    for config in chosen:
        splits = known[config]["splits"]
        if split is None and "train" in splits and "test" in splits:
            splits = ["test"]  # the others are there to be learned from
        for split_name in splits:
            if split in (None, split_name):
                yield config, split_name, _rows(source, config, split_name), True, known[config]


def _rows(source: Source, config: str, split: str) -> Rows:
    import pyarrow
    from pyarrow import parquet

    files = sorted((source.folder / "data" / config).glob(f"{split}-*-of-*.parquet"))
    where = f"dataset {source.name!r}, config {config!r}, split {split!r}"
    if not files:
        raise EvaluationError(f"{where}: no file data/{config}/{split}-*.parquet")
    try:
        return [row for file in files for row in parquet.ParquetFile(file).read().to_pylist()]
    except (pyarrow.ArrowException, OSError) as error:
        raise EvaluationError(f"{where}: cannot be read ({str(error).splitlines()[0]})") from None


def _verify(path: Path, rows: Rows, hashes: Sequence[str], where: str) -> None:
    """Hold the rows to the hashes that the build wrote.

    Raises:
        EvaluationError: a row is missing, added, changed or out of order.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        published = parquet.ParquetFile(path).read().to_pylist()
    except (pyarrow.ArrowException, OSError):
        raise EvaluationError(f"{where}: no row hashes (hashes/{path.name})") from None
    if len(published) != len(rows):
        raise EvaluationError(
            f"{where}: {len(rows)} rows, but {len(published)} were published; the data are damaged"
        )
    for row, found, expected in zip(rows, hashes, published, strict=True):
        if found != expected["sha256"]:
            raise EvaluationError(
                f"{where}: item {row.get('item_id')!r} is not the row that was published "
                "(its hash differs); the data were changed or are damaged"
            )


def _foreign_tables(source: Source, configs: Sequence[str], split: str | None) -> Iterator[_Table]:
    """Tables of somebody's own dataset, found as the datasets library finds them."""
    import datasets

    folder = str(source.folder)
    try:
        known = datasets.get_dataset_config_names(folder)
        _require(configs, known, f"dataset {source.name!r}: no config")
        loaded = {config: datasets.load_dataset(folder, config) for config in configs or known}
    except EvaluationError:
        raise
    except Exception as error:
        # The library raises whatever its readers raise; to the user it is one thing.
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise EvaluationError(f"dataset {source.name!r}: cannot be read ({reason[:200]})") from None
    if split is not None:
        _require([split], {s for d in loaded.values() for s in d}, f"{source.name!r}: no split")
    for config, splits in loaded.items():
        for name, table in splits.items():
            if split in (None, name):
                if "predictions" not in table.column_names:
                    raise EvaluationError(
                        f"dataset {source.name!r}, config {config!r}: no column 'predictions'; "
                        f"expected a table of items, found {', '.join(table.column_names)}"
                    )
                yield config, str(name), table.to_list(), False, {}


def _require(wanted: Sequence[str], known: Any, what: str) -> None:
    for name in wanted:
        if name not in known:
            raise EvaluationError(f"{what} {name!r}; expected one of {', '.join(sorted(known))}")


def _has_separator(item: Item) -> bool:
    return any(SEPARATOR in condition.content for condition in item.conditions)
