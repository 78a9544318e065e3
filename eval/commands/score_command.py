"""``coherencegym score``: the task, with several models and datasets, and files of suites."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, rare
from coherencegym.errors import EvaluationError, one_line
from coherencegym.eval.commands import options
from coherencegym.eval.commands.task_command import TaskCommand
from coherencegym.eval.data.source import BUILDS, PUBLISHER
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.suites import SUITES, WITHOUT_PAIRS

if TYPE_CHECKING:
    from coherencegym.eval.commands.several import DatasetInputs
    from coherencegym.eval.data.dataset import ItemTable
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.plan.requests import Query
    from coherencegym.eval.tasks.results import Results
    from coherencegym.eval.tasks.score.options import ScoreOptions

#: The suites that ``--suites all`` reads from the Hub.
PUBLISHED = tuple(sorted(set(SUITES) - set(WITHOUT_PAIRS)))
#: The file by which a folder is known as a build.
_MANIFEST = "manifest.json"


class ScoreCommand(TaskCommand):
    """``score``: several models and datasets, files of suites, and what happens to results."""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options."""
        options.add_model(parser, several=True)
        options.add_items(parser, several=True)
        options.add_alike(parser, "--limit")
        options.add_scoring(parser)
        options.add_reading(parser, "an item's conditions")
        said = "default results/DATA--MODEL"
        options.add_output(parser, said, "results")
        options.add_alike(parser, "--dry-run", "--json", "--quiet", "--verbose")
        self.add_own(parser, options.WRITTEN)
        add = parser.group(options.WRITTEN).add_argument
        rare(
            add("--push-results", metavar="REPO", help="also push the results to a Hub repository")
        )
        said = "make the repository private if it is new"
        rare(add("--private", action="store_true", help=said))

    def models(self, arguments: argparse.Namespace) -> list[argparse.Namespace]:
        """The options of each model at each revision, in the order of the command line."""
        return options.each_model(arguments)

    def datasets(self, arguments: argparse.Namespace) -> list[str | None]:
        """The datasets that were named, a folder of builds as each of them; None: suites' files."""
        if options.files_given(arguments):
            return [None]
        if arguments.all_suites:
            here = _builds(BUILDS)
            return list(here or (f"{PUBLISHER}/{name}" for name in PUBLISHED))
        found = [one for name in arguments.dataset for one in _builds(Path(name)) or [name]]
        with_items = [one for one in found if _has_items(Path(one) / _MANIFEST)]
        # Of a folder of builds only some may have pairs; if none has, reading says what there is.
        for one in found if with_items else ():
            if one not in with_items:
                print(one_line(f"left out, as it has no minimal pairs: {one}"), file=sys.stderr)
        return list(dict.fromkeys(with_items or found))

    def is_alone(
        self, arguments: argparse.Namespace, models: Sequence[Any], datasets: Sequence[Any]
    ) -> bool:
        """Say that there is one model, one dataset, and no overview beside them."""
        from coherencegym.eval.views.overview import has_overview

        # A training that has one checkpoint today has two tomorrow.
        alone = len(datasets) == len(models) == 1 and not arguments.all_revisions
        return alone and not (arguments.output and has_overview(arguments.output))

    def read(self, arguments: argparse.Namespace, own: ScoreOptions) -> DatasetInputs:
        """The tables of a dataset, or of suites' files, not all of them in memory."""
        from coherencegym.eval.commands.several import DatasetInputs

        try:
            source, tables = options.item_tables(arguments, arguments.max_items, in_parts=True)
        except EvaluationError as error:
            if arguments.all_suites and not _builds(BUILDS):
                raise EvaluationError(
                    f"--suites all: no folder ./{BUILDS} with builds in it (`coherencegym build` "
                    f"writes them there), so the published datasets are read: {error}"
                ) from None
            raise
        return DatasetInputs(source, tables)

    def texts(self, one: ItemTable, own: ScoreOptions, chosen: Options) -> Sequence[Query]:
        """The texts of a table, as the rules of a mode have them."""
        from coherencegym.eval.tasks.score.scoring import as_the_rules_have, queries

        return queries(as_the_rules_have(one.items, chosen.rules))

    def check(self, arguments: argparse.Namespace) -> None:
        """Refuse a repository of results that cannot be pushed to."""
        if arguments.push_results:
            from coherencegym.hub.commits import check_target

            check_target(arguments.push_results, needs_token=True)
        elif arguments.private:
            raise EvaluationError("--private: nothing is pushed; expected --push-results with it")

    def finish(self, arguments: argparse.Namespace, runs: Sequence[Results]) -> None:
        """Push the folders, if asked to."""
        if runs and arguments.push_results:
            from coherencegym.eval.commands.push_command import print_push

            folders = [run.place for run in runs]
            print_push(folders, arguments.push_results, arguments.private)


def _builds(folder: Path) -> list[str]:
    # Those with items; of a folder that is a build itself none.
    if not folder.is_dir() or (folder / _MANIFEST).is_file():
        return []
    return sorted(
        str(path.parent) for path in folder.glob(f"[!.]*/{_MANIFEST}") if _has_items(path)
    )


def _has_items(manifest: Path) -> bool:
    # Of a manifest that is wrong others say what is.
    try:
        configs = json.loads(manifest.read_text(encoding="utf-8"))["configs"]
        return bool(ITEMS.configs(configs)) or not configs
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return True
