"""``coherencegym corpora fetch``: list what can be fetched, say on which terms, fetch it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from coherencegym.command_line import Parser, rare
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.fetching.fetch import (
    PUBLIC,
    DownloadSource,
    Progress,
    RemoteFile,
    check_base,
    download_source,
    fetch_source,
    source_names,
)
from coherencegym.loaders.read import DATA_VARIABLE, data_root
from coherencegym.loaders.registry import CORPORA
from coherencegym.terminal import shown_console

#: Environment variable that names the server to ask in place of the public one.
MIRROR_VARIABLE = "COHERENCEGYM_MIRROR"

EXAMPLES = f"""\
  coherencegym corpora fetch                        what can be fetched, how much, on which terms
  coherencegym corpora fetch winograd               into the folder where loaders look
  coherencegym corpora fetch gum --accept           after reading its terms, which are printed
  coherencegym corpora fetch irc --data-dir ~/corpora
                                                 into ~/corpora/irc/

Files come from a pinned commit and are checked by size and sha256. A run that was cut off goes on
where it was when it is started again. --mirror (or ${MIRROR_VARIABLE}) names a server that answers
<repository>/<commit>/<path> as {PUBLIC} does; proxies are those
of the environment (HTTPS_PROXY, NO_PROXY). Without --data-dir, files go to ${DATA_VARIABLE}, or,
where that is not set, to the folder for caches.
"""


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the command to those of ``coherencegym corpora``."""
    parser = commands.add_parser(
        "fetch",
        help="download openly readable corpora, checked by digest",
        description="Download openly readable corpora from their public source at a pinned commit.",
        examples=EXAMPLES,
        takes="NAME ...",
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="sources to fetch; default: list all sources")
    add("--accept", action="store_true", help="accept the terms of those that have terms")
    add(
        "--data-dir",
        type=Path,
        metavar="DIR",
        default=argparse.SUPPRESS,
        help="put the files into DIR/NAME/",
    )
    what = f"server to ask; default ${MIRROR_VARIABLE}, or {PUBLIC}"
    rare(add("--mirror", metavar="URL", help=what))


def run(options: argparse.Namespace) -> int:
    """List, or fetch all that are named; terms are looked at before anything is fetched."""
    if not options.names:
        _print_list()
        return 0
    base = check_base(options.mirror or os.environ.get(MIRROR_VARIABLE) or PUBLIC)
    wanted = [_wanted(name) for name in dict.fromkeys(options.names)]
    root = data_root(options.data_dir)
    for each in wanted:
        _print_terms(each, root / each.name)
    unaccepted = [each.name for each in wanted if each.terms]
    if unaccepted and not options.accept:
        raise CorpusError(
            f"{', '.join(unaccepted)}: nothing was fetched: read the terms above, and pass "
            "--accept if you accept them"
        )
    for each in wanted:
        folder = root / each.name
        missing = fetch_source(each, folder, base=base, progress=_progress_bar(each.name))
        print(
            f"{each.name}: {_counted(each.files)}, {_size_of(each.files)} in {folder}: "
            f"{len(missing)} fetched ({_size_of(missing)})"
        )
        if each.use:
            print("  to use it: " + each.use.replace("{folder}", quote(str(folder))))
        elif each.name in CORPORA:
            print(f"  to see it: coherencegym corpora show {each.name}")
    return 0


def _wanted(name: str) -> DownloadSource:
    if name in CORPORA and name not in source_names():
        raise CorpusError(
            f"{name}: cannot be fetched, no public copy of it is pinned here; "
            f"to get the files: {CORPORA[name].obtain}"
        )
    return download_source(name)


def _print_list() -> None:
    size_of = _size_of if sys.stdout.isatty() else _bytes_of
    print_rows(
        ("name", "files", "size" if sys.stdout.isatty() else "bytes", "licence", "terms"),
        [
            (
                entry.name,
                str(len(entry.files)),
                str(size_of(entry.files)),
                entry.licence,
                "--accept" if entry.terms else "none",
            )
            for entry in map(download_source, source_names())
        ],
        "`coherencegym corpora fetch NAME` prints licence and terms first.",
    )


def print_rows(header: tuple[str, ...], rows: Sequence[tuple[str, ...]], note: str) -> None:
    """Print a table and a note below it; in a pipe, tab-separated lines with a header."""
    if not sys.stdout.isatty():
        for row in (header, *rows):
            print("\t".join(row))
        return
    from rich.table import Column, Table

    table = Table(Column(header[0], no_wrap=True), *header[1:])
    for row in rows:
        table.add_row(*row)
    console = shown_console()
    console.print(table)
    console.print(note, highlight=False)


def _bytes_of(files: Sequence[RemoteFile]) -> int:
    return sum(file.size for file in files)


def _size_of(files: Sequence[RemoteFile]) -> str:
    from rich.filesize import decimal

    return decimal(_bytes_of(files))


def _counted(files: Sequence[RemoteFile]) -> str:
    return "1 file" if len(files) == 1 else f"{len(files)} files"


def _print_terms(entry: DownloadSource, folder: Path) -> None:
    print(f"{entry.name}: {entry.title}")
    texts = {
        "from": entry.homepage,
        "licence": f"{entry.licence}: {entry.licence_note}",
        "terms": entry.terms or "those of the licence",
        "files": f"{len(entry.files)}, {_size_of(entry.files)}: {entry.selection}",
    }
    if larger := entry.without_digest:
        left_out = "larger files of the repository, of which no digest is known"
        texts["left out"] = f"{larger} {left_out}"
    for label, text in (texts | {"to": str(folder)}).items():
        print(f"  {label + ':':<10}{text}")
    sys.stdout.flush()  # before anything that standard error says


def _progress_bar(name: str) -> Progress:
    @contextmanager
    def bar(total: int) -> Iterator[Callable[[int], object]]:
        from rich import progress

        console = shown_console(stderr=True)
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
