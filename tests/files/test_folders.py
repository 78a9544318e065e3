"""Output folders: whole or not at all, and nobody's own folder is replaced."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from coherencegym.errors import EvaluationError
from coherencegym.files.folders import (
    CHECKSUMS,
    check_folder,
    clear_leftovers,
    written_beside,
)


def write(folder: Path, **files: str) -> None:
    """An output with files of these contents; ``__`` in a name is a folder of it."""
    with written_beside(folder, overwrite=True) as work:
        for name, text in files.items():
            path = work / name.replace("__", "/")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)


def test_a_failed_run_leaves_nothing(tmp_path: Path) -> None:
    destination = tmp_path / "out"
    with pytest.raises(FileNotFoundError), written_beside(destination, False) as folder:
        folder.joinpath("no such folder", "half").write_text("x")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_stays_unless_overwritten(tmp_path: Path) -> None:
    destination = tmp_path / "out"
    write(destination, old="{}")
    with pytest.raises(EvaluationError, match="--overwrite"):
        check_folder(destination, False)
    with pytest.raises(FileNotFoundError), written_beside(destination, True) as folder:
        folder.joinpath("no such folder", "half").write_text("x")
    assert (destination / "old").read_text() == "{}"
    write(destination, new="x")
    assert names(destination) == [CHECKSUMS, "new"]
    assert names(tmp_path) == ["out"]


def test_a_folder_lists_its_files_as_sha256sum_does(tmp_path: Path) -> None:
    write(tmp_path / "out", b="two", a__c="one", **{"ü": ""})
    lines = (tmp_path / "out" / CHECKSUMS).read_text("utf-8").splitlines()
    assert [line[66:] for line in lines] == ["a/c", "b", "ü"]
    assert lines[1][:66] == sha256(b"two").hexdigest() + "  "
    before = (tmp_path / "out" / CHECKSUMS).read_bytes()
    write(tmp_path / "out", **{"ü": ""}, a__c="one", b="two")
    assert (tmp_path / "out" / CHECKSUMS).read_bytes() == before


#: Something of somebody's own in an output, step by step, and what is said of it.
STRANGE: dict[str, tuple[Sequence[Callable[[Path], object]], str]] = {
    "a file": ([lambda out: (out / "notes.txt").write_text("mine")], "notes.txt is not of"),
    "a file below": ([lambda out: (out / "a" / "n").write_text("mine")], "a/n is not of"),
    "a file in a folder": (
        [lambda out: (out / "own").mkdir(), lambda out: (out / "own" / "n").write_text("mine")],
        "own is not of",
    ),
    "an empty folder": ([lambda out: (out / "a" / "own").mkdir()], "a/own is not of"),
    "a repository": ([lambda out: (out / ".git").mkdir()], ".git is not of"),
    "another case": ([lambda out: (out / "B").write_text("two")], "B is not of"),
    "a pipe": ([lambda out: os.mkfifo(out / "pipe")], "pipe is not of"),
    "a pipe in the place of a file": (
        [lambda out: (out / "b").unlink(), lambda out: os.mkfifo(out / "b")],
        "b was changed",
    ),
    "a folder in the place of a file": (
        [lambda out: (out / "b").unlink(), lambda out: (out / "b").mkdir()],
        "b was changed",
    ),
    "a change": ([lambda out: (out / "b").write_text("Two")], "b was changed"),
    "a link": ([lambda out: (out / "link").symlink_to(out.parent)], "link is a symbolic link"),
    "a link to nothing": ([lambda out: (out / "link").symlink_to("gone")], "link is a symbolic"),
    "a link in the place of a file": (
        [
            lambda out: (out / "b").rename(out.parent / "b"),
            lambda out: (out / "b").symlink_to("../b"),
        ],
        "b is a symbolic link",
    ),
    "a link in the place of a folder": (
        [
            lambda out: (out / "a").rename(out.parent / "a"),
            lambda out: (out / "a").symlink_to("../a"),
        ],
        "a is a symbolic link",
    ),
    "another output": (
        [
            lambda out: write(out.parent / "inner", c="three"),
            lambda out: (out.parent / "inner").rename(out / "inner"),
        ],
        "inner is not of",
    ),
    "no list": ([lambda out: (out / CHECKSUMS).unlink()], f"it has no {CHECKSUMS}"),
    "a list of nothing": (
        [lambda out: (out / CHECKSUMS).write_bytes(b"\xff\n\n")],
        "a is not of",
    ),
    "a list that is a link": (
        [
            lambda out: (out / CHECKSUMS).rename(out.parent / "list"),
            lambda out: (out / CHECKSUMS).symlink_to("../list"),
        ],
        f"it has no {CHECKSUMS}",
    ),
    "a list that leads out of it": (
        [
            lambda out: (out.parent / "thesis").write_text("mine"),
            lambda out: (out / CHECKSUMS).write_text(f"{sha256(b'mine').hexdigest()}  ../thesis\n"),
        ],
        "a is not of",
    ),
    "a link to it": (
        [lambda out: out.rename(out.parent / "there"), lambda out: out.symlink_to("there")],
        "it is no folder",
    ),
    "a file in its place": (
        [lambda out: out.rename(out.parent / "there"), lambda out: out.write_text("mine")],
        "it is no folder",
    ),
}


def happens(what: str, out: Path) -> str:
    """Let something happen to an output, and give what is said of it."""
    steps, said = STRANGE[what]
    for step in steps:
        step(out)
    return said


def tree(folder: Path) -> list[tuple[str, int, str]]:
    """All that is in a folder, links as what they are."""
    return sorted(
        (
            str(path.relative_to(folder)),
            path.lstat().st_mode,
            str(path.readlink())
            if path.is_symlink()
            else path.read_text(errors="replace")
            if path.is_file()
            else "",
        )
        for path in folder.rglob("*")
    )


@pytest.mark.parametrize("what", STRANGE)
def test_only_what_the_program_wrote_is_replaced(tmp_path: Path, what: str) -> None:
    out = tmp_path / "out"
    write(out, a__file="one", b="two")
    said = happens(what, out)
    before = tree(tmp_path)
    with pytest.raises(EvaluationError, match=f"out is not replaced: {said}"):
        check_folder(out, True)
    with pytest.raises(EvaluationError, match=said), written_beside(out, True):
        raise AssertionError("some work is done")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("what", STRANGE)
def test_what_comes_into_a_folder_while_another_is_made_goes_back(
    tmp_path: Path, what: str
) -> None:
    out = tmp_path / "out"
    write(out, a__file="one", b="two")
    before: list[tuple[str, int, str]] = []

    def make() -> None:
        with written_beside(out, True) as work:
            (work / "b").write_text("new")
            happens(what, out)
            before.extend(each for each in tree(tmp_path) if not each[0].startswith(".out-"))

    with pytest.raises(EvaluationError, match=STRANGE[what][1]):
        make()
    assert tree(tmp_path) == before


def test_a_file_that_is_gone_keeps_nobody_from_replacing_the_rest(tmp_path: Path) -> None:
    write(tmp_path / "out", a__file="one", b="two")
    (tmp_path / "out" / "b").unlink()
    write(tmp_path / "out", c="three")
    assert names(tmp_path / "out") == [CHECKSUMS, "c"]
    assert names(tmp_path) == ["out"]


def test_what_comes_into_a_folder_while_it_goes_is_left_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def renamed(self: Path, target: Path) -> Path:
        if target == tmp_path / "out":  # what was there has been looked at
            (self.with_name(self.name + "-old") / "mine").write_text("late")
        return rename(self, target)

    write(tmp_path / "out", a="one")
    monkeypatch.setattr(Path, "rename", renamed)
    with pytest.raises(EvaluationError, match=r"is written, but .* at .*-old; look"):
        write(tmp_path / "out", b="two")
    (old,) = tmp_path.glob(".out-*-old")
    assert (old / "mine").read_text() == "late"
    assert names(tmp_path / "out") == [CHECKSUMS, "b"]


def test_what_takes_the_name_meanwhile_stays_and_so_does_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def renamed(self: Path, target: Path) -> Path:
        if target == tmp_path / "out":
            target.mkdir()
            (target / "mine").write_text("first")
        return rename(self, target)

    write(tmp_path / "out", a="one")
    monkeypatch.setattr(Path, "rename", renamed)
    with pytest.raises(EvaluationError, match=r"has taken this name .* is .*/out-"):
        write(tmp_path / "out", b="two")
    (old,) = tmp_path.glob("out-*")
    assert names(tmp_path) == ["out", old.name]
    assert (old / "a").read_text() == "one"
    assert (tmp_path / "out" / "mine").read_text() == "first"


@pytest.mark.parametrize("place", ["", "a"])
def test_a_folder_whose_files_may_not_be_deleted_is_refused(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "out", a__file="one")
    access = os.access
    closed = tmp_path / "out" / place
    monkeypatch.setattr(os, "access", lambda path, mode: path != closed and access(path, mode))
    with pytest.raises(EvaluationError, match=f"nothing in {place or 'it'} may be changed"):
        check_folder(tmp_path / "out", True)


@pytest.mark.parametrize(
    ("output", "read"),
    [("a", "a"), ("a/b", "a"), ("a", "a/b"), ("link", "a"), ("a/b", "link"), ("a/../a", "a/.")],
)
def test_an_output_is_no_input_and_in_none(tmp_path: Path, output: str, read: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(EvaluationError, match="neither inside the other"):
        check_folder(tmp_path / output, True, inputs=[tmp_path / read])
    check_folder(tmp_path / "ab", True, inputs=[tmp_path / "a", "coherencegym/winograd"])


def test_an_output_lies_in_no_other(tmp_path: Path) -> None:
    write(tmp_path / "out", a="one", b__c="two")
    (tmp_path / "link").symlink_to("out")
    for place in ("out/in", "out/b/in", "link/in"):
        with pytest.raises(EvaluationError, match=r"the earlier output .* neither inside"):
            check_folder(tmp_path / place, True)


def test_an_output_may_lie_in_a_folder_of_models_and_is_none(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    check_folder(tmp_path / "a" / "c", True, around=[tmp_path / "a"])
    for place in ("a", "a/b"):
        with pytest.raises(EvaluationError, match="neither inside the other"):
            check_folder(tmp_path / "a", True, around=[tmp_path / place])


@pytest.mark.parametrize("place", [".", "..", "../here", "./", "/"])
def test_the_folder_that_one_works_in_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for overwrite in (False, True):
        with pytest.raises(EvaluationError, match=r"the folder that this runs in.* with --output"):
            check_folder(Path(place), overwrite)


def test_a_place_may_be_named_by_the_way_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    write(Path("below/../../out"), a="one")
    assert names(tmp_path) == ["here", "out"]
    write(Path("../out/."), b="two")
    assert names(tmp_path / "out") == [CHECKSUMS, "b"]


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
        check_folder(tmp_path / place, True, "output=")
    assert names(tmp_path) == before


def test_an_empty_folder_may_be_used_with_overwrite(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write(tmp_path / "out", a="{}")
    assert (tmp_path / "out" / "a").exists()


#: Fills a folder, stops at one of its steps, and lives until it is killed.
LIVING = """
import sys, time
from pathlib import Path
from coherencegym.files import folders

