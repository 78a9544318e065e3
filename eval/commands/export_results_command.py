"""``coherencegym export-results``: results in the format of Every Eval Ever."""

from __future__ import annotations

import argparse
from pathlib import Path

from coherencegym.command_line import Parser
from coherencegym.eval.commands import options

EXAMPLES = """\
  coherencegym export-results results --output shared --organization "University of Somewhere"
"""


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``export-results``."""
    options.add_results(parser, "result folders, or folders of them")
    parser.add_argument(
        "--organization", required=True, metavar="NAME", help="name of those who ran the evaluation"
    )
    parser.add_argument(
        "--relationship",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="third_party",
        metavar="HOW",
        help="relationship to who made the model: first_party, third_party, collaborative or "
        "other; default third_party",
    )
    options.add_output(parser, "the folder to write", "an export", Path("exported"))


def run(arguments: argparse.Namespace) -> int:
    """Write a JSON file for each run, all or none."""
    from coherencegym.eval.hub.every_eval_ever import evaluation_files
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
