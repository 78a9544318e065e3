"""Kept surprisals: found again exactly or not at all, whatever happens to the file."""

from __future__ import annotations

import math
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.forward.cache import (
    SUFFIX,
    Cache,
    cache_folder,
    checksum,
    file_name,
    row_key,
)
from coherencegym.eval.text.sequence import TokenSequence

ABOUT = {"model": "m", "identity": {"commit": "c"}}
Row = tuple[TokenSequence, np.ndarray]


def rows(count: int, start: int = 0) -> list[Row]:
    return [
        (TokenSequence((n, n + 1, n + 2, 7), (1, 2, 3)), np.array([n / 3, math.pi * n, 1e-9 * n]))
        for n in range(start, start + count)
    ]


def found(cache: Cache, kept: Sequence[Row]) -> list[bool]:
    """Which rows are found; those that are have the very numbers."""
    answers = cache.get_many([sequence for sequence, _ in kept])
    for answer, (*_, bits) in zip(answers, kept, strict=True):
        assert answer is None or (answer == bits).all()
    return [answer is not None for answer in answers]


def one(cache: Cache, sequence: TokenSequence) -> np.ndarray | None:
    return cache.get_many([sequence])[0]


def test_what_is_kept_is_found_to_the_last_bit(tmp_path: Path) -> None:
    kept = rows(1200)
    with Cache(tmp_path, ABOUT) as cache:
        assert not any(found(cache, kept))
        cache.put(kept)
        assert all(found(cache, kept))
    with Cache(tmp_path, ABOUT) as cache:
        more = rows(5, start=1200)
        cache.put(more)
        assert all(found(cache, [*kept, *more]))
        assert cache.get_many(
            [TokenSequence((0, 1, 2), (1,)), TokenSequence((0, 1, 2, 7), (1, 4))]
        ) == [None, None]
        assert cache.notes == []


def test_positions_of_one_text_come_together_over_runs(tmp_path: Path) -> None:
    ids = (5, 6, 7, 8, 9)
    with Cache(tmp_path, ABOUT) as cache:
        cache.put([(TokenSequence(ids, (1, 3)), np.array([1.0, 3.0]))])
        cache.put([(TokenSequence(ids, (3, 4)), np.array([3.5, 4.0]))])
        (all_of_them,) = cache.get_many([TokenSequence(ids, (1, 3, 4))])
        assert all_of_them is not None
        assert list(all_of_them) == [1.0, 3.5, 4.0]
        assert cache.get_many([TokenSequence(ids, (1, 2))]) == [None]
        (none_asked,) = cache.get_many([TokenSequence(ids, ())])
        assert none_asked is not None
        assert len(none_asked) == 0


def test_words_and_tokens_at_one_position_are_kept_apart(tmp_path: Path) -> None:
    ids = (5, 6, 7, 8)
    both = TokenSequence(ids, (1, 3), word_starts=(3,))
    with Cache(tmp_path, ABOUT) as cache:
        cache.put([(TokenSequence(ids, (3,)), np.array([1.0]))])
        assert one(cache, TokenSequence(ids, (), word_starts=(3,))) is None
        cache.put([(both, np.array([2.0, 3.0, 4.0]))])
        cache.put([(TokenSequence(ids, (), word_starts=(2,)), np.array([5.0]))])
        asked = [both, TokenSequence(ids, (3,)), TokenSequence(ids, (1,), word_starts=(2, 3))]
        found = [bits.tolist() for bits in cache.get_many(asked) if bits is not None]
        assert found == [[2.0, 3.0, 4.0], [3.0], [2.0, 5.0, 4.0]]


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
        assert "is of something else: moved to" in cache.notes[0]


