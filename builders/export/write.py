"""Write a build for other tools, each export a folder that appears whole or not at all.

An export is a module of this folder with a function ``write(tables, release, folder)``, which
writes the tables of items of a release into a new folder and returns lines for the user, and an
option ``export_NAME`` with the module's name (:mod:`builders.pipeline.options`).
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.builders.export.release import release_of
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import Source, find_dataset
from coherencegym.files.folders import check_apart, check_folder, written_beside


@dataclass(frozen=True)
class Exports:
    """The folders that exports go to, by the name of the export."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    overwrite: bool = False

    def check(self, build: Path | None = None, named: str = "--output") -> None:
        """Refuse folders that would be lost, before any work is done for them.

        Args:
            build: the folder of the build itself.
            named: the option that names it on the command line.
        """
        places = [(named, build)] if build is not None else []
        for name, folder in self.folders.items():
            option = f"--export-{name}"
            for other, place in places:
                check_apart(folder, place, option, other)
            places.append((option, folder))
            check_folder(folder, self.overwrite, option)


def exports_of(
    options: Any, part: Callable[[Path | None], Path | None] = lambda folder: folder
) -> Exports:
    """The exports that options name, each in a field ``export_NAME``.

    Args:
        options: the options of a build, or of the command ``export``.
        part: the folder of one suite in the one that was named.
    """
    folders = {
        name.removeprefix("export_"): part(folder)
        for name, folder in vars(options).items()
        if name.startswith("export_") and folder is not None
    }
    return Exports({name: folder for name, folder in folders.items() if folder}, options.overwrite)


def export_build(
    folder: Path, exports: Exports, version: str = "", dry_run: bool = False
) -> list[str]:
    """Write what was asked for of a build in a folder: see :func:`export`."""
    if not exports.folders:
        return []
    return export(find_dataset(str(folder)), exports, version, dry_run)


def export(source: Source, exports: Exports, version: str = "", dry_run: bool = False) -> list[str]:
    """Write what was asked for; on a dry run leave nothing, and say what would be written.

    Returns:
        Lines for the user: what was written, and how much was left out and why.
    """
    release = release_of(source, version)
    # What says nothing of a suite's hypothesis would count in the means of other programs.
    diagnostics = release.diagnostics
    read = [table for table in tables(source) if table.config not in diagnostics]
    lines: list[str] = []
    for name, destination in exports.folders.items():
        write = importlib.import_module(f"coherencegym.builders.export.{name}").write
        with (
            tempfile.TemporaryDirectory()
            if dry_run
            else written_beside(destination, exports.overwrite, f"--export-{name}")
        ) as folder:
            what, *left_out = write(read, release, Path(folder))
        done = "would be written to" if dry_run else "written to"
        lines += [f"{what}, {done} {destination}", *left_out]
    if diagnostics:
        names = ", ".join(diagnostics)
        lines.append(f"left out, because these configs do not test coherence: {names}")
    lines += [f"{line}: what is exported of it is for yourself" for line in release.closed]
    return lines
