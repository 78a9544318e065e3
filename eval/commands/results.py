"""The commands that read results: overview, compare, plot, push and export-results.

Each parses, calls and prints; the work is elsewhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from coherencegym.command_line import USER_ERROR, Parser, flag_of, not_negative, rare
from coherencegym.errors import EvaluationError, one_line
from coherencegym.eval.run.options import WRITTEN

if TYPE_CHECKING:
    from coherencegym.eval.tasks.results import Results


def many(parser: Any, *names: str, **more: Any) -> argparse.Action:
    """Declare an option that takes several values, also when it is given several times."""
    settings = {"nargs": "+", "action": "extend", "default": [], **more}
    action: argparse.Action = parser.add_argument(*names, **settings)
    return action


def add_results(parser: Parser, said: str) -> None:
    """Declare the folders of results that a subcommand reads."""
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help=said)


def add_format(parser: Parser) -> None:
    """Declare ``--format``."""
    from coherencegym.eval.report.formats import TABLE, TABLE_FORMATS

    add = parser.group(WRITTEN).add_argument
    said = f"table, markdown, latex; with unrounded numbers csv, json; default {TABLE}"
    add("--format", choices=TABLE_FORMATS, default=TABLE, metavar="FORMAT", help=said)


def add_output(parser: Parser, said: str, replaced: str, default: Path | None = None) -> None:
    """Declare ``--output`` and ``--overwrite``."""
    add = parser.group(WRITTEN).add_argument
    add("--output", type=Path, default=default, metavar="DIR", help=said)
    add("--overwrite", action="store_true", help=f"replace an existing folder of {replaced}")


class Overview:
    """Earlier results in one table, suites by models, the best first."""

    EXAMPLES = """\
  coherencegym overview results
  coherencegym overview results --format latex > overview.tex
  coherencegym overview results/winograd--gpt2 results/winograd--opt --output overview
"""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of ``overview``."""
        said = "result folders, or folders of them; what cannot be read is named and left out (exit"
        add_results(parser, f"{said} code 2 if nothing can be read, or it was named itself)")
        add_format(parser)
        add_output(parser, "also write overview.md and index.html, as this folder", "an overview")

    def run(self, arguments: argparse.Namespace) -> int:
        """Print the overview, and write it if asked to."""
        from coherencegym.eval.report.formats import TABLE, show_document
        from coherencegym.eval.results.folder import read_readable, run_folders
        from coherencegym.eval.views.overview import PAGE, overview, write_overview
        from coherencegym.files.folders import check_folder
        from coherencegym.terminal import data_output

        if arguments.output is not None:
            check_folder(
                arguments.output, arguments.overwrite, inputs=run_folders(arguments.results)
            )
        results, refused = read_readable(run_folders(arguments.results))
        for each in refused.values():
            if not results:
                raise each
            print(one_line(f"left out: {one_line(each)}"), file=sys.stderr)
        shown = overview(results)
        if arguments.output is not None:
            write_overview(shown, arguments.output)
        with data_output(arguments.format != TABLE) as out:
            show_document(shown.document, arguments.format, out)
            if arguments.output is not None:
                print(f"written to {arguments.output}: open its {PAGE}")
        return USER_ERROR if refused.keys() & {*arguments.results} else 0


#: Folders that stand alone, of which the line on them has the names.
_MOST_NAMED = 6
#: Options that each comparison of two models takes.
_HOW = ("anyway", "details", "seed")


class Compare:
    """Results of models against each other."""

    EXAMPLES = """\
  coherencegym compare results/sentence_order--gpt2 results/sentence_order--gpt2-medium
  coherencegym compare results/gpt2 results/opt results/pythia --all-pairs --format json
  coherencegym compare results/discourse_tasks--gpt2--probe --layers 0 6 12
"""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of ``compare``."""
        add = parser.add_argument
        add_results(parser, "result folders, or folders of them; the first model is the reference")
        many(
            parser,
            "--layers",
            type=not_negative,
            metavar="N",
            help="compare these layers of probes; the first layer is the reference",
        )
        add("--all-pairs", action="store_true", help="compare every model with every other model")
        add(
            "--details",
            action="store_true",
            help="add groups of items, such as genres, and every layer of probes",
        )
        add(
            "--anyway",
            action="store_true",
            help="compare the common items although data or settings differ",
        )
        rare(
            add(
                "--seed",
                type=not_negative,
                default=0,
                metavar="N",
                help="seed of permutation tests that do not enumerate all permutations; default 0",
            )
        )
        add(
            "--items",
            type=Path,
            metavar="FILE",
            help="also write both models' values of every item to this file (.parquet or .csv)",
        )
        add_format(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Compare folders of results; prints a table for each pair."""
        from coherencegym.eval.report.formats import TABLE
        from coherencegym.terminal import data_output

        with data_output(arguments.format != TABLE) as out:
            return _compare(arguments, out)


