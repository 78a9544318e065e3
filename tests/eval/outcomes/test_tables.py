"""The three tables: what a task writes is what metrics, groups and comparisons read."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.outcomes.files import OUTCOMES_FILE, SYSTEMS_FILE, UNITS_FILE, write_tables
from coherencegym.eval.outcomes.reading import read_outcome_tables
from coherencegym.eval.outcomes.schema import (
    FLAGS,
    MODEL,
    OPTIONAL,
    Group,
    OutcomeRow,
    System,
    UnitRow,
)
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter, first_places

OTHER = System(role="baseline", label="length")


def unit(number: int, config: str = "c", **more: Any) -> UnitRow:
    name = f"u{number}"
    own = {"cluster": f"k{number % 2}", **more}
    return UnitRow(config=config, split="test", item=name, **own)


def made(units: Sequence[UnitRow], systems: Sequence[System] = (MODEL,)) -> OutcomeTables:
    """Each unit's place is its value."""
    writer = OutcomeWriter()
    ids = writer.units(units)
    for system in systems:
        writer.add(ids, "m", system, [float(number) for number in range(len(units))])
    return writer.tables()


def test_series_come_by_table_metric_and_system_in_their_order() -> None:
    writer = OutcomeWriter()
    for config in ("z", "a"):
        ids = writer.units(unit(number, config) for number in range(3))
        for metric in ("second", "first"):
            for system in (OTHER, MODEL):
                writer.add(ids, metric, system, [0.5, None, 1.0], reason=["", "why", ""])
    tables = writer.tables()
    found = list(tables.series.values())
    assert list(tables.series) == [
        (config, "test", metric, system)
        for config in ("z", "a")
        for metric in ("second", "first")
        for system in (OTHER, MODEL)
    ]
    assert [places.tolist() for places in found] == np.arange(24).reshape(8, 3).tolist()
    assert tables.systems == (OTHER, MODEL)
    cells = tables.cells(found[5])
    assert (cells.value.tolist(), cells.unit.tolist()) == ([0.5, 1.0], [3, 5])
    assert cells.left_out == {"why": 1}
    assert tables.has_value(found[5]).tolist() == [True, False, True]
    assert tables.places_of("z", "test", "second", MODEL).tolist() == [3, 4, 5]
    assert tables.places_of("z", "test", "third", MODEL).tolist() == []
    assert OutcomeWriter().tables().series == {}


def test_series_whose_outcomes_come_in_turn_keep_their_order() -> None:
    writer = OutcomeWriter()
    ids = writer.units(map(unit, range(3)))
    for number in ids:
        for metric in ("a", "b"):
            writer.add([number], metric, MODEL, [float(number)])
    for (_, _, metric, _), places in writer.tables().series.items():
        assert places.tolist() == [("a", "b").index(metric) + 2 * n for n in range(3)]
    writer.add(ids, "a", OTHER, [0.0] * 3)
    writer.add(ids, "c", MODEL, [0.0] * 3)
    assert [tuple(key[2:]) for key in writer.tables().series] == [
        *(("a", MODEL), ("b", MODEL), ("a", OTHER), ("c", MODEL))
    ]


def test_clusters_are_numbers_in_the_order_of_their_names() -> None:
    names = ["b", "ä", "a", "B", "b", "10", "9"]
    tables = made([unit(n, cluster=name) for n, name in enumerate(names)])
    cells = tables.cells(np.arange(len(names)))
    known = sorted(set(names))
    assert cells.cluster.tolist() == [known.index(n) for n in names]
    # The same in all cells of the tables.
    part = tables.cells(np.array([1, 5]))
    assert part.cluster.tolist() == [known.index("ä"), known.index("10")]


def test_groups_of_a_column_come_together() -> None:
    groups: list[tuple[Group, ...]] = [
        (("genre", "news"), ("", "causal"), ("long", "true")),
        (),
        (("long", "false"), ("genre", "bio")),
        (("genre", "news"), ("", "temporal")),
    ]
    tables = made([unit(n, groups=own) for n, own in enumerate(groups)])
    (every,) = tables.series.values()
    found = tables.parts(every)
    assert {group: places.tolist() for group, places in found.items()} == {
        None: [0, 1, 2, 3],
        ("genre", "news"): [0, 3],
        ("genre", "bio"): [2],
        ("", "causal"): [0],
        ("long", "true"): [0],
        ("long", "false"): [2],
        ("", "temporal"): [3],
    }
    assert list(found) == [
        *(None, ("genre", "news"), ("genre", "bio"), ("", "causal"), ("long", "true")),
        *(("long", "false"), ("", "temporal")),
    ]
    assert list(tables.parts(every, by_group=False)) == [None]
    assert list(tables.parts(np.array([1]))) == [None]
    # Of some places the groups of their units alone, and of one that a unit is in twice both.
    some = tables.parts(np.array([3, 2]))
    assert {group: places.tolist() for group, places in some.items()} == {
        None: [3, 2], ("genre", "news"): [3], ("genre", "bio"): [2], ("", "temporal"): [3],
        ("long", "false"): [2],
    }  # fmt: skip


