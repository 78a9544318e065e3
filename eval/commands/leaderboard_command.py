"""``coherencegym leaderboard``: results as a leaderboard, a static site, here or as a Space."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from coherencegym.command_line import Parser
from coherencegym.eval.commands import options
from coherencegym.numbers import not_negative

if TYPE_CHECKING:
    from coherencegym.eval.results.run_table import RunTable

EXAMPLES = """\
  coherencegym leaderboard results       leaderboard/index.html, from folders of runs
  coherencegym leaderboard me/coherence-results --output site  from what `coherencegym push` made
  coherencegym leaderboard results me/coherence-results --title "Small models"
  coherencegym leaderboard results --format csv > scores.csv
  coherencegym leaderboard me/coherence-results --push-space me/coherence --dry-run
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``leaderboard``."""
    add = parser.add_argument
    add(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="result folders, folders of them, and results repositories of the Hub (USER/NAME)",
    )
    add("--title", default="Coherence leaderboard", help="title of the first page")
    add(
        "--pairs",
        type=not_negative,
        metavar="N",
        help="largest number of pages of two models, neighbours on the leaderboard first; 0: none; "
        "default 91, all pairs of 14 models",
    )
    options.add_format(parser, "also print the table of the first page: ", None)
    options.add_output(parser, "default leaderboard", "a leaderboard", Path("leaderboard"))
    add("--dry-run", action="store_true", help="list the files and their sizes, and write nothing")
    add = parser.group("publishing").add_argument
    add(
        "--push-space",
        metavar="USER/NAME",
        help="also publish the leaderboard as a static Space on the Hub",
    )
    add(
        "--private",
        action="store_true",
        help="create a private Space; refuse an existing public one",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write a leaderboard, and publish it if asked to.

    Raises:
        EvaluationError: a source cannot be read, there is a folder that may not be replaced, or
            the Hub refused or could not be reached.
    """
    from coherencegym.terminal import data_output

    with data_output(arguments.format is not None) as out:
        return _write(arguments, out)


def _write(arguments: argparse.Namespace, out: TextIO) -> int:
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.hub.push_leaderboard import leaderboard_files
    from coherencegym.eval.report.formats import TABLE, render_document
    from coherencegym.eval.results.labels import local_names_line
    from coherencegym.eval.views.leaderboard.cells import local_names
    from coherencegym.eval.views.leaderboard.names import INDEX
    from coherencegym.eval.views.leaderboard.pairs import MOST_PAIRS
    from coherencegym.eval.views.leaderboard.site import write_leaderboard
    from coherencegym.eval.views.overview import overview_document, print_overview
    from coherencegym.files.folders import check_folder
    from coherencegym.hub.commits import check_target
    from coherencegym.terminal import shown_console

    if arguments.push_space:
        check_target(arguments.push_space, needs_token=not arguments.dry_run)
    elif arguments.private:
        raise EvaluationError("--private: no Space is made; expected --push-space USER/NAME, too")
    if not arguments.dry_run:
        check_folder(arguments.output, arguments.overwrite, inputs=arguments.sources)
    table, sources = _read(arguments.sources)
    most = MOST_PAIRS if arguments.pairs is None else arguments.pairs
    with _work(arguments) as work:
        site = write_leaderboard(table, work, arguments.title, sources, most, _say)
        files = leaderboard_files(work)
    counts = {"model": table.models, "column": table.columns, "pair": site.pairs}
    print(", ".join(f"{len(n):,} {what}{'s' * (len(n) != 1)}" for what, n in counts.items()))
    if local := local_names(table):
        print(local_names_line(local))
    if arguments.dry_run and not arguments.push_space:
        for path, content in files.items():
            print(f"  {path} ({len(content):,} bytes)")
    total = sum(map(len, files.values()))
    where = f"{arguments.output}: {len(files):,} files, {total:,} bytes"
    said = f"would be written to {where}" if arguments.dry_run else f"written to {where}"
    print(said if arguments.dry_run else f"{said}; open {arguments.output / INDEX}")
    if arguments.push_space:
        _push(arguments, files)
    if arguments.format == TABLE:
        print_overview(table, shown_console(out, highlight=False))
    elif arguments.format:
        out.write(render_document(overview_document(table), arguments.format))
    return 0


def _say(line: str) -> None:
    # Nobody waits at a pipe.
    if sys.stderr.isatty():
        print(line, file=sys.stderr)


@contextmanager
def _work(arguments: argparse.Namespace) -> Iterator[Path]:
    # Renamed at the end, or thrown away.
    from coherencegym.files.folders import written_beside

    if arguments.dry_run:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    else:
        with written_beside(arguments.output, arguments.overwrite) as work:
            yield work


def _read(sources: Sequence[str]) -> tuple[RunTable, list[str]]:
    from coherencegym.eval.results.run_table import sorted_table
    from coherencegym.eval.results.runs import read_run, run_folders

    folders: list[Path] = []
    lines = []
    for source in sources:
        if Path(source).is_dir():
            found = run_folders([Path(source)])
            lines.append(f"{len(found):,} runs of the folder {Path(source).resolve().name}")
        else:
            found, line = _fetch(source)
            lines.append(line)
        folders += found
    return sorted_table(map(read_run, dict.fromkeys(folders))), lines


def _fetch(repo_id: str) -> tuple[list[Path], str]:
    from huggingface_hub import HfApi

    from coherencegym.errors import EvaluationError
    from coherencegym.eval.hub.fetch_results import fetch_results
    from coherencegym.hub.answers import hub_errors

    name = Path(repo_id)
    if repo_id.count("/") != 1 or name.is_absolute() or repo_id.startswith((".", "~")):
        raise EvaluationError(
            f"{repo_id}: no such folder; expected a folder of results, or USER/NAME on the Hub"
        )
    with hub_errors("nothing was written: run the command again"):
        fetched = fetch_results(HfApi(), repo_id)
    return list(fetched.folders), (
        f"{len(fetched.folders):,} runs of {repo_id} at {fetched.commit[:10]}"
    )


def _push(arguments: argparse.Namespace, files: Mapping[str, bytes]) -> None:
    from huggingface_hub import HfApi

    from coherencegym.eval.hub.push_leaderboard import push_leaderboard
    from coherencegym.hub.answers import hub_errors

    again = "a push is one commit, made or not made: run the command again, with --overwrite"
    how: dict[str, Any] = {"private": arguments.private, "dry_run": arguments.dry_run}
    with hub_errors(again):
        pushed = push_leaderboard(HfApi(), files, arguments.push_space, arguments.title, **how)
    print(*pushed.lines, sep="\n")