def _say(line: str, file: TextIO | None = None) -> None:
    # In lines of the width of a table.
    from coherencegym.eval.report.grid import console_for, print_below
    from coherencegym.terminal import shown_console

    print_below(console_for(shown_console(file, highlight=False)), [one_line(line)])


def _compare(arguments: argparse.Namespace, out: TextIO) -> int:
    from coherencegym.eval.data.notes import first_names
    from coherencegym.eval.report.formats import show_document
    from coherencegym.eval.results.comparison import (
        at_layer,
        by_suite,
        check_items_file,
        compare,
        holm_corrected,
        model_labels,
        write_items,
    )
    from coherencegym.eval.results.folder import read_results, run_folders, seed_folders
    from coherencegym.eval.views.compare_table import comparison_document

    if arguments.items is not None:
        check_items_file(arguments.items, arguments.results)
    folders = run_folders(arguments.results)
    # One that was named itself is an error, which says what to name.
    trainings = [each for each in folders if seed_folders(each) and each not in arguments.results]
    if trainings:
        few = first_names([str(each) for each in trainings], _MOST_NAMED)
        seed = seed_folders(trainings[0])[0]
        _say(f"left out, as results over seeds: {few}; name one's, such as {seed}")
        folders = [each for each in folders if each not in trainings]
    if len(folders) * max(1, len(arguments.layers)) < 2:
        for folder in folders:
            read_results(folder)
        raise EvaluationError(
            f"{arguments.results[0]}: {'one' if folders else 'no'} folder of results; expected two "
            "or more, or --layers of the one"
        )
    results = [read_results(folder, outcomes=True) for folder in folders]
    groups, alone = by_suite(results, fewest=1 if len(arguments.layers) > 1 else 2)
    how = {name: getattr(arguments, name) for name in _HOW}
    comparisons = []
    refused: list[EvaluationError] = []
    for group in groups:
        labels = model_labels(group)
        if arguments.layers:
            sides = [(each, number) for each in range(len(group)) for number in arguments.layers]
            labels = [f"{labels[each]}, layer {number}" for each, number in sides]
            group = [at_layer(group[each], number) for each, number in sides]
        for first, second in combinations(range(len(group)), 2):
            if first and not arguments.all_pairs:
                break
            baseline, model = group[first], group[second]
            try:
                names = labels[second], labels[first]
                comparisons.append(compare(baseline, model, names=names, **how))
            except EvaluationError as error:
                # Of a folder that was named, the other pairs are compared.
                if {baseline.folder, model.folder} & {*arguments.results}:
                    raise
                refused.append(error)
    if refused and not comparisons:
        raise refused[0]
    for each in refused:
        _say(f"left out: {each}", sys.stderr)
    comparisons = holm_corrected(comparisons)
    if arguments.items is not None:
        write_items(comparisons, arguments.items)
        _say(f"items written to {arguments.items}")
    show_document(comparison_document(comparisons), arguments.format, out)
    if alone:
        few = first_names([str(one.folder) for one in alone], _MOST_NAMED)
        _say(f"left out, as no other run is of the same suite and task: {few}")
    return 0


class Plot:
    """The results of earlier runs in one figure."""

    EXAMPLES = """\
  coherencegym plot results/sentence_order--gpt2 results/sentence_order--demo --output figures
  coherencegym plot results/* --output figures
"""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of ``plot``."""
        add_results(parser, "result folders of several models, several datasets, or both")
        add_output(parser, "default plots", "plots", Path("plots"))

    def run(self, arguments: argparse.Namespace) -> int:
        """Draw ``scores.png`` and ``.svg``; where there are any ``curve`` and ``layers``."""
        from coherencegym.eval.results.folder import read_results, run_folders
        from coherencegym.eval.tasks.probe.curves import write_layers
        from coherencegym.eval.views.plots import plot_runs, probe_curves
        from coherencegym.files.folders import check_folder, written_beside

        check_folder(arguments.output, arguments.overwrite, inputs=arguments.results)
        runs = [read_results(folder) for folder in run_folders(arguments.results)]
        curves = list(probe_curves(runs))
        with written_beside(arguments.output, arguments.overwrite) as work:
            plot_runs(runs, work)
            if curves:
                names = list(dict.fromkeys(run.suite for run in runs))
                write_layers(curves, ", ".join(names), work)
            written = sorted(path.name for path in work.iterdir())
        for note in _notes(runs):
            print(f"· {note}")
        print(f"written to {arguments.output}: {', '.join(written)}")
        return 0


def _notes(runs: Sequence[Results]) -> list[str]:
    from coherencegym.eval.results.comparison import option_of, scoring_rules
    from coherencegym.eval.statistics.intervals import INTERVALS

    notes = []
    limits = [{"limit": run.settings.get("max_items")} for run in runs]
    known = [scoring_rules(run) | limit for run, limit in zip(runs, limits, strict=True)]
    # Runs of different tasks have different options, which say nothing about their scores.
    tasks = dict.fromkeys(run.task for run in runs)
    for task in tasks:
        where = f"the runs of {task}" if len(tasks) > 1 else "the runs"
        of_task = [rules for run, rules in zip(runs, known, strict=True) if run.task == task]
        for name in dict.fromkeys(name for rules in of_task for name in rules):
            values = list(dict.fromkeys(json.dumps(rules.get(name)) for rules in of_task))
            if len(values) > 1:
                notes.append(f"{where} differ in {option_of(name)}: {', '.join(values[:4])}")
    if len({run.settings.get("intervals") for run in runs}) > 1:
        others = (run for run in runs if run.settings.get("intervals") != INTERVALS)
        old = ", ".join(str(run.place) for run in others)
        notes.append(
            f"intervals of another release, which are not comparable: {old}; evaluate again (what "
            "is in the cache is not computed again)"
        )
    return notes


#: The forms of what is pushed: a dataset of runs, and the model's own repository.
RUNS, EVAL_RESULTS = "runs", "eval-results"


class Push:
    """Results into a repository on the Hub, in one of two forms."""

    EXAMPLES = """\
  coherencegym push results/sentence_order--gpt2 me/coherence-results --dry-run
  coherencegym push results/sentence_order--gpt2 me/coherence-results --private
  coherencegym push results me/coherence-results        all runs in a folder, in one commit
  coherencegym push results/sentence_order--gpt2 openai-community/gpt2 --format eval-results \\
      --create-pr
