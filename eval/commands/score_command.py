"""``coherencegym score``: read, score, report. The options are here; the work is elsewhere."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coherencegym.command_line import Parser, rare
from coherencegym.errors import EvaluationError, one_line
from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import Work, planned_work, print_work
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.data.source import BUILDS
from coherencegym.eval.forward.distributed import world
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.models.libraries import quiet_libraries
from coherencegym.suites import SUITES, WITHOUT_PAIRS

if TYPE_CHECKING:
    from coherencegym.eval.commands.several import Data
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.plan.requests import Query

EXAMPLES = """\
  coherencegym score --model demo --dataset suites/sentence_order
  coherencegym score --model gpt2 --dataset coherencegym/sentence_order --revision v1.0.0
  coherencegym score --model me/model --all-revisions 'step*' --suites all
  coherencegym score --model gpt2 --suite center_embed.json --compat syntaxgym-2021
"""
#: The suites that ``--suites all`` reads from the Hub.
PUBLISHED = tuple(sorted(set(SUITES) - set(WITHOUT_PAIRS)))
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
    options.add_alike(parser, "--dry-run", "--quiet", "--verbose")
    add = parser.group(options.WRITTEN).add_argument
    rare(add("--tokens", action="store_true", help="also write the surprisal of every token"))
    add("--push-results", metavar="REPO", help="also push them to a Hub dataset repository")
    said = "make that repository private, if it is made"
    rare(add("--private", action="store_true", help=said))


def run(arguments: argparse.Namespace) -> int:
    """Score models on datasets or on suites; prints scores and writes a folder for each pair.

    Raises:
        EvaluationError: nothing can be scored, results are there of other things, or one of several
            runs could not be made.
    """
    from coherencegym.eval.commands.several import Several
    from coherencegym.eval.views.overview import check_runs, has_overview

    chosen = options.chosen(arguments)
    datasets = _datasets(arguments)
    models = _models(arguments)
    # A training that has one checkpoint today has two tomorrow, and runs have others beside them.
    alone = len(datasets) == len(models) == 1 and not arguments.all_revisions
    alone = alone and not (arguments.output and has_overview(arguments.output))
    if not alone and world().size > 1:
        raise EvaluationError("several processes; expected one model and one dataset with them")
    pairs = [[_pair(one, dataset, alone) for dataset in datasets] for one in models]
    several = Several(pairs, chosen, None if alone else _folder_of(arguments))
    check_runs(
        several.folders,
        arguments.overwrite,
        several.above,
        kept=several.started,
        inputs=[name for name in datasets if name],
        around=[*(one.model for one in models), *(arguments.suites or ())],
    )
    _check_push(arguments)
    quiet_libraries()
    # The data first: they are read in a moment, and what is wrong with them shows at once.
    read = [options.item_tables(one, one.max_items, in_parts=True) for one in pairs[0]]
    several.check_models(read)
    if arguments.dry_run:
        _explain([own[0] for own in pairs], read, chosen)
        return 0
    runs = several.made(read)
    if several.above is not None:
        several.finish()
    if runs and arguments.push_results:
        from coherencegym.eval.commands.push_command import print_push

        folders = [Path(run.folder) for run in runs]
        print_push(folders, arguments.push_results, arguments.private)
    return 0


def _models(arguments: argparse.Namespace) -> list[argparse.Namespace]:
    """The options of each model at each revision; results keep the order of the command line."""
    names = list(dict.fromkeys(arguments.model))
    revisions = list(dict.fromkeys(arguments.model_revision or [None]))
    found = [(name, revision) for name in names for revision in revisions]
    if arguments.all_revisions:
        from coherencegym.eval.models.revisions import checkpoints

        found = [one for name in names for one in checkpoints(name, arguments.all_revisions)]
    return [
        argparse.Namespace(**{**vars(arguments), "model": model, "model_revision": revision})
        for model, revision in found
    ]


def _datasets(arguments: argparse.Namespace) -> list[str | None]:
    """The datasets that were named, a folder of builds as each of them; None: suites' files."""
    if arguments.suites:
        return [None]
    if arguments.all_suites:
        here = _builds(BUILDS)
        return list(here or (f"coherencegym/{name}" for name in PUBLISHED))
    found: list[str | None] = []
    for name in arguments.dataset:
        found += _builds(Path(name)) or [name]
    return list(dict.fromkeys(found))


def _builds(folder: Path) -> list[str]:
    """The builds with items in a folder, which is no build itself."""
    if not folder.is_dir() or (folder / _MANIFEST).is_file():
        return []
    return sorted(
        str(path.parent) for path in folder.glob(f"[!.]*/{_MANIFEST}") if _has_items(path)
    )


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


def _check_push(arguments: argparse.Namespace) -> None:
    if arguments.push_results:
        from coherencegym.hub.commits import check_target

        check_target(arguments.push_results, needs_token=True)
    elif arguments.private:
        raise EvaluationError("--private: nothing is pushed; expected --push-results with it")


def _explain(models: Sequence[argparse.Namespace], read: Data, chosen: Options) -> None:
    """Print the plan of a run of each model, once for all models that have the same."""
    from coherencegym.eval.commands.several import model_name
    from coherencegym.eval.tasks.score.scoring import as_the_rules_have, queries

    def texts() -> Iterator[tuple[str, Sequence[Query], bool]]:
        for source, tables in read:
            data = f"{source.name}: " if len(read) > 1 else ""
            for table in tables:
                asked = queries(as_the_rules_have(table.items, chosen.rules))
                yield data + table.name, asked, table.separator

    known: dict[object, Work] = {}
    alike: dict[Work, list[str]] = {}
    for one in models:
        work = planned_work(one, texts(), chosen, known=known)
        alike.setdefault(work, []).append(model_name(one))
    *_, last = alike
    for work, names in alike.items():
        if len(models) > 1:
            counted = f"each of {len(names):,} models" if len(names) > 1 else "one model"
            print(one_line(f"the plan of {counted}: {first_names(names)}"))
        # What is under the last plan, too, is said there alone.
        own = [note for note in work.notes if work == last or note not in last.notes]
        print_work(replace(work, notes=tuple(own)))