folder, step = Path(sys.argv[1]), sys.argv[2]
rename, delete = Path.rename, folders.delete_listed

def stop(*_):
    print("here", flush=True)
    time.sleep(600)

def renamed(self, target):
    if step == "between the names" and Path(target) == folder:
        stop()
    return rename(self, target)

def deleted(old):
    if step == "while the old goes":
        (old / "a" / "file").unlink()
        stop()
    return delete(old)

Path.rename, folders.delete_listed = renamed, deleted
with folders.written_beside(folder, True) as work:
    (work / "b").write_text("new")
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


@pytest.mark.parametrize("step", ["while it fills", "between the names", "while the old goes"])
def test_what_a_killed_run_leaves_is_cleared_by_the_next_and_by_no_other(
    tmp_path: Path, step: str
) -> None:
    destination = tmp_path / "out"
    write(destination, a__file="old", b="old")
    with living(destination, step):
        while_it_lives = names(tmp_path)
        assert len(while_it_lives) == 3
        write(tmp_path / "another")
        clear_leftovers(destination)
        assert names(tmp_path) == sorted([*while_it_lives, "another"])
    write(tmp_path / "ou")
    assert names(tmp_path) == sorted([*while_it_lives, "another", "ou"])
    with pytest.raises(EvaluationError, match="--overwrite"):
        check_folder(destination, False)
    assert names(tmp_path) == ["another", "ou", "out"]
    assert (destination / "b").read_text() == ("new" if step == "while the old goes" else "old")
    check_folder(destination, True)


