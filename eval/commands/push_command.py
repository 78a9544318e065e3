"""``coherencegym push``: results into a repository on the Hub, in one of two forms."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from coherencegym.command_line import Parser
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options

EXAMPLES = """\
  coherencegym push results/sentence_order--gpt2 me/coherence-results --dry-run
  coherencegym push results/sentence_order--gpt2 me/coherence-results --private
  coherencegym push results me/coherence-results        all runs in a folder, in one commit
  coherencegym push results/sentence_order--gpt2 openai-community/gpt2 --format eval-results \\
      --create-pr
"""
#: The forms: a dataset of runs, and the model's own repository.
RUNS, EVAL_RESULTS = "runs", "eval-results"


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``push``."""
    options.add_results(parser, "result folders, or folders of them")
    parser.add_argument(
        "repo_id", metavar="USER/NAME", help="a dataset repository of the Hub, or the model's own"
    )
    parser.add_argument(
        "--format",
        choices=(RUNS, EVAL_RESULTS),
        default=RUNS,
        metavar="FORMAT",
        help=f"{RUNS}: a dataset of results with a card; {EVAL_RESULTS}: scores in .eval_results/ "
        f"of the model's repository; default {RUNS}",
    )
    parser.add_argument(
        "--create-pr",
        action="store_true",
        help=f"open a pull request; with --format {EVAL_RESULTS}",
    )
    parser.add_argument(
        "--source-url",
        metavar="URL",
        help="address where a reader finds more, such as a dataset of results; with --format "
        f"{EVAL_RESULTS}; default the toolkit's page",
    )
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
    form = arguments.format
    own = {"create_pr": EVAL_RESULTS, "source_url": EVAL_RESULTS, "private": RUNS}
    for name, expected in own.items():
        if getattr(arguments, name) and form != expected:
            option = f"--{name.replace('_', '-')}"
            raise EvaluationError(f"{option}: expected --format {expected} with it")
    if form == RUNS:
        print_push(arguments.results, arguments.repo_id, arguments.private, arguments.dry_run)
    else:
        _push_to_model(arguments)
    return 0


def _push_to_model(arguments: argparse.Namespace) -> None:
    from huggingface_hub import HfApi

    from coherencegym.eval.hub.eval_results import TOOLKIT, push_to_model
    from coherencegym.hub.answers import hub_errors

    command = shlex.join(["coherencegym", "push", *arguments.typed_words])
    how = {"create_pr": arguments.create_pr, "dry_run": arguments.dry_run}
    where = arguments.results, arguments.repo_id
    with hub_errors(f"a push is one commit, made or not made: run `{command}` again"):
        source_url = arguments.source_url or TOOLKIT
        pushed = push_to_model(HfApi(), *where, source_url=source_url, **how)
    print(*pushed.lines, sep="\n")


def print_push(
    folders: Sequence[Path], repo_id: str, private: bool = False, dry_run: bool = False
) -> None:
    """Push, and print what was pushed, line by line."""
    from huggingface_hub import HfApi

    from coherencegym.eval.hub.push_results import push_results
    from coherencegym.hub.answers import hub_errors

    command = shlex.join(["coherencegym", "push", *map(str, folders), repo_id])
    with hub_errors(f"a push is one commit, made or not made: run `{command}` again"):
        pushed = push_results(HfApi(), folders, repo_id, private=private, dry_run=dry_run)
    print(*pushed.lines, sep="\n")
