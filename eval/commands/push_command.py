"""``coherencegym push``: results into a repository on the Hub, in one of two forms."""

from __future__ import annotations

import argparse
import shlex

from coherencegym.command_line import Parser, flag_of
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
    """Push a folder of results, and print what was pushed, line by line."""
    from huggingface_hub import HfApi

    from coherencegym.eval.hub.eval_results import TOOLKIT, push_to_model
    from coherencegym.eval.hub.push_results import push_results
    from coherencegym.hub import check_target, hub_errors

    check_target(arguments.repo_id)
    form = arguments.format
    own = {"create_pr": EVAL_RESULTS, "source_url": EVAL_RESULTS, "private": RUNS}
    for name, expected in own.items():
        if getattr(arguments, name) and form != expected:
            raise EvaluationError(f"{flag_of(name)}: expected --format {expected} with it")
    command = shlex.join(["coherencegym", "push", *arguments.typed_words])
    where = HfApi(), arguments.results, arguments.repo_id
    with hub_errors(f"a push is one commit, made or not made: run `{command}` again"):
        if form == RUNS:
            pushed = push_results(*where, private=arguments.private, dry_run=arguments.dry_run)
        else:
            how = {"create_pr": arguments.create_pr, "dry_run": arguments.dry_run}
            pushed = push_to_model(*where, source_url=arguments.source_url or TOOLKIT, **how)
    print(*pushed.lines, sep="\n")
    return 0
