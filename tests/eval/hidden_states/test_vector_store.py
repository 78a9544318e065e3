"""Vectors on disk: a run that is killed goes on, and nothing that is damaged is trusted."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.forward.store import checksum
from coherencegym.eval.forward.vector_store import (
    INDEX,
    STORE_FORMAT,
    VectorStore,
    delete_vectors,
    list_stores,
    states_folder,
)
from coherencegym.eval.plan.passages import PooledSequence

LAYERS, WIDTH = (0, 3), 4


def sequences(*numbers: int) -> list[PooledSequence]:
    """Texts of other tokens each; an odd one has two spans."""
    return [
        PooledSequence((1, number, 7), ((1, 2), (2, 3))[: 1 + number % 2]) for number in numbers
    ]


def vectors(members: list[PooledSequence]) -> list[np.ndarray]:
    """Numbers that say their text, span and layer."""
    rows = [(one.ids[1], k) for one in members for k in range(len(one.token_ranges))]
    return [np.array([[text, k, layer, 0.5] for text, k in rows], np.float32) for layer in LAYERS]


def opened(folder: Path | None, name: str = "", **more: Any) -> VectorStore:
    return VectorStore(folder, LAYERS, WIDTH, more.pop("dtype", "float16"), more, name)


def put(store: VectorStore, *numbers: int) -> None:
    store.put(sequences(*numbers), vectors(sequences(*numbers)))


def check(store: VectorStore, *numbers: int) -> None:
    """Everything is there and right."""
    for one, first in zip(sequences(*numbers), store.rows_of(sequences(*numbers)), strict=True):
        assert first is not None
        for layer, expected in zip(LAYERS, vectors([one]), strict=True):
            rows = first + np.arange(len(one.token_ranges))
            np.testing.assert_array_equal(store.read(layer, rows), expected)


def known(store: VectorStore, *numbers: int) -> list[int]:
    firsts = store.rows_of(sequences(*numbers))
    return [n for n, first in zip(numbers, firsts, strict=True) if first is not None]


def test_what_is_put_is_there_for_the_next_run(tmp_path: Path) -> None:
    store = opened(tmp_path / "s")
    put(store, 4, 5)
    put(store, 6, 7)
    check(store, 7, 4, 6, 5)
    check(opened(tmp_path / "s"), 4, 5, 6, 7)
    assert known(store, 4, 8) == [4]
    found = store.read(3, np.array([-1, 0]))
    assert found.dtype == np.float32
    assert np.isnan(found[0]).all()
    assert found[1, 0] == 4
    # Other spans of the same tokens are another text.
    assert store.rows_of([PooledSequence((1, 4, 7), ((1, 3),))]) == [None]


def sql(folder: Path, statement: str, *values: object) -> None:
    """Change the index, which knows the texts by their keys."""
    with closing(sqlite3.connect(folder / INDEX)) as database, database:
        database.execute(statement, values)


def test_a_batch_that_a_killed_run_did_not_index_is_nothing(tmp_path: Path) -> None:
    put(opened(tmp_path), 4, 5)
    store = opened(tmp_path)
    put(store, 6, 7)
    for one in sequences(6, 7):
        sql(tmp_path, "DELETE FROM rows WHERE key = ?", one.key)
    again = opened(tmp_path)
    assert known(again, 4, 5, 6, 7) == [4, 5]
    put(again, 8, 6)
    check(opened(tmp_path), 4, 5, 8, 6)


KILLED = """
import os, signal, sys
from pathlib import Path
from test_vector_store import opened, put
put(opened(Path(sys.argv[1])), 4)
store = opened(Path(sys.argv[1]))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_holds_a_store_no_longer(tmp_path: Path) -> None:
    own = tmp_path / ("a" * 32)
    store = opened(own)
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    killed = [sys.executable, "-c", KILLED, str(own)]
    assert subprocess.run(killed, env={**os.environ, "PYTHONPATH": path}).returncode < 0
    another = opened(own)
    check(another, 4)
    (listing,) = list_stores(tmp_path)
    assert not delete_vectors(listing)
    del store
    gc.collect()
    assert not delete_vectors(listing)
    check(another, 4)
    del another
    gc.collect()
    assert delete_vectors(*list_stores(tmp_path))
    assert not own.exists()


def test_vectors_that_are_not_indexed_are_nothing(tmp_path: Path) -> None:
    """A run was killed between the two."""
    store = opened(tmp_path)
    put(store, 4)
    with (tmp_path / "layer-00.f16").open("ab") as file:
        file.write(b"half of a batch")
    again = opened(tmp_path)
    check(again, 4)
    put(again, 5)
    put(store, 6)
    check(opened(tmp_path), 4, 5, 6)


@pytest.mark.parametrize("damage", ["flip", "short", "gone"])
def test_vectors_that_do_not_add_up_are_computed_again(tmp_path: Path, damage: str) -> None:
    store = opened(tmp_path)
    put(store, 4)
    put(store, 5)
    path = tmp_path / "layer-03.f16"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(data if damage == "flip" else data[:-1])
    again = opened(tmp_path)
    left = [4] if damage != "gone" else []
    assert known(again, 4, 5) == left
    assert again.damaged == 2 - len(left)
    put(again, *(n for n in (4, 5) if n not in left))
    check(again, 4, 5)
    check(opened(tmp_path), 4, 5)


