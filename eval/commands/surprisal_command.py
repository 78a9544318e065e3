"""``coherencegym surprisal``: the surprisal of texts, one row a word or a token, as CSV."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser
from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import running
from coherencegym.eval.data.texts import TEXT_NAME, LabelledTexts, labelled_texts
from coherencegym.eval.models.libraries import quiet_libraries
from coherencegym.files.frames import FRAME_SUFFIXES

if TYPE_CHECKING:
    from coherencegym.eval.plan.options import Options

EXAMPLES = """\
  coherencegym surprisal stories.txt --model gpt2 > surprisals.csv
  coherencegym surprisal items.csv --model gpt2 --column sentence --context prompt --by token
  coherencegym surprisal stories.txt --model gpt2 gpt2-medium --word-correction
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``surprisal``."""
    said = f"texts: .txt with one text per line, or a table ({', '.join(FRAME_SUFFIXES)})"
    parser.add_argument("texts", type=Path, metavar="FILE", help=said)
    add = parser.group(options.DATA).add_argument
    add("--column", metavar="COLUMN", help=f"column of the texts; default {TEXT_NAME}")
    add(
        "--context",
        metavar="COLUMN",
        help="column of contexts, which precede the texts and are not scored",
    )
    options.add_model(parser, several=True)
    options.add_scoring(parser)
    options.add_reading(parser, "texts")
    said = "one row per word (between white space) or per token; default word"
    parser.group(options.WRITTEN).add_argument(
        "--by", choices=("word", "token"), default="word", help=said
    )
    options.add_alike(parser, "--quiet")


def run(arguments: argparse.Namespace) -> int:
    """Print a row for each word or token of each text by each model.

    Raises:
        EvaluationError: the texts or a model cannot be read.
    """
    from coherencegym.eval.report.formats import csv_text

    texts = labelled_texts(arguments.texts, arguments.column, arguments.context)
    chosen = options.chosen(arguments)
    quiet_libraries()
    rows = [
        {"model": options.model_name(one), **row}
        for one in options.each_model(arguments)
        for row in _rows(one, chosen, texts)
    ]
    sys.stdout.write(csv_text(rows))
    return 0


def _rows(
    arguments: argparse.Namespace, chosen: Options, texts: LabelledTexts
) -> list[dict[str, Any]]:
    from coherencegym.eval.text_surprisal import text_surprisals

    def tell(said: str) -> None:
        print(f"! {options.model_name(arguments)}: {said}", file=sys.stderr)

    with (
        running(arguments, chosen) as asked,
        asked.reading(options.model_name(arguments), len(texts.texts), "texts") as how,
    ):
        about = texts, arguments.by, asked.options, tell
        return list(text_surprisals(asked.loaded, *about, **how))
