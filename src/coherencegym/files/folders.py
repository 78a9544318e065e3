"""Output folders: made beside, then renamed, so that nothing half-written is ever seen.

Beside ``out`` a run holds the lock ``.out-<8 hexadecimal digits>.lock`` for as long as it lives,
fills ``.out-<the same>`` and puts what it replaces at ``.out-<the same>-old`` for a moment. A run
that is killed leaves them, and its lock is free then, whatever process has its number: the next run
of the same output clears them.
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError


def check_folder(folder: Path, overwrite: bool, marker: str, option: str = "--output") -> None:
    """Refuse an output folder that would be lost or cannot be, before any work is done for it.

    What killed runs left beside it is cleared first: see :func:`clear_leftovers`.

    A folder without ``marker``, the file that every output of its kind has, is somebody's own.
    ``option`` names the folder: one of the command line, or in Python ``output=``.

    Raises:
        EvaluationError: it exists and may not be overwritten, is not an earlier output, or nothing
            can be written where it would be.
    """
    clear_leftovers(folder)
    _check_place(folder, option)
    if not folder.exists() and not folder.is_symlink():
        return
    if not overwrite:
        replace = "overwrite=True" if option.endswith("=") else "--overwrite"
        raise EvaluationError(
            f"{folder} exists; name another folder with {option}, or pass {replace}"
        )
    ours = folder.is_dir() and not folder.is_symlink()
    if not ours or (any(folder.iterdir()) and not (folder / marker).is_file()):
        raise EvaluationError(
            f"{folder} has no {marker}, so it is not an earlier output and is not overwritten; "
            f"name another folder with {option}"
        )


def _check_place(folder: Path, option: str) -> None:
    """Make a file where the folder would be, and take it away: rights alone do not tell."""
    above = next(path for path in folder.absolute().parents if path.exists())
    try:
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        raise EvaluationError(
            f"{folder}: nothing can be written in {above} ({error.strerror}); "
            f"name another folder with {option}"
        ) from None


@contextmanager
def written_beside(
    folder: Path, overwrite: bool, marker: str, option: str = "--output"
) -> Iterator[Path]:
    """A new folder that takes the name of ``folder`` when all is written, and is gone otherwise.

    Raises:
        EvaluationError: see :func:`check_folder`.
    """
    check_folder(folder, overwrite, marker, option)
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = folder.parent / f".{folder.name}-{secrets.token_hex(4)}"
    with _held(work.with_name(work.name + ".lock"), wait=True):
        try:
            work.mkdir()
            yield work
            check_folder(folder, overwrite, marker, option)
            old = _old_of(work)
            if folder.exists():
                folder.rename(old)
            try:
                work.rename(folder)
            except BaseException:
                if old.exists():
                    old.rename(folder)
                raise
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def clear_leftovers(folder: Path) -> None:
    """Clear what runs of this output left beside it when they were killed.

    A folder that a killed run had just moved away to replace it is put back. What a living process
    holds stays, on whichever machine it runs, and so does what has no lock.
    """
    name = re.compile(rf"\.{re.escape(folder.name)}-[0-9a-f]{{8}}\.lock")
    with suppress(OSError):
        for path in sorted(folder.parent.iterdir()):
            if not name.fullmatch(path.name):
                continue
            with _held(path, wait=False) as is_ours:
                if is_ours:
                    work, old = path.with_suffix(""), _old_of(path.with_suffix(""))
                    if not folder.exists() and old.is_dir():
                        old.rename(folder)
                    shutil.rmtree(work, ignore_errors=True)
                    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _held(path: Path, wait: bool) -> Iterator[bool]:
    """Hold a lock that falls free when this process ends, however it ends; its file goes with it.

    False where it is not held: another process has it, or the file system has no locks.
    """
    from filelock import FileLock

    lock: Any = FileLock(path)
    with suppress(NotImplementedError, OSError):
        lock.acquire(timeout=-1 if wait else 0)
    try:
        yield lock.is_locked
    finally:
        if lock.is_locked:
            # Before it is free: who waits for it finds that its file is gone, and makes another.
            with suppress(OSError):
                path.unlink()
            lock.release()


def _old_of(work: Path) -> Path:
    return work.with_name(work.name + "-old")
