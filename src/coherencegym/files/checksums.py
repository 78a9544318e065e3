"""Checksums of the files that the program wrote into a folder, by which it knows them again.

They lie in the folder itself, in ``.coherencegym.sha256``, in the format of ``sha256sum`` (whose
``--check`` reads it), sorted by path. What is not listed there, or is other than listed, is
somebody's own. The list is of this machine: no push uploads it, and readers of datasets pass over
it, as they do over every hidden file.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

#: The list's name. It does not end in ``.json``, as suites of SyntaxGym do.
CHECKSUMS = ".coherencegym.sha256"

#: A file's path in the folder, with ``/`` -> its sha256.
Checksums = Mapping[str, str]

_LINE = re.compile("([0-9a-f]{64})  (.+)")


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
