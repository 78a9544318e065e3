"""The rows of a dataset's tables, of any kind, verified against the hashes that its build wrote."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import Source
from coherencegym.eval.kinds.registry import KINDS
from coherencegym.eval.kinds.table_kind import IDENTITY, SuiteError, TableKind, row_hash
from coherencegym.files.parquet_rows import parquet_rows
from coherencegym.files.strict_json import Many, held

Rows = list[dict[str, Any]]
T = TypeVar("T")


@dataclass(frozen=True)
class TableRows(Generic[T]):
    """The rows of one config and split.

    Attributes:
        kind: what a row is.
        where: dataset, config and split, as errors name them.
        config, split: which.
        rows: in the order of the table.
        rows_sha256: digest (hex) over the row hashes of the whole table, in order.
        verified: the row hashes were compared with those that the build wrote.
        about: what the manifest says of the config; empty for a dataset without one.
    """

    kind: TableKind[T]
    where: str
    config: str
    split: str
    rows: Rows
    rows_sha256: str
    verified: bool
    about: Mapping[str, Any]

    @property
    def breakdowns(self) -> tuple[str, ...]:
        """The columns by whose values scores are also reported."""
        return tuple(map(str, self.about.get("breakdowns", ())))

    def read(self, most: int | None = None) -> tuple[T, ...]:
        """Read the rows as what they are, no more than ``most`` from the start.

        Raises:
            EvaluationError: one is not valid, two have the same id, or a column is missing that
                the manifest names.
        """
        chosen = self.rows[:most]
        try:
            values = tuple(map(self.kind.from_row, chosen))
        except (SuiteError, EvaluationError) as error:
            raise EvaluationError(f"{self.where}: {error}") from None
        counts = Counter(row[IDENTITY] for row in chosen)
        repeated = [name for name, count in counts.items() if count > 1]
        if repeated:
            raise EvaluationError(f"{self.where}: item_id {repeated[0]!r} is there more than once")
        for column in self.breakdowns:
            if chosen and (column in self.kind.columns or column not in chosen[0]):
                raise EvaluationError(
                    f"{self.where}: no column {column!r}, which the manifest names"
                )
        return values

    def separated(self, values: Iterable[T]) -> bool:
        """Say whether ``[SEP]`` in a text is a change of speaker, as the manifest or texts say."""
        says = self.about.get("separator")
        return self.kind.separated(values) if says is None else bool(says)


def table_rows(
    source: Source,
    configs: Sequence[str] = (),
    splits: Sequence[str] | None = None,
    *,
    kind: TableKind[T],
    test_only: bool = False,
) -> Iterator[TableRows[T]]:
    """The tables of one kind of a dataset.

    Args:
        source: from :func:`eval.data.source.find`.
        configs: only these; none: every config of the kind.
        splits: only these, of the configs that have them; None: all.
        kind: which.
        test_only: of a config that has the splits ``train`` and ``test`` read only ``test``.

    Raises:
        EvaluationError: a config is not there or holds another kind of table, no config has any of
            the splits, or the rows are not those that were published.
    """
    reader = _built_tables if source.manifest else _foreign_tables
    for config, split, rows, about in reader(source, configs, splits, kind, test_only):
        where = f"dataset {source.name!r}, config {config!r}, split {split!r}"
        hashes = _hashes(rows, where)
        verified = bool(source.manifest)
        if verified:
            _verify(source.folder / "hashes" / f"{config}-{split}.parquet", rows, hashes, where)
        digest = hashlib.sha256("\n".join(hashes).encode()).hexdigest()
        yield TableRows(kind, where, config, split, rows, digest, verified, about)


def _hashes(rows: Rows, where: str) -> list[str]:
    try:
        return [row_hash(row) for row in rows]
    except (TypeError, ValueError) as error:
        raise EvaluationError(f"{where}: a value that JSON cannot hold ({error})") from None


_Table = tuple[str, str, Rows, Mapping[str, Any]]


def _built_tables(
    source: Source,
    configs: Sequence[str],
    splits: Sequence[str] | None,
    wanted: TableKind[Any],
    test_only: bool,
) -> Iterator[_Table]:
    """Tables of a dataset with a manifest."""
    known = source.manifest["configs"]
    _require(configs, known, f"dataset {source.name!r}: no config")
    if not known:
        raise EvaluationError(f"dataset {source.name!r}: the manifest names no config")
    of_kind = wanted.configs(known)
    chosen = configs or of_kind
    for config in chosen or known:
        if config not in of_kind:
            kind = known[config]["kind"]
            command = KINDS[kind].command if kind in KINDS else "another command"
            raise EvaluationError(
                f"dataset {source.name!r}, config {config!r}: a table of kind {kind!r}; "
                f"expected {wanted.name} ({command} reads it)"
            )
    found = {name for config in chosen for name in known[config]["splits"]}
    _require_any(splits, found, f"dataset {source.name!r}")
    for config in chosen:
        for split in _wanted(known[config]["splits"], splits, test_only):
            yield config, split, _rows(source, config, split), known[config]


def _rows(source: Source, config: str, split: str) -> Rows:
    files = sorted((source.folder / "data" / config).glob(f"{split}-*-of-*.parquet"))
    where = f"dataset {source.name!r}, config {config!r}, split {split!r}"
    if not files:
        raise EvaluationError(f"{where}: no file data/{config}/{split}-*.parquet")
    try:
        return [row for file in files for row in parquet_rows(file)]
    except EvaluationError as error:
        detail = str(error).removeprefix(f"{source.folder}/")
        raise EvaluationError(f"{where}: {detail}") from None


@dataclass(frozen=True, slots=True)
class _Hash:
    sha256: str


@dataclass(frozen=True, slots=True)
class _Hashes:
    rows: Many[_Hash]


def _verify(path: Path, rows: Rows, hashes: Sequence[str], where: str) -> None:
    """Hold the rows to the hashes that the build wrote.

    Raises:
        EvaluationError: there are no hashes, or a row is missing, added, changed or out of order.
    """
    if not path.is_file():
        raise EvaluationError(f"{where}: no row hashes (hashes/{path.name})")
    try:
        published = held({"rows": parquet_rows(path)}, _Hashes).rows
    except EvaluationError as error:
        detail = str(error).removeprefix(f"{path}: ")
        raise EvaluationError(f"{where}: hashes/{path.name}: {detail}") from None
    if len(published) != len(rows):
        raise EvaluationError(
            f"{where}: {len(rows)} rows, but {len(published)} were published; the data are damaged"
        )
    for row, found, expected in zip(rows, hashes, published, strict=True):
        if found != expected.sha256:
            raise EvaluationError(
                f"{where}: item {row.get('item_id')!r} is not the row that was published "
                "(its hash differs); the data were changed or are damaged"
            )


def _foreign_tables(
    source: Source,
    configs: Sequence[str],
    splits: Sequence[str] | None,
    wanted: TableKind[Any],
    test_only: bool,
) -> Iterator[_Table]:
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
    _require_any(splits, {str(s) for d in loaded.values() for s in d}, f"{source.name!r}")
    for config, tables in loaded.items():
        for name in _wanted(list(map(str, tables)), splits, test_only):
            table = tables[name]
            if wanted.mark not in table.column_names:
                raise EvaluationError(
                    f"dataset {source.name!r}, config {config!r}: no column "
                    f"{wanted.mark!r}; expected a table of {wanted.name}, found "
                    f"{', '.join(table.column_names)}"
                )
            yield config, name, table.to_list(), {}


def _wanted(there: Iterable[str], splits: Sequence[str] | None, test_only: bool) -> list[str]:
    """The splits of a config that are read, in their order."""
    names = [name for name in there if splits is None or name in splits]
    # Where there is a split to learn from, the others are not for testing.
    return ["test"] if test_only and {"train", "test"} <= set(names) else names


def _require(wanted: Sequence[str], known: Any, what: str) -> None:
    for name in wanted:
        if name not in known:
            raise EvaluationError(f"{what} {name!r}; expected one of {', '.join(sorted(known))}")


def _require_any(splits: Sequence[str] | None, known: set[str], where: str) -> None:
    if splits is not None and not known & set(splits):
        raise EvaluationError(
            f"{where}: no split {' or '.join(map(repr, splits))}; "
            f"expected one of {', '.join(sorted(known))}"
        )
