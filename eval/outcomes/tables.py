"""The tables of a run in memory: filled by a task, and read by metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from coherencegym.eval.outcomes.schema import (
    OPTIONAL,
    Group,
    OutcomeRow,
    System,
    UnitRow,
    outcome_schemas,
)


@dataclass(frozen=True, eq=False, slots=True)
class Cells:
    """The outcomes of one system under one metric, on units that have a value: arrays.

    Attributes:
        unit: ids of the units.
        value, weight, target, given: see :class:`eval.outcomes.schema.OutcomeRow`; NaN where none.
        cluster, discourse: whole numbers in the order of their names, the same in all cells of
            tables.
        left_out: outcomes without a value, by reason.
    """

    unit: Any
    value: Any
    weight: Any
    target: Any
    given: Any
    cluster: Any
    discourse: Any
    left_out: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.unit)


@dataclass(frozen=True, eq=False, slots=True)
class OutcomeSeries:
    """The outcomes of one table, metric and system.

    Attributes:
        places: their row numbers in the table of outcomes, in its order.
    """

    config: str
    split: str
    metric: str
    system: System
    places: Any

    @property
    def key(self) -> tuple[object, ...]:
        """The fields by which two runs are compared."""
        return self.config, self.split, self.metric, *self.system.key


@dataclass(frozen=True, eq=False)
class OutcomeTables:
    """The outcomes of a run.

    Attributes:
        units, outcomes: Arrow tables (:func:`eval.outcomes.schema.outcome_schemas`).
        systems: those that decided, by their ids.
    """

    units: Any
    systems: tuple[System, ...]
    outcomes: Any

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return int(self.units.nbytes + self.outcomes.nbytes)

    def series(self) -> Iterator[OutcomeSeries]:
        """The outcomes by table, metric and system, in the order of the first of each."""
        import numpy as np

        if not len(self):
            return
        columns = self._arrays
        unit = columns["unit_id"]
        keys = np.stack(
            [*(self._names[name][0][unit] for name in ("config", "split")), columns["metric"],
             columns["system_id"]], axis=1,
        )  # fmt: skip
        _, first, owner = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(owner.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(owner.ravel()))
        parts = np.split(order, ends[:-1])
        for number in np.argsort(first, kind="stable"):
            config, split, metric, system = keys[first[number]]
            yield OutcomeSeries(
                self._names["config"][1][config],
                self._names["split"][1][split],
                self._metrics[metric],
                self.systems[system],
                parts[number],
            )

    def parts(self, places: Any, by_group: bool = True) -> dict[Group | None, Any]:
        """Some places whole (None) and, if asked for, by the groups of their units.

        Groups of one column come together.
        """
        import numpy as np

        starts, codes, names = self._groups
        unit = self._arrays["unit_id"][places]
        counts = (starts[1:] - starts[:-1])[unit]
        if not by_group or not counts.sum():
            return {None: places}
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        own = codes[np.repeat(starts[unit], counts) + offsets]
        of = np.repeat(places, counts)
        _, first = np.unique(own, return_index=True)
        there = [int(own[number]) for number in sorted(first)]
        columns = list(dict.fromkeys(_column(names[code]) for code in there))
        there.sort(key=lambda code: columns.index(_column(names[code])))
        return {None: places, **{names[code]: of[own == code] for code in there}}

    def has_value(self, places: Any) -> Any:
        """True for each outcome that has a value: an array."""
        import numpy as np

        return ~np.isnan(self._arrays["value"][places])

    def cells(self, places: Any) -> Cells:
        """The outcomes at some places."""
        import numpy as np

        columns = self._arrays
        value = columns["value"][places]
        there = ~np.isnan(value)
        codes, names = columns["reason"], self._reasons
        missing = codes[places[~there]]
        known = places[there]
        unit = columns["unit_id"][known]
        return Cells(
            unit=unit,
            value=value[there],
            weight=columns["weight"][known],
            target=columns["target"][known],
            given=columns["given"][known],
            cluster=self._ranks["cluster"][unit],
            discourse=self._ranks["discourse"][unit],
            left_out=Counter(names[code] for code in missing.tolist()),
        )

    def rows(self, places: Any = None) -> Iterator[OutcomeRow]:
        """The outcomes one by one, all or those at some places."""
        about = self.unit_rows
        rows = self.outcomes if places is None else self.outcomes.take(places)
        for batch in rows.to_batches(max_chunksize=1 << 13):
            for row in batch.to_pylist():
                unit, system = about[row.pop("unit_id")], self.systems[row.pop("system_id")]
                yield OutcomeRow(unit=unit, system=system, **row)

    @cached_property
    def unit_rows(self) -> tuple[UnitRow, ...]:
        """The units by their ids."""
        found = []
        for row in self.units.drop(["id"]).to_pylist():
            groups = tuple((group["column"], group["value"]) for group in row.pop("groups"))
            found.append(UnitRow(groups=groups, **row))
        return tuple(found)

    def select(self, places: Any) -> OutcomeTables:
        """The outcomes at some places alone."""
        return replace(self, outcomes=self.outcomes.take(places))

    def paired(self, other: OutcomeTables) -> Iterator[tuple[OutcomeSeries, Any]]:
        """The outcomes that another run has, too, of the same unit, metric and system.

        The series have their places here, those there come beside them.
        """
        import numpy as np

        theirs = {one.key: one for one in other.series()}
        number_of = {unit.key: number for number, unit in enumerate(other.unit_rows)}
        units = np.array([number_of.get(unit.key, -1) for unit in self.unit_rows], np.int64)
        for one in self.series():
            if (same := theirs.get(one.key)) is None:
                continue
            # The last one stands for units that the other has not got.
            place_of = np.full(len(other.unit_rows) + 1, -1)
            place_of[other._arrays["unit_id"][same.places]] = same.places
            there = place_of[units[self._arrays["unit_id"][one.places]]]
            yield replace(one, places=one.places[there >= 0]), there[there >= 0]

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        """The columns of outcomes: numbers, codes of names."""
        import numpy as np

        own = self.outcomes.combine_chunks()
        found = {name: own[name].to_numpy() for name in ("unit_id", "system_id", "flags", "value")}
        for name in OPTIONAL:
            is_there = name in own.column_names
            found[name] = own[name].to_numpy() if is_there else np.broadcast_to(np.nan, len(own))
        for name in ("metric", "reason"):
            found[name] = _codes(own[name])[0]
        return found

    @cached_property
    def _metrics(self) -> list[str]:
        return _codes(self.outcomes["metric"])[1]

    @cached_property
    def _reasons(self) -> list[str]:
        return _codes(self.outcomes["reason"])[1]

    @cached_property
    def _names(self) -> dict[str, tuple[Any, list[str]]]:
        return {column: _codes(self.units[column]) for column in ("config", "split")}

    @cached_property
    def _ranks(self) -> dict[str, Any]:
        """Numbers of the names in columns of units, in the order of the names."""
        import numpy as np

        found = {}
        for column in ("cluster", "discourse"):
            codes, names = _codes(self.units[column])
            # As Python orders texts.
            order = {name: number for number, name in enumerate(sorted(names))}
            found[column] = np.array([order[name] for name in names], np.int32)[codes]
        return found

    @cached_property
    def _groups(self) -> tuple[Any, Any, list[Group]]:
        """The start of each unit's groups in the codes of all, and what these stand for."""
        import numpy as np

        column = self.units["groups"].combine_chunks()
        starts = np.asarray(column.offsets) - int(column.offsets[0].as_py() if len(column) else 0)
        pairs = [(one["column"], one["value"]) for one in column.flatten().to_pylist()]
        number_of: dict[Group, int] = {}
        codes = [number_of.setdefault(pair, len(number_of)) for pair in pairs]
        return starts, np.array(codes, np.int32), list(number_of)


