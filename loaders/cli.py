"""The command line of the loaders: list the corpora, show one, fetch one."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from coherencegym.command_line import USER_ERROR, Parser, finish, rare
from coherencegym.errors import EvaluationError, one_line
from coherencegym.loaders.corpus import NEVER_RUN, Corpus, CorpusError, CorpusNotFoundError
from coherencegym.loaders.fetch import (
    PUBLIC,
    UNFINISHED,
    DownloadSource,
    Progress,
    RemoteFile,
    check_base,
    download_source,
    fetch_source,
    source_names,
)
from coherencegym.loaders.read import DATA_VARIABLE, data_root, find, how_to_obtain, places, read
from coherencegym.loaders.registry import CORPORA, corpus
from coherencegym.terminal import shown_console

_EXAMPLES = f"""\
  coherencegym corpora                                  all corpora, and which are found here
  coherencegym corpora --data-dir ~/corpora             the same, looking in that folder first
  coherencegym corpora show storycloze                  licence, expected files, a first discourse
  coherencegym corpora fetch                            what can be downloaded, on which terms
  coherencegym corpora fetch winograd

Files are looked for in DIR/<corpus>/ and DIR (--data-dir), in ${DATA_VARIABLE}/<corpus>/, and
in the folder for caches (`show` names it). Texts of your own (coherencegym build --texts PATH) and
any dataset on the Hugging Face Hub (coherencegym build SUITE --hub-dataset ID) can be read as well,
and formats of your own: coherencegym new corpus NAME.
"""


def main(argv: Sequence[str] | None = None, prog: str = "coherencegym corpora") -> int:
    """Run the command; exit code 2 where a corpus cannot be shown or fetched, 130 after Ctrl-C."""
    options = make_parser(prog).parse_args(argv)
    return finish(prog, lambda: _run(options), _explain, "the same command goes on from here")


def _run(options: argparse.Namespace) -> int:
    if options.command == "fetch":
        return fetch_named(options)
    if options.command == "show":
        _print_yaml(_describe(corpus(options.corpus), options.data_dir))
    else:
        _print_table(options.data_dir)
    return 0


def _explain(error: Exception) -> tuple[int, str] | None:
    ours = isinstance(error, CorpusError | EvaluationError | OSError)
    return (USER_ERROR, one_line(error)) if ours else None


def make_parser(prog: str = "coherencegym corpora") -> Parser:
    """The parser of ``coherencegym corpora``."""
    parser = Parser(
        prog,
        "List the corpora that can be read, show what one declares, or fetch it.",
        _EXAMPLES,
        takes="[show|fetch]",
    )
    parser.set_defaults(data_dir=None)
    commands = parser.add_subparsers(
        dest="command", title="commands", metavar="show|fetch", prog=prog
    )
    show = commands.add_parser("show", help="show one corpus", takes="CORPUS")
    show.add_argument("corpus", metavar="CORPUS", help="its name in the list")
    for each in (parser, show):
        _add_data_dir(each, "look for files in this folder first")
    _add_fetch(commands)
    return parser


def _add_data_dir(parser: Parser, said: str) -> None:
    # Without a default: a command's would undo what was given before the command.
    default = argparse.SUPPRESS
    parser.add_argument("--data-dir", type=Path, metavar="DIR", default=default, help=said)


#: Fields of a declaration that are told as they are.
_DECLARED = (
    *("licence", "licence_name", "licence_url"),
    *("text_licence", "text_licence_name", "text_licence_url"),
    *("may_be_published", "proven", "language"),
)


def _describe(declared: Corpus, data_dir: Path | None) -> dict[str, Any]:
    expected: dict[str, list[str]] = {name: [] for name in declared.splits}
    for pattern in declared.patterns:
        if (name := pattern.example or pattern.glob) not in expected[pattern.split]:
            expected[pattern.split].append(name)
    description: dict[str, Any] = {
        "name": declared.name,
        "title": declared.title,
        "found": None,
        **{name: getattr(declared, name) for name in _DECLARED},
        "homepage": declared.homepage,
        "formats": declared.native,
        "obtain": how_to_obtain(declared),
        "expected_files": expected,
        "places": [
            f"{place}{'  <- fetching was cut off' * (place / UNFINISHED).exists()}"
            for place in places(declared, data_dir)
        ],
        "citation": declared.citation,
    }
    try:
        found = find(declared, data_dir)
    except CorpusNotFoundError:
        return description
    description["found"] = str(found.place)
    description["files"] = [{"path": str(file.path), "split": file.split} for file in found.files]
    if (first := next(iter(read(declared, data_dir=data_dir, limit=1)), None)) is not None:
        units = [{"speaker": unit.speaker, "text": unit.text} for unit in first.units]
        description["first_discourse"] = {"id": first.id, "units": units}
    return description


def _print_table(data_dir: Path | None) -> None:
    rows = []
    for declared in CORPORA.values():
        try:
            place = "in this package" if declared.native else str(find(declared, data_dir).place)
        except CorpusNotFoundError:
            place = "no"
        texts, may = declared.text_licence, declared.may_be_published
        run = declared.proven
        reader = "never" if run == NEVER_RUN else run.partition(":")[0] or "–"
        rows.append((declared.name, place, declared.licence, texts, may, reader))
    never = [name for name, *_, reader in rows if reader == "never"]
    print_rows(
        ("name", "found", "annotation", "texts", "may be published", "reader"),
        rows,
        "annotation, texts: their licences, of which the stricter decides. "
        "reader: the day of its last run on the real files. "
        f"{NEVER_RUN[0].upper()}{NEVER_RUN[1:]}: {', '.join(never)}. "
        "`coherencegym corpora show NAME` says how to get them.",
    )


def _print_yaml(entry: dict[str, Any]) -> None:
    import yaml

    said = {name: value for name, value in entry.items() if name != "citation" and value != ""}
    print(yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=10**6), end="")
    print(entry["citation"])


#: Environment variable that names the server to ask in place of the public one.
MIRROR_VARIABLE = "COHERENCEGYM_MIRROR"

_FETCH_EXAMPLES = f"""\
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


def _add_fetch(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the command to those of ``coherencegym corpora``."""
    parser = commands.add_parser(
        "fetch",
        help="download openly readable corpora, checked by digest",
        description="Download openly readable corpora from their public source at a pinned commit.",
        examples=_FETCH_EXAMPLES,
        takes="NAME ...",
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="sources to fetch; default: list all sources")
    add("--accept", action="store_true", help="accept the terms of those that have terms")
    _add_data_dir(parser, "put the files into DIR/NAME/")
    what = f"server to ask; default ${MIRROR_VARIABLE}, or {PUBLIC}"
    rare(add("--mirror", metavar="URL", help=what))


def fetch_named(options: argparse.Namespace) -> int:
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
        number = "1 file" if len(each.files) == 1 else f"{len(each.files)} files"
        print(
            f"{each.name}: {number}, {_size_of(each.files)} in {folder}: "
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
