"""``coherencegym score``: read, score, report. The options are here; the work is elsewhere."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coherencegym.command_line import Parser, rare
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import Running, explain_plan, give_back_memory, running
from coherencegym.eval.forward.distributed import world
from coherencegym.eval.kinds.items import ITEMS, Item
from coherencegym.eval.models.arguments import parse_model_arguments
from coherencegym.eval.models.libraries import quiet_libraries

if TYPE_CHECKING:
    from coherencegym.eval.data.dataset import ItemTable
    from coherencegym.eval.data.source import Source
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.results.results import Results
    from coherencegym.eval.results.runs import Run
    from coherencegym.eval.tasks.score.tally import ItemTally
    from coherencegym.eval.views.report import ScoreFolder

EXAMPLES = """\
  coherencegym score --model demo --dataset suites/sentence_order
  coherencegym score --model gpt2 --dataset coherencegym/sentence_order --revision v1.0.0
  coherencegym score --model me/a me/b --model-revision step1000 step2000 --suites all
  coherencegym score --model gpt2 --suite center_embed.json --compat syntaxgym-2021
"""
#: The suites that ``--suites all`` reads from the Hub.
PUBLISHED = (
    *("antecedents", "connectives", "coreference", "discourse_tasks", "implicit_relations"),
    *("intruder_sentences", "linguistic_probes", "relation_order", "replies", "sentence_order"),
    *("speaker_commitment", "story_cloze", "winograd"),
)
#: Items that the page of a run shows of its tables, where they are scored in parts.
_MOST_SHOWN = 1_000
#: The file by which a folder is known as a build.
_MANIFEST = "manifest.json"


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``score``."""
    options.add_model(parser, several=True)
    options.add_items(parser, several=True)
    options.add_alike(parser, "--limit")
    options.add_scoring(parser)
    options.add_reading(parser, "an item's conditions")
    said = "default results/DATA--MODEL"
    options.add_output(parser, said, "results")
    options.add_alike(parser, "--dry-run", "--verbose", "--seed")
    add = parser.group(options.WRITTEN).add_argument
    rare(add("--tokens", action="store_true", help="also write the surprisal of every token"))
    add("--push-results", metavar="REPO", help="also push them to a Hub dataset repository")
    said = "make that repository private, if it is made"
    rare(add("--private", action="store_true", help=said))


def run(arguments: argparse.Namespace) -> int:
    """Score models on datasets or on suites; prints scores and writes a folder for each pair."""
    from coherencegym.eval.views.overview import check_runs

    datasets = _datasets(arguments)
    models = _models(arguments)
    alone = len(datasets) == len(models) == 1
    if not alone and world().size > 1:
        raise EvaluationError("several processes; expected one model and one dataset with them")
    chosen = options.chosen(arguments)
    pairs = [[_pair(one, dataset, alone) for dataset in datasets] for one in models]
    folders = [one.output for own in pairs for one in own]
    check_runs(folders, arguments.overwrite, None if alone else _folder_of(arguments))
    _check_push(arguments)
    quiet_libraries()
    # The data first: they are read in a moment, and what is wrong with them shows at once.
    read = [options.item_tables(one, one.max_items, in_parts=True) for one in pairs[0]]
    if len(pairs) > 1:
        _check_models([own[0] for own in pairs])
    if arguments.dry_run:
        for own in pairs:
            for one, (_, tables) in zip(own, read, strict=True):
                _explain(one, tables, chosen)
        return 0
    runs = [found for own in pairs for found in _scored(own, read, chosen, alone)]
    if not alone:
        _finish(runs, _folder_of(arguments))
    if runs and arguments.push_results:
        from coherencegym.eval.commands.push_command import print_push

        folders = [Path(run.folder) for run in runs]
        print_push(folders, arguments.push_results, arguments.private)
    return 0


def _models(arguments: argparse.Namespace) -> list[argparse.Namespace]:
    """The options of each model at each revision; results keep the order of the command line."""
    revisions = list(dict.fromkeys(arguments.model_revision or [None]))
    return [
        argparse.Namespace(**{**vars(arguments), "model": model, "model_revision": revision})
        for model in dict.fromkeys(arguments.model)
        for revision in revisions
    ]


def _datasets(arguments: argparse.Namespace) -> list[str | None]:
    """The datasets that were named, a folder of builds as each of them; None: suites' files."""
    if arguments.suites:
        return [None]
    if arguments.all_suites:
        here = _builds(Path("suites"))
        return list(here or (f"coherencegym/{name}" for name in PUBLISHED))
    found: list[str | None] = []
    for name in arguments.dataset:
        found += _builds(Path(name)) or [name]
    return list(dict.fromkeys(found))


