"""``python -m eval score``: read, score, report. The options are here; the work is elsewhere."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from coherencegym.eval.commands.cache_command import add_cache_options, cache_line, open_cache
from coherencegym.eval.commands.data_options import add_data_arguments, read_tables
from coherencegym.eval.commands.model_options import (
    add_model_arguments,
    chosen_options,
    load_model,
    model_settings,
)
from coherencegym.eval.forward.distributed import World, join_processes, own_device, world
from coherencegym.eval.models.libraries import quiet_libraries
from coherencegym.numbers import positive

if TYPE_CHECKING:
    from coherencegym.eval.data.dataset import ItemTable
    from coherencegym.eval.forward.cache import Cache
    from coherencegym.eval.models.load import LoadedModel
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.tasks.score.scoring import Scored

EXAMPLES = """\
  python -m eval --model demo --dataset suites/sentence_order
  python -m eval --model gpt2 --dataset coherencegym/sentence_order --revision v1.0.0
  python -m eval --model ./my-model --dataset coherencegym/story_cloze --output results/mine
  python -m eval --model gpt2 --suite center_embed.json --compat syntaxgym-2021
"""


#: The options that say what is read, as the results record them.
SETTINGS = (
    "configs",
    "split",
    "max_items",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``score``."""
    add_model_arguments(parser)
    add_data_arguments(parser)
    add = parser.add_argument
    add(
        "--batch-tokens",
        type=positive,
        metavar="N",
        help="most tokens in a forward pass, padding included; default by device and free memory",
    )
    add(
        "--no-sharing",
        dest="share",
        action="store_false",
        help="read every text from its beginning, also what an item's conditions begin with alike",
    )
    add_cache_options(parser)
    add(
        "--explain-plan",
        action="store_true",
        help="print what would be run, and how much work it is; weights are not loaded",
    )
    add("--max-items", type=positive, metavar="N", help="only the first N items of each table")
    add("--output", type=Path, metavar="DIR", help="default results/DATA--MODEL")
    add("--overwrite", action="store_true", help="replace an existing folder of results")
    add("--push-results", metavar="USER/NAME", help="also push them to a Hub dataset repository")
    add("--private", action="store_true", help="make that repository private, if it is made")
    add("--tokens", action="store_true", help="also write the surprisal of every token")
    # Nothing is drawn any more; what was written for earlier releases goes on.
    add("--seed", type=int, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Score a model on a dataset or on suites; prints the table and writes the folder."""
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.results.folder import MARKER
    from coherencegym.eval.results.results import gather
    from coherencegym.eval.views.report import write
    from coherencegym.eval.views.table import print_table
    from coherencegym.files.folders import check_folder

    output = arguments.output or _default_output(arguments)
    options = chosen_options(arguments)
    data = {name: getattr(arguments, name) for name in SETTINGS}
    settings = {**data, **options.record(), **model_settings(arguments)}
    check_folder(output, arguments.overwrite, MARKER)
    if arguments.push_results:
        from coherencegym.hub.commits import check_target

        check_target(arguments.push_results, needs_token=True)
    elif arguments.private:
        raise EvaluationError("--private: nothing is pushed; expected --push-results with it")
    quiet_libraries()
    # The data first: they are read in a moment, and what is wrong with them shows at once.
    source, read = read_tables(arguments, arguments.max_items)
    if arguments.explain_plan:
        from coherencegym.eval.commands.explain_command import explain_plan
        from coherencegym.eval.tasks.score.scoring import as_the_rules_have, queries

        texts = [
            (
                f"{table.config} ({table.split})",
                queries(as_the_rules_have(table.items, options.rules)),
                table.separator,
            )
            for table in read
        ]
        explain_plan(arguments, texts, options)
        return 0
    processes = world()
    arguments.device = own_device(arguments.device, processes)
    with join_processes(processes), ExitStack() as stack:
        model = load_model(arguments)
        cache = open_cache(arguments, model, options.identity())
        if cache is not None:
            stack.enter_context(cache)
        scored = [(table, _score(model, table, options, cache, processes)) for table in read]
    if not processes.is_first:
        return 0
    results = gather(source, model, scored, settings)
    write(results, output, overwrite=arguments.overwrite, tokens=arguments.tokens)
    print_table(results)
    print(f"written to {output}")
    if arguments.push_results:
        from coherencegym.eval.commands.push_command import pushed

        for line in pushed(output, arguments.push_results, arguments.private):
            print(line)
    if cache is not None:
        print(cache_line(cache, [scored_table.execution for _, scored_table in scored]))
    return 0


def _default_output(arguments: argparse.Namespace) -> Path:
    def name(text: str) -> str:
        return Path(text).resolve().name if Path(text).is_dir() else text.replace("/", "__")

    data = name(arguments.dataset) if arguments.dataset else _suites_name(arguments.suites)
    return Path("results") / f"{data}--{name(arguments.model)}"


def _suites_name(paths: Sequence[Path]) -> str:
    first = paths[0].resolve()
    more = f"-and-{len(paths) - 1}-more" if len(paths) > 1 else ""
    return (first.name if first.is_dir() else first.stem) + more


def _score(
    model: LoadedModel,
    table: ItemTable,
    options: Options,
    cache: Cache | None,
    processes: World,
) -> Scored:
    from coherencegym.eval.tasks.score.scoring import score

    with progress_bar(f"{table.config} ({table.split})", processes.is_first) as progress:
        return score(
            model.model,
            model.tokenizer,
            table.items,
            options,
            uses_separator=table.separator,
            store=cache,
            progress=progress,
            world=processes,
        )


@contextmanager
def progress_bar(what: str, shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on standard error if that is a terminal; None, and silence, if not."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
