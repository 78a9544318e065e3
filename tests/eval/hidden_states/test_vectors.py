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
from coherencegym.eval.forward.cache import checksum
from coherencegym.eval.forward.vectors import VECTORS_SUFFIX, VectorStore
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


def opened(folder: Path | None, **more: Any) -> VectorStore:
    return VectorStore(folder, WIDTH, more.pop("dtype", "float16"), more)


def put(store: VectorStore, *numbers: int) -> None:
    store.put(sequences(*numbers), LAYERS, vectors(sequences(*numbers)))


def known(store: VectorStore, *numbers: int) -> list[int]:
    missing = [one.ids[1] for one in store.missing(sequences(*numbers), LAYERS)]
    return [number for number in numbers if number not in missing]


def check(store: VectorStore, *numbers: int) -> None:
    """Everything is there and right."""
    members = sequences(*numbers)
    assert known(store, *numbers) == list(numbers)
    for layer, expected in zip(LAYERS, vectors(members), strict=True):
        if numbers:
            np.testing.assert_array_equal(
                np.concatenate([*store.read([one.key for one in members], layer)]), expected
            )


def database(folder: Path) -> Path:
    (path,) = folder.glob(f"*{VECTORS_SUFFIX}")
    return path


def test_what_is_put_is_there_for_the_next_run(tmp_path: Path) -> None:
    store = opened(tmp_path / "s")
    put(store, 4, 5)
    put(store, 6, 7)
    check(store, 7, 4, 6, 5)
    check(opened(tmp_path / "s"), 4, 5, 6, 7)
    assert known(store, 4, 8) == [4]
    # Other spans of the same tokens are another text.
    other = PooledSequence((1, 4, 7), ((1, 3),))
    assert store.missing([other], LAYERS) == [other]
    # A layer that nobody read is not there, and the others are.
    assert store.missing(sequences(4), (0, 1)) == sequences(4)
    assert store.missing(sequences(4), (3,)) == []


def test_more_texts_than_are_in_memory_at_once(tmp_path: Path) -> None:
    numbers = range(1201)
    store = opened(tmp_path)
    put(store, *numbers)
    check(opened(tmp_path), *numbers)


KILLED = """
import os, signal, sys
from pathlib import Path
from test_vectors import opened, put
put(opened(Path(sys.argv[1])), 4)
store = opened(Path(sys.argv[1]))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_holds_a_store_no_longer(tmp_path: Path) -> None:
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    killed = [sys.executable, "-c", KILLED, str(tmp_path)]
    assert subprocess.run(killed, env={**os.environ, "PYTHONPATH": path}).returncode < 0
    store = opened(tmp_path)
    check(store, 4)
    put(store, 5)
    check(store, 4, 5)


def sealed(key: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A value that says of itself that it adds up."""
    return value, checksum(key, value)


@pytest.mark.parametrize("change", ["flip", "foreign", "short", "less"])
def test_a_damaged_row_is_not_believed(tmp_path: Path, change: str) -> None:
    store = opened(tmp_path)
    put(store, 4, 5)
    own = [one.key + (3).to_bytes(4, "little") for one in sequences(4, 5)]
    with closing(sqlite3.connect(database(tmp_path))) as connection, connection:
        rows = {key: rest for key, *rest in connection.execute("SELECT * FROM rows")}
        value, expected = rows[own[1]]
        value, expected = {
            "flip": (b"\1" + value[1:], expected),
            "foreign": rows[own[0]],
            "short": sealed(own[1], value[:-1]),
            "less": sealed(own[1], value[: len(value) // 2]),
        }[change]
        update = "UPDATE rows SET value = ?, checksum = ? WHERE key = ?"
        connection.execute(update, (value, expected, own[1]))
    again = opened(tmp_path)
    assert known(again, 4, 5) == [4]
    assert again._rows.corrupt == (change != "less")
    put(again, 5)
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
        path = database(own)
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        cut = data.draw(st.sampled_from([0, 0, 1, 700]))
        path.write_bytes(content[: len(content) - cut])
        store = opened(own)
        check(store, *known(store, *numbers))
        put(store, *numbers)
        check(store, *numbers)


def test_an_index_out_of_order_is_damage(small: Path, tmp_path: Path) -> None:
    numbers = range(4, 10)
    content = database(small).read_bytes()
    places = range(1, len(content), 241)
    assert len(places) > 50
    for place in places:
        own = tmp_path / str(place)
        shutil.copytree(small, own)
        database(own).write_bytes(
            content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        )
        store = opened(own)
        check(store, *known(store, *numbers))
        put(store, *numbers)
        check(store, *numbers)


def test_a_database_that_is_damaged_is_begun_anew(tmp_path: Path) -> None:
    put(opened(tmp_path), 4, 5)
    gc.collect()
    database(tmp_path).write_bytes(b"garbage" * 999)
    again = opened(tmp_path)
    assert known(again, 4, 5) == []
    put(again, 6, 4)
    check(opened(tmp_path), 4, 6)


def test_a_header_that_says_read_only_is_damage(tmp_path: Path) -> None:
    put(opened(tmp_path), 4)
    gc.collect()
    content = bytearray(database(tmp_path).read_bytes())
    content[18] ^= 1 << 4  # the version of the format that may write
    database(tmp_path).write_bytes(content)
    put(opened(tmp_path), 5)
    check(opened(tmp_path), 5)


def test_damage_while_it_is_in_use_is_one_line(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, 4)
    with closing(sqlite3.connect(database(tmp_path))) as connection, connection:
        connection.execute("UPDATE rows SET value = x'00'")
    with pytest.raises(EvaluationError, match="it was damaged or deleted while it was in use"):
        list(store.read([one.key for one in sequences(4)], 0))


def test_two_runs_write_in_turn(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    put(one, 4)
    put(other, 5, 6)
    put(one, 7)
    for store in (one, opened(tmp_path)):
        check(store, 4, 5, 6, 7)
    check(other, 4, 5, 6)


def test_what_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EvaluationError, match=r"/s: .*; expected a folder that can be written"):
        opened(tmp_path / "file" / "s")


def test_a_disk_that_is_too_small_is_said_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path)
    store.refuse_unless_fits(sequences(4, 5), 2)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=47))
    with pytest.raises(EvaluationError, match=r"the vectors take 0.0 GB and 0.0 GB are free"):
        store.refuse_unless_fits(sequences(4, 5), 2)
    store.refuse_unless_fits(sequences(4, 6), 2)