"""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of ``push``."""
        add_results(parser, "result folders, or folders of them")
        parser.add_argument(
            "repo_id",
            metavar="USER/NAME",
            help="a dataset repository of the Hub, or the model's own",
        )
        parser.add_argument(
            "--format",
            choices=(RUNS, EVAL_RESULTS),
            default=RUNS,
            metavar="FORMAT",
            help=f"{RUNS}: a dataset of results with a card; {EVAL_RESULTS}: scores in "
            f".eval_results/ of the model's repository; default {RUNS}",
        )
        parser.add_argument(
            "--create-pr",
            action="store_true",
            help=f"open a pull request; with --format {EVAL_RESULTS}",
        )
        parser.add_argument(
            "--source-url",
            metavar="URL",
            help="address where a reader finds more, such as a dataset of results; with --format "
            f"{EVAL_RESULTS}; default the toolkit's page",
        )
        parser.add_argument(
            "--private",
            action="store_true",
            help="create a private repository; refuse an existing public one",
        )
        parser.add_argument("--dry-run", action="store_true", help="print what would be pushed")

    def run(self, arguments: argparse.Namespace) -> int:
        """Push a folder of results, and print what was pushed, line by line."""
        from huggingface_hub import HfApi

        from coherencegym.eval.hub.formats import TOOLKIT, push_to_model
        from coherencegym.eval.hub.push import push_results
        from coherencegym.hub import check_target, hub_errors

        check_target(arguments.repo_id)
        form = arguments.format
        own = {"create_pr": EVAL_RESULTS, "source_url": EVAL_RESULTS, "private": RUNS}
        for name, expected in own.items():
            if getattr(arguments, name) and form != expected:
                raise EvaluationError(f"{flag_of(name)}: expected --format {expected} with it")
        where = HfApi(), arguments.results, arguments.repo_id
        with hub_errors("a push is one commit, made or not made: run the same command again"):
            if form == RUNS:
                pushed = push_results(*where, private=arguments.private, dry_run=arguments.dry_run)
            else:
                how = {"create_pr": arguments.create_pr, "dry_run": arguments.dry_run}
                pushed = push_to_model(*where, source_url=arguments.source_url or TOOLKIT, **how)
        print(*pushed.lines, sep="\n")
        return 0


class ExportResults:
    """Results in the format of Every Eval Ever."""

    EXAMPLES = """\
  coherencegym export-results results --output shared --organization "University of Somewhere"
"""

    def add_arguments(self, parser: Parser) -> None:
        """Declare the options of ``export-results``."""
        add_results(parser, "result folders, or folders of them")
        parser.add_argument(
            "--organization",
            required=True,
            metavar="NAME",
            help="name of those who ran the evaluation",
        )
        parser.add_argument(
            "--relationship",
            choices=("first_party", "third_party", "collaborative", "other"),
            default="third_party",
            metavar="HOW",
            help="relationship to who made the model: first_party, third_party, collaborative or "
            "other; default third_party",
        )
        add_output(parser, "the folder to write", "an export", Path("exported"))

    def run(self, arguments: argparse.Namespace) -> int:
        """Write a JSON file for each run, all or none."""
        from coherencegym.eval.hub.formats import evaluation_files
        from coherencegym.files.folders import check_folder, written_beside

        folder = arguments.output
        check_folder(folder, arguments.overwrite, inputs=arguments.results)
        files = evaluation_files(arguments.results, arguments.organization, arguments.relationship)
        with written_beside(folder, arguments.overwrite) as work:
            for path, content in files.items():
                (work / path).parent.mkdir(parents=True, exist_ok=True)
                (work / path).write_bytes(content)
        print(f"{len(files):,} file{'s' * (len(files) != 1)} written to {folder}")
        return 0
