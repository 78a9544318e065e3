"""``coherencegym push``: results into a repository on the Hub, in one of three forms."""

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
  coherencegym push results evaleval/EEE_datastore --format every-eval-ever --create-pr \\
      --organization "University of Somewhere"
"""
#: The forms: a dataset of runs, the model's own repository, the shared format of evaluations.
RUNS, EVAL_RESULTS, EVERY_EVAL_EVER = "runs", "eval-results", "every-eval-ever"


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``push``."""
    options.add_results(parser, "result folders, or folders of them")
    parser.add_argument(
        "repo_id", metavar="USER/NAME", help="a dataset repository of the Hub, or the model's own"
    )
    parser.add_argument(
        "--format",
        choices=(RUNS, EVAL_RESULTS, EVERY_EVAL_EVER),
        default=RUNS,
        metavar="FORMAT",
        help=f"{RUNS}: a dataset of results with a card; {EVAL_RESULTS}: scores in .eval_results/ "
        f"of the model's repository; {EVERY_EVAL_EVER}: files of Every Eval Ever in a dataset; "
        f"default {RUNS}",
    )
    parser.add_argument(
        "--create-pr",
        action="store_true",
        help=f"open a pull request; with --format {EVAL_RESULTS} or {EVERY_EVAL_EVER}",
    )
    parser.add_argument(
        "--source-url",
        metavar="URL",
        help="address where a reader finds more, such as a dataset of results; with --format "
        f"{EVAL_RESULTS}; default the toolkit's page",
    )
    options.add_every_eval_ever(parser)
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
    for name, forms in (
        ("create_pr", (EVAL_RESULTS, EVERY_EVAL_EVER)),
        ("source_url", (EVAL_RESULTS,)),
        ("organization", (EVERY_EVAL_EVER,)),
        ("private", (RUNS,)),
    ):
        if getattr(arguments, name) and form not in forms:
            option = f"--{name.replace('_', '-')}"
            raise EvaluationError(f"{option}: expected --format {' or '.join(forms)} with it")
    if form == RUNS:
        print_push(arguments.results, arguments.repo_id, arguments.private, arguments.dry_run)
        return 0
    return _push_otherwise(arguments)


def _push_otherwise(arguments: argparse.Namespace) -> int:
    from huggingface_hub import HfApi

    from coherencegym.eval.hub.eval_results import TOOLKIT, push_to_model
    from coherencegym.eval.hub.every_eval_ever import push_evaluations
    from coherencegym.hub.answers import hub_errors

    command = shlex.join(["coherencegym", "push", *arguments.typed_words])
    how = {"create_pr": arguments.create_pr, "dry_run": arguments.dry_run}
    where = arguments.results, arguments.repo_id
    with hub_errors(f"a push is one commit, made or not made: run `{command}` again"):
        if arguments.format == EVAL_RESULTS:
            source_url = arguments.source_url or TOOLKIT
            pushed = push_to_model(HfApi(), *where, source_url=source_url, **how)
        else:
            source = options.evaluation_source(arguments)
            pushed = push_evaluations(HfApi(), *where, source=source, **how)
    print(*pushed.lines, sep="\n")
    return 0


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
