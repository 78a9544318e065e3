"""Output folders: made beside, then renamed, so that nothing half-written is ever seen.

Beside ``out`` a run holds the lock ``.out-<8 hexadecimal digits>.lock`` for as long as it lives,
fills ``.out-<the same>`` and puts what it replaces at ``.out-<the same>-old`` for a moment. A run
that is killed leaves them, and its lock is free then, whatever process has its number: the next run
of the same output clears them.

Only what the program wrote is replaced or deleted: :mod:`coherencegym.files.checksums`.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.files.checksums import (
    CHECKSUMS,
    checksums,
    delete_listed,
    read_checksums,
    strange_part,
    write_checksums,
)


def check_folder(
    folder: Path,
    overwrite: bool,
    option: str = "--output",
    *,
    inputs: Iterable[str | Path] = (),
    around: Iterable[str | Path] = (),
) -> None:
    """Refuse an output folder that would be lost or cannot be, before any work is done for it.

    What killed runs left beside it is cleared first: see :func:`clear_leftovers`.

    Args:
        folder: it is replaced only if all that is in it is as the program wrote it.
        overwrite: it may be replaced.
        option: names the folder: one of the command line, or in Python ``output=``.
        inputs: folders that are read; names of something else are passed over.
        around: the same, and the output may lie in them.
    """
    if _is_working_place(folder):
        raise EvaluationError(
            f"{folder} is or holds the folder that this runs in, which is not replaced; name "
            f"another with {option}, such as {folder / 'output'}"
        )
    check_inputs([folder], option, inputs=inputs, around=around)
    for above in Path(os.path.realpath(folder)).parents:
        if read_checksums(above) is not None:
            raise _nested(folder, above, option, "the earlier output")
    clear_leftovers(_absolute(folder))
    _check_place(folder, option)
    _check_replaceable(folder, overwrite, option)
    if os.path.lexists(folder) and (said := _strange(folder)):
        raise _kept(folder, said, option)


def check_inputs(
    outputs: Sequence[Path],
    option: str = "--output",
    *,
    inputs: Iterable[str | Path] = (),
    around: Iterable[str | Path] = (),
) -> None:
    """Refuse outputs that are read, or hold what is, or lie in it; see :func:`check_folder`."""
    # A name on the Hub is no folder.
    inputs, around = (list(filter(os.path.exists, one)) for one in (inputs, around))
    held = {place: one for one in (*inputs, *around) for place in _places(one)}
    read = {_places(one)[0]: one for one in inputs}
    for output in outputs:
        places = _places(output)
        found = [held[one] for one in places[:1] if one in held]
        if found := found or [read[one] for one in places if one in read]:
            raise _nested(output, found[0], option, "the input")


def _nested(folder: Path, other: str | Path, option: str, what: str) -> EvaluationError:
    return EvaluationError(
        f"{option} {folder} and {what} {other}: expected two folders, neither inside the other"
    )


def _places(path: str | Path) -> list[object]:
    # Each by what is the same under whatever name.
    real = Path(os.path.realpath(path))
    return list(map(_identity, (real, *real.parents)))


def _identity(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:  # it is to be made
        return path
    return found.st_dev, found.st_ino


def _is_working_place(folder: Path) -> bool:
    try:
        return _places(folder)[0] in _places(Path.cwd())
    except FileNotFoundError:  # somebody has deleted it
        return False


def _absolute(folder: Path) -> Path:
    # A link at its end stays one.
    named = folder.name not in ("", "..")
    return folder.parent.resolve() / folder.name if named else folder.resolve()


def _check_replaceable(folder: Path, overwrite: bool, option: str) -> None:
    if os.path.lexists(folder) and not overwrite:
        raise EvaluationError(
            f"{folder} exists; name another folder with {option}, or pass {_replace(option)}"
        )


def _replace(option: str) -> str:
    # In Python it is an argument.
    return "overwrite=True" if option.endswith("=") else "--overwrite"


def _strange(folder: Path) -> str:
    is_empty = folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir())
    return "" if is_empty else strange_part(folder)


def _kept(folder: Path, said: str, option: str) -> EvaluationError:
    return EvaluationError(
        f"{folder} is not replaced: {said}; move it elsewhere, or name another folder with {option}"
    )


def _check_place(folder: Path, option: str) -> None:
    # Rights alone do not tell.
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
def written_beside(folder: Path, overwrite: bool, option: str = "--output") -> Iterator[Path]:
    """A new folder that takes the name of ``folder`` when all is written, and is gone otherwise."""
    check_folder(folder, overwrite, option)
    place = _absolute(folder)
    place.parent.mkdir(parents=True, exist_ok=True)
    with _work_folder(place) as work:
        yield work
        write_checksums(checksums(work), work / CHECKSUMS)
        _check_replaceable(folder, overwrite, option)
        old = _old_of(work)
        if os.path.lexists(place):
            place.rename(old)
            # Looked at under a name that nobody knows: what has come into it since goes back.
            if said := _strange(old):
                raise _kept(folder, said, option)
        try:
            work.rename(place)
        except OSError:
            if not os.path.lexists(place) or not os.path.lexists(old):
                raise
            raise EvaluationError(
                f"{folder}: something else has taken this name meanwhile; what was there before "
                f"is {_aside(place, work)}"
            ) from None
        if os.path.lexists(old) and not delete_listed(old):
            raise EvaluationError(
                f"{folder} is written, but of what it replaced something is left, at {old}; look "
                "at it, and delete it yourself"
            )


@contextmanager
def _work_folder(folder: Path) -> Iterator[Path]:
    work = folder.parent / f".{folder.name}-{secrets.token_hex(4)}"
    with _held(work, wait=True):
        try:
            work.mkdir()
            yield work
        finally:
            _settle(folder, work)


def _settle(folder: Path, work: Path) -> None:
    old = _old_of(work)
    if os.path.lexists(old):
        if not work.exists():  # it has taken the name
            delete_listed(old)
        else:
            old.rename(_aside(folder, work) if os.path.lexists(folder) else folder)
    # Nobody else knew of it, and nothing in it is finished.
    shutil.rmtree(work, ignore_errors=True)


def clear_leftovers(folder: Path) -> None:
    """Clear what runs of this output left beside it when they were killed.

    A folder that a killed run had just moved away to replace it is put back. What a living process
    holds stays, on whichever machine it runs, and so does what has no lock.
    """
    name = re.compile(rf"\.{re.escape(folder.name)}-[0-9a-f]{{8}}\.lock")
    with suppress(OSError):
        for path in sorted(folder.parent.iterdir()):
            # The lock of a run is an empty file.
            if not name.fullmatch(path.name) or path.is_symlink() or path.stat().st_size:
                continue
            work = path.with_suffix("")
            with _held(work, wait=False) as is_ours:
                if is_ours:
                    _settle(folder, work)


@contextmanager
def _held(work: Path, wait: bool) -> Iterator[bool]:
    # The lock falls free when this process ends, however it ends. Its file stays as long as there
    # is something to put in order. False: another process has it, or the file system has no locks.
    from filelock import FileLock

    path = work.with_name(work.name + ".lock")
    lock: Any = FileLock(path)
    try:
        with suppress(NotImplementedError, OSError):
            lock.acquire(timeout=-1 if wait else 0)
        yield lock.is_locked
    finally:
        if lock.is_locked and not any(map(os.path.lexists, (work, _old_of(work)))):
            # Before it is free: who waits for it finds that its file is gone, and makes another.
            with suppress(OSError):
                path.unlink()
        lock.release()


def _old_of(work: Path) -> Path:
    return work.with_name(work.name + "-old")


def _aside(folder: Path, work: Path) -> Path:
    # Something else has taken its name meanwhile.
    return folder.with_name(work.name.removeprefix("."))
