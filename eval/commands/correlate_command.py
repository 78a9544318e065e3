"""``coherencegym correlate``: do scores of texts go along with the ratings of people?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import closed, opened, planned_work, print_work, running
from coherencegym.eval.forward.distributed import world

if TYPE_CHECKING:
    from coherencegym.eval.statistics.scores import UnitOutcome

EXAMPLES = """\
  coherencegym build coherence_ratings --corpus sample
  coherencegym correlate --model demo --dataset suites/coherence_ratings
  coherencegym correlate --model gpt2 --dataset coherence_ratings --config cohesentia_holistic
"""
#: Options of the data, as the results record them.
_DATA = ("configs", "split", "max_items")


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``correlate``."""
    options.add_tables(parser, "configs; default all that hold rated texts")
    options.add_reading(parser, "texts")
    options.add_output(parser, "default results/DATA--MODEL--correlate", "results")
    options.add_alike(parser, "--dry-run", "--verbose")


def run(arguments: argparse.Namespace) -> int:
    """Correlate the scores of texts with ratings; prints the table and writes the folder."""
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.eval.tasks.correlate.results import gather_correlations
    from coherencegym.eval.tasks.correlate.task import CORRELATE, correlated
    from coherencegym.eval.tasks.task import read_tables
    from coherencegym.eval.views.correlate.page import write_correlations
    from coherencegym.eval.views.correlate.table import print_correlations

    if world().size > 1:
        raise EvaluationError("correlate: several processes; expected one")
    chosen = options.chosen(arguments)
    output, _ = opened(arguments, CORRELATE.name, _DATA)
    settings = options.settings_of(arguments, chosen, _DATA)
    # The data first: they are read in a moment, and what is wrong with them shows at once.
    source = find_dataset(arguments.dataset, arguments.revision, arguments.configs)
    tables, notes = read_tables(
        CORRELATE, source, **{name: getattr(arguments, name) for name in _DATA}
    )
    if arguments.dry_run:
        _dry_run(arguments, tables, chosen)
        print(f"would be written to {output}")
        return 0
    outcomes: list[UnitOutcome] = []
    with running(arguments, chosen) as run_:
        for table in tables:
            with run_.reading(table.name) as how:
                outcomes += correlated(run_.loaded, table, chosen, **how)
    results = gather_correlations(source.noted(notes), run_.loaded, tables, outcomes, settings)
    return closed(arguments, output, results, write_correlations, print_correlations)


def _dry_run(arguments: argparse.Namespace, tables: Sequence[Any], chosen: Any) -> None:
    """Print the plan of a run; only the model's config and tokenizer are read."""
    from coherencegym.eval.tasks.correlate.task import query

    texts = [(table.name, list(map(query, table.rows)), table.separator) for table in tables]
    print_work(planned_work(arguments, texts, chosen))
