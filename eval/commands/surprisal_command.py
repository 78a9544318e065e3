"""``coherencegym surprisal``: the surprisal of texts, one row a word or a token, as CSV."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import running
from coherencegym.eval.models.libraries import quiet_libraries
from coherencegym.files.frames import FRAME_SUFFIXES, read_frame, read_text

if TYPE_CHECKING:
    from coherencegym.eval.plan.options import Options

EXAMPLES = """\
  coherencegym surprisal stories.txt --model gpt2 > surprisals.csv
  coherencegym surprisal items.csv --model gpt2 --column sentence --context prompt --by token
  coherencegym surprisal stories.txt --model gpt2 gpt2-medium --word-correction
"""
#: The column of texts, where none is named.
_TEXT = "text"


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``surprisal``."""
    said = f"texts: .txt with one text per line, or a table ({', '.join(FRAME_SUFFIXES)})"
    parser.add_argument("texts", type=Path, metavar="FILE", help=said)
    add = parser.group(options.DATA).add_argument
    add("--column", metavar="COLUMN", help=f"column of the texts; default {_TEXT}")
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

    texts, contexts = _read(arguments)
    chosen = options.chosen(arguments)
    quiet_libraries()
    rows = [
        {"model": options.model_name(one), **row}
        for one in options.each_model(arguments)
        for row in _rows(one, chosen, texts, contexts)
    ]
    sys.stdout.write(csv_text(rows))
    return 0


def _read(arguments: argparse.Namespace) -> tuple[list[Any], list[Any] | None]:
    path: Path = arguments.texts
    if path.suffix == ".txt":
        if arguments.column or arguments.context:
            raise EvaluationError(f"{path}: a .txt file has no columns; expected one text per line")
        return [line for line in read_text(path).splitlines() if line.strip()], None
    frame = read_frame(path)
    names = arguments.column or _TEXT, arguments.context
    for name in filter(None, names):
        if name not in frame:
            listed = ", ".join(map(str, frame))
            raise EvaluationError(
                f"{path}: no column {name!r}; there are {listed}; expected one of them with "
                f"--column{did_you_mean(name, frame)}"
            )
    texts, contexts = (None if name is None else frame[name].tolist() for name in names)
    return texts or [], contexts


def _rows(
    arguments: argparse.Namespace, chosen: Options, texts: list[Any], contexts: list[Any] | None
) -> list[dict[str, Any]]:
    from coherencegym.eval.text_surprisal import text_surprisals

    with (
        running(arguments, chosen) as asked,
        asked.reading(options.model_name(arguments), len(texts), "texts") as how,
    ):
        about = texts, contexts, arguments.by, asked.options
        return list(text_surprisals(asked.loaded, *about, **how))
