"""Tables of rows that tasks ask about, and outcomes on them that several tasks have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from coherencegym.errors import ConfigError
from coherencegym.eval.data.notes import Note, of_each, table_name
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.table_rows import TableRows, table_rows
from coherencegym.eval.kinds.table_kind import HUMAN_OK, TableKind
from coherencegym.eval.outcomes.label_metrics import Ratio
from coherencegym.eval.outcomes.metric import Metric
from coherencegym.eval.outcomes.schema import Group, System, UnitRow
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.statistics.scores import PEOPLE, text_of

_T = TypeVar("_T")


@dataclass(frozen=True)
class Table(Generic[_T]):
    """The rows of one config and split.

    Attributes:
        source: the dataset.
        config, split: names.
        rows: values of the kind, in the order of the table.
        rows_sha256: digest (hex) over the row hashes of the whole table, in order.
        verified: the row hashes were compared with those that the build wrote.
        separator: ``[SEP]`` in a text is a change of speaker.
        breakdowns: columns by whose values scores are also reported.
        digests: those of the rows of all splits that were read for it, each behind the split's
            name; none: its own is the only one.
    """

    source: Source
    config: str
    split: str
    rows: tuple[_T, ...]
    rows_sha256: str
    verified: bool
    separator: bool
    breakdowns: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source, read: TableRows[Any], rows: tuple[_T, ...], **more: Any) -> Self:
        """Rows that were read of a dataset; ``more`` are fields in place of what the table says."""
        about = {"breakdowns": read.breakdowns, **more}
        if "separator" not in about:
            about["separator"] = read.separated(rows)
        return cls(source, read.config, read.split, rows, read.rows_sha256, read.verified, **about)

    @property
    def name(self) -> str:
        """Config and split, for people."""
        return table_name(self.config, self.split)

    def unit(self, row: Any, part: str = "", groups: Sequence[Group] | None = None) -> UnitRow:
        """A row, or a part of one such as ``#2``, as outcomes are of it.

        Args:
            groups: those that it is in; None: those by the columns of ``breakdowns``.
        """
        if groups is None:
            extra = getattr(row, "extra", {})
            groups = [
                (column, text_of(extra[column]))
                for column in self.breakdowns
                if extra.get(column) not in (None, "")
            ]
        return UnitRow(
            config=self.config,
            split=self.split,
            item=row.item_id,
            unit=part,
            cluster=getattr(row, "cluster", row.discourse_id),
            groups=tuple(groups),
        )


def read_tables(
    kind: TableKind[_T], source: Source, configs: Sequence[str], split: str, max_items: int | None
) -> tuple[list[Table[_T]], list[Note]]:
    """The tables of a kind in a split, at least one, and what was left out."""

    def table_of(read: TableRows[_T]) -> Table[_T]:
        rows = read.read(max_items)
        if not rows:
            where = f"config {read.config!r}, split {read.split!r}"
            raise ConfigError(f"{where}: no row; expected at least one")
        return Table.of(source, read, rows)

    found = table_rows(source, configs, (split,), kind=kind)
    return of_each(found, table_of, named=bool(configs))


def add_parts(
    writer: OutcomeWriter,
    units: Sequence[int],
    metric: Metric,
    system: System,
    parts: Sequence[tuple[float | None, float]],
    reason: str | Sequence[str] = "",
) -> None:
    """Add outcomes that are parts of wholes, which only ratios have."""
    writer.add(
        units,
        metric.name,
        system,
        [value for value, _ in parts],
        reason=reason,
        weight=[whole for _, whole in parts] if isinstance(metric, Ratio) else None,
    )


def add_people(
    writer: OutcomeWriter, units: Sequence[int], rows: Sequence[Any], metric: Metric
) -> list[float]:
    """Add whether most people answered rows as these say, where any were judged.

    Returns:
        1 or 0 of each row that people judged.
    """
    said = (row.extra.get(HUMAN_OK) for row in rows)
    judged = [None if one is None else float(one) for one in said]
    known = [one for one in judged if one is not None]
    if known:
        people = System(role="people", label=PEOPLE)
        add_parts(writer, units, metric, people, [(one, 1.0) for one in judged], "not judged")
    return known