def test_a_text_may_come_twice_in_a_batch(tmp_path: Path) -> None:
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(
            [
                (TokenSequence((5, 6), (1,)), np.array([1.0])),
                (TokenSequence((5, 6), (0,)), np.array([2.0])),
            ]
        )
        answer = one(cache, TokenSequence((5, 6), (0, 1)))
        assert answer is not None
        assert answer.tolist() == [2.0, 1.0]


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 2), min_size=1, max_size=2).map(tuple),
            st.dictionaries(st.integers(0, 3), st.floats(allow_nan=False, allow_infinity=False)),
        ),
        max_size=8,
    ),
    st.lists(st.integers(0, 4), max_size=4),
)
def test_what_was_put_last_is_what_is_found(
    puts: list[tuple[tuple[int, ...], dict[int, float]]], asked: list[int]
) -> None:
    expected: dict[tuple[int, ...], dict[int, float]] = {}
    batch: list[Row] = []
    for ids, bits in puts:
        expected.setdefault(ids, {}).update(bits)
        batch.append((TokenSequence(ids, tuple(bits)), np.array(list(bits.values()))))
    with tempfile.TemporaryDirectory() as folder, Cache(Path(folder), ABOUT) as cache:
        # One text several times in a batch, and in several batches.
        cache.put(batch[:5])
        cache.put(batch[5:])
        for ids, bits in expected.items():
            answer = one(cache, TokenSequence(ids, tuple(asked)))
            if set(asked) <= set(bits):
                assert answer is not None
                assert answer.dtype == np.float64
                assert answer.tolist() == [bits[position] for position in asked]
            else:
                assert answer is None
        assert one(cache, TokenSequence((9,), ())) is None


def test_a_text_with_more_bits_than_positions_is_a_mistake(tmp_path: Path) -> None:
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(1))
        with pytest.raises(ValueError, match="longer"):
            cache.put([*rows(1, 1), (TokenSequence((1, 2), (1,)), np.array([1.0, 2.0]))])
        assert found(cache, rows(2)) == [True, False]


def test_numbers_that_are_not_finite_are_not_kept(tmp_path: Path) -> None:
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(
            [
                (TokenSequence((1, 2), (1,)), np.array([math.nan])),
                (TokenSequence((1, 3), (1,)), np.array([math.inf])),
            ]
        )
        assert cache.get_many([TokenSequence((1, 2), (1,)), TokenSequence((1, 3), (1,))]) == [
            None,
            None,
        ]
        assert cache.corrupt == 0


def test_no_text_and_no_token_is_in_the_file(tmp_path: Path) -> None:
    ids = tuple(range(70_000, 70_040))
    with Cache(tmp_path, ABOUT) as cache:
        cache.put([(TokenSequence(ids, (1,)), np.array([1.0]))])
    content = (tmp_path / file_name(ABOUT)).read_bytes()
    for size in (4, 8):
        assert ids[3].to_bytes(size, "little") + ids[4].to_bytes(size, "little") not in content


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    with Cache(folder, ABOUT) as cache:
        cache.put(rows(6))
    return folder / file_name(ABOUT)


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


KEY = row_key(rows(1)[0][0])


def sealed(value: bytes) -> tuple[bytes, bytes]:
    """A value that says of itself that it adds up."""
    return value, checksum(KEY, value)


def paired(*bits: float) -> bytes:
    return np.array(list(enumerate(bits, start=1)), [("place", "<i4"), ("bits", "<f8")]).tobytes()


@pytest.mark.parametrize(
    "edit",
    [
        (b"", b""),
        (paired(0.0, 1.0, 2.0), checksum(b"another key", paired(0.0, 1.0, 2.0))),
        ("text", "text"),
        (5, 7.5),
        sealed(b"\xff\xff\xff\xff"),
        sealed(paired(0.0, 1.0, 2.0)[:-1]),
        sealed(paired(0.0, 1.0, 2.0) + b"\0"),
        sealed(paired(0.0, math.nan, 2.0)),
        sealed(paired(0.0, 1.0, -math.inf)),
    ],
)
def test_an_edited_row_is_computed_again(tmp_path: Path, edit: tuple[object, object]) -> None:
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(3))
    sql(tmp_path, "UPDATE rows SET value = ?, checksum = ? WHERE key = ?", *edit, KEY)
    with Cache(tmp_path, ABOUT) as cache:
        assert found(cache, rows(3)) == [False, True, True]
        assert (cache.corrupt, cache.notes) == (1, [])
        cache.put(rows(3))
        assert all(found(cache, rows(3)))
        assert cache.corrupt == 1


def sql(folder: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(folder / file_name(ABOUT))
    with database:
        database.execute(statement, values)
    database.close()


@pytest.mark.parametrize("value", ["CAST(x'ff00ff' AS TEXT)", "'text'", "3.5"])
def test_values_of_another_type_are_computed_again(tmp_path: Path, value: str) -> None:
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(3))
    sql(tmp_path, f"UPDATE rows SET value = {value}")
    with Cache(tmp_path, ABOUT) as cache:
        assert not any(found(cache, rows(3)))
        assert (cache.corrupt, cache.notes) == (3, [])
        cache.put(rows(3))
        assert all(found(cache, rows(3)))


