"""The tables of a run in memory: filled by a task, and read by metrics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from coherencegym.eval.models.machine import give_back_pieces
from coherencegym.eval.outcomes.schema import (
    FLAGS,
    OPTIONAL,
    Group,
    OutcomeRow,
    System,
    UnitRow,
    groups_of_text,
    outcome_schemas,
    text_of_groups,
)
from coherencegym.eval.statistics.effective_size import WITH, cluster_pairs, dyads_of

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, eq=False, slots=True)
class Cells:
    """The outcomes of one system under one metric, on units that have a value: arrays.

    Attributes:
        unit: ids of the units.
        item: numbers of their items, the same in all cells of tables.
        value, weight, target, given: see :class:`eval.outcomes.schema.OutcomeRow`; NaN where none.
        cluster: whole numbers in the order of their names, the same in all cells of tables; two
            columns where some are dyads, the numbers of both documents.
        left_out: outcomes without a value, by reason.
    """

    unit: Any
    item: Any
    value: Any
    weight: Any
    target: Any
    given: Any
    cluster: Any
    left_out: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.unit)

    def take(self, places: np.ndarray) -> Cells:
        """Some of them; what was left out is that of all."""
        arrays = {one.name: getattr(self, one.name) for one in fields(self)}
        del arrays["left_out"]
        return replace(self, **{name: _taken_from(own, places) for name, own in arrays.items()})


def join_cells(tables: Sequence[Cells]) -> Cells:
    """The outcomes of several cells, of the same run."""
    import numpy as np

    arrays = [one.name for one in fields(Cells) if one.name != "left_out"]
    both: dict[str, Any] = {
        name: np.concatenate([getattr(own, name) for own in tables]) for name in arrays
    }
    return replace(tables[0], **both)


def _taken_from(values: Any, places: np.ndarray) -> Any:
    import numpy as np

    # One number that stands for all takes no memory, and is not to take any.
    return values[places] if values.strides != (0,) else np.broadcast_to(values[:1], len(places))


#: The config, the split and the metric of outcomes, and the system that they are of.
SeriesKey = tuple[str, str, str, System]


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

    @cached_property
    def series(self) -> dict[SeriesKey, np.ndarray]:
        """The places of outcomes (their row numbers) by table, metric and system.

        They are in the order of the table, and the keys in that of their first outcomes.
        """
        import numpy as np

        found: dict[SeriesKey, np.ndarray] = {}
        if not len(self):
            return found
        columns = self._arrays
        names = {name: self.unit_codes(name, slice(None)) for name in ("config", "split")}
        # Anybody may have written the tables, with as many names as codes have room for.
        numbers = [len(there) for _, there in names.values()]
        numbers += [len(self._metrics), len(self.systems)]
        room: Any = np.int16 if math.prod(numbers) <= _FEW else np.int64
        key = np.zeros(len(self), room)
        all_codes = (
            *(own[columns["unit_id"]] for own, _ in names.values()),
            columns["metric"],
            columns["system_id"],
        )
        for codes, number in zip(all_codes, numbers, strict=True):
            key *= number
            key += codes
        for code, place in first_places(key):
            unit = columns["unit_id"][place]
            config, split = (there[own[unit]] for own, there in names.values())
            metric = self._metrics[columns["metric"][place]]
            name = config, split, metric, self.systems[columns["system_id"][place]]
            places = np.flatnonzero(key == code).astype(np.int32)
            # Files may have a name or a system twice.
            found[name] = np.union1d(found[name], places) if name in found else places
        return found

    def places_of(self, config: str, split: str, metric: str, system: System) -> np.ndarray:
        """The places of a system's outcomes on a table under a metric; empty: there are none."""
        import numpy as np

        return self.series.get((config, split, metric, system), np.zeros(0, np.int32))

    def parts(self, places: np.ndarray, by_group: bool = True) -> dict[Group | None, np.ndarray]:
        """Some places whole (None) and, if asked for, by the groups of their units.

        Groups of one column come together.
        """
        of, own, names = self.memberships(places)
        if not by_group or not len(own):
            return {None: places}
        there = [code for code, _ in first_places(own)]
        columns = list(dict.fromkeys(_column(names[code]) for code in there))
        there.sort(key=lambda code: columns.index(_column(names[code])))
        return {None: places, **{names[code]: of[own == code] for code in there}}

    def memberships(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Group]]:
        """The groups of the units of some outcomes.

        Returns:
            The place and the code of the group of each membership, in the order of the places and
            then of the groups of a unit, and the groups by their codes.
        """
        import numpy as np

        sets, starts, codes, names = self._groups
        own = sets[self._arrays["unit_id"][places]]
        counts = (starts[1:] - starts[:-1])[own]
        # The place of each membership among all, less that of the first of its unit, and its start.
        offsets = np.arange(counts.sum(), dtype=np.int32)
        before = np.cumsum(counts, dtype=np.int32) - counts
        offsets += np.repeat(starts[own] - before, counts)
        return np.repeat(places, counts), codes[offsets], names

    def unit_codes(self, column: str, units: Any) -> tuple[np.ndarray, list[str]]:
        """The codes of some units in a column of names, and the names that they stand for."""
        codes, names = self._names[column]
        return codes[units], names

    def units_of(self, places: np.ndarray) -> Any:
        """The ids of the units of some outcomes: an array."""
        return self._arrays["unit_id"][places]

    def flags(self, places: np.ndarray, name: str) -> Any:
        """True for each outcome that has a flag of :data:`eval.outcomes.schema.FLAGS`: an array."""
        return (self._arrays["flags"][places] & FLAGS[name]) > 0

    def items(self, places: np.ndarray) -> Any:
        """The numbers of the items of some outcomes, by their first places: an array."""
        return self._items[self._arrays["unit_id"][places]]

    def with_reason(self, places: np.ndarray, reason: str) -> Any:
        """Those of some places at which there is no value for this reason."""
        import numpy as np

        there = np.array([name == reason for name in self._reasons], bool)
        return places[there[self._arrays["reason"][places]]]

    def reasons(self, places: np.ndarray) -> Counter[str]:
        """The reasons why outcomes have no value, with the number of each."""
        return Counter(self._reasons[code] for code in self._arrays["reason"][places].tolist())

    def by_unit(self, metric: str, system: System, column: str = "value") -> Any:
        """A column of a system's outcomes under a metric, by the ids of units: an array.

        NaN where a unit has none.
        """
        import numpy as np

        columns, found = self._arrays, np.full(len(self.units), np.nan)
        if metric in self._metrics and column in columns:
            same = columns["metric"] == self._metrics.index(metric)
            same &= columns["system_id"] == self.systems.index(system)
            found[columns["unit_id"][same]] = columns[column][same]
        return found

    def has_value(self, places: np.ndarray) -> Any:
        """True for each outcome that has a value: an array."""
        import numpy as np

        return ~np.isnan(self._arrays["value"][places])

    def cells(self, places: np.ndarray) -> Cells:
        """The outcomes at some places, of one system."""
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
            item=self._items[unit],
            value=value[there],
            **{name: self._optional(name, known) for name in OPTIONAL},
            cluster=self._clusters[unit],
            left_out=Counter(names[code] for code in missing.tolist()),
        )

    def _optional(self, column: str, places: np.ndarray) -> np.ndarray:
        import numpy as np

        if column in self.outcomes.column_names:
            found: np.ndarray = self._arrays[column][places]
            return found
        return np.broadcast_to(np.nan, len(places))

    def rows(self, places: np.ndarray | None = None) -> Iterator[OutcomeRow]:
        """The outcomes one by one, all or those at some places."""
        rows = self.outcomes if places is None else self.outcomes.take(places)
        for batch in rows.to_batches(max_chunksize=_AT_A_TIME):
            units = self.unit_rows(batch["unit_id"])
            for row, unit in zip(batch.drop_columns(["unit_id"]).to_pylist(), units, strict=True):
                yield OutcomeRow(unit=unit, system=self.systems[row.pop("system_id")], **row)

    def unit_rows(self, ids: Any = None) -> Iterator[UnitRow]:
        """The units one by one, all or those of some ids, an array."""
        units = self.units.drop(["id"]) if ids is None else self.units.drop(["id"]).take(ids)
        for batch in units.to_batches(max_chunksize=_AT_A_TIME):
            for row in batch.to_pylist():
                yield UnitRow(groups=groups_of_text(row.pop("groups")), **row)

    def moved_items(self) -> Any:
        """True for each unit with another cluster than its item's first: an array."""
        import numpy as np

        cluster = _in_one_piece(self.units["cluster"]).indices.to_numpy()
        (config, _), (split, splits) = (self._names[name] for name in ("config", "split"))
        table = config.astype(np.int64) * len(splits) + split
        items = table * (int(self._items.max(initial=0)) + 1) + self._items
        _, first, item = np.unique(items, return_index=True, return_inverse=True)
        return cluster != cluster[first[item]]

    def select(self, places: np.ndarray) -> OutcomeTables:
        """The outcomes at some places alone."""
        return replace(self, outcomes=self.outcomes.take(places))

    def paired(self, other: OutcomeTables) -> tuple[OutcomeTables, OutcomeTables]:
        """The outcomes that another run has, too, of the same unit, metric and system.

        Both are in one order, and on the units and systems of this run.
        """
        import numpy as np

        if self.units.equals(other.units):
            units = np.arange(len(self.units))
        else:
            number_of = {unit.key: number for number, unit in enumerate(other.unit_rows())}
            units = np.array([number_of.get(unit.key, -1) for unit in self.unit_rows()], np.int64)
        found = np.full(len(self), -1)
        for key, places in self.series.items():
            if (same := other.series.get(key)) is not None:
                # The last one stands for units that the other has not got.
                place_of = np.full(len(other.units) + 1, -1)
                place_of[other._arrays["unit_id"][same]] = same
                found[places] = place_of[units[self._arrays["unit_id"][places]]]
        ours = self.select(np.flatnonzero(found >= 0))
        outcomes = other.outcomes.take(found[found >= 0])
        for name in ("unit_id", "system_id"):
            place = outcomes.column_names.index(name)
            outcomes = outcomes.set_column(place, name, ours.outcomes[name])
        return ours, replace(ours, outcomes=outcomes)

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        own = self.outcomes
        names = ("unit_id", "system_id", "flags", "value", *OPTIONAL)
        found = {name: _numbers(own[name]) for name in names if name in own.column_names}
        for name in ("metric", "reason"):
            found[name] = codes_of(own[name])[0]
        return found

    @cached_property
    def _metrics(self) -> list[str]:
        return codes_of(self.outcomes["metric"])[1]

    @cached_property
    def _reasons(self) -> list[str]:
        return codes_of(self.outcomes["reason"])[1]

    @cached_property
    def _names(self) -> dict[str, tuple[np.ndarray, list[str]]]:
        columns = ("config", "split", "formula", "aggregation")
        return {column: codes_of(self.units[column]) for column in columns}

    @cached_property
    def _clusters(self) -> Any:
        import numpy as np

        whole = _in_one_piece(self.units["cluster"])
        ranks = _ranks_of(whole.dictionary)
        if _has_dyads(whole.dictionary):
            ranks = dyads_of(np.array(whole.dictionary.to_pylist()))
        return ranks[whole.indices.to_numpy()]

    @cached_property
    def _items(self) -> Any:
        import numpy as np

        ranks = _ranks_of(_in_one_piece(self.units["item"]))
        first = np.empty(int(ranks.max(initial=-1)) + 1, np.int32)
        first[ranks[::-1]] = np.arange(len(ranks) - 1, -1, -1, dtype=np.int32)
        number = np.empty(len(first), np.int32)
        number[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
        return number[ranks]

    @cached_property
    def _groups(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[Group]]:
        # The set of groups of each unit, the start of each set in the codes of all, and what these
        # stand for.
        import numpy as np

        units, texts = codes_of(self.units["groups"])
        sets = list(map(groups_of_text, texts))
        starts = np.cumsum([0, *map(len, sets)], dtype=np.int32)
        number_of: dict[Group, int] = {}
        codes = [number_of.setdefault(one, len(number_of)) for own in sets for one in own]
        return units, starts, np.array(codes, np.int32), [*number_of]


#: Rows that are Python objects at a time.
_AT_A_TIME = 1 << 13
#: Codes of so many things have room in two bytes.
_FEW = 1 << 15
#: Codes up to this one, and as many more as there are places, are counted; others are sorted.
_ROOM = 1 << 16


def first_places(codes: np.ndarray) -> list[tuple[int, int]]:
    """The codes that there are (none negative), each with its first place, by these."""
    import numpy as np

    most = int(codes.max(initial=-1)) + 1
    if most > _ROOM + len(codes):
        known, places = np.unique(codes, return_index=True)
        found = zip(known.tolist(), places.tolist(), strict=True)
        return sorted(found, key=itemgetter(1))
    first = np.full(most, -1)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1, dtype=np.int32)
    there = np.flatnonzero(first >= 0)
    return [(int(code), int(first[code])) for code in there[np.argsort(first[there])]]


