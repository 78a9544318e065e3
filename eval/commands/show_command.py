"""``coherencegym show``: one item, token by token."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

from coherencegym.command_line import Parser, add_options, option, options_in
from coherencegym.eval.plan.options import RUNNING, Options
from coherencegym.eval.run.call import parse_options
from coherencegym.eval.run.options import (
    CHECKPOINTS,
    DATA,
    METHOD,
    WRITTEN,
    ItemOptions,
    ModelOptions,
)
from coherencegym.terminal import shown_console

EXAMPLES = """\
  coherencegym show --item d17/shuffled --model gpt2 --dataset suites/sentence_order
  coherencegym show --item d17 --model demo --dataset suites/connectives --config gum \\
    --conditions original since
"""


@dataclass(frozen=True)
class ShowOptions:
    """The item, and what is shown of it."""

    item: str = option(
        "",
        "id of an item, or the beginning or end of the id",
        metavar="ID",
        group=DATA,
        required=True,
    )
    conditions: tuple[str, ...] = option(
        (),
        "conditions to show; default: all conditions in the item's predictions",
        metavar="C",
        group=WRITTEN,
        many=True,
    )


_KINDS = (
    (ShowOptions, options_in(ShowOptions)),
    (ItemOptions, [name for name in options_in(ItemOptions) if name != "limit"]),
    (ModelOptions, [name for name in options_in(ModelOptions) if name not in CHECKPOINTS]),
    (Options, [name for name in options_in(Options) if name not in RUNNING]),
)


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``show``."""
    for kind, names in _KINDS:
        add_options(parser, kind, METHOD, only=names)


def run(arguments: argparse.Namespace) -> int:
    """Print the surprisal of every token of an item."""
    from coherencegym.eval.data.dataset import find_item
    from coherencegym.eval.models.machine import quiet_libraries
    from coherencegym.eval.run.data import read_items
    from coherencegym.eval.tasks.score.items_page import check_conditions, view_item
    from coherencegym.eval.tasks.score.notes import scorer_notes
    from coherencegym.eval.tasks.score.scoring import measure_error, score_items
    from coherencegym.eval.views.item_text import print_item

    given = dict(vars(arguments))
    rebuild, _ = given.pop("rebuild"), given.pop("typed_words")
    shown, data, model, reading = parse_options(_KINDS, given, "", {"scorer": "auto"})
    reading.check()
    quiet_libraries()
    table, item = find_item(read_items(data, rebuild).tables, shown.item)
    check_conditions(item, shown.conditions)
    loaded = model.load(reading.scorer)
    reading = replace(reading.settled(loaded.scorer), every_token=True)
    how, separator = (loaded.model, loaded.tokenizer), table.separator
    error = measure_error(*how, [([item], separator)], reading)
    scored = score_items(*how, [item], reading, uses_separator=separator, error=error)
    (one,), place = scored.items, (table.config, table.split)
    view = view_item(one, loaded.tokenizer, *place, shown.conditions, rules=reading.rules)
    print_item(view, shown_console(highlight=False))
    if reading.is_masked:
        masks = {"scorer": reading.scorer, "masking": reading.masking}
        print("".join(f"· {note}\n" for note in scorer_notes(masks, [])), end="")
    return 0