@pytest.mark.parametrize(
    "statements",
    [
        ["DROP TABLE about", "CREATE TABLE about (a, b)"],
        ["DROP TABLE rows", "CREATE TABLE rows (a, b)"],
        ["UPDATE about SET value = CAST(x'ff' AS TEXT)"],
        ["UPDATE about SET value = value || ' '"],
    ],
)
def test_tables_that_are_not_ours_are_moved_aside(tmp_path: Path, statements: list[str]) -> None:
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(3))
    for statement in statements:
        sql(tmp_path, statement)
    with Cache(tmp_path, ABOUT) as cache:
        assert not any(found(cache, rows(3)))
        cache.put(rows(3))
        assert ["moved to" in note for note in cache.notes] == [True]
    with Cache(tmp_path, ABOUT) as cache:
        assert all(found(cache, rows(3)))
        assert cache.notes == []


def test_a_damaged_name_that_no_error_message_can_quote(tmp_path: Path) -> None:
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(3))
    path = tmp_path / file_name(ABOUT)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"CREATE TABLE about", b"CREATE TABL\xc5 about"))
    with Cache(tmp_path, ABOUT) as cache:
        assert ["was damaged: moved to" in note for note in cache.notes] == [True]
        cache.put(rows(3))
        assert all(found(cache, rows(3)))


def test_a_log_that_another_ends_at_this_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, refused = Cache._open, [True, True]

    def busy(cache: Cache) -> sqlite3.Connection:
        if not refused:
            return connect(cache)
        refused.pop()
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
        raise error

    monkeypatch.setattr(Cache, "_open", busy)
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(3))
        assert all(found(cache, rows(3)))
        assert (cache.notes, refused) == ([], [])


def test_damage_during_a_run_begins_a_new_database(tmp_path: Path) -> None:
    path = tmp_path / file_name(ABOUT)
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(2000))
    with Cache(tmp_path, ABOUT) as cache:
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (path.stat().st_size - 4096))
        assert not any(found(cache, rows(2000)))
        assert ["was damaged: moved to" in note for note in cache.notes] == [True]
        cache.put(rows(7))
        assert all(found(cache, rows(7)))
    with Cache(tmp_path, ABOUT) as cache:
        assert all(found(cache, rows(7)))


def test_of_two_that_see_one_damage_one_moves_it_aside(tmp_path: Path) -> None:
    path = tmp_path / file_name(ABOUT)
    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(2000))
    with Cache(tmp_path, ABOUT) as first, Cache(tmp_path, ABOUT) as second:
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (path.stat().st_size - 4096))
        assert not any(found(first, rows(2000)))
        first.put(rows(7))
        assert sum(found(second, rows(2000))) in (0, 7)
        assert all(found(second, rows(7)))
        assert len(list(tmp_path.glob("*.corrupt-*"))) == 1
        second.put(rows(7, 7))
        assert all(found(first, rows(14)))


@pytest.fixture
def cut_off(tmp_path: Path) -> Path:
    """A folder as a process leaves it that was killed: the rows are in the log."""
    with Cache(tmp_path / "running", ABOUT) as cache:
        cache.put(rows(6))
        shutil.copytree(tmp_path / "running", tmp_path / "left")
    assert (tmp_path / "left" / (file_name(ABOUT) + "-wal")).stat().st_size
    return tmp_path / "left"


def test_a_log_that_was_left_behind_is_read(cut_off: Path) -> None:
    with Cache(cut_off, ABOUT) as cache:
        assert all(found(cache, rows(6)))
        assert cache.notes == []