def test_columns_that_no_metric_needs_are_left_out() -> None:
    writer = OutcomeWriter()
    ids = writer.units(map(unit, range(2)))
    writer.add(ids, "m", MODEL, [1.0, 0.0])
    assert not {*OPTIONAL} & {*writer.tables().outcomes.column_names}
    writer.add(ids, "n", MODEL, [1.0, 0.0], target=[1.0, None])
    tables = writer.tables()
    assert {*OPTIONAL} & {*tables.outcomes.column_names} == {"target"}
    cells = tables.cells(np.array([0, 2, 3]))
    assert np.isnan(cells.target).tolist() == [True, False, True]
    assert np.isnan(cells.weight).all()
    assert [one.target for one in tables.rows()] == [None, None, 1.0, None]
    # One number stands for all units.
    writer.add(ids, "o", MODEL, [1.0, 0.0], weight=2)
    assert [one.weight for one in writer.tables().rows()][-2:] == [2.0, 2.0]


def test_outcomes_of_some_places() -> None:
    tables = made([unit(0), unit(1)], (MODEL, OTHER))
    assert [one.unit.item for one in tables.select(np.array([3, 0])).rows()] == ["u1", "u0"]
    rows = list(tables.rows())
    assert list(tables.rows(np.array([3, 0]))) == [rows[3], rows[0]]


# ---------------------------------------------------------------- two runs


def pairs(ours: OutcomeTables, theirs: OutcomeTables) -> list[tuple[OutcomeRow, OutcomeRow]]:
    here, there = ours.paired(theirs)
    return [
        pair
        for places in here.series.values()
        for pair in zip(here.rows(places), there.rows(places), strict=True)
    ]


def test_two_runs_are_paired_by_unit_metric_and_system() -> None:
    units = [*map(unit, range(4)), *(unit(n, "d") for n in range(2))]
    layer = System(label="layer 1", layer=1)
    ours = made(units[:5], (MODEL, OTHER, layer))
    # In another order, and with others.
    theirs = made([units[5], units[3], unit(9), units[0], units[1]], (OTHER, MODEL))
    found = pairs(ours, theirs)
    assert [(one.system.label, one.unit.item, one.value, other.value) for one, other in found] == [
        (label, *numbers)
        for label in ("", "length")
        for numbers in (("u0", 0, 3), ("u1", 1, 4), ("u3", 3, 1))
    ]
    assert all(one.unit == other.unit for one, other in found)
    assert all(one.system == other.system for one, other in found)
    assert pairs(ours, made([unit(9)])) == []
    rows = [row for places in ours.series.values() for row in ours.rows(places)]
    assert [one for one, _ in pairs(ours, ours)] == rows


def test_a_unit_that_a_run_has_twice_is_paired_with_one_of_them() -> None:
    """As somebody else's file may have it."""
    ours = made([unit(0), unit(9), unit(1)])
    for times in (2, 3):
        found = pairs(ours, made([*[unit(0)] * times, unit(1)]))
        assert [(one.unit.item, other.value) for one, other in found] == [
            ("u0", times - 1), ("u1", times),
        ]  # fmt: skip


#: The items that both runs have, those of theirs in their order, and what each run has of them.
PAIRED = st.lists(st.tuples(*[st.sampled_from("ab")] * 2, *[st.booleans()] * 4), max_size=8)


@given(PAIRED, st.booleans(), st.randoms(use_true_random=False))
def test_pairs_are_those_of_a_dictionary(drawn: list[Any], is_equal: bool, random: Any) -> None:
    """Where both runs have the same units, which are not looked up then, and where not."""
    units = [unit(n, config, unit=part) for n, (config, part, *_) in enumerate(drawn)]
    theirs = list(range(len(units)))
    if not is_equal:
        random.shuffle(theirs)
        theirs = theirs[: random.randint(0, len(theirs))]

    def filled(numbers: Sequence[int], side: int) -> OutcomeTables:
        writer = OutcomeWriter()
        ids = writer.units(units[number] for number in numbers)
        for place, system in enumerate((MODEL, OTHER)):
            own = [k for k, n in enumerate(numbers) if drawn[n][2 + 2 * side + place]]
            writer.add([ids[k] for k in own], "m", system, [float(numbers[k]) for k in own])
        return writer.tables()

    ours, others = filled(range(len(units)), 0), filled(theirs, 1)
    assert ours.units.equals(others.units) == (theirs == list(range(len(units))))
    there = {(row.unit.key, row.system): row for row in others.rows()}
    expected = [
        (row, there[row.unit.key, row.system])
        for places in ours.series.values()
        for row in ours.rows(places)
        if (row.unit.key, row.system) in there
    ]

    def place(pair: Any) -> Any:
        return pair[0].unit.key, pair[0].system.label

    assert sorted(pairs(ours, others), key=place) == sorted(expected, key=place)
    assert all(one.value == other.value for one, other in expected)