def test_what_somebody_put_into_what_a_killed_run_left_stays(tmp_path: Path) -> None:
    destination = tmp_path / "out"
    write(destination, a__file="old", b="old")
    with living(destination, "while the old goes"):
        pass
    (old,) = tmp_path.glob(".out-*-old")
    (old / "mine").write_text("mine")
    write(destination, b="newer")
    assert names(old) == [CHECKSUMS, "mine"]
    assert (destination / "b").read_text() == "newer"


def test_a_run_that_is_killed_when_it_is_done_has_left_nothing(tmp_path: Path) -> None:
    with living(tmp_path / "out", "when it is done"):
        pass
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "b").read_text() == "new"


def test_a_run_that_is_stopped_again_while_it_clears_up_is_cleared_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", stop)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "out", no__such__folder="x")
    assert len(names(tmp_path)) == 2
    write(tmp_path / "out", a="one")
    assert names(tmp_path) == ["out"]


def test_two_runs_of_one_output_do_not_clear_each_other(tmp_path: Path) -> None:
    destination = tmp_path / "out"
    with written_beside(destination, True) as one:
        (one / "a").write_text("one")
        write(destination, a="two")
        assert (one / "a").read_text() == "one"
    assert names(tmp_path) == ["out"]
    assert (destination / "a").read_text() == "one"


def test_what_has_no_lock_may_be_anybodys(tmp_path: Path) -> None:
    for name in (".out-0123abcd", ".out-0123abcd-old", ".out-notes", ".out-notes.lock"):
        (tmp_path / name).mkdir()
    (tmp_path / ".out-0123abcd.lock").write_text("a list of locks")
    before = names(tmp_path)
    clear_leftovers(tmp_path / "out")
    assert names(tmp_path) == before


def test_without_locks_a_folder_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "no locks here")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    write(tmp_path / "out", a="{}")
    assert names(tmp_path) == ["out"]
