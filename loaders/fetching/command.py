"""``coherencegym corpora fetch``: list what can be fetched, say on which terms, fetch it."""

from __future__ import annotations

import argparse
import json
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
    Survey,
    check_base,
    download_source,
    fetch_source,
    source_names,
    survey,
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
  coherencegym corpora fetch gum --dry-run          which files would come; asks no server
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
    add("--dry-run", action="store_true", help="print what would be fetched; contact no server")
    add(
        "--data-dir",
        type=Path,
        metavar="DIR",
        default=argparse.SUPPRESS,
        help="put the files into DIR/NAME/",
    )
    add("--overwrite", action="store_true", help="replace files that have other content")
    what = f"server to ask; default ${MIRROR_VARIABLE}, or {PUBLIC}"
    rare(add("--mirror", metavar="URL", help=what))
    add("--json", action="store_true", default=argparse.SUPPRESS, help="print the list as JSON")


def run(options: argparse.Namespace) -> int:
    """List, or fetch all that are named; terms are looked at before anything is fetched."""
    if not options.names:
        _print_list(options.json)
        return 0
    if options.json:
        raise CorpusError("--json prints the list of what can be fetched, and goes with no name")
    base = check_base(options.mirror or os.environ.get(MIRROR_VARIABLE) or PUBLIC)
    wanted = [_wanted(name) for name in dict.fromkeys(options.names)]
    root = data_root(options.data_dir)
    for each in wanted:
        _print_terms(each, root / each.name)
    unaccepted = [each.name for each in wanted if each.terms]
    if unaccepted and not (options.accept or options.dry_run):
        raise CorpusError(
            f"{', '.join(unaccepted)}: nothing was fetched: read the terms above, and pass "
            "--accept if you accept them"
        )
    for each in wanted:
        folder = root / each.name
        if options.dry_run:
            _print_files(each, folder, survey(each, folder))
            continue
        bar = _progress_bar(each.name)
        before = fetch_source(each, folder, base=base, overwrite=options.overwrite, progress=bar)
        _print_summary(each, folder, before)
    return 0


def _wanted(name: str) -> DownloadSource:
    if name in CORPORA and name not in source_names():
        raise CorpusError(
            f"{name}: cannot be fetched, no public copy of it is pinned here; "
            f"to get the files: {CORPORA[name].obtain}"
        )
    return download_source(name)


def _print_list(as_json: bool) -> None:
    for_people = sys.stdout.isatty() and not as_json
    header = ("name", "files", "size" if for_people else "bytes", "licence", "terms")
    rows = [
        (
            entry.name,
            str(len(entry.files)),
            _size(entry.size) if for_people else str(entry.size),
            entry.licence,
            "--accept" if entry.terms else "none",
        )
        for entry in map(download_source, source_names())
    ]
    if as_json:
        print(json.dumps([dict(zip(header, row, strict=True)) for row in rows], indent=2))
        return
    print_rows(
        header, rows, "`coherencegym corpora fetch NAME --dry-run` prints licence, terms and files."
    )


def print_rows(header: tuple[str, ...], rows: Sequence[tuple[str, ...]], note: str) -> None:
    """Print a table and a note below it; in a pipe, tab-separated lines with a header."""
    if not sys.stdout.isatty():
        for row in (header, *rows):
            print("\t".join(row))
        return
    from rich.table import Table

    table = Table(*header)
    for row in rows:
        table.add_row(*row)
    console = shown_console()
    console.print(table)
    console.print(note, highlight=False)


def _size(count: int) -> str:
    from rich.filesize import decimal

    return decimal(count)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _print_terms(entry: DownloadSource, folder: Path) -> None:
    print(f"{entry.name}: {entry.title}")
    texts = {
        "from": entry.homepage,
        "licence": f"{entry.licence}: {entry.licence_note}",
        "terms": entry.terms or "those of the licence",
        "files": f"{len(entry.files)}, {_size(entry.size)}: {entry.selection}",
    }
    if larger := entry.without_digest:
        left_out = "larger files of the repository, of which no digest is known"
        texts["left out"] = f"{larger} {left_out}"
    for label, text in (texts | {"to": str(folder)}).items():
        print(f"  {label + ':':<10}{text}")
    sys.stdout.flush()  # before anything that standard error says


def _print_files(entry: DownloadSource, folder: Path, found: Survey) -> None:
    states = dict.fromkeys(found.there, "there") | dict.fromkeys(found.differing, "differs")
    for file in entry.files:
        print(f"{states.get(file, 'missing')}\t{file.size}\t{folder / file.path}")
    missing = sum(file.size for file in found.missing)
    print(
        f"{entry.name}: would fetch {_files(len(found.missing))}, "
        f"{_size(missing)}; {len(found.there)} are there"
        + (f"; {len(found.differing)} differ (--overwrite)" if found.differing else "")
    )


def _print_summary(entry: DownloadSource, folder: Path, before: Survey) -> None:
    fetched = len(entry.files) - len(before.there)
    came = entry.size - sum(file.size for file in before.there)
    print(
        f"{entry.name}: {_files(len(entry.files))}, {_size(entry.size)} in {folder}: "
        f"{len(before.there)} already there, {fetched} fetched ({_size(came)})"
    )
    if entry.use:
        print("  to use it: " + entry.use.replace("{folder}", quote(str(folder))))
    elif entry.name in CORPORA:
        print(f"  to see it: coherencegym corpora show {entry.name}")


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
