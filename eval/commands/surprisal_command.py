"""``coherencegym surprisal``: the surprisal of texts, one row a word or a token, as CSV."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coherencegym.command_line import Parser, add_options
from coherencegym.eval.run.options import METHOD
from coherencegym.eval.run.texts import TEXT_KINDS, surprisal_rows
from coherencegym.files.tables import FRAME_SUFFIXES

EXAMPLES = """\
  coherencegym surprisal stories.txt --model gpt2 > surprisals.csv
  coherencegym surprisal items.csv --model gpt2 --column sentence --context prompt --by token
  coherencegym surprisal stories.txt --model gpt2 gpt2-medium --word-correction
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``surprisal``."""
    said = f"texts: .txt with one text per line, or a table ({', '.join(FRAME_SUFFIXES)})"
    parser.add_argument("texts", type=Path, metavar="FILE", help=said)
    for kind, names in TEXT_KINDS:
        add_options(parser, kind, METHOD, only=names, several=True)


def run(arguments: argparse.Namespace) -> int:
    """Print a row for each word or token of each text by each model."""
    from coherencegym.eval.models.machine import quiet_libraries
    from coherencegym.eval.report.formats import csv_text

    given = {name: own for name, own in vars(arguments).items() if name not in _NO_OPTIONS}
    quiet_libraries()
    sys.stdout.write(csv_text(surprisal_rows(arguments.texts, given, in_shell=True)))
    return 0


_NO_OPTIONS = ("texts", "typed_words", "rebuild")
