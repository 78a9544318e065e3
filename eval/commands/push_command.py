"""``coherencegym push``: results into a dataset repository on the Hub."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from coherencegym.command_line import Parser
from coherencegym.eval.commands import options

EXAMPLES = """\
  coherencegym push results/sentence_order--gpt2 me/coherence-results --dry-run
  coherencegym push results/sentence_order--gpt2 me/coherence-results --private
  coherencegym push results me/coherence-results        all runs in a folder, in one commit
  coherencegym score --model gpt2 --dataset coherencegym/winograd --push-results me/results
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``push``."""
    options.add_results(parser, "result folders, or folders of them")
    parser.add_argument("repo_id", metavar="USER/NAME", help="a dataset repository of the Hub")
    parser.add_argument(
        "--private",
        action="store_true",
        help="create a private repository; refuse an existing public one",
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be pushed")


def run(arguments: argparse.Namespace) -> int:
    """Push a folder of results."""
    from coherencegym.hub.commits import check_target

    check_target(arguments.repo_id)
    print_push(arguments.results, arguments.repo_id, arguments.private, arguments.dry_run)
    return 0


def print_push(
    folders: Sequence[Path], repo_id: str, private: bool = False, dry_run: bool = False
) -> None:
    """Push, and print what was pushed, line by line.

    Raises:
        EvaluationError: the results cannot be read, or the Hub refused or could not be reached.
    """
    from huggingface_hub import HfApi

    from coherencegym.eval.hub.push_results import push_results
    from coherencegym.hub.answers import hub_errors

    command = shlex.join(["coherencegym", "push", *map(str, folders), repo_id])
    with hub_errors(f"a push is one commit, made or not made: run `{command}` again"):
        pushed = push_results(HfApi(), folders, repo_id, private=private, dry_run=dry_run)
    print(*pushed.lines, sep="\n")
