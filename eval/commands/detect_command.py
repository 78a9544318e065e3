"""``python -m eval detect``: find the intruder in documents. The options; the work is elsewhere."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from coherencegym.eval.commands.cache_command import add_cache_options, cache_line, open_cache
from coherencegym.eval.commands.model_options import (
    add_loading_arguments,
    add_rendering_arguments,
    chosen_options,
    load_model,
    model_settings,
)
from coherencegym.eval.commands.score_command import progress_bar
from coherencegym.eval.forward.distributed import World, join_processes, own_device, world
from coherencegym.eval.models.libraries import quiet_libraries
from coherencegym.eval.tasks.detect.decisions import DECISIONS
from coherencegym.eval.tasks.detect.detectors import DEFAULT_DETECTOR, DETECTORS
from coherencegym.numbers import positive

if TYPE_CHECKING:
    from coherencegym.eval.forward.cache import Cache
    from coherencegym.eval.forward.execute import Execution
    from coherencegym.eval.models.load import LoadedModel
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.tasks.detect.detect import Detected
    from coherencegym.eval.tasks.detect.tables import DocumentTable

EXAMPLES = """\
  python -m eval detect --model gpt2 --dataset coherencegym/intruder_sentences --revision v1.0.0
  python -m eval detect --model demo --dataset suites/intruder_sentences --detector context
  python -m eval detect --model gpt2 --dataset DATA --calibrate-on wikipedia --test-on cnn
  python -m eval detect --model gpt2 --dataset DATA --threshold 0.5 --decision argmax
  python -m eval detect --model gpt2 --dataset coherencegym/linguistic_probes \\
      --calibrate-on coherencegym/intruder_sentences:detect_wikipedia
  python -m eval detect --model gpt2 --dataset DATA --dry-run
"""

#: The options that say what is read and decided, as the results record them.
SETTINGS = (
    "configs",
    "split",
    "max_items",
    "detector",
    "decision",
    "calibrate_on",
    "threshold",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``detect``."""
    add_loading_arguments(parser)
    add_rendering_arguments(parser)
    # What the scorer can do beside this is not offered: it has no meaning for documents.
    parser.set_defaults(compat=None, truncate=False, word_correction=False)
    add = parser.add_argument
    add_data_options(parser)
    add(
        "--detector",
        choices=tuple(DETECTORS),
        default=DEFAULT_DETECTOR,
        help="; ".join(f"{d.name}: {d.summary}" for d in DETECTORS.values())
        + f"; default {DEFAULT_DETECTOR}",
    )
    add_decision_options(parser)
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
        help="read every text from its beginning, also what the texts of a document begin with "
        "alike",
    )
    add_cache_options(parser)
    add(
        "--dry-run",
        action="store_true",
        help="print what would be read, and how much work it is; weights are not loaded",
    )
    add("--output", type=Path, metavar="DIR", help="default results/DATA--MODEL--detect")
    add("--overwrite", action="store_true", help="replace an existing folder of results")


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Declare which documents are read."""
    add = parser.add_argument
    add("--dataset", required=True, metavar="ID|FOLDER", help="a Hub dataset, or a folder of one")
    add(
        "--config",
        "--test-on",
        dest="configs",
        nargs="+",
        action="extend",
        default=[],
        metavar="C",
        help="configs to test on, with or without the detect_ that names begin with; default all",
    )
    add("--split", default="test", metavar="S", help="the split to test on; default test")
    add("--revision", metavar="TAG", help="tag or commit of a Hub dataset")
    add("--max-items", type=positive, metavar="N", help="only the first N documents of each table")


def add_decision_options(parser: argparse.ArgumentParser) -> None:
    """Declare how scores become decisions."""
    add = parser.add_argument
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
    add("--threshold", type=_finite, metavar="X", help="this threshold, for all decisions")
    # Nothing is drawn any more; what was written for earlier releases goes on.
    add("--seed", type=int, help=argparse.SUPPRESS)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text} is no number")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Score the documents of a dataset; prints the table and writes the folder."""
    from coherencegym.eval.results.folder import MARKER
    from coherencegym.eval.tasks.detect.data import read_data
    from coherencegym.eval.tasks.detect.results import gather_detection
    from coherencegym.eval.views.detect.report import write
    from coherencegym.eval.views.detect.table import print_results
    from coherencegym.files.folders import check_folder

    output = arguments.output or default_output(arguments, "detect")
    options = chosen_options(arguments)
    data_settings = {name: getattr(arguments, name) for name in SETTINGS}
    settings = {**data_settings, **options.record(), **model_settings(arguments)}
    check_folder(output, arguments.overwrite, MARKER)
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
        _dry_run(arguments, data.tables, options)
        print(f"would be written to {output}")
        return 0
    processes = world()
    arguments.device = own_device(arguments.device, processes)
    with join_processes(processes), ExitStack() as stack:
        model = load_model(arguments)
        cache = open_cache(arguments, model, options.identity())
        if cache is not None:
            stack.enter_context(cache)
        detected = [
            _detect(arguments.detector, model, table, options, cache, processes)
            for table in data.tables
        ]
    if not processes.is_first:
        return 0
    results = gather_detection(data, detected, model, settings)
    write(results, output, overwrite=arguments.overwrite)
    print_results(results)
    print(f"written to {output}")
    if cache is not None:
        print(cache_line(cache, _executions(detected)))
    return 0


def default_output(arguments: argparse.Namespace, task: str) -> Path:
    """``results/DATA--MODEL--TASK``."""

    def name(text: str) -> str:
        return Path(text).resolve().name if Path(text).is_dir() else text.replace("/", "__")

    return Path("results") / f"{name(arguments.dataset)}--{name(arguments.model)}--{task}"


def _executions(detected: Sequence[Detected]) -> list[Execution]:
    return [one.scored.execution for one in detected if one.scored is not None]


def _detect(
    detector: str,
    model: LoadedModel,
    table: DocumentTable,
    options: Options,
    cache: Cache | None,
    processes: World,
) -> Detected:
    from coherencegym.eval.tasks.detect.detect import detections

    with progress_bar(table.name, processes.is_first) as progress:
        return detections(
            model.model,
            model.tokenizer,
            [document.sentences for document in table.documents],
            detector,
            options,
            names=[document.item_id for document in table.documents],
            uses_separator=table.separator,
            store=cache,
            progress=progress,
            world=processes,
        )


def _dry_run(
    arguments: argparse.Namespace, tables: Sequence[DocumentTable], options: Options
) -> None:
    """Print the plan of a run; only the model's config and tokenizer are read."""
    from coherencegym.eval.commands.explain_command import explain_plan
    from coherencegym.eval.tasks.detect.detect import document_queries
    from coherencegym.eval.tasks.detect.detectors import detector_of

    texts = []
    for table in tables:
        documents = [document.sentences for document in table.documents]
        names = [document.item_id for document in table.documents]
        queries = document_queries(documents, detector_of(arguments.detector), names)
        texts.append((table.name, queries, table.separator))
        print(f"{table.name}: {len(documents):,} documents, {table.intruded:,} with an intruder")
    explain_plan(arguments, texts, options)
