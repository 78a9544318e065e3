"""``coherencegym show``: one item, token by token."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

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
    --conditions original since --output figures
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
    output: Path | None = option(
        None, "also write item.png and item.svg", parse=Path, metavar="DIR", group=WRITTEN
    )
    overwrite: bool = option(False, "replace an existing folder of an item's plot", group=WRITTEN)


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
    """Print the surprisal of every token of an item; draw it if asked to."""
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.data.dataset import find_item
    from coherencegym.eval.models.libraries import quiet_libraries
    from coherencegym.eval.run.data import is_file, read_items
    from coherencegym.eval.tasks.score.notes import scorer_notes
    from coherencegym.eval.tasks.score.page.item_view import check_conditions, view_item
    from coherencegym.eval.tasks.score.scoring import score_items
    from coherencegym.eval.views.plots_item import print_item
    from coherencegym.files.folders import check_folder, written_beside

    given = dict(vars(arguments))
    rebuild, _ = given.pop("rebuild"), given.pop("typed_words")
    shown, data, model, reading = parse_options(_KINDS, given, "", {"scorer": "auto"})
    reading.check()
    if shown.output:
        files, folders = [model.model], [data.dataset]
        if is_file(data.dataset):
            files, folders = [*files, *folders], []
        check_folder(shown.output, shown.overwrite, inputs=folders, around=files)
    elif shown.overwrite:
        raise EvaluationError("--overwrite: nothing is written; expected --output with it")
    quiet_libraries()
    table, item = find_item(read_items(data, rebuild).tables, shown.item)
    check_conditions(item, shown.conditions)
    loaded = model.load(reading.scorer)
    reading = replace(reading.settled(loaded.scorer), every_token=True)
    how = loaded.model, loaded.tokenizer, [item], reading
    scored = score_items(*how, uses_separator=table.separator)
    (one,), place = scored.items, (table.config, table.split)
    view = view_item(one, loaded.tokenizer, *place, shown.conditions, rules=reading.rules)
    print_item(view, shown_console(highlight=False))
    if reading.is_masked:
        masks = {"scorer": reading.scorer, "masking": reading.masking}
        print("".join(f"· {note}\n" for note in scorer_notes(masks, [])), end="")
    if shown.output:
        from coherencegym.eval.views.plots_item import plot_item

        with written_beside(shown.output, shown.overwrite) as work:
            notes = plot_item(view, loaded.name, work / "item.png")
        print("".join(f"· {note}\n" for note in notes) + f"written to {shown.output}")
    return 0
