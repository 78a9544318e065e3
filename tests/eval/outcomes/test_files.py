"""Tables of outcomes that anybody wrote: what is wrong is said in one line, with its file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.results import Rows, damage, put, without

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.estimates import estimates
from coherencegym.eval.outcomes.files import outcomes_digest, write_tables
from coherencegym.eval.outcomes.label_metrics import Ratio
from coherencegym.eval.outcomes.metrics import Accuracy, described_metrics
from coherencegym.eval.outcomes.reading import read_outcome_tables
from coherencegym.eval.outcomes.schema import (
    MODEL,
    OPTIONAL,
    Group,
    System,
    UnitRow,
    outcome_schemas,
)
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.results.folder import read_results

#: Names of which two may look like others when they are put together.
_NAMES = st.sampled_from(["", "a", "a b", "b", " ", "0"])
METRICS = {"m": Accuracy("m", "rightness"), "f1": Ratio("f1", "F1")}


def written(folder: Path) -> OutcomeTables:
    """Four units, one of them without a value, by two systems."""
    writer = OutcomeWriter()
    units = writer.units(
        UnitRow(config="c", split="test", item=f"u{n}", cluster=f"d{n}",
             groups=(("genre", "ab"[n % 2]),))
        for n in range(4)
    )  # fmt: skip
    for system in (MODEL, System(role="baseline", label="length")):
        writer.add(units, "m", system, [1.0, None, 0.0, 1.0])
        writer.add(units, "f1", system, [1.0, None, 0.0, 1.0], weight=[1.0, None, 2.0, 2.0])
    write_tables(writer.tables(), folder)
    return writer.tables()


def refused(
    folder: Path, path: Path, said: str, read: Callable[[Path], Any] = read_outcome_tables
) -> None:
    """The error is one line, begins with the file, and says what is wrong."""
    with pytest.raises(EvaluationError) as error:
        read(folder)
    line = str(error.value)
    assert line.startswith(f"{path}: ")
    assert said in line
    assert "\n" not in line
    assert len(line.removeprefix(str(path))) < 250


def test_what_nobody_touched_is_read(tmp_path: Path) -> None:
    tables = written(tmp_path)
    for name in outcome_schemas():
        damage(tmp_path, name, lambda rows: None)
    assert list(read_outcome_tables(tmp_path).rows()) == list(tables.rows())


def test_a_row_group_has_the_names_of_its_own_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where parts differ in their columns."""
    from pyarrow import parquet

    monkeypatch.setattr("coherencegym.eval.outcomes.files._AT_A_TIME", 2)
    writer, clusters = OutcomeWriter(), [["d1", "d0"], ["f", "f"], ["d4", "d5"]]
    for number, own in enumerate(clusters):
        names = [f"d{2 * number + place}" for place in range(2)] if "f" in own else own
        units = writer.units(
            UnitRow(config="c", split="test", item=f"u{name}", cluster=cluster)
            for name, cluster in zip(names, own, strict=True)
        )
        writer.add(units, "m", MODEL, [1.0, 0.0], target=[1.0, 2.0] if number == 1 else None)
    tables = writer.tables()
    write_tables(tables, tmp_path)
    read = read_outcome_tables(tmp_path)
    assert list(read.rows()) == list(tables.rows())
    assert [row.unit.cluster for row in read.rows()] == [name for own in clusters for name in own]
    assert [row.target for row in read.rows()] == [None, None, 1.0, 2.0, None, None]
    with parquet.ParquetFile(tmp_path / "units.parquet") as file:
        groups = [file.read_row_group(number)["cluster"] for number in range(3)]
    assert [len(one.chunk(0).dictionary) for one in groups] == [2, 1, 2]


