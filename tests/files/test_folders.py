"""Output folders: whole or not at all, and nobody's own folder is replaced."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coherencegym.errors import EvaluationError
from coherencegym.files.folders import check_folder, clear_leftovers, written_beside

MARKER = "manifest.json"


def test_a_failed_run_leaves_nothing(tmp_path: Path) -> None:
    destination = tmp_path / "out"
    with pytest.raises(FileNotFoundError), written_beside(destination, False, MARKER) as folder:
        folder.joinpath("no such folder", "half").write_text("x")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_stays_unless_overwritten(tmp_path: Path) -> None:
    destination = tmp_path / "out"
    with written_beside(destination, False, MARKER) as folder:
        (folder / MARKER).write_text("{}")
    with pytest.raises(EvaluationError, match="--overwrite"):
        check_folder(destination, False, MARKER)
    with pytest.raises(FileNotFoundError), written_beside(destination, True, MARKER) as folder:
        folder.joinpath("no such folder", "half").write_text("x")
    assert (destination / MARKER).read_text() == "{}"
    with written_beside(destination, True, MARKER) as folder:
        (folder / "new").write_text("x")
    assert [path.name for path in destination.iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_overwriting_replaces_only_earlier_output(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(EvaluationError, match="not an earlier output"):
        check_folder(tmp_path, True, MARKER)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EvaluationError, match="not an earlier output"):
        check_folder(tmp_path / "link", True, MARKER)


@pytest.mark.parametrize("place", ["file/out", "file/in/out", "closed/out", "/proc/out"])
def test_where_nothing_can_be_written_is_said_before_any_work(tmp_path: Path, place: str) -> None:
    if place.startswith("/proc") and not Path("/proc/self").is_dir():
        pytest.skip("a file system of Linux")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "closed").mkdir(mode=0o500)
    if place.startswith("closed") and os.access(tmp_path / "closed", os.W_OK):
        pytest.skip("root writes everywhere")
    before = names(tmp_path)
    with pytest.raises(EvaluationError, match=r"nothing can be written in .* with output="):
        check_folder(tmp_path / place, True, MARKER, "output=")
    assert names(tmp_path) == before


def test_an_empty_folder_may_be_used_with_overwrite(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with written_beside(tmp_path / "out", True, MARKER) as folder:
        (folder / MARKER).write_text("{}")
    assert (tmp_path / "out" / MARKER).exists()


#: Fills a folder, stops at one of its steps, and lives until it is killed.
LIVING = """
import sys, time
from pathlib import Path
from coherencegym.files.folders import written_beside

folder, step = Path(sys.argv[1]), sys.argv[2]
rename = Path.rename

def stop(*_):
    print("here", flush=True)
    time.sleep(600)

def renamed(self, target):
    if step == "between the names" and Path(target) == folder:
        stop()
    return rename(self, target)

Path.rename = renamed
with written_beside(folder, True, "manifest.json") as work:
    (work / "manifest.json").write_text("new")
    if step == "while it fills":
        stop()
if step == "when it is done":
    stop()
"""


@contextmanager
def living(folder: Path, step: str) -> Iterator[None]:
    """A process that has come so far with a folder; killed at the end."""
    command = [sys.executable, "-c", LIVING, str(folder), step]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        yield
    finally:
        process.kill()
        process.communicate()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("step", ["while it fills", "between the names"])
def test_what_a_killed_run_leaves_is_cleared_by_the_next_and_by_no_other(
    tmp_path: Path, step: str
) -> None:
    destination = tmp_path / "out"
    destination.mkdir()
    (destination / MARKER).write_text("old")
    with living(destination, step):
        while_it_lives = names(tmp_path)
        assert len(while_it_lives) == 3
        with written_beside(tmp_path / "another", False, MARKER):
            pass
        clear_leftovers(destination)
        assert names(tmp_path) == sorted([*while_it_lives, "another"])
    with written_beside(tmp_path / "ou", False, MARKER):
        pass
    assert names(tmp_path) == sorted([*while_it_lives, "another", "ou"])
    with pytest.raises(EvaluationError, match="--overwrite"):
        check_folder(destination, False, MARKER)
    assert names(tmp_path) == ["another", "ou", "out"]
    assert (destination / MARKER).read_text() == "old"


def test_a_run_that_is_killed_when_it_is_done_has_left_nothing(tmp_path: Path) -> None:
    with living(tmp_path / "out", "when it is done"):
        pass
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / MARKER).read_text() == "new"


def test_two_runs_of_one_output_do_not_clear_each_other(tmp_path: Path) -> None:
    destination = tmp_path / "out"
    with written_beside(destination, True, MARKER) as one:
        (one / MARKER).write_text("one")
        with written_beside(destination, True, MARKER) as two:
            (two / MARKER).write_text("two")
        assert (one / MARKER).read_text() == "one"
    assert names(tmp_path) == ["out"]
    assert (destination / MARKER).read_text() == "one"


def test_what_has_no_lock_may_be_anybodys(tmp_path: Path) -> None:
    for name in (".out-0123abcd", ".out-0123abcd-old", ".out-notes", ".out-notes.lock"):
        (tmp_path / name).mkdir()
    before = names(tmp_path)
    clear_leftovers(tmp_path / "out")
    assert names(tmp_path) == before


def test_without_locks_a_folder_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no locks here")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with written_beside(tmp_path / "out", False, MARKER) as folder:
        (folder / MARKER).write_text("{}")
    assert names(tmp_path) == ["out"]