def count_distinct(numbers: np.ndarray) -> int:
    """The count of different numbers (none negative), or of the clusters of dyads."""
    import numpy as np

    if numbers.ndim == 2:
        return cluster_pairs(numbers)[0]
    return int(np.count_nonzero(np.bincount(numbers))) if len(numbers) else 0


def _column(group: Group) -> str:
    # A group that no column makes stands for itself.
    return group[0] or group[1]


def _numbers(column: Any) -> np.ndarray:
    found: np.ndarray = _in_one_piece(column).to_numpy(zero_copy_only=False)
    return found


def codes_of(column: Any) -> tuple[np.ndarray, list[str]]:
    """The codes of a column of names, an array, and the names that they stand for."""
    whole = _in_one_piece(column)
    return whole.indices.to_numpy(zero_copy_only=False), whole.dictionary.to_pylist()


def _has_dyads(names: Any) -> bool:
    from pyarrow import compute

    return bool(compute.any(compute.match_substring(names, WITH)).as_py())


def _ranks_of(texts: Any) -> Any:
    """The rank of each text among all different ones (bytes of UTF-8 have the order of texts)."""
    import numpy as np
    from pyarrow import compute

    # By sorting: a hash table of many texts takes several times what they take.
    ranks = compute.rank(texts, "ascending", tiebreaker="dense").to_numpy()
    return np.subtract(ranks, 1, dtype=np.int32, casting="unsafe")


