"""``coherencegym overview``: earlier results in one table, suites by models, the best first."""

from __future__ import annotations

import argparse

from coherencegym.command_line import Parser
from coherencegym.eval.commands import options

EXAMPLES = """\
  coherencegym overview results
  coherencegym overview results --format latex > overview.tex
  coherencegym overview results/winograd--gpt2 results/winograd--opt --output overview
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``overview``."""
    options.add_results(parser, "result folders, or folders of them")
    options.add_format(parser)
    options.add_output(
        parser, "also write overview.md and index.html to this folder", "an overview"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the overview, and write it if asked to."""
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.report.formats import TABLE, show_document
    from coherencegym.eval.results.folder import read_results, run_folders
    from coherencegym.eval.views.overview import (
        PAGE,
        check_overview,
        overview,
        write_overview,
    )
    from coherencegym.terminal import data_output

    if arguments.output is not None:
        check_overview(arguments.output, arguments.overwrite)
    folders = run_folders(arguments.results)
    for folder in folders if arguments.output is not None else ():
        if arguments.output.resolve().is_relative_to(folder.resolve()):
            raise EvaluationError(
                f"--output {arguments.output} is in {folder}, which is read; expected another "
                "folder, or that of several runs"
            )
    runs = [read_results(folder) for folder in folders]
    shown = overview(runs)
    if arguments.output is not None:
        write_overview(shown, arguments.output)
    with data_output(arguments.format != TABLE) as out:
        show_document(shown.document, arguments.format, out)
        if arguments.output is not None:
            print(f"written to {arguments.output}: open {arguments.output / PAGE}")
    return 0
