"""``coherencegym compare``: results of models against each other. The work is elsewhere."""

from __future__ import annotations

import argparse
import sys
from itertools import combinations
from pathlib import Path
from typing import TextIO

from coherencegym.command_line import Parser, not_negative, rare
from coherencegym.eval.commands import options

#: Folders that stand alone, of which the line on them has the names.
_MOST_NAMED = 6
#: Options that each comparison of two models takes.
_HOW = ("anyway", "details", "seed")
EXAMPLES = """\
  coherencegym compare results/sentence_order--gpt2 results/sentence_order--gpt2-medium
  coherencegym compare results/gpt2 results/opt results/pythia --all-pairs --format json
  coherencegym compare results/discourse_tasks--gpt2--probe --layers 0 6 12
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``compare``."""
    add = parser.add_argument
    options.add_results(
        parser,
        "result folders, or folders of them; the first model is the reference",
    )
    options.many(
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
    options.add_format(parser)
    add("--overwrite", action="store_true", help="replace the file of --items")


def run(arguments: argparse.Namespace) -> int:
    """Compare folders of results; prints a table for each pair."""
    from coherencegym.eval.report.formats import TABLE
    from coherencegym.terminal import data_output

    with data_output(arguments.format != TABLE) as out:
        return _compare(arguments, out)


def _compare(arguments: argparse.Namespace, out: TextIO) -> int:
    from coherencegym.errors import EvaluationError, one_line
    from coherencegym.eval.data.notes import first_names
    from coherencegym.eval.report.formats import show_document
    from coherencegym.eval.results.comparison import (
        at_layer,
        by_suite,
        check_items_file,
        compare,
        corrected_together,
        model_labels,
        write_items,
    )
    from coherencegym.eval.results.folder import read_results, run_folders, seed_folders
    from coherencegym.eval.views.compare_table import comparison_document

    if arguments.items is not None:
        check_items_file(arguments.items, arguments.overwrite, arguments.results)
    folders = run_folders(arguments.results)
    # One that was named itself is an error, which says what to name.
    trainings = [each for each in folders if seed_folders(each) and each not in arguments.results]
    if trainings:
        few = first_names([str(each) for each in trainings], _MOST_NAMED)
        seed = seed_folders(trainings[0])[0]
        print(one_line(f"left out, as results over seeds: {few}; name one's, such as {seed}"))
        folders = [each for each in folders if each not in trainings]
    if len(folders) * max(1, len(arguments.layers)) < 2:
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
        print(one_line(f"left out: {each}"), file=sys.stderr)
    if arguments.layers or len(groups) > 1:
        comparisons = corrected_together(comparisons)
    if arguments.items is not None:
        write_items(comparisons, arguments.items)
    show_document(comparison_document(comparisons), arguments.format, out)
    if alone:
        few = first_names([str(one.folder) for one in alone], _MOST_NAMED)
        print(one_line(f"left out, as no other run is of the same suite and task: {few}"))
    if arguments.items is not None:
        print(f"items written to {arguments.items}")
    return 0
