"""``coherencegym detect``: find the intruder in documents. The options; the work is elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from coherencegym.command_line import Parser
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options
from coherencegym.eval.commands.running import Running, planned_work, print_work, running
from coherencegym.eval.models.libraries import quiet_libraries
from coherencegym.eval.tasks.detect.decisions import DECISIONS
from coherencegym.eval.tasks.detect.detectors import DEFAULT_DETECTOR, DETECTORS

if TYPE_CHECKING:
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.tasks.detect.detect import Detected
    from coherencegym.eval.tasks.detect.tables import DocumentTable

EXAMPLES = """\
  coherencegym detect --model gpt2 --dataset coherencegym/intruder_sentences --revision v1.0.0
  coherencegym detect --model demo --dataset suites/intruder_sentences --detector context
  coherencegym detect --model gpt2 --dataset DATA --calibrate-on wikipedia --test-on cnn
  coherencegym detect --model gpt2 --dataset coherencegym/linguistic_probes \\
      --calibrate-on coherencegym/intruder_sentences:detect_wikipedia
"""

#: Options that say what is read and decided, as the results record them.
_RECORDED = (
    *("configs", "split", "max_items", "detector", "decision"),
    *("calibrate_on", "threshold"),
)


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``detect``."""
    said = "configs to test on, with or without the detect_ that names begin with; default all"
    options.add_tables(parser, said, "--test-on")
    add = parser.group("how it is found").add_argument
    add(
        "--detector",
        choices=tuple(DETECTORS),
        default=DEFAULT_DETECTOR,
        help="; ".join(f"{d.name}: {d.summary}" for d in DETECTORS.values())
        + f"; default {DEFAULT_DETECTOR}",
    )
    add(
        "--decision",
        choices=DECISIONS,
        help="argmax: the highest score, if above the threshold; independent: every sentence above "
        "it; default both",
    )
    add(
        "--calibrate-on",
        metavar="CONFIG|DATASET:CONFIG",
        help="choose the threshold on the validation split of this config; default its own",
    )
    add("--threshold", type=options.finite, metavar="X", help="this threshold, for all decisions")
    options.add_reading(parser, "the texts of a document")
    options.add_output(parser, "default results/DATA--MODEL--detect", "results")
    options.add_alike(parser, "--dry-run", "--quiet", "--verbose")


def run(arguments: argparse.Namespace) -> int:
    """Score the documents of a dataset; prints the table and writes the folder."""
    from coherencegym.eval.data.notes import of_each
    from coherencegym.eval.tasks.detect.data import read_data

    output = options.output_of(arguments, "detect")
    chosen = options.chosen(arguments)
    settings = options.settings_of(arguments, chosen, _RECORDED)
    options.check_output(arguments, output)
    quiet_libraries()
    # The data first: they are read in a moment, and what is wrong with them shows at once.
    data = read_data(
        arguments.dataset,
        arguments.configs,
        arguments.split,
        revision=arguments.revision,
        calibrate_on=arguments.calibrate_on,
        threshold=arguments.threshold,
        max_items=arguments.max_items,
    )
    if arguments.dry_run:
        _dry_run(arguments, data.tables, chosen)
        print(f"would be written to {output}")
        return 0
    with running(arguments, chosen) as run_:
        read, notes = of_each(
            data.tables,
            lambda table: (table.key, _detect(run_, table, arguments.detector, chosen)),
        )
    found = dict(read)
    kept = [one for one in data.tested if {one.key, data.chosen_on(one).key} <= {*found}]
    if not kept:
        raise EvaluationError(f"no config is left to test on: {notes[0]}")
    data = data.only(kept, notes)
    detected = [found[table.key] for table in data.tables]
    if not run_.processes.is_first:
        return 0
    from coherencegym.eval.tasks.detect.results import gather_detection
    from coherencegym.eval.views.detect.table import print_results
    from coherencegym.eval.views.report import write_detection

    results = gather_detection(data, detected, run_.loaded, settings)
    write_detection(results, output, overwrite=arguments.overwrite)
    print_results(results, verbose=arguments.verbose)
    print(f"written to {output}")
    executions = [one.scored.execution for one in detected if one.scored is not None]
    texts = sum(len(execution.plan.sequences) for execution in executions)
    run_.print_cache(sum(execution.stored for execution in executions), texts)
    return 0


def _detect(run_: Running, table: DocumentTable, detector: str, chosen: Options) -> Detected:
    from coherencegym.eval.tasks.detect.detect import detections

    with run_.reading(table.name, len(table.documents), "documents") as how:
        return detections(
            run_.loaded.model,
            run_.loaded.tokenizer,
            [document.sentences for document in table.documents],
            detector,
            chosen,
            names=[document.item_id for document in table.documents],
            uses_separator=table.separator,
            **how,
        )


def _dry_run(
    arguments: argparse.Namespace, tables: Sequence[DocumentTable], chosen: Options
) -> None:
    """Print the plan of a run; only the model's config and tokenizer are read."""
    from coherencegym.eval.tasks.detect.detect import document_queries
    from coherencegym.eval.tasks.detect.detectors import detector_of

    texts = []
    for table in tables:
        documents = [document.sentences for document in table.documents]
        names = [document.item_id for document in table.documents]
        queries = document_queries(documents, detector_of(arguments.detector), names)
        texts.append((table.name, queries, table.separator))
        print(f"{table.name}: {len(documents):,} documents, {table.intruded:,} with an intruder")
    print_work(planned_work(arguments, texts, chosen))