def _builds(folder: Path) -> list[str]:
    """The builds with items in a folder, which is no build itself."""
    if not folder.is_dir() or (folder / _MANIFEST).is_file():
        return []
    return sorted(str(path.parent) for path in folder.glob(f"*/{_MANIFEST}") if _has_items(path))


def _has_items(manifest: Path) -> bool:
    """Tell whether a manifest names a table of items; of one that is wrong others say what is."""
    try:
        configs = json.loads(manifest.read_text(encoding="utf-8"))["configs"]
        return bool(ITEMS.configs(configs)) or not configs
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return True


def _pair(arguments: argparse.Namespace, dataset: str | None, alone: bool) -> argparse.Namespace:
    """The options of a run of one model on one dataset, with the folder of its results."""
    own = argparse.Namespace(**{**vars(arguments), "dataset": dataset})
    if alone:
        own.output = options.output_of(own)
    else:
        own.output = None
        own.output = _folder_of(arguments) / options.output_of(own).name
    return own


def _folder_of(arguments: argparse.Namespace) -> Path:
    """The folder of the folders of several runs."""
    return arguments.output or Path("results")


def _check_models(models: Sequence[argparse.Namespace]) -> None:
    """Read the config of each model: the last may not be there, which hours later is too late."""
    from coherencegym.eval.models.load import load_config

    for one in models:
        how = parse_model_arguments(one.model_args, one.model_revision)
        load_config(one.model, how, one.trust_remote_code)


def _scored(
    pairs: Sequence[argparse.Namespace],
    read: Sequence[tuple[Source, Sequence[ItemTable]]],
    chosen: Options,
    alone: bool,
) -> Iterator[Run]:
    """Score a model on each dataset; each folder is written as soon as its scores are there."""
    from coherencegym.eval.results.results import gather_tallies
    from coherencegym.eval.views.report import score_folder

    first = pairs[0]
    with running(first, chosen) as run_:
        for own, (source, tables) in zip(pairs, read, strict=True):
            own.device = first.device
            if not run_.processes.is_first:
                _tallies(run_, tables, chosen, None)
                continue
            with score_folder(own.output, overwrite=own.overwrite, tokens=own.tokens) as folder:
                tallies = _tallies(run_, tables, chosen, folder)
                settings = options.settings_of(own, chosen, ("configs", "split", "max_items"))
                results = gather_tallies(source, run_.loaded, tallies, settings)
                folder.finish(results)
            yield _reported(own, run_, results, tallies, alone)


def _reported(
    own: argparse.Namespace,
    run_: Running,
    results: Results,
    tallies: Sequence[ItemTally],
    alone: bool,
) -> Run:
    """Print what a run found; of one among several, if asked to."""
    from coherencegym.eval.results.runs import run_of
    from coherencegym.eval.views.table import print_scores

    if alone or own.verbose:
        print_scores(results, verbose=own.verbose)
        print(f"written to {own.output}")
        ran = [part for one in tallies for part in one.runs]
        run_.print_cache(sum(part.stored for part in ran), sum(part.texts for part in ran))
    return replace(run_of(results), folder=str(own.output))


def _finish(runs: Sequence[Run], folder: Path) -> None:
    from coherencegym.eval.views.overview import PAGE, overview, print_overview, write_overview

    shown = overview(runs)
    write_overview(shown, folder)
    print_overview(shown)
    print(f"written to {folder}: open {folder / PAGE}")


def _check_push(arguments: argparse.Namespace) -> None:
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


def _tallies(
    run_: Running, tables: Sequence[ItemTable], chosen: Options, folder: ScoreFolder | None
) -> list[ItemTally]:
    """Score tables, those that are not in memory in parts, whose rows go into the folder."""
    from coherencegym.eval.data.dataset import StoredItems
    from coherencegym.eval.tasks.score.scoring import score_items
    from coherencegym.eval.tasks.score.tally import ItemTally

    def add(tally: ItemTally, part: Sequence[Item], title: str) -> None:
        model, tokenizer = run_.loaded.model, run_.loaded.tokenizer
        uses = tally.table.separator
        with run_.reading(title) as how:
            scored = score_items(model, tokenizer, part, chosen, uses_separator=uses, **how)
        judgements = tally.add(scored)
        if folder is not None:
            folder.add(tally.table, scored, judgements)
        if in_parts:
            # The next part takes as much again, in other pieces.
            del scored, judgements
            give_back_memory()

    in_parts = any(isinstance(table.items, StoredItems) for table in tables)
    most_shown = max(1, _MOST_SHOWN // len(tables)) if in_parts else None
    tallies = [ItemTally(table, most_shown) for table in tables]
    for tally in tallies:
        for number, part in enumerate(tally.table.parts()):
            title = _title(tally.table)
            add(tally, part, f"{title}, part {number + 1}" if number else title)
    return tallies