def _in_one_piece(column: Any) -> Any:
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)  # which is no copy
    if column.num_chunks > 1 and column.type == outcome_schemas()["units"].field("cluster").type:
        return _with_sorted_names(column)
    whole = column.unify_dictionaries().combine_chunks()
    return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole


def _with_sorted_names(column: Any) -> Any:
    """A column of codes whose parts have each their names, with one sorted dictionary."""
    import numpy as np
    import pyarrow as pa

    names = pa.concat_arrays([part.dictionary for part in column.chunks])
    ranks = _ranks_of(names)
    place = np.empty(int(ranks.max(initial=-1)) + 1, np.int32)
    place[ranks] = np.arange(len(ranks), dtype=np.int32)
    names = names.take(pa.array(place))
    codes, before = np.empty(len(column), np.int32), 0
    start = 0
    for part in column.chunks:
        codes[start : start + len(part)] = ranks[before:][part.indices.to_numpy()]
        start, before = start + len(part), before + len(part.dictionary)
    return pa.DictionaryArray.from_arrays(codes, names)


#: One number for all units, or one for each.
Numbers = float | Sequence[float | None] | None


class OutcomeWriter:
    """Collects what a task finds::

    units = writer.units(table.unit(row) for row in table.rows)
    writer.add(units, "spearman", system, values, target=ratings)
    """

    def __init__(self) -> None:
        # Each part is one object, and not one for each column: small objects that stay among those
        # of a task's part would keep nearly all the memory that the part took.
        self._units: list[Any] = []
        self._outcomes: list[Any] = []
        self._systems: dict[System, int] = {}
        self._count = 0

    def units(self, units: Iterable[UnitRow]) -> range:
        """Add units; their ids."""
        import pyarrow as pa

        rows = list(units)
        ids = range(self._count, self._count + len(rows))
        self._count = ids.stop
        columns: dict[str, Any] = {name: [getattr(one, name) for one in rows] for name in _UNIT}
        columns |= {"id": ids, "groups": [text_of_groups(one.groups) for one in rows]}
        made = {
            field.name: _kept(columns[field.name], field.type)
            for field in outcome_schemas()["units"]
        }
        self._units.append(pa.table(made))
        return ids

    def add(
        self,
        units: Sequence[int],
        metric: str | Sequence[str],
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
            metric: one for all, or that of each outcome, of units that may be there several times.
            values: None where there is none; ``reason`` says why, and stands for no other outcome.
            weight, target, given: see :class:`eval.outcomes.schema.OutcomeRow`.
        """
        import pyarrow as pa

        number = len(units)
        reasons = [reason] * number if isinstance(reason, str) else reason
        number_of = self._systems.setdefault(system, len(self._systems))
        columns = {
            "unit_id": units,
            "metric": [metric] * number if isinstance(metric, str) else metric,
            "system_id": [number_of] * number,
            "value": values,
            "reason": [
                why if value is None else "" for why, value in zip(reasons, values, strict=True)
            ],
            "flags": [flags] * number if isinstance(flags, int) else flags,
            **{
                name: [own] * number if isinstance(own, int | float) else own
                for name, own in (("weight", weight), ("target", target), ("given", given))
                if own is not None
            },
        }
        types = {field.name: field.type for field in outcome_schemas()["outcomes"]}
        made = {name: _kept(own, types[name]) for name, own in columns.items()}
        self._outcomes.append(pa.table(made))

    def tables(self, *, last: bool = False) -> OutcomeTables:
        """All that was added; ``last``: nothing is kept here any longer."""
        import pyarrow as pa

        known = outcome_schemas()
        made = self._outcomes, self._units
        outcomes_parts, units_parts = made if last else map(list, made)
        absent = {*OPTIONAL}.difference(*(part.column_names for part in outcomes_parts))
        schema = pa.schema([one for one in known["outcomes"] if one.name not in absent])
        outcomes = _together(outcomes_parts, schema)
        present = {*OPTIONAL} - absent
        empty = [name for name in present if outcomes[name].null_count == len(outcomes)]
        units = _together(units_parts, known["units"])
        return OutcomeTables(units, tuple(self._systems), outcomes.drop(empty))


_UNIT = [field.name for field in fields(UnitRow) if field.name != "groups"]


def _kept(values: Any, kind: Any) -> Any:
    # Arrow's own allocator gives nothing back of the pieces in which an array is left.
    import pyarrow as pa

    return pa.array(values, kind, memory_pool=pa.system_memory_pool())


def _together(parts: list[Any], schema: Any) -> Any:
    """The columns of parts, each in one piece; the parts give up a column after another."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for field in schema:
        pieces = chain.from_iterable(_taken(parts, field.name, field.type))
        whole = pa.chunked_array([*pieces], field.type)
        columns[field.name] = _in_one_piece(whole)
        del whole
        if len(parts) > 1:
            # What they took is free now, in other pieces.
            give_back_pieces()
    parts.clear()
    return pa.Table.from_arrays(list(columns.values()), schema=schema)


def _taken(parts: list[Any], name: str, kind: Any) -> Iterator[list[Any]]:
    """The pieces of a column, which the parts have no longer then; of one that has none, nulls."""
    import pyarrow as pa

    for number, part in enumerate(parts):
        if name in part.column_names:
            parts[number] = part.drop([name])
            yield part[name].chunks
        else:
            yield [pa.nulls(len(part), kind)]