# ---------------------------------------------------------------- files

NAMES = st.text(st.characters(codec="utf-8"), max_size=4)
FLOATS = st.floats(-1e149, 1e149)
MAYBE = st.none() | FLOATS
# All units of an item are of one cluster.
UNITS = st.builds(
    UnitRow, config=NAMES, split=NAMES, item=NAMES, unit=NAMES,
    cluster=st.just(""), formula=NAMES, aggregation=NAMES,
    groups=st.lists(st.tuples(NAMES, NAMES)).map(tuple),
).map(lambda unit: replace(unit, cluster=unit.item[:1]))  # fmt: skip
NUMBERS = st.none() | st.integers(0, 2**31 - 1)
SYSTEMS = st.builds(
    System, role=st.sampled_from(["model", "baseline", "people"]), label=NAMES, layer=NUMBERS,
)  # fmt: skip
# No tie holds.
ROWS = st.tuples(MAYBE, MAYBE, MAYBE, MAYBE, st.integers(0, 7)).filter(
    lambda row: not (row[0] == 1 and row[4] & FLAGS["tie"])
)
ADDED = st.tuples(NAMES, SYSTEMS, st.lists(ROWS, min_size=1, max_size=4),
                  st.text("why", min_size=1, max_size=2))  # fmt: skip


@given(
    st.lists(UNITS, min_size=4, max_size=6),
    # One outcome of a unit under a metric, by each system.
    st.lists(ADDED, max_size=4, unique_by=lambda one: one[:2]),
)
def test_what_is_read_back_is_what_was_written(units: list[UnitRow], added: list[Any]) -> None:
    def write() -> OutcomeTables:
        writer = OutcomeWriter()
        writer.units(units[:2])
        writer.units(units[2:])
        for metric, system, rows, reason in added:
            values, weight, target, given_, flags = map(list, zip(*rows, strict=True))
            writer.add(range(len(rows)), metric, system, values, reason=reason, weight=weight,
                       target=target, given=given_, flags=flags)  # fmt: skip
        return writer.tables()

    expected = [
        OutcomeRow(
            unit=units[number], metric=metric, system=system, value=row[0],
            reason="" if row[0] is not None else reason, weight=row[1], target=row[2],
            given=row[3], flags=row[4],
        )
        for metric, system, rows, reason in added
        for number, row in enumerate(rows)
    ]  # fmt: skip
    tables = write()
    with tempfile.TemporaryDirectory() as name:
        first, second = Path(name, "first"), Path(name, "second")
        for folder, own in ((first, tables), (second, write())):
            folder.mkdir()
            write_tables(own, folder)
        read = read_outcome_tables(first)
        for file in (UNITS_FILE, SYSTEMS_FILE, OUTCOMES_FILE):
            assert (first / file).read_bytes() == (second / file).read_bytes(), file
        # Written again it is the same, too.
        write_tables(read, second)
        for file in (UNITS_FILE, SYSTEMS_FILE, OUTCOMES_FILE):
            assert (first / file).read_bytes() == (second / file).read_bytes(), file
    assert list(read.unit_rows()) == list(tables.unit_rows()) == list(units)
    assert read.systems == tables.systems == tuple(dict.fromkeys(own[1] for own in added))
    assert list(read.rows()) == list(tables.rows()) == expected
    assert [(key, places.tolist()) for key, places in read.series.items()] == [
        (key, places.tolist()) for key, places in tables.series.items()
    ]


# ---------------------------------------------------------------- memory


def test_many_outcomes_take_few_bytes() -> None:
    """Eight systems on 10,000 items take less than 230 bytes an item."""
    count = 10_000
    writer = OutcomeWriter()
    ids = writer.units(
        unit(n, cluster=f"document-{n // 4:05}",
             groups=(("genre", "abcd"[n % 4]),))
        for n in range(count)
    )  # fmt: skip
    for layer in range(8):
        writer.add(ids, "accuracy", System(label=f"layer {layer}", layer=layer), [1.0] * count)
    tables = writer.tables()
    assert len(tables) == 8 * count
    assert (tables.units.nbytes + tables.outcomes.nbytes) / count < 210


@given(st.lists(st.sampled_from([0, 1, 2, 7, 2**20, 2**40, 2**60]), max_size=20))
def test_codes_are_found_by_their_first_places_however_large_they_are(codes: list[int]) -> None:
    """Names of a file of anybody's may be so many that their product has no room in memory."""
    expected = [(code, codes.index(code)) for code in dict.fromkeys(codes)]
    assert first_places(np.array(codes, np.int64)) == expected