@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
@pytest.mark.parametrize("content", [None, b"", b"garbage" * 999])
def test_whatever_happens_to_one_of_the_files(
    cut_off: Path, ending: str, content: bytes | None
) -> None:
    path = cut_off / (file_name(ABOUT) + ending)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with Cache(cut_off, ABOUT) as cache:
        found(cache, rows(6))
        cache.put(rows(6))
        assert all(found(cache, rows(6)))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a process that was killed, by the ending of their names."""
    folder = tmp_path_factory.mktemp("log")
    with Cache(folder, ABOUT) as cache:
        cache.put(rows(6))
        return {end: (folder / (file_name(ABOUT) + end)).read_bytes() for end in ("", "-wal")}


@given(data=st.data())
def test_flipped_bytes_of_the_log_never_give_a_wrong_number(
    log: dict[str, bytes], data: st.DataObject
) -> None:
    content = bytearray(log["-wal"])
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, file_name(ABOUT)).write_bytes(log[""])
        Path(folder, file_name(ABOUT) + "-wal").write_bytes(content)
        for _ in range(2):
            with Cache(Path(folder), ABOUT) as cache:
                found(cache, rows(6))
                cache.put(rows(6))


def test_where_nothing_can_be_written_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with Cache(tmp_path / "file", ABOUT) as cache:
        cache.put(rows(1))
        assert not any(found(cache, rows(1)))
        assert len(cache.notes) == 1
        assert "nothing more is cached in" in cache.notes[0]


@pytest.mark.parametrize(
    ("pragma", "reason"),
    [("max_page_count = 1", "database or disk is full"), ("query_only = ON", "readonly database")],
)
def test_a_full_or_read_only_disk_ends_caching_with_one_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pragma: str, reason: str
) -> None:
    connect = Cache._open

    def limited(cache: Cache) -> sqlite3.Connection:
        database = connect(cache)
        database.execute(f"PRAGMA {pragma}")
        return database

    with Cache(tmp_path, ABOUT) as cache:
        cache.put(rows(5))
    monkeypatch.setattr(Cache, "_open", limited)
    with Cache(tmp_path, ABOUT) as cache:
        assert all(found(cache, rows(5)))
        cache.put(rows(900))
        cache.put(rows(5))
        assert not any(found(cache, rows(5)))
        assert len(cache.notes) == 1
        assert reason in cache.notes[0]
    monkeypatch.undo()
    with Cache(tmp_path, ABOUT) as cache:
        assert sum(found(cache, rows(900))) == 5


def at_once(count: int, work: Callable[[int], list[str]]) -> list[str]:
    """What several threads say that begin at the same moment."""
    barrier = threading.Barrier(count)

    def begin(number: int) -> list[str]:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return [line for lines in pool.map(begin, range(count)) for line in lines]


@pytest.mark.parametrize("damaged", [False, True])
def test_many_open_a_new_database_at_once(tmp_path: Path, damaged: bool) -> None:
    for turn in range(6):
        folder = tmp_path / str(turn)
        if damaged:
            folder.mkdir()
            (folder / file_name(ABOUT)).write_bytes(b"garbage" * 999)

        def write(number: int, folder: Path = folder) -> list[str]:
            with Cache(folder, ABOUT) as cache:
                # All write the same texts, each at a position of its own.
                cache.put(
                    [
                        (TokenSequence((text,), (number,)), np.array([number / 3]))
                        for text in range(5)
                    ]
                )
                return cache.notes

        notes = at_once(6, write)
        assert len(notes) == damaged
        assert len(list(folder.glob("*.corrupt-*"))) == damaged
        with Cache(folder, ABOUT) as cache:
            for text in range(5):
                answer = one(cache, TokenSequence((text,), tuple(range(6))))
                assert answer is not None
                assert answer.tolist() == [number / 3 for number in range(6)]


WRITER = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[3]]
from test_cache import ABOUT, rows
from coherencegym.eval.forward.cache import Cache
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


def test_killed_at_any_moment_what_was_said_to_be_kept_is_there(tmp_path: Path) -> None:
    for turn, after in enumerate([1, 7, 23, 40]):
        first = turn * 1000
        process = writer(tmp_path, first)
        said = [int(next(lines(process))) for _ in range(after)]
        time.sleep(random.uniform(0, 0.01))
        os.kill(process.pid, signal.SIGKILL)
        said += [int(line) for line in lines(process)]
        assert process.wait() == -signal.SIGKILL
        assert said == list(range(first, first + len(said)))
        with Cache(tmp_path, ABOUT) as cache:
            assert all(found(cache, rows(5 * len(said), first * 5)))
            assert (cache.corrupt, cache.notes) == (0, [])
            # At most the batch that was being written is there beyond that, and then whole.
            assert len(set(found(cache, rows(5, (said[-1] + 1) * 5)))) == 1
            assert not any(found(cache, rows(5, (said[-1] + 2) * 5)))


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
