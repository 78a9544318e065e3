"""``coherencegym judge``: rows of a build for people to judge."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.builders.judgement.questions import JUDGED_UNITS
from coherencegym.command_line import Parser

if TYPE_CHECKING:
    from coherencegym.eval.data.source import Source

EXAMPLES = """\
  coherencegym judge suites/story_cloze -n 100
  coherencegym judge suites/connectives --group "same sense, same syntax"
  coherencegym judge suites/intruder_sentences --kind documents

then, with the answers that annotators saved:
  coherencegym build story_cloze --corpus sample --overwrite --judgements answers-*.jsonl

The folder has sheet.html, to read, tick and print, and the same as JSON lines: pairs.jsonl, ...
"""
_EXPECTED = {
    "pair": "items with two conditions",
    "span": "answers to parts of texts",
    "document": "texts of two sentences or more",
    "example": "rows with a label",
}


def main(argv: Sequence[str] | None = None, prog: str = "python -m builders sample") -> int:
    """Draw what people judge and write the sheet; the exit code is 2 where the user can mend it."""
    from coherencegym.builders.command.errors import finished
    from coherencegym.builders.command.show import print_lines

    arguments = make_parser(prog).parse_args(argv)

    def draw_and_say() -> int:
        print_lines(sample(arguments))
        return 0

    return finished(prog, draw_and_say)


def make_parser(prog: str = "coherencegym judge") -> Parser:
    """The parser of ``coherencegym judge``."""
    from coherencegym.numbers import positive

    parser = Parser(
        prog,
        "Draw rows of a build for people to judge, and write a sheet that is blind.",
        EXAMPLES,
        takes="FOLDER",
    )
    add = parser.add_argument
    several: Any = {"metavar": "NAME", "nargs": "+", "action": "extend", "default": []}
    what = "the folder of a build, such as suites/story_cloze"
    add("folder", metavar="FOLDER", type=Path, help=what)
    what = "number of pairs, spans, documents or examples; default: 100"
    add("-n", metavar="N", type=positive, default=100, help=what)
    what = "kind of rows; default: the kind of --config, or the first kind in the build"
    add("--kind", choices=list(JUDGED_UNITS), help=what)
    what = "configs to draw from; default: all of the kind but controls, evenly"
    add("--config", **several, help=what)
    what = "groups of predictions to draw from; default: the groups in the config's score"
    add("--group", **several, help=what)
    add("--seed", metavar="N", type=int, default=0, help="default: 0")
    add("--output", metavar="DIR", type=Path, help="default: judgements/<suite>")
    return parser


def sample(arguments: argparse.Namespace) -> list[str]:
    """Draw and write; what to say of it, line by line."""
    from coherencegym.builders.judgement.draw import draw
    from coherencegym.builders.judgement.sheet import SHEET, lines_file, write_sheet
    from coherencegym.builders.release.manifest import MANIFEST, diagnostic_configs
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.eval.data.table_rows import table_rows
    from coherencegym.eval.kinds.registry import kind_named
    from coherencegym.files.folders import check_folder, written_beside

    folder: Path = arguments.folder
    if not (folder / MANIFEST).is_file():
        raise EvaluationError(
            f"{folder}: no {MANIFEST}; expected the folder of a build, such as suites/story_cloze"
        )
    source = find_dataset(str(folder))
    output: Path = arguments.output or Path("judgements", source.suite)
    if output.exists():
        # Never overwritten: what annotators have filled in may lie there.
        raise EvaluationError(f"{output} exists; name another folder with --output")
    check_folder(output, False, inputs=[folder])
    kind, others = _kind(source, arguments)
    unit = JUDGED_UNITS[kind]
    # What controls ask is of other configs, and people answer it only where it was asked for.
    controls = [] if arguments.config else diagnostic_configs(source.manifest["configs"])
    # What models are tested on, and not what they learn from.
    read = table_rows(source, arguments.config, kind=kind_named(kind), test_only=True)
    tables = [table for table in read if table.config not in controls]
    drawing = draw(source.suite, tables, arguments.n, arguments.seed, arguments.group)
    drawn = len(drawing.asked)
    if not drawn:
        wanted = f" of {', '.join(map(repr, arguments.group))}" if arguments.group else ""
        raise EvaluationError(f"{folder}: no {unit}{wanted}; expected {_EXPECTED[unit]}")
    with written_beside(output, False) as work:
        write_sheet(unit, drawing.asked, work)
    shares = ", ".join(f"{name} {count}" for name, count in drawing.counts.items())
    lines = [f"{drawn} {unit}s ({shares})"]
    if sum(drawing.counts.values()) > drawn:
        lines.append("what several configs have is drawn once and counts for each of them")
    if controls:
        lines.append(f"controls are asked only where --config names them: {', '.join(controls)}")
    if drawn < arguments.n:
        lines.append(f"there are no more than these, {arguments.n} were asked for")
    if drawing.n_repeated:
        lines.append(
            f"{drawing.n_repeated} of them repeat a text or a document of another {unit}, which "
            f"may give the answer away; -n {drawn - drawing.n_repeated} draws none of these"
        )
    if others and not arguments.config:
        lines.append(f"the build also has {' and '.join(others)}: --kind {others[0]}")
    return [
        *lines,
        f"written to {output / SHEET} and {output / lines_file(unit)}; give annotators either, one "
        "copy each",
        "then build again as before, with --overwrite --judgements answers-*.jsonl",
    ]


def _kind(source: Source, arguments: argparse.Namespace) -> tuple[str, list[str]]:
    # The kind that is asked about, and the other ones of the build.
    from coherencegym.errors import EvaluationError

    known = source.manifest["configs"]
    there = {about["kind"] for about in known.values()}
    kinds = [kind for kind in JUDGED_UNITS if kind in there]
    named = {known[name]["kind"] for name in arguments.config if name in known}
    chosen: str = arguments.kind or next((k for k in kinds if k in (named or kinds)), "")
    if chosen not in kinds:
        expected, has = ", ".join(JUDGED_UNITS), " and ".join(kinds) or "none of them"
        raise EvaluationError(
            f"{source.folder}: no {chosen or 'rows to judge'}; expected {expected}, of which it "
            f"has {has}"
        )
    return chosen, [kind for kind in kinds if kind != chosen]
