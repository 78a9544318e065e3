"""``coherencegym export``: write a build, or a Hub dataset, for another tool."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from coherencegym.builders.command.show import explain, print_lines
from coherencegym.builders.export.write import EXPORTS, export
from coherencegym.command_line import Parser, finish

_EXAMPLES = """\
  coherencegym export syntaxgym suites/winograd
  coherencegym export pairs coherencegym/winograd --revision v1.0.0 --output released_pairs
"""


def make_parser(prog: str = "coherencegym export") -> Parser:
    """The parser of ``coherencegym export``."""
    about = "Write the items of a dataset for another tool."
    parser = Parser(prog, about, _EXAMPLES, takes="TOOL DATASET")
    add = parser.add_argument
    what = "; ".join(f"{name}: {written}" for name, written in EXPORTS.items())
    add("tool", metavar="TOOL", choices=list(EXPORTS), help=what)
    add("dataset", metavar="DATASET", help="a build's folder, or a Hub dataset")
    add("--revision", metavar="TAG", help="tag of a Hub dataset; default: the newest")
    add("--output", metavar="DIR", type=Path, help="default: SUITE_TOOL, such as winograd_pairs")
    add("--overwrite", action="store_true", help="replace an earlier export")
    add("--dry-run", action="store_true", help="print what would be written, and write nothing")
    return parser


def main(argv: Sequence[str] | None = None, prog: str = "coherencegym export") -> int:
    """Export a dataset; the exit code."""
    given = make_parser(prog).parse_args(argv)

    def work() -> int:
        from coherencegym.eval.data.source import find_dataset

        source = find_dataset(given.dataset, given.revision)
        how = {"overwrite": given.overwrite, "dry_run": given.dry_run}
        print_lines(export(source, given.tool, given.output, **how))
        return 0

    return finish(prog, work, explain)


if __name__ == "__main__":
    sys.exit(main())