def _column(group: Group) -> str:
    # A group that no column makes stands for itself.
    return group[0] or group[1]


def _codes(column: Any) -> tuple[Any, list[str]]:
    """The codes of a dictionary column, and its names."""
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if hasattr(whole, "chunk") else whole
    return whole.indices.to_numpy(zero_copy_only=False), whole.dictionary.to_pylist()


#: One number for all units, or one for each.
Numbers = float | Sequence[float | None] | None


class OutcomeWriter:
    """Collects what a task finds::

    units = writer.units(table.unit(row) for row in table.rows)
    writer.add(units, "spearman", system, values, target=ratings)
    """

    def __init__(self) -> None:
        self._units: list[Any] = []
        self._outcomes: list[Any] = []
        self._systems: dict[System, int] = {}
        self._count = 0

    def units(self, units: Iterable[UnitRow]) -> range:
        """Add units; their ids."""
        import pyarrow as pa

        rows = [
            {
                **{name: getattr(unit, name) for name in _UNIT},
                "groups": [{"column": column, "value": value} for column, value in unit.groups],
            }
            for unit in units
        ]
        ids = range(self._count, self._count + len(rows))
        self._count = ids.stop
        for number, row in zip(ids, rows, strict=True):
            row["id"] = number
        self._units.append(pa.Table.from_pylist(rows, schema=outcome_schemas()["units"]))
        return ids

    def add(
        self,
        units: Sequence[int],
        metric: str,
        system: System,
        values: Sequence[float | None],
        *,
        reason: str | Sequence[str] = "too_long",
        weight: Numbers = None,
        target: Numbers = None,
        given: Numbers = None,
        flags: int | Sequence[int] = 0,
    ) -> None:
        """Add the outcomes of a system under a metric, one for each of these units.

        Args:
            values: None where there is none; ``reason`` says why, and stands for no other outcome.
            weight, target, given: see :class:`eval.outcomes.schema.OutcomeRow`.
        """
        import pyarrow as pa

        number = len(units)
        reasons = [reason] * number if isinstance(reason, str) else reason
        number_of = self._systems.setdefault(system, len(self._systems))
        columns = {
            "unit_id": units,
            "metric": [metric] * number,
            "system_id": [number_of] * number,
            "value": values,
            "reason": [
                why if value is None else "" for why, value in zip(reasons, values, strict=True)
            ],
            "flags": [flags] * number if isinstance(flags, int) else flags,
            **{
                name: [own] * number if own is None or isinstance(own, int | float) else own
                for name, own in (("weight", weight), ("target", target), ("given", given))
            },
        }
        schema = outcome_schemas()["outcomes"]
        arrays = [pa.array(columns[field.name], field.type) for field in schema]
        self._outcomes.append(pa.Table.from_arrays(arrays, schema=schema))

    def tables(self) -> OutcomeTables:
        """All that was added."""
        known = outcome_schemas()
        outcomes = _together(self._outcomes, known["outcomes"])
        empty = [name for name in OPTIONAL if outcomes[name].null_count == len(outcomes)]
        units = _together(self._units, known["units"])
        return OutcomeTables(units, tuple(self._systems), outcomes.drop(empty))


_UNIT = [field.name for field in fields(UnitRow) if field.name != "groups"]


def _together(parts: Sequence[Any], schema: Any) -> Any:
    import pyarrow as pa

    whole = pa.concat_tables([schema.empty_table(), *parts])
    return whole.unify_dictionaries().combine_chunks()
