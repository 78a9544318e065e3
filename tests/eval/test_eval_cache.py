"""Kept surprisals: found again exactly or not at all, whatever happens to the file."""

from __future__ import annotations

import math
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.cache import SUFFIX, Cache, cache_folder, file_name

ABOUT = {"model": "m", "identity": {"commit": "c"}}
Row = tuple[tuple[int, ...], tuple[int, ...], np.ndarray]


def rows(count: int, start: int = 0) -> list[Row]:
    return [
        ((n, n + 1, n + 2, 7), (1, 2, 3), np.array([n / 3, math.pi * n, 1e-9 * n]))
        for n in range(start, start + count)
    ]


def requests(kept: Sequence[Row]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(ids, positions) for ids, positions, _ in kept]


def found(cache: Cache, kept: Sequence[Row]) -> list[bool]:
    """Which rows are found; those that are have the very numbers."""
    answers = cache.get_many(requests(kept))
    for answer, (*_, bits) in zip(answers, kept, strict=True):
        assert answer is None or (answer == bits).all()
    return [answer is not None for answer in answers]


def test_what_is_kept_is_found_to_the_last_bit(tmp_path: Path) -> None:
    kept = rows(1200)
    with Cache(tmp_path, ABOUT) as cache:
        assert not any(found(cache, kept))
        cache.put(kept)
        assert all(found(cache, kept))
    with Cache(tmp_path, ABOUT) as cache:
        assert all(found(cache, kept))
        assert cache.get_many([((0, 1, 2), (1,)), ((0, 1, 2, 7), (1, 4))]) == [None, None]
        assert cache.notes == []


def test_positions_of_one_text_come_together_over_runs(tmp_path: Path) -> None:
    ids = (5, 6, 7, 8, 9)
    with Cache(tmp_path, ABOUT) as cache:
        cache.put([(ids, (1, 3), np.array([1.0, 3.0]))])
        cache.put([(ids, (3, 4), np.array([3.5, 4.0]))])
        (all_of_them,) = cache.get_many([(ids, (1, 3, 4))])
        assert all_of_them is not None
        assert list(all_of_them) == [1.0, 3.5, 4.0]
        assert cache.get_many([(ids, (1, 2))]) == [None]
        (none_asked,) = cache.get_many([(ids, ())])
        assert none_asked is not None
        assert len(none_asked) == 0


def test_another_model_or_setting_is_another_file(tmp_path: Path) -> None:
    other = {**ABOUT, "identity": {"commit": "d"}}
    assert file_name(ABOUT) != file_name(other)
    with Cache(tmp_path, ABOUT) as mine, Cache(tmp_path, other) as theirs:
        mine.put(rows(1))
        assert not any(found(theirs, rows(1)))
    # A file under the wrong name is not believed either.
    shutil.copy(tmp_path / file_name(ABOUT), tmp_path / file_name(other))
    with Cache(tmp_path, other) as cache:
        assert not any(found(cache, rows(1)))
        assert "was damaged: moved to" in cache.notes[0]


def test_numbers_that_are_not_finite_are_not_kept(tmp_path: Path) -> None:
    with Cache(tmp_path, ABOUT) as cache:
        cache.put([((1, 2), (1,), np.array([math.nan])), ((1, 3), (1,), np.array([math.inf]))])
        assert cache.get_many([((1, 2), (1,)), ((1, 3), (1,))]) == [None, None]


def test_no_text_and_no_token_is_in_the_file(tmp_path: Path) -> None:
    ids = tuple(range(70_000, 70_040))
    with Cache(tmp_path, ABOUT) as cache:
        cache.put([(ids, (1,), np.array([1.0]))])
    content = (tmp_path / file_name(ABOUT)).read_bytes()
    for size in (4, 8):
        assert ids[3].to_bytes(size, "little") + ids[4].to_bytes(size, "little") not in content


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    with Cache(folder, ABOUT) as cache:
        cache.put(rows(6))
    return folder / file_name(ABOUT)


