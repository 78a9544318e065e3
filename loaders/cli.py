"""The command line of the loaders: list the corpora, show one, fetch one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coherencegym.command_line import USER_ERROR, Parser, finish
from coherencegym.errors import EvaluationError, one_line
from coherencegym.loaders.corpus import NEVER_RUN, Corpus, CorpusError, CorpusNotFoundError
from coherencegym.loaders.fetching import command as fetch_command
from coherencegym.loaders.fetching.command import print_rows
from coherencegym.loaders.fetching.fetch import UNFINISHED
from coherencegym.loaders.read import DATA_VARIABLE, find, how_to_obtain, places, read
from coherencegym.loaders.registry import CORPORA, corpus

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


def main(argv: Sequence[str] | None = None, prog: str = "python -m loaders") -> int:
    """Run the command; exit code 2 where a corpus cannot be shown or fetched, 130 after Ctrl-C."""
    options = make_parser(prog).parse_args(argv)
    return finish(prog, lambda: _run(options), _explain, "the same command goes on from here")


def _run(options: argparse.Namespace) -> int:
    if options.command == "fetch":
        return fetch_command.run(options)
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
        # Without defaults: a command's would undo what was given before the command.
        each.add_argument(
            "--data-dir",
            type=Path,
            metavar="DIR",
            default=argparse.SUPPRESS,
            help="look for files in this folder first",
        )
    fetch_command.add_parser(commands)
    return parser


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
