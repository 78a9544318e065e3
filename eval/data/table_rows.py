"""The rows of a dataset's tables, of any kind, verified against the hashes that its build wrote."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.data.source import Source, stand_off_configs
from coherencegym.eval.kinds import TABLE_KINDS
from coherencegym.eval.kinds.table_kind import (
    IDENTITY,
    TableKind,
    row_hash,
    rows_digest,
    with_families,
    with_names,
)
from coherencegym.files.parquet import StoredRows, parquet_rows, stored_rows
from coherencegym.files.tables import blank_file, builder_of, class_names, config_names, rows_of

#: Rows in memory, or such as are read anew whenever they are gone through.
_Rows = list[dict[str, Any]] | StoredRows
#: Split -> what reads its rows, once it is told what errors call them.
_Tables = Mapping[str, Callable[[str], _Rows]]
_T = TypeVar("_T")


@dataclass(frozen=True)
class TableRows(Generic[_T]):
    """The rows of one config and split.

    Attributes:
        where: dataset, config and split, as errors name them.
        rows: those of the whole table; of one that is read in parts they are not in memory.
        rows_sha256: digest (hex) over the row hashes of the whole table, in order.
        verified: the row hashes were compared with those that the build wrote.
        about: the manifest's entry of the config; empty for a dataset without one.
    """

    kind: TableKind[_T]
    where: str
    config: str
    split: str
    rows: _Rows
    rows_sha256: str
    verified: bool
    about: Mapping[str, Any]

    @property
    def breakdowns(self) -> tuple[str, ...]:
        """The columns by whose values scores are also reported."""
        return tuple(map(str, self.about.get("breakdowns", ())))

    def read(self, most: int | None = None) -> tuple[_T, ...]:
        """Read the rows as what they are, no more than ``most`` from the start."""
        values = tuple(self.each(most))
        for name, count in Counter(row[IDENTITY] for row in islice(self.rows, most)).items():
            if count > 1:
                raise EvaluationError(f"{self.where}: item_id {name!r} is there more than once")
        return values

    def each(self, most: int | None = None) -> Iterator[_T]:
        """Read the rows as what they are, one after another, no more than ``most``.

        Of rows that no build has written those with the same texts are of one family.
        """
        values = self._each(most)
        yield from values if self.verified else with_families(values, self.kind.texts)

    def _each(self, most: int | None) -> Iterator[_T]:
        features = self.about.get("features", {}) if self.kind.labels else {}
        for number, row in enumerate(islice(self.rows, most)):
            try:
                yield self.kind.from_row(with_names(row, features))
            except EvaluationError as error:
                raise EvaluationError(f"{self.where}: {error}") from None
            for name in self.breakdowns if not number else ():
                if name in self.kind.columns or name not in row:
                    what = f"no column {name!r}, which the manifest names"
                    raise EvaluationError(f"{self.where}: {what}")

    def separated(self, values: Iterable[_T]) -> bool:
        """Say whether ``[SEP]`` in a text is a change of speaker, as the manifest or texts say."""
        says = self.about.get("separator")
        return self.kind.separated(values) if says is None else bool(says)


def table_rows(
    source: Source,
    configs: Sequence[str] = (),
    splits: Sequence[str] | None = None,
    *,
    kind: TableKind[_T],
    test_only: bool = False,
    in_memory: Callable[[int], bool] = lambda number: True,
) -> Iterator[TableRows[_T]]:
    """The tables of one kind of a dataset: all, or those of some configs and of some splits.

    With ``test_only`` no other split is read of a config with a split ``test``, if any config has a
    split ``train``. ``in_memory`` says whether so many rows are to be held, or read in parts.
    """
    verified = bool(source.manifest)
    found = (_built if verified else _foreign)(source, configs, kind, in_memory)
    there = {split for tables in found.values() for split in tables}
    if splits is not None and not there & set(splits):
        raise EvaluationError(
            f"dataset {source.name!r}: no split {' or '.join(map(repr, splits))}; "
            f"expected one of {', '.join(sorted(there))}{did_you_mean(splits[0], there)}"
        )
    # Where there is a split to learn from, in any config, the others are not for testing.
    listed = (about.get("splits", ()) for about in source.manifest.get("configs", {}).values())
    divided = test_only and any("train" in names for names in (*found.values(), *listed))
    for config, tables in found.items():
        names = [name for name in tables if splits is None or name in splits]
        for split in ["test"] if divided and "test" in names else names:
            where = f"dataset {source.name!r}, config {config!r}, split {split!r}"
            rows = tables[split](where)
            path = source.folder / "hashes" / f"{config}-{split}.parquet"
            digest = rows_digest(_hashes(rows, path if verified else None, where))
            about = source.manifest["configs"][config] if verified else {}
            yield TableRows(kind, where, config, split, rows, digest, verified, about)


def _hashes(rows: _Rows, path: Path | None, where: str) -> Iterator[str]:
    # Held to the hashes in a file that the build wrote, where there is one: none missing, added,
    # changed or moved.
    published = None if path is None else _published(path, len(rows), where)
    for row in rows:
        try:
            found = row_hash(row)
        except (TypeError, ValueError) as error:
            raise EvaluationError(f"{where}: a value that JSON cannot hold ({error})") from None
        if published is not None and found != next(published):
            raise EvaluationError(
                f"{where}: item {row.get('item_id')!r} is not the row that was published "
                "(its hash differs); the data were changed or are damaged"
            )
        yield found


def _built(
    source: Source,
    configs: Sequence[str],
    wanted: TableKind[Any],
    in_memory: Callable[[int], bool],
) -> Mapping[str, _Tables]:
    known = source.manifest["configs"]
    _require(configs, known, source)
    if not known:
        raise EvaluationError(f"dataset {source.name!r}: the manifest names no config")
    of_kind = wanted.configs(known)
    bare = stand_off_configs(source.manifest)
    chosen = configs or [name for name in of_kind if name not in bare] or of_kind
    for config in chosen or known:
        if config not in of_kind:
            kind = known[config]["kind"]
            command = TABLE_KINDS[kind].command if kind in TABLE_KINDS else "another command"
            raise EvaluationError(
                f"dataset {source.name!r}, config {config!r}: a table of kind {kind!r}; "
                f"expected {wanted.name} ({command} reads it)"
            )
        if config in bare:
            raise EvaluationError(
                f"dataset {source.name!r}, config {config!r}: a stand-off release, which has no "
                f"texts; first run `coherencegym rebuild {source.name} --data-dir PATH` with your "
                f"copy of {known[config]['corpus']['name']}, and name the folder that it makes"
            )
    return {
        config: {
            split: partial(_rows, source, config, split, in_memory)
            for split in known[config]["splits"]
        }
        for config in chosen
    }


def _rows(
    source: Source, config: str, split: str, in_memory: Callable[[int], bool], where: str
) -> _Rows:
    files = sorted((source.folder / "data" / config).glob(f"{split}-*-of-*.parquet"))
    if not files:
        raise EvaluationError(f"{where}: no file data/{config}/{split}-*.parquet")

    def all_of(parts: Iterable[Iterable[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        try:
            yield from chain.from_iterable(parts)
        except EvaluationError as error:
            detail = str(error).removeprefix(f"{source.folder}/")
            raise EvaluationError(f"{where}: {detail}") from None

    try:
        stored = [stored_rows(file) for file in files]
    except EvaluationError:
        # What is wrong is said where the file is read.
        stored = []
    number = sum(map(len, stored))
    if not stored or in_memory(number):
        return list(all_of(map(parquet_rows, files)))
    return StoredRows(number, lambda: all_of(stored))


def _foreign(
    source: Source,
    configs: Sequence[str],
    wanted: TableKind[Any],
    in_memory: Callable[[int], bool],
) -> Mapping[str, _Tables]:
    import datasets

    datasets.logging.set_verbosity_error()
    datasets.disable_progress_bars()
    folder = str(source.folder)
    with _readable(source):
        known = config_names(folder)
        _require(configs, known, source)
        loaded = {config: builder_of(folder, config) for config in configs or known}
        columns = {
            (config, str(split)): list(next(rows_of(builder, split), {}))
            for config, builder in loaded.items()
            for split in builder.config.data_files
        }
    if not configs:
        # Those of another kind are for another task, as they are where a manifest says so.
        of_kind = {config for (config, _), names in columns.items() if wanted.mark in names}
        columns = {key: names for key, names in columns.items() if key[0] in of_kind} or columns
    found: dict[str, dict[str, Callable[[str], _Rows]]] = {}
    for (config, split), names in columns.items():
        found.setdefault(config, {})[split] = partial(
            _marked, source, loaded[config], split, names, wanted, in_memory
        )
    return found


@contextmanager
def _readable(source: Source) -> Iterator[None]:
    try:
        yield
    except EvaluationError:
        raise
    except Exception as error:
        # The libraries raise whatever their readers raise; to the user it is one thing.
        why = blank_file(source.folder) or first_line(error)[:200]
        raise EvaluationError(f"dataset {source.name!r}: cannot be read ({why})") from None


def _marked(
    source: Source,
    builder: Any,
    split: str,
    names: Sequence[str],
    wanted: TableKind[Any],
    in_memory: Callable[[int], bool],
    where: str,
) -> _Rows:
    if names and wanted.mark not in names:
        raise EvaluationError(
            f"{where}: no column {wanted.mark!r}; expected a table of {wanted.name}, found "
            f"{', '.join(names)}"
        )

    def rows() -> Iterator[dict[str, Any]]:
        with _readable(source):
            features = class_names(builder, split) if wanted.labels else {}
            for row in rows_of(builder, split):
                own = {key: row[key] for key in row if key in wanted.columns or _is_json(row[key])}
                # What a file has by name needs none.
                numbered = {key: features[key] for key in features if type(own.get(key)) is not str}
                try:
                    yield dict(with_names(own, numbered))
                except EvaluationError as error:
                    raise EvaluationError(f"{where}: {error}") from None

    with _readable(source):
        number = sum(1 for _ in rows_of(builder, split, (IDENTITY,)))
    return list(rows()) if in_memory(number) else StoredRows(number, rows)


def _is_json(value: Any) -> bool:
    # Others stand in columns that nobody reads: points in time, pictures, numbers that are none.
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _require(wanted: Sequence[str], known: Iterable[str], source: Source) -> None:
    for name in wanted:
        if name not in known:
            raise EvaluationError(
                f"dataset {source.name!r}: no config {name!r}; "
                f"expected one of {', '.join(sorted(known))}{did_you_mean(name, known)}"
            )


def _published(path: Path, number: int, where: str) -> Iterator[object]:
    if not path.is_file():
        raise EvaluationError(f"{where}: no row hashes (hashes/{path.name})")

    def wrong(error: EvaluationError) -> EvaluationError:
        detail = str(error).removeprefix(f"{path}: ")
        return EvaluationError(f"{where}: hashes/{path.name}: {detail}")

    def each(rows: StoredRows) -> Iterator[object]:
        try:
            yield from (row.get("sha256") for row in rows)
        except EvaluationError as error:
            raise wrong(error) from None

    try:
        stored = stored_rows(path)
    except EvaluationError as error:
        raise wrong(error) from None
    if len(stored) != number:
        raise EvaluationError(
            f"{where}: {number} rows, but {len(stored)} were published; the data are damaged"
        )
    return each(stored)
