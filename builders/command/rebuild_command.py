"""``coherencegym rebuild``: parse, make the rows of a stand-off release, exit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coherencegym.builders.command.errors import finished
from coherencegym.command_line import Parser

EXAMPLES = """\
  coherencegym rebuild OWNER/story_cloze --data-dir ~/corpora/storycloze
  coherencegym score --model gpt2 --dataset suites/story_cloze-3.0.0
  coherencegym score --model gpt2 --dataset OWNER/story_cloze --data-dir ~/corpora/storycloze
"""


def make_parser(prog: str = "coherencegym rebuild") -> Parser:
    """The parser of the command."""
    about = "Make the rows of a stand-off release from your own copy of its corpora."
    parser = Parser(prog, about, EXAMPLES)
    add = parser.add_argument
    add("dataset", metavar="ID|FOLDER", help="a stand-off release: a Hub dataset, or a folder")
    add("--data-dir", metavar="DIR", type=Path, help="folder with the files of its corpora")
    add(
        "--config",
        dest="configs",
        nargs="+",
        action="extend",
        default=[],
        metavar="C",
        help="configs; default all",
    )
    add("--revision", metavar="TAG", help="tag or commit; default the newest")
    add("--output", metavar="DIR", type=Path, help="default: suites/NAME-VERSION")
    add("--overwrite", action="store_true", help="replace an earlier build")
    return parser


def main(argv: Sequence[str] | None = None, prog: str = "coherencegym rebuild") -> int:
    """Rebuild a release; returns the exit code."""
    given = vars(make_parser(prog).parse_args(argv))

    def work() -> int:
        from coherencegym.builders.command.rebuild import rebuild
        from coherencegym.builders.command.show import print_lines, spinner

        lines: list[str] = []
        try:
            with spinner() as progress:
                rebuild(given.pop("dataset"), **given, say=lines.append, progress=progress)
        finally:
            print_lines(lines)
        return 0

    return finished(prog, work)
