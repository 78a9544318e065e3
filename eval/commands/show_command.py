"""``coherencegym show``: one item, token by token."""

from __future__ import annotations

import argparse
from dataclasses import replace

from coherencegym.command_line import Parser
from coherencegym.eval.commands import options
from coherencegym.eval.models.libraries import quiet_libraries
from coherencegym.eval.tasks.options import flag_of
from coherencegym.terminal import shown_console

EXAMPLES = """\
  coherencegym show --item d17/shuffled --model gpt2 --dataset suites/sentence_order
  coherencegym show --item d17 --model demo --dataset suites/connectives --config gum \\
    --conditions original since --output figures
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``show``."""
    parser.group(options.DATA).add_argument(
        "--item",
        required=True,
        metavar="ID",
        help="id of an item, or the beginning or end of the id",
    )
    options.add_items(parser)
    options.add_model(parser)
    options.add_scoring(parser)
    options.many(
        parser.group(options.WRITTEN),
        "--conditions",
        metavar="C",
        help="conditions to show; default: all conditions in the item's predictions",
    )
    options.add_output(parser, "also write item.png and item.svg", "an item's plot")


def run(arguments: argparse.Namespace) -> int:
    """Print the surprisal of every token of an item; draw it if asked to."""
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.views.item_text import print_item

    chosen = replace(options.chosen(arguments), every_token=True)
    if arguments.output:
        options.check_output(arguments, arguments.output)
    elif arguments.overwrite:
        raise EvaluationError("--overwrite: nothing is written; expected --output with it")
    quiet_libraries()
    _, tables = options.item_tables(arguments)
    from coherencegym.eval.data.dataset import find_item
    from coherencegym.eval.tasks.score.notes import scorer_notes
    from coherencegym.eval.tasks.score.page.item_view import check_conditions, view_item
    from coherencegym.eval.tasks.score.scoring import score_items

    table, item = find_item(tables, arguments.item)
    check_conditions(item, arguments.conditions)
    model = options.load_model(arguments, scorer=chosen.scorer)
    chosen = chosen.settled(model.scorer, flag_of)
    separator = table.separator
    scored = score_items(model.model, model.tokenizer, [item], chosen, uses_separator=separator)
    (one,), place = scored.items, (table.config, table.split)
    view = view_item(one, model.tokenizer, *place, arguments.conditions, rules=chosen.rules)
    print_item(view, shown_console(highlight=False))
    if chosen.is_masked:
        how = {"scorer": chosen.scorer, "masking": chosen.masking}
        print("".join(f"· {note}\n" for note in scorer_notes(how, [])), end="")
    if arguments.output:
        from coherencegym.eval.views.plots_item import plot_item
        from coherencegym.files.folders import written_beside

        with written_beside(arguments.output, arguments.overwrite) as work:
            notes = plot_item(view, model.name, work / "item.png")
        print("".join(f"· {note}\n" for note in notes) + f"written to {arguments.output}")
    return 0
