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
        parser, "also write overview.md and index.html, as this folder", "an overview"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the overview, and write it if asked to."""
    from coherencegym.eval.report.formats import TABLE, show_document
    from coherencegym.eval.results.folder import read_results, run_folders
    from coherencegym.eval.views.overview import (
        PAGE,
        overview,
        write_overview,
    )
    from coherencegym.files.folders import check_folder
    from coherencegym.terminal import data_output

    if arguments.output is not None:
        check_folder(arguments.output, arguments.overwrite, inputs=run_folders(arguments.results))
    shown = overview(read_results(folder) for folder in run_folders(arguments.results))
    if arguments.output is not None:
        write_overview(shown, arguments.output)
    with data_output(arguments.format != TABLE) as out:
        show_document(shown.document, arguments.format, out)
        if arguments.output is not None:
            print(f"written to {arguments.output}: open its {PAGE}")
    return 0
