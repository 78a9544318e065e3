"""``coherencegym export``: write an earlier build, or a Hub dataset, for other tools."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.command_line import Parser, add_option, flag_of, options_in

if TYPE_CHECKING:
    from coherencegym.builders.export.write import Exports

_EXPORTS = {n: own for n, own in options_in(BuildOptions).items() if n.startswith("export_")}
_EXAMPLES = """\
  coherencegym export suites/winograd --export-syntaxgym winograd_suites
  coherencegym export coherencegym/winograd --revision v1.0.0 --export-pairs winograd_pairs
  coherencegym export suites/winograd --export-babylm babylm
"""


def make_parser(prog: str = "coherencegym export") -> Parser:
    """The parser of ``coherencegym export``."""
    parser = Parser(
        prog, "Write the items of a dataset for other tools.", _EXAMPLES, takes="DATASET"
    )
    add = parser.add_argument
    add("dataset", metavar="DATASET", help="a build's folder, or a Hub dataset")
    add("--revision", metavar="TAG", help="tag of a Hub dataset; default: the newest")
    for name, own in _EXPORTS.items():
        vars(add_option(parser, name, own))["rare"] = False  # it is all that this is for
    add("--overwrite", action="store_true", help="replace an earlier export")
    add("--dry-run", action="store_true", help="print what would be written, and write nothing")
    return parser


def main(argv: Sequence[str] | None = None, prog: str = "python -m builders.export") -> int:
    """Export a dataset; the exit code."""
    parser = make_parser(prog)
    arguments = parser.parse_args(argv)
    from coherencegym.builders.command.declared import finished
    from coherencegym.builders.export.write import exports_of

    exports = exports_of(arguments)
    if not exports.folders:
        parser.error(f"expected {' or '.join(f'{flag_of(name)} DIR' for name in _EXPORTS)}")
    return finished(prog, lambda: _export(arguments, exports))


def _export(arguments: argparse.Namespace, exports: Exports) -> int:
    from coherencegym.builders.command.show import print_lines
    from coherencegym.builders.export.write import export
    from coherencegym.eval.data.source import find_dataset

    folder = Path(arguments.dataset)
    exports.check(folder if folder.is_dir() else None, "DATASET")
    source = find_dataset(arguments.dataset, arguments.revision)
    print_lines(export(source, exports, dry_run=arguments.dry_run))
    return 0


if __name__ == "__main__":
    sys.exit(main())
