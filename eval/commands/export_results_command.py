"""``coherencegym export-results``: results as files that other tools read."""

from __future__ import annotations

import argparse
from pathlib import Path

from coherencegym.command_line import Parser
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands import options

EXAMPLES = """\
  coherencegym export-results results --format every-eval-ever --output shared \\
      --organization "University of Somewhere"
  coherencegym export-results results/sentence_order--gpt2 --format inspect --output logs
"""
EVERY_EVAL_EVER, INSPECT = "every-eval-ever", "inspect"


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``export-results``."""
    options.add_results(parser, "result folders, or folders of them")
    parser.add_argument(
        "--format",
        choices=(EVERY_EVAL_EVER, INSPECT),
        required=True,
        metavar="FORMAT",
        help=f"{EVERY_EVAL_EVER}: a JSON file for each run, and its instances as JSON lines; "
        f"{INSPECT}: a log for each table, which inspect view opens",
    )
    options.add_every_eval_ever(parser)
    options.add_output(parser, "the folder to write", "an export", Path("exported"))


def run(arguments: argparse.Namespace) -> int:
    """Write the files, whole or not at all."""
    from coherencegym.eval.hub.every_eval_ever import evaluation_files
    from coherencegym.eval.hub.inspect_logs import write_inspect_logs
    from coherencegym.files.folders import check_folder, written_beside

    folder, texts = arguments.output, arguments.dataset
    if texts is not None and not texts.is_dir():
        raise EvaluationError(f"--dataset {texts}: no such folder")
    check_folder(
        folder, arguments.overwrite, inputs=[*arguments.results, *([texts] if texts else [])]
    )
    if arguments.format == INSPECT:
        if arguments.organization:
            raise EvaluationError(f"--organization: expected --format {EVERY_EVAL_EVER} with it")
        with written_beside(folder, arguments.overwrite) as work:
            count = write_inspect_logs(arguments.results, work, texts)
    else:
        files = evaluation_files(arguments.results, options.evaluation_source(arguments), texts)
        count = len(files)
        with written_beside(folder, arguments.overwrite) as work:
            for path, content in files.items():
                (work / path).parent.mkdir(parents=True, exist_ok=True)
                (work / path).write_bytes(content)
    print(f"{count:,} file{'s' * (count != 1)} written to {folder}")
    return 0