@settings(max_examples=150)
@given(data=st.data())
def test_flipped_bytes_never_give_a_wrong_number(small: Path, data: st.DataObject) -> None:
    content = bytearray(small.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.sampled_from([0, 0, 1, 700]))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / small.name).write_bytes(content[: len(content) - cut])
        with Cache(Path(folder), ABOUT) as cache:
            found(cache, rows(6))
            cache.put(rows(6))
        # Whatever it was, the next run has a cache that works, or nearly.
        with Cache(Path(folder), ABOUT) as cache:
            found(cache, rows(6))


@pytest.mark.parametrize("content", [b"", b"garbage" * 999, b"SQLite format 3\0" + bytes(99)])
def test_a_file_that_is_no_database_is_moved_aside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / file_name(ABOUT)).write_bytes(content)
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(2))
        assert all(found(cache, rows(2)))
        assert len(cache.notes) == bool(content)
    aside = list(tmp_path.glob("*.corrupt-*"))
    assert [path.read_bytes() for path in aside] == [content] * bool(content)


def test_an_edited_row_is_computed_again(tmp_path: Path) -> None:
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(3))
    database = sqlite3.connect(tmp_path / file_name(ABOUT))
    (value,) = database.execute("SELECT value FROM surprisals ORDER BY key LIMIT 1").fetchone()
    with database:
        database.execute(
            "UPDATE surprisals SET value = ? WHERE value = ?", (value[:-1] + b"\x7f", value)
        )
    database.close()
    with Cache(tmp_path, ABOUT) as cache:
        assert sorted(found(cache, rows(3))) == [False, True, True]
        assert cache.corrupt == 1
        cache.put(rows(3))
        assert all(found(cache, rows(3)))


def test_where_nothing_can_be_written_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with Cache(tmp_path / "file", ABOUT) as cache:
        cache.put(rows(1))
        assert not any(found(cache, rows(1)))
        assert len(cache.notes) == 1
        assert "nothing more is cached in" in cache.notes[0]


WRITER = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[3]]
from test_eval_cache import ABOUT, rows
from eval.cache import Cache
cache = Cache(Path(sys.argv[1]), ABOUT)
for batch in range(int(sys.argv[2]), int(sys.argv[2]) + 200):
    cache.put(rows(5, batch * 5))
    print(batch, flush=True)
"""


def writer(folder: Path, first: int) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", WRITER, str(folder), str(first), str(Path(__file__).parent)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    return iter(process.stdout)


@pytest.mark.parametrize("after", [1, 23])
def test_killed_at_any_moment_what_was_said_to_be_kept_is_there(tmp_path: Path, after: int) -> None:
    process = writer(tmp_path, 0)
    said = [int(next(lines(process))) for _ in range(after)]
    os.kill(process.pid, signal.SIGKILL)
    said += [int(line) for line in lines(process)]
    process.wait()
    with Cache(tmp_path, ABOUT) as cache:
        for batch in said:
            assert all(found(cache, rows(5, batch * 5)))
        assert (cache.corrupt, cache.notes) == (0, [])
        # At most the batch that was being written is there beyond that, and then whole.
        assert len(set(found(cache, rows(5, (said[-1] + 1) * 5)))) == 1


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    both = [writer(tmp_path, 0), writer(tmp_path, 1000)]
    for process in both:
        assert len(list(lines(process))) == 200
        assert process.wait() == 0
    with Cache(tmp_path, ABOUT) as cache:
        assert all(found(cache, [*rows(1000), *rows(1000, 5000)]))


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_folder(tmp_path) == tmp_path
    monkeypatch.setenv("COHERENCEGYM_CACHE", str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"
    monkeypatch.delenv("COHERENCEGYM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder().name == "surprisals"
    assert SUFFIX in file_name(ABOUT)
