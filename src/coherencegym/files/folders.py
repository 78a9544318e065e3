"""Output folders: made beside, then renamed, so that nothing half-written is ever seen.

Beside ``out`` a run holds the lock ``.out-<8 hexadecimal digits>.lock`` for as long as it lives,
fills ``.out-<the same>`` and puts what it replaces at ``.out-<the same>-old`` for a moment. A run
that is killed leaves them, and its lock is free then, whatever process has its number: the next run
of the same output clears them.

Only what the program wrote is replaced or deleted. It knows its files again by their checksums,
which lie in the folder itself, in ``.coherencegym.sha256``, in the format of ``sha256sum`` (whose
``--check`` reads it), sorted by path. What is not listed there, or is other than listed, is
somebody's own. The list is of this machine: no push uploads it, and readers of datasets pass over
it, as they do over every hidden file.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from coherencegym.errors import EvaluationError

#: The list's name. It does not end in ``.json``, as suites of SyntaxGym do.
CHECKSUMS = ".coherencegym.sha256"

#: A file's path in the folder, with ``/`` -> its sha256.
Checksums = Mapping[str, str]

_LINE = re.compile("([0-9a-f]{64})  (.+)")


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


def sha256_of(path: Path) -> str:
    """The sha256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksums(folder: Path) -> Checksums:
    """The checksums of all files in a folder."""
    return {name: sha256_of(path) for name, path in _inside(folder) if path.is_file()}


def read_checksums(folder: Path) -> Checksums | None:
    """The checksums that a folder lists; None where it has no list."""
    path = folder / CHECKSUMS
    if not _is_regular(path):
        return None
    lines = path.read_bytes().decode("utf-8", "surrogateescape").split("\n")
    return {parts[2]: parts[1] for line in lines if (parts := _LINE.fullmatch(line))}


def write_checksums(listed: Checksums, path: Path) -> None:
    """Write a list."""
    lines = [f"{digest}  {name}\n" for name, digest in sorted(listed.items())]
    path.write_bytes("".join(lines).encode("utf-8", "surrogateescape"))


def strange_part(folder: Path) -> str:
    """Say what first in a folder its list does not explain; empty: nothing.

    Links are not followed.
    """
    if folder.is_symlink() or not folder.is_dir():
        return "it is no folder"
    if (listed := read_checksums(folder)) is None:
        return f"it has no {CHECKSUMS}, in which coherencegym lists what it wrote"
    if not _may_change(folder):
        return "nothing in it may be changed"
    folders = _folders(listed)
    for name, path in _inside(folder, folders):
        if name in folders and path.is_dir() and not path.is_symlink():
            said = "" if _may_change(path) else f"nothing in {name} may be changed"
        else:
            said = strange_file(name, path, listed)
        if said:
            return said
    return ""


def strange_file(name: str, path: Path, listed: Checksums) -> str:
    """Say what its list does not explain about a file, ``name`` in the folder; empty: nothing."""
    if path.is_symlink():
        return f"{name} is a symbolic link"
    if name not in listed:
        return f"{name} is not of the earlier output"
    if not _is_regular(path) or sha256_of(path) != listed[name]:
        return f"{name} was changed since coherencegym wrote it"
    return ""


def delete_listed(folder: Path) -> bool:
    """Delete the files of a folder that are as listed, and itself if it is empty then.

    Returns:
        False where something stays.
    """
    if folder.is_symlink():
        return False
    listed = read_checksums(folder) or {}
    folders = _folders(listed)
    for name, path in reversed([*_inside(folder, folders)]):
        with suppress(OSError):
            if name in folders and not path.is_symlink():
                path.rmdir()
            elif not strange_file(name, path, listed):
                path.unlink()
    with suppress(OSError):
        if [path.name for path in folder.iterdir()] == [CHECKSUMS]:
            (folder / CHECKSUMS).unlink()
        folder.rmdir()
    return not folder.exists()


def _inside(folder: Path, folders: Container[str] | None = None) -> Iterator[tuple[str, Path]]:
    # A folder comes before what it holds. ``folders``: those that are looked into, and no link;
    # None: all.
    left = [folder]
    while left:
        for path in sorted(left.pop().iterdir()):
            name = path.relative_to(folder).as_posix()
            if name == CHECKSUMS:
                continue
            yield name, path
            if path.is_dir() and not path.is_symlink() and (folders is None or name in folders):
                left.append(path)


def _folders(listed: Checksums) -> set[str]:
    return {str(above) for name in listed for above in PurePosixPath(name).parents}


def _may_change(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def _is_regular(path: Path) -> bool:
    return os.path.lexists(path) and stat.S_ISREG(path.lstat().st_mode)
