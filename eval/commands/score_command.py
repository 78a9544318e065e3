"""``python -m eval score``: read, score, report. The options are here; the work is elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import Running, explain_plan, running
from coherencegym.eval.models.libraries import quiet_libraries
from coherencegym.numbers import positive

if TYPE_CHECKING:
    from coherencegym.eval.data.dataset import ItemTable
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.tasks.score.scoring import Scored

EXAMPLES = """\
  python -m eval --model demo --dataset suites/sentence_order
  python -m eval --model gpt2 --dataset coherencegym/sentence_order --revision v1.0.0
  python -m eval --model ./my-model --dataset coherencegym/story_cloze --output results/mine
  python -m eval --model gpt2 --suite center_embed.json --compat syntaxgym-2021
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``score``."""
    add = parser.add_argument
    options.add_model(parser)
    options.add_scoring(parser)
    options.add_items(parser)
    options.add_reading(parser, "an item's conditions")
    add(
        "--explain-plan",
        action="store_true",
        help="print what would be run, and how much work it is; weights are not loaded",
    )
    add("--max-items", type=positive, metavar="N", help="read the first N items of each table")
    options.add_output(parser, "default results/DATA--MODEL", "results")
    add("--push-results", metavar="USER/NAME", help="also push them to a Hub dataset repository")
    add("--private", action="store_true", help="make that repository private, if it is made")
    add("--tokens", action="store_true", help="also write the surprisal of every token")
    options.add_alike(parser, "--seed")


def run(arguments: argparse.Namespace) -> int:
    """Score a model on a dataset or on suites; prints the table and writes the folder."""
    from coherencegym.eval.results.folder import MARKER
    from coherencegym.files.folders import check_folder

    output = options.output_of(arguments)
    chosen = options.chosen(arguments)
    settings = options.settings_of(arguments, chosen, ("configs", "split", "max_items"))
    check_folder(output, arguments.overwrite, MARKER)
    _check_push(arguments)
    quiet_libraries()
    # The data first: they are read in a moment, and what is wrong with them shows at once.
    source, tables = options.item_tables(arguments, arguments.max_items)
    if arguments.explain_plan:
        _explain(arguments, tables, chosen)
        return 0
    with running(arguments, chosen) as run_:
        scored = [(table, _score(run_, table, chosen)) for table in tables]
    if not run_.processes.is_first:
        return 0
    from coherencegym.eval.results.results import gather
    from coherencegym.eval.views.report import write
    from coherencegym.eval.views.table import print_scores

    results = gather(source, run_.loaded, scored, settings)
    write(results, output, overwrite=arguments.overwrite, tokens=arguments.tokens)
    print_scores(results)
    print(f"written to {output}")
    if arguments.push_results:
        from coherencegym.eval.commands.push_command import print_push

        print_push(output, arguments.push_results, arguments.private)
    run_.print_cache([one.execution for _, one in scored])
    return 0


def _check_push(arguments: argparse.Namespace) -> None:
    from coherencegym.errors import EvaluationError

    if arguments.push_results:
        from coherencegym.hub.commits import check_target

        check_target(arguments.push_results, needs_token=True)
    elif arguments.private:
        raise EvaluationError("--private: nothing is pushed; expected --push-results with it")


def _explain(arguments: argparse.Namespace, tables: Sequence[ItemTable], chosen: Options) -> None:
    from coherencegym.eval.tasks.score.scoring import as_the_rules_have, queries

    texts = [
        (_title(table), queries(as_the_rules_have(table.items, chosen.rules)), table.separator)
        for table in tables
    ]
    explain_plan(arguments, texts, chosen)


def _title(table: ItemTable) -> str:
    return f"{table.config} ({table.split})"


def _score(run_: Running, table: ItemTable, chosen: Options) -> Scored:
    from coherencegym.eval.tasks.score.scoring import score_items

    model, tokenizer = run_.loaded.model, run_.loaded.tokenizer
    with run_.reading(_title(table)) as how:
        return score_items(
            model, tokenizer, table.items, chosen, uses_separator=table.separator, **how
        )
