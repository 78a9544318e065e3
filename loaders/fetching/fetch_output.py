"""The output of ``python -m loaders fetch``: list, licence and terms, files, bar, sum."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coherencegym.loaders.fetching.fetch import Progress, Survey
from coherencegym.loaders.fetching.origin import Origin
from coherencegym.loaders.registry import CORPORA


def described(entry: Origin) -> dict[str, Any]:
    """Describe an origin, as plain values."""
    return {
        "name": entry.name,
        "title": entry.title,
        "files": len(entry.files),
        "bytes": entry.size,
        "licence": entry.licence,
        "licence_note": entry.licence_note,
        "terms": entry.terms,
        "selection": entry.selection,
        "without_digest": entry.without_digest,
        "origin": entry.homepage,
    }


def print_table(listed: Sequence[dict[str, Any]]) -> None:
    """A table; in a pipe, tab-separated lines with a header."""
    header = ("name", "files", "bytes", "licence", "terms")
    needs = {True: "--accept", False: "none"}
    rows = [
        (e["name"], str(e["files"]), str(e["bytes"]), e["licence"], needs[bool(e["terms"])])
        for e in listed
    ]
    if not sys.stdout.isatty():
        for row in (header, *rows):
            print("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("name", "files", "size", "licence", "terms")
    for (name, files, _, licence, terms), entry in zip(rows, listed, strict=True):
        table.add_row(name, files, size_text(entry["bytes"]), licence, terms)
    console = Console()
    console.print(table)
    console.print(
        "`python -m loaders fetch NAME --dry-run` prints licence, terms and files.", highlight=False
    )


def size_text(count: int) -> str:
    """Bytes for people, in decimal units."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def print_terms(entry: Origin, folder: Path) -> None:
    """Print the address of an origin, its licence and terms, and where its files go."""
    print(f"{entry.name}: {entry.title}")
    larger = entry.without_digest
    for label, text in (
        ("from", entry.homepage),
        ("licence", f"{entry.licence}: {entry.licence_note}"),
        ("terms", entry.terms or "those of the licence"),
        ("files", f"{len(entry.files)}, {size_text(entry.size)}: {entry.selection}"),
        (
            "left out",
            f"{larger} larger files of the repository, of which no digest is known"
            if larger
            else "",
        ),
        ("to", str(folder)),
    ):
        if text:
            print(f"  {label + ':':<10}{text}")
    sys.stdout.flush()  # before anything that standard error says


def print_files(entry: Origin, folder: Path, found: Survey) -> None:
    """Each file and whether it is there, tab-separated, and what would be fetched."""
    states = dict.fromkeys(found.there, "there") | dict.fromkeys(found.differing, "differs")
    for file in entry.files:
        print(f"{states.get(file, 'missing')}\t{file.size}\t{folder / file.path}")
    print(
        f"{entry.name}: would fetch {_files(len(found.missing))}, "
        f"{size_text(found.missing_bytes)}; {len(found.there)} are there"
        + (f"; {len(found.differing)} differ (--overwrite)" if found.differing else "")
    )


def print_summary(entry: Origin, folder: Path, before: Survey) -> None:
    """Print what was fetched, and what can be done with it."""
    fetched = len(entry.files) - len(before.there)
    came = entry.size - sum(file.size for file in before.there)
    print(
        f"{entry.name}: {_files(len(entry.files))}, {size_text(entry.size)} in {folder}: "
        f"{len(before.there)} already there, {fetched} fetched ({size_text(came)})"
    )
    if entry.use:
        print("  to use it: " + entry.use.replace("{folder}", str(folder)))
    elif entry.name in CORPORA:
        print(f"  to see it: python -m loaders show {entry.name}")


def progress_bar(name: str) -> Progress:
    """A bar on standard error where that is a terminal, else nothing."""

    @contextmanager
    def bar(total: int) -> Iterator[Callable[[int], object]]:
        from rich import progress
        from rich.console import Console

        console = Console(stderr=True)
        if not console.is_terminal:
            yield lambda count: None
            return
        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(),
        )
        with progress.Progress(*columns, console=console, transient=True) as shown:
            task = shown.add_task(name, total=total)
            yield lambda count: shown.advance(task, count)

    return bar