def sealed(key: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A value that says of itself that it adds up."""
    return value, checksum(key, value)


@pytest.mark.parametrize("change", ["flip", "foreign", "short", "moved", "beyond"])
def test_a_damaged_place_is_not_believed(tmp_path: Path, change: str) -> None:
    store = opened(tmp_path)
    put(store, 4)
    put(store, 5)
    four, five = (one.key for one in sequences(4, 5))
    with closing(sqlite3.connect(tmp_path / INDEX)) as database:
        rows = {key: own for key, *own in database.execute("SELECT key, value, checksum FROM rows")}
    value, expected = rows[four]
    value, expected = {
        "flip": (b"\1" + value[1:], expected),
        "foreign": rows[five],
        "short": sealed(four, value[:-1]),
        "moved": sealed(four, b"\1" + value[1:]),
        "beyond": sealed(four, b"\xff" * 7 + value[7:]),
    }[change]
    sql(tmp_path, "UPDATE rows SET value = ?, checksum = ? WHERE key = ?", value, expected, four)
    again = opened(tmp_path)
    assert known(again, 4, 5) == [5]
    put(again, 4)
    check(opened(tmp_path), 4, 5)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    for numbers in ((4, 5), (6,), (7, 8, 9)):
        put(opened(folder), *numbers)
    gc.collect()
    return folder


@given(data=st.data())
def test_flipped_bytes_never_give_a_wrong_vector(small: Path, data: st.DataObject) -> None:
    numbers = range(4, 10)
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder, "s")
        shutil.copytree(small, own)
        for _ in range(data.draw(st.integers(1, 4))):
            path = own / data.draw(st.sampled_from([INDEX, "layer-00.f16", "layer-03.f16"]))
            content = bytearray(path.read_bytes())
            content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
            cut = data.draw(st.sampled_from([0, 0, 1, 700]))
            path.write_bytes(content[: max(1, len(content) - cut)])
        store = opened(own)
        check(store, *known(store, *numbers))
        put(store, *numbers)
        check(store, *numbers)


def test_an_index_that_is_damaged_is_begun_anew_behind_what_is_there(tmp_path: Path) -> None:
    put(opened(tmp_path), 4, 5)
    gc.collect()
    (tmp_path / INDEX).write_bytes(b"garbage" * 999)
    again = opened(tmp_path)
    assert known(again, 4, 5) == []
    put(again, 6, 4)
    check(opened(tmp_path), 4, 6)


def test_two_runs_write_in_turn(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    put(one, 4)
    put(other, 5, 6)
    put(one, 7)
    for store in (one, opened(tmp_path)):
        check(store, 4, 5, 6, 7)
    check(other, 4, 5, 6)


def test_it_says_what_it_is(tmp_path: Path) -> None:
    own = tmp_path / ("a" * 32)
    opened(own, identity="x", name="gpt2")
    gc.collect()
    (listing,) = list_stores(tmp_path)
    assert (listing.model, listing.texts) == ("gpt2", 0)
    assert listing.description == {"format": STORE_FORMAT, "identity": "x"}
    assert sorted(path.name for path in own.iterdir()) == [INDEX, f"{INDEX}.lock"]


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EvaluationError, match=r"/s: .*; expected a folder that can be written"):
        opened(tmp_path / "file" / "s")
    store = opened(tmp_path / "s")
    put(store, 4)
    shutil.rmtree(tmp_path / "s")
    with pytest.raises(EvaluationError, match="No such file"):
        put(store, 5)
    with pytest.raises(EvaluationError, match="No such file"):
        store.read(0, np.array([0]))


def test_a_disk_that_is_too_small_is_said_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path)
    store.refuse_unless_fits(sequences(4, 5))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=47))
    with pytest.raises(EvaluationError, match=r"the vectors take 0.0 GB and 0.0 GB are free"):
        store.refuse_unless_fits(sequences(4, 5))
    store.refuse_unless_fits(sequences(4, 6))


def test_stores_are_in_the_folder_for_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERENCEGYM_CACHE", str(tmp_path))
    assert states_folder() == tmp_path / "states"
    assert states_folder(Path("mine")) == Path("mine/states")
    monkeypatch.delenv("COHERENCEGYM_CACHE")
    assert states_folder().parts[-2:] == ("coherencegym", "states")


def test_the_command_lists_and_clears_stores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about = {"model_dtype": "float32", "device": "cpu", "layers": LAYERS}
    folder = tmp_path / "states" / ("a" * 32)
    store = opened(folder, "gpt2", **about)
    put(store, 4, 5)
    broken = tmp_path / "states" / ("b" * 32)
    opened(broken)
    gc.collect()
    (broken / INDEX).write_bytes(b"{")
    (tmp_path / "states" / "mine").mkdir()
    (broken / "mine.txt").write_text("")
    (tmp_path / "states" / ("c" * 32)).symlink_to(folder)
    listing = ["cache", "--cache", str(tmp_path)]
    assert main(listing) == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("gpt2  float32 on cpu  vectors of layers 0, 3 in None  2 texts  ")
    assert second.startswith(f"{'b' * 32}  cannot be read  ")
    assert last.startswith(f"{tmp_path}: 2 caches, ")
    # A run is using the one.
    assert main([*listing, "--clear"]) == 0
    assert f"{'a' * 32}: a run is using it, so it stays" in capsys.readouterr().out
    check(store, 4, 5)
    assert [path.name for path in broken.iterdir()] == ["mine.txt"]
    del store
    gc.collect()
    assert main([*listing, "--clear", "--model", "other"]) == 0
    assert folder.exists()
    assert main([*listing, "--clear", "--model", "gpt2"]) == 0
    assert not folder.exists()
    assert sorted(path.name[0] for path in (tmp_path / "states").iterdir()) == ["b", "c", "m"]