@given(st.lists(st.lists(st.tuples(_NAMES, _NAMES), max_size=3).map(tuple), min_size=1, max_size=9))
def test_groups_that_many_units_have_are_in_memory_once(groups: list[tuple[Group, ...]]) -> None:
    """In memory and when they are read again, in the parts in which they came."""
    writer = OutcomeWriter()
    for number, own in enumerate(groups):
        about = {"config": "c", "split": "test", "item": f"u{number}"}
        row = UnitRow(**about, cluster=f"d{number % 2}", groups=own)
        writer.add(writer.units([row]), "m", MODEL, [1.0])
    tables = writer.tables()
    with TemporaryDirectory() as folder:
        write_tables(tables, Path(folder))
        read = read_outcome_tables(Path(folder))
    assert list(read.unit_rows()) == list(tables.unit_rows())
    assert [row.groups for row in read.unit_rows()] == groups
    for one in (tables, read):
        (chunk,) = one.units["groups"].chunks
        assert len(chunk.dictionary) == len({*groups})


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("units", put(1, id=3), "ids; expected 0, 1, 2"),
        ("units", put(1, id=None), "id is null; expected a value"),
        ("units", put(1, cluster=None), "cluster is null; expected a value"),
        ("units", put(1, groups=None), "groups is null; expected a value"),
        *(
            ("units", put(1, groups=text), "row 1: groups; expected JSON, a list of pairs")
            for text in ("", "{}", '[["a"]]', '[["a", 1]]', "[null]", "[" * 100_000)
        ),
        ("units", without("formula"), "other columns; expected id, config, split"),
        ("systems", put(1, id=0), "row 1: id 0"),
        ("systems", put(1, role="judge"), "row 1: id 1, role 'judge'; expected id 1, and one of"),
        ("systems", put(0, role=None), "role is null; expected a value"),
        ("systems", put(0, label=None), "label is null; expected a value"),
        ("systems", without("layer"), "other columns"),
        ("outcomes", put(2, unit_id=4), "row 2: unit_id; expected 0 to 3"),
        ("outcomes", put(2, unit_id=-1), "row 2: unit_id; expected 0 to 3"),
        ("outcomes", put(2, unit_id=None), "unit_id is null"),
        ("outcomes", put(3, system_id=2), "row 3: system_id; expected 0 to 1"),
        ("outcomes", put(3, system_id=-1), "row 3: system_id; expected 0 to 1"),
        ("outcomes", put(3, metric=None), "metric is null"),
        ("outcomes", put(3, flags=None), "flags is null"),
        ("outcomes", put(3, value=math.inf), "row 3: value is not finite, or vast; expected"),
        ("outcomes", put(3, value=math.nan), "row 3: value is not finite, or vast; expected"),
        ("outcomes", put(6, weight=-math.inf), "row 6: weight is not finite, or vast"),
        ("outcomes", put(6, weight=1.7e308), "row 6: weight is not finite, or vast"),
        ("outcomes", put(3, unit_id=2), "row 3: the unit has another outcome of this system"),
        ("outcomes", put(0, reason="too_long"), "row 0: expected either a value or a reason"),
        ("outcomes", put(3, value=None), "row 3: expected either a value or a reason"),
        ("outcomes", put(1, reason=""), "row 1: expected either a value or a reason"),
        ("outcomes", put(1, value=1.0), "row 1: expected either a value or a reason"),
        ("outcomes", put(1, reason=None), "reason is null"),
        ("outcomes", without("flags"), "other columns"),
        ("outcomes", without("value"), "other columns"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(
    tmp_path: Path, name: str, change: Callable[[Rows], Any], said: str
) -> None:
    written(tmp_path)
    refused(tmp_path, damage(tmp_path, name, change), said)


@pytest.mark.parametrize("name", list(outcome_schemas()))
def test_a_file_that_is_none(tmp_path: Path, name: str) -> None:
    written(tmp_path)
    path = tmp_path / f"{name}.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    refused(tmp_path, path, "cannot be read")
    path.unlink()
    with pytest.raises(EvaluationError, match=rf"no {path.name}; expected the whole folder"):
        read_outcome_tables(tmp_path)


def test_columns_of_other_types_and_others(tmp_path: Path) -> None:
    import pyarrow as pa

    written(tmp_path)
    kind = pa.string()
    path = damage(tmp_path, "outcomes", put(0, more="x"), more=kind)
    refused(tmp_path, path, "other columns")
    written(tmp_path)
    path = damage(tmp_path, "outcomes", lambda rows: None, value=pa.float32())
    refused(tmp_path, path, "other columns")


def test_optional_columns_may_be_missing_and_tables_may_be_empty(tmp_path: Path) -> None:
    written(tmp_path)
    damage(tmp_path, "outcomes", without("weight"))
    assert not {*OPTIONAL} & {*read_outcome_tables(tmp_path).outcomes.column_names}
    write_tables(OutcomeWriter().tables(), tmp_path)
    read = read_outcome_tables(tmp_path)
    assert (len(read), read.systems, list(read.unit_rows()), read.series) == (0, (), [], {})


# ---------------------------------------------------------------- held to results.json


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole folder of results."""
    tables = written(tmp_path)
    scores = [score for _, _, score in estimates(tables, METRICS)]
    document = {
        "format": 1,
        "task": "toy",
        "signature": "s",
        "model": {"name": "m", "commit": "c", "dtype": "float32", "device": "cpu"},
        "dataset": {
            "name": "d", "suite": "d", "version": None, "commit": None, "rows_sha256": "0",
            "tables": [{"config": "c", "split": "test", "sha256": "0", "items": 4, "headline": "",
                        "breakdowns": ["genre"], "families": False}],
        },
        "settings": {"versions": {}},
        "metrics": described_metrics(list(METRICS.values())),
        "scores": [asdict(score) for score in scores],
        "outcomes_sha256": outcomes_digest(tmp_path),
    }  # fmt: skip
    (tmp_path / "results.json").write_text(json.dumps(document))
    return tmp_path


def change_results(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "results.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def saved_refused(folder: Path, file: str, said: str) -> None:
    refused(folder, folder / file, said, partial(read_results, outcomes=True))


def test_a_folder_that_nobody_touched_is_read(folder: Path) -> None:
    saved = read_results(folder, outcomes=True)
    assert saved.metrics == METRICS
    assert len(saved.outcomes) == 16


def test_a_metric_that_is_not_described(folder: Path) -> None:
    change_results(folder, lambda document: document["metrics"].pop())
    saved_refused(folder, "outcomes.parquet", '"f1": no such metric')


def test_an_estimator_that_is_not_known(folder: Path) -> None:
    change_results(folder, lambda document: document["metrics"][0].update(estimator="median"))
    saved_refused(folder, "results.json", "metric 'm': estimator 'median'; expected one of accura")


def test_a_value_that_its_metric_does_not_have(folder: Path) -> None:
    damage(folder, "outcomes", put(2, value=2.0))
    saved_refused(folder, "outcomes.parquet", '"rightness": a value of 2; expected 0 to 1')
    written(folder)
    damage(folder, "outcomes", without("weight"))
    saved_refused(folder, "outcomes.parquet", '"F1": a value of 1 of nan; expected a part of it')


def test_a_table_that_the_results_have_not(folder: Path) -> None:
    # A unit that no outcome of the table has so far: its score stays as it was.
    damage(folder, "units", put(1, config="other"))
    saved_refused(folder, "outcomes.parquet", '"other": not in results.json')


def test_other_outcomes_than_those_of_the_scores(folder: Path) -> None:
    damage(folder, "outcomes", put(2, value=1.0))
    saved_refused(folder, "outcomes.parquet", "are not of one run")
