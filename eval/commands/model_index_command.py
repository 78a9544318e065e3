"""``coherencegym model-index``: scores for a model's own repository."""

from __future__ import annotations

import argparse
from pathlib import Path

from coherencegym.command_line import Parser

EXAMPLES = """\
  coherencegym model-index results/sentence_order--gpt2
  coherencegym model-index results/sentence_order--gpt2 --eval-results > sentence_order.yaml
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``model-index``."""
    parser.add_argument("folder", type=Path, metavar="RESULTS", help="a folder of results")
    parser.add_argument(
        "--eval-results",
        action="store_true",
        help="print a file for .eval_results/ of the model's repository, not a block of its card",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the scores."""
    from coherencegym.eval.hub.model_index import eval_results, model_index
    from coherencegym.eval.results.runs import read_run

    found = read_run(arguments.folder)
    text = eval_results(found) if arguments.eval_results else model_index(found)
    print(text.rstrip("\n"))
    return 0
