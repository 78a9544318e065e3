"""``coherencegym plot``: the results of earlier runs in one figure."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coherencegym.command_line import Parser
from coherencegym.eval.commands import options

if TYPE_CHECKING:
    from coherencegym.eval.tasks.results import Results

EXAMPLES = """\
  coherencegym plot results/sentence_order--gpt2 results/sentence_order--demo --output figures
  coherencegym plot results/* --output figures
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``plot``."""
    options.add_results(
        parser,
        "result folders of several models, several datasets, or both",
    )
    options.add_output(parser, "default plots", "plots", Path("plots"))


def run(arguments: argparse.Namespace) -> int:
    """Draw ``scores.png`` and ``.svg``; where there are any ``curve`` and ``layers``."""
    from coherencegym.eval.results.folder import read_results, run_folders
    from coherencegym.eval.tasks.probe.curves import write_layers
    from coherencegym.eval.views.plots import plot_runs, probe_curves
    from coherencegym.files.folders import check_folder, written_beside

    check_folder(arguments.output, arguments.overwrite, inputs=arguments.results)
    runs = [read_results(folder) for folder in run_folders(arguments.results)]
    curves = list(probe_curves(runs))
    with written_beside(arguments.output, arguments.overwrite) as work:
        missing = plot_runs(runs, work)
        if curves:
            names = list(dict.fromkeys(run.suite for run in runs))
            missing += write_layers(curves, ", ".join(names), work)
        written = sorted(path.name for path in work.iterdir())
    for note in _notes(runs, missing):
        print(f"· {note}")
    print(f"written to {arguments.output}: {', '.join(written)}")
    return 0


def _notes(runs: Sequence[Results], missing: Sequence[str]) -> list[str]:
    from coherencegym.eval.report.figures import missing_note
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
    return notes + missing_note(missing)
