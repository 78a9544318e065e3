"""Output folders: made beside, then renamed, so that nothing half-written is ever seen."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_folder(folder: Path, overwrite: bool, marker: str, option: str = "--output") -> None:
    """Refuse an output folder that would be lost, before any work is done for it.

    Args:
        folder: where the output goes.
        overwrite: whether an earlier output there may be replaced.
        marker: the file that every output of this kind has; a folder without it is somebody's own.
        option: the command-line option that names it.

    Raises:
        FileExistsError: it exists and may not be overwritten, or is not an earlier output.
    """
    if not folder.exists() and not folder.is_symlink():
        return
    if not overwrite:
        raise FileExistsError(
            f"{folder} exists; name another folder with {option}, or pass --overwrite"
        )
    ours = folder.is_dir() and not folder.is_symlink()
    if not ours or (any(folder.iterdir()) and not (folder / marker).is_file()):
        raise FileExistsError(
            f"{folder} has no {marker}, so it is not an earlier output and is not overwritten; "
            f"name another folder with {option}"
        )


@contextmanager
def written_beside(
    folder: Path, overwrite: bool, marker: str, option: str = "--output"
) -> Iterator[Path]:
    """A new folder that takes the name of ``folder`` when all is written, and is gone otherwise.

    Raises:
        FileExistsError: see :func:`check_folder`.
    """
    check_folder(folder, overwrite, marker, option)
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        # mkdtemp makes folders that only their owner can read.
        umask = os.umask(0)
        os.umask(umask)
        work.chmod(0o777 & ~umask)
        yield work
        check_folder(folder, overwrite, marker, option)
        old = work.with_name(work.name + "-old")
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
