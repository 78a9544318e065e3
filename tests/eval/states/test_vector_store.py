"""Vectors on disk: a run that is killed goes on, and nothing that is damaged is trusted."""

from __future__ import annotations

import gc
import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.forward.vector_store import VectorStore, delete_store, states_folder
from coherencegym.eval.plan.passages import PooledSequence

LAYERS, WIDTH = (0, 3), 4


def sequences(*numbers: int) -> list[PooledSequence]:
    """Texts of other tokens each; an odd one has two stretches."""
    return [
        PooledSequence((1, number, 7), ((1, 2), (2, 3))[: 1 + number % 2]) for number in numbers
    ]


def vectors(members: list[PooledSequence]) -> list[np.ndarray]:
    """Numbers that say their text, stretch and layer."""
    rows = [(one.ids[1], k) for one in members for k in range(len(one.stretches))]
    return [np.array([[text, k, layer, 0.5] for text, k in rows], np.float32) for layer in LAYERS]


def opened(folder: Path | None, **more: Any) -> VectorStore:
    return VectorStore(folder, LAYERS, WIDTH, more.pop("dtype", "float16"), more)


def put(store: VectorStore, *numbers: int) -> None:
    store.put(sequences(*numbers), vectors(sequences(*numbers)))


def check(store: VectorStore, *numbers: int) -> None:
    """Everything is there and right."""
    for one, first in zip(sequences(*numbers), store.rows_of(sequences(*numbers)), strict=True):
        assert first is not None
        for layer, expected in zip(LAYERS, vectors([one]), strict=True):
            rows = first + np.arange(len(one.stretches))
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
    # Other stretches of the same tokens are another text.
    assert store.rows_of([PooledSequence((1, 4, 7), ((1, 3),))]) == [None]


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_line_that_a_killed_run_did_not_end_is_nothing(tmp_path: Path, cut: int) -> None:
    put(opened(tmp_path), 4, 5)
    store = opened(tmp_path)
    put(store, 6, 7)
    journal = tmp_path / "rows.jsonl"
    journal.write_bytes(journal.read_bytes()[:-cut])
    again = opened(tmp_path)
    assert known(again, 4, 5, 6, 7) == [4, 5]
    put(again, 8, 6)
    check(opened(tmp_path), 4, 5, 8, 6)
    assert (tmp_path / "layer-00.f16").stat().st_size == 5 * WIDTH * 2


def test_a_killed_run_holds_a_store_no_longer(tmp_path: Path) -> None:
    store = opened(tmp_path)
    mine = {path.name for path in tmp_path.glob("in-use-*")}
    for number in range(3):
        (tmp_path / f"in-use-{number}-7f00").touch()  # as a killed run leaves it
    another = opened(tmp_path)
    held = {path.name for path in tmp_path.glob("in-use-*")}
    assert mine < held
    assert len(held) == 2
    assert not delete_store(tmp_path)
    del store, another
    gc.collect()
    assert not list(tmp_path.glob("in-use-*"))
    assert delete_store(tmp_path)


def test_vectors_without_a_line_are_overwritten(tmp_path: Path) -> None:
    """A run was killed between the two."""
    store = opened(tmp_path)
    put(store, 4)
    with (tmp_path / "layer-00.f16").open("ab") as file:
        file.write(b"half of a batch")
    again = opened(tmp_path)
    check(again, 4)
    put(again, 5)
    check(opened(tmp_path), 4, 5)
    assert (tmp_path / "layer-00.f16").stat().st_size == 3 * WIDTH * 2


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


def test_a_damaged_line_ends_what_is_believed(tmp_path: Path) -> None:
    store = opened(tmp_path)
    put(store, 4)
    put(store, 5)
    journal = tmp_path / "rows.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"[0,", b"[9,", 1))
    again = opened(tmp_path)
    assert known(again, 4, 5) == []
    put(again, 4)
    check(opened(tmp_path), 4)


def test_two_runs_write_in_turn(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    put(one, 4)
    put(other, 5, 6)
    put(one, 7)
    for store in (one, opened(tmp_path)):
        check(store, 4, 5, 6, 7)
    check(other, 4, 5, 6)


def test_it_says_what_it_is(tmp_path: Path) -> None:
    opened(tmp_path / "s", model="gpt2")
    assert json.loads((tmp_path / "s" / "about.json").read_text()) == {"model": "gpt2"}
    gc.collect()
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == ["about.json", "lock"]


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
    about = {"model": "gpt2", "model_dtype": "float32", "device": "cpu", "layers": LAYERS}
    folder = tmp_path / "states" / ("a" * 32)
    store = opened(folder, **about)
    put(store, 4, 5)
    broken = tmp_path / "states" / ("b" * 32)
    opened(broken)
    (broken / "about.json").write_text("{")
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
