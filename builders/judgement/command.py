"""``coherencegym judge``: pairs of a build for people to judge."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Any

from coherencegym.builders.registry import all_suites, load_suite
from coherencegym.command_line import Parser
from coherencegym.eval.data.source import BUILDS
from coherencegym.eval.kinds.table_kind import SAMPLE

if TYPE_CHECKING:
    from coherencegym.eval.data.source import Source
    from coherencegym.eval.data.table_rows import TableRows
    from coherencegym.eval.kinds.spans import SpanText

EXAMPLES = """\
  coherencegym judge suites/story_cloze -n 100
  coherencegym judge suites/winograd --config winograd_full --seed 7
  coherencegym judge suites/connectives --group "same sense, same syntax"

then, with the answers that annotators saved:
  coherencegym build story_cloze --overwrite --judgements answers-1.jsonl answers-2.jsonl

and of parts of texts (span_coherence):
  coherencegym judge suites/span_coherence -n 50
  coherencegym judge suites/span_coherence --answers answers-1.jsonl answers-2.jsonl

The folder has two forms of the same pairs: sheet.html, to read, tick and print, which saves answers
as JSON lines; and pairs.jsonl, whose empty fields can be filled by other means. Neither says which
text is which, and there is no key to keep: a build knows its pairs again by their identifiers.
"""


def main(argv: Sequence[str] | None = None, prog: str = "python -m builders sample") -> int:
    """Draw pairs and write the sheet; the exit code is 2 where the user can mend it."""
    from coherencegym.builders.command.show import print_lines
    from coherencegym.builders.errors import finished

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
        "Draw pairs of a build for people to judge, and write a sheet that is blind.",
        EXAMPLES,
        takes="FOLDER",
    )
    add = parser.add_argument
    several: Any = {"metavar": "NAME", "nargs": "+", "action": "extend", "default": []}
    what = "the folder of a build, such as suites/story_cloze"
    add("folder", metavar="FOLDER", type=Path, help=what)
    add("-n", metavar="N", type=positive, default=100, help="number of pairs; default: 100")
    what = "draw from these configs only; default: all, in fair shares"
    add("--config", **several, help=what)
    what = (
        "draw pairs of these groups of predictions; default: those that the config's own score is "
        "over"
    )
    add("--group", **several, help=what)
    what = "of spans: say how these answers agree with the dataset's, and draw nothing"
    add("--answers", **{**several, "metavar": "FILE"}, type=Path, help=what)
    add("--seed", metavar="N", type=int, default=0, help="default: 0")
    add("--output", metavar="DIR", type=Path, help="default: judgements/<suite>")
    return parser


def sample(arguments: argparse.Namespace) -> list[str]:
    """Draw and write; what to say of it, line by line.

    Raises:
        EvaluationError: the folder is no build, has no such config or group, or the output is there
            already or cannot be written.
    """
    from coherencegym.builders.command.run import MANIFEST
    from coherencegym.builders.judgement.draw import PAIRS, SHEET, draw, write_sheet
    from coherencegym.builders.judgement.questions import questions_of
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.data.dataset import tables
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.eval.kinds.spans import SPANS
    from coherencegym.files.folders import check_folder, written_beside

    folder: Path = arguments.folder
    if not (folder / MANIFEST).is_file():
        raise EvaluationError(
            f"{folder}: no {MANIFEST}; expected the folder of a build, such as suites/story_cloze"
        )
    source = find_dataset(str(folder))
    about_spans = bool(SPANS.configs(source.manifest["configs"]))
    if arguments.answers:
        if not about_spans:
            raise EvaluationError(
                f"{folder}: --answers are to spans, of which it has none; expected them as "
                "--judgements of a build"
            )
        return _agreement(source, arguments)
    output: Path = arguments.output or Path("judgements", source.suite)
    if output.exists():
        # Never overwritten: what annotators have filled in may lie there.
        raise EvaluationError(f"{output} exists; name another folder with --output")
    check_folder(output, False, inputs=[folder])
    if about_spans:
        return _sample_spans(source, arguments, output)
    try:
        questions = questions_of(source.manifest)
    except ValueError as error:
        raise EvaluationError(f"{folder}: manifest.json cannot be read ({error})") from None
    read = list(tables(source, arguments.config))
    drawing = draw(source.suite, read, arguments.n, arguments.seed, arguments.group, questions)
    if not drawing.pairs:
        wanted = f" of {', '.join(map(repr, arguments.group))}" if arguments.group else ""
        raise EvaluationError(f"{folder}: no pair{wanted}; expected items with two conditions")
    with written_beside(output, False) as work:
        write_sheet(drawing.pairs, work)
    shares = ", ".join(f"{name} {count}" for name, count in drawing.counts.items())
    lines = [f"{len(drawing.pairs)} pairs ({shares})"]
    if sum(drawing.counts.values()) > len(drawing.pairs):
        lines.append("a pair that several configs have is drawn once and counts for each of them")
    if len(drawing.pairs) < arguments.n:
        lines.append(f"there are no more than these, {arguments.n} were asked for")
    return [
        *lines,
        f"written to {output / SHEET} and {output / PAIRS}; give annotators either, one copy each",
        f"then build again {_build_again(source)}",
    ]


def _build_again(source: Source) -> str:
    # A manifest says what a build was of, but names no folder of this machine.
    suite, configs = source.suite, list(source.manifest["configs"].values())
    named = (config.get("corpus", {}).get("name") for config in configs)
    corpora = list(dict.fromkeys(filter(None, named)))
    if not corpora:  # a dataset of somebody else's
        return "with --judgements answers-*.jsonl"
    is_ours, about = suite in all_suites(), configs[0]
    settings = load_suite(suite).settings if is_ours else {}
    own = about.get("settings", {}).items()
    options: dict[str, Any] = {
        "corpus": corpora,
        "split": about.get("splits_asked"),
        "limit": about.get("limit"),
        "seed": about.get("seed"),
        **{name: value for name, value in own if settings.get(name) != value},
        "skip-bad-rows": any(config.get("bad_rows") for config in configs),
        "output": None if source.folder == BUILDS / suite else source.folder,
    }
    words = ["coherencegym", "build", suite if is_ours else "FILE.py"]
    for name, value in options.items():
        if value:
            words.append("--" + name.replace("_", "-"))
            values = value if isinstance(value, list) else [] if value is True else [value]
            words += map(str, values)
    where = "" if corpora == [SAMPLE] else " (and --data-dir, if it was given)"
    return f"with their files{where}: {join(words)} --overwrite --judgements answers-*.jsonl"


def _sample_spans(source: Source, arguments: argparse.Namespace, output: Path) -> list[str]:
    from coherencegym.builders.judgement.span_draw import (
        SPAN_LINES,
        SPAN_SHEET,
        draw_spans,
        write_span_sheet,
    )
    from coherencegym.files.folders import written_beside

    read = _span_tables(source, arguments)
    spans = draw_spans(source.suite, read, arguments.n, arguments.seed)
    with written_beside(output, False) as work:
        write_span_sheet(spans, work)
    counts = Counter(span.config for span in spans)
    shares = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return [
        f"{len(spans)} spans ({shares})",
        f"written to {output / SPAN_SHEET} and {output / SPAN_LINES}; give annotators either, one "
        "copy each",
        f"then compare: coherencegym judge {quote(str(arguments.folder))} --answers "
        "answers-*.jsonl",
    ]


def _agreement(source: Source, arguments: argparse.Namespace) -> list[str]:
    from coherencegym.builders.judgement.span_answers import agreement_lines, read_span_answers
    from coherencegym.builders.judgement.span_draw import drawn_spans

    read = _span_tables(source, arguments)
    known = {span.id: span for table in read for _, span in drawn_spans(source.suite, table)}
    return agreement_lines(list(read_span_answers(arguments.answers, known))) or ["no answer"]


def _span_tables(source: Source, arguments: argparse.Namespace) -> list[TableRows[SpanText]]:
    from coherencegym.eval.data.table_rows import table_rows
    from coherencegym.eval.kinds.spans import SPANS

    return list(table_rows(source, arguments.config, kind=SPANS))
