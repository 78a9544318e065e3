"""``python -m eval model-index``: the block of scores for a model's own card."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLES = """\
  python -m eval model-index results/sentence_order--gpt2
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``model-index``."""
    parser.add_argument("folder", type=Path, metavar="RESULTS", help="a folder of results")


def run(arguments: argparse.Namespace) -> int:
    """Print the block."""
    from eval.model_index import model_index
    from eval.runs import read_run

    print(model_index(read_run(arguments.folder)))
    return 0
