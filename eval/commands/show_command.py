"""``python -m eval show``: one item, token by token."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from coherencegym.eval.commands.data_options import add_data_arguments, read_tables
from coherencegym.eval.commands.model_options import (
    add_model_arguments,
    chosen_options,
    load_model,
)
from coherencegym.eval.models.libraries import quiet_libraries

EXAMPLES = """\
  python -m eval show --item d17/shuffled --model gpt2 --dataset suites/sentence_order
  python -m eval show --item d17 --model demo --dataset suites/connectives --config gum \\
    --conditions original since --output figures
"""

#: The file by which an earlier output is recognised.
MARKER = "item.svg"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``show``."""
    add = parser.add_argument
    add("--item", required=True, metavar="ID", help="an item's id, or how it begins or ends")
    add_model_arguments(parser)
    add_data_arguments(parser)
    add(
        "--conditions",
        nargs="+",
        action="extend",
        default=[],
        metavar="C",
        help="only these; default all that the item's predictions read",
    )
    add("--output", type=Path, metavar="DIR", help="also write item.png and item.svg")
    add("--overwrite", action="store_true", help="replace an existing folder of an item's plot")


def run(arguments: argparse.Namespace) -> int:
    """Print the surprisal of every token of an item; draw it if asked to."""
    from rich.console import Console

    from coherencegym.errors import EvaluationError
    from coherencegym.eval.views.item_text import print_item
    from coherencegym.files.folders import check_folder

    options = replace(chosen_options(arguments), every_token=True)
    if arguments.output:
        check_folder(arguments.output, arguments.overwrite, MARKER)
    elif arguments.overwrite:
        raise EvaluationError("--overwrite: nothing is written; expected --output with it")
    quiet_libraries()
    _, tables = read_tables(arguments)
    from coherencegym.eval.data.dataset import find_item

    table, item = find_item(tables, arguments.item)
    from coherencegym.eval.tasks.score.scoring import score
    from coherencegym.eval.views.item_view import check_conditions, view_item

    check_conditions(item, arguments.conditions)
    model = load_model(arguments)
    scored = score(
        model.model,
        model.tokenizer,
        [item],
        options,
        uses_separator=table.separator,
    )
    view = view_item(
        scored.items[0],
        model.tokenizer,
        table.config,
        table.split,
        arguments.conditions,
        rules=options.rules,
    )
    print_item(view, Console(highlight=False))
    if arguments.output:
        from coherencegym.eval.views.plots_item import plot_item
        from coherencegym.files.folders import written_beside

        with written_beside(arguments.output, arguments.overwrite, MARKER) as work:
            notes = plot_item(view, model.name, work / "item.png")
        print("".join(f"· {note}\n" for note in notes) + f"written to {arguments.output}")
    return 0
