"""``coherencegym judge``: rows of a build for people to judge."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Any

from coherencegym.builders.judgement.questions import JUDGED_UNITS, PAIR
from coherencegym.builders.registry import all_suites, load_suite
from coherencegym.command_line import Parser
from coherencegym.eval.data.source import BUILDS
from coherencegym.eval.kinds.table_kind import SAMPLE

if TYPE_CHECKING:
    from coherencegym.builders.judgement.draw import Drawing, DrawnPair
    from coherencegym.builders.judgement.figures import ComparedAnswer
    from coherencegym.builders.judgement.match import Matcher
    from coherencegym.builders.judgement.questions import Question
    from coherencegym.eval.data.source import Source
    from coherencegym.eval.data.table_rows import TableRows

#: The answers of models, beside no sheet.
MODEL_ANSWERS = "answers.jsonl"

EXAMPLES = """\
  coherencegym judge suites/story_cloze -n 100
  coherencegym judge suites/connectives --group "same sense, same syntax"
  coherencegym judge suites/intruder_sentences --kind documents
  coherencegym judge suites/story_cloze --model gpt2 EleutherAI/pythia-160m

then, with the answers that annotators saved, or those of the models:
  coherencegym build story_cloze --corpus sample --overwrite --judgements answers-*.jsonl
  coherencegym build story_cloze --corpus sample --overwrite --judged answers.jsonl
  coherencegym judge suites/span_coherence --answers answers-1.jsonl answers-2.jsonl

The folder has sheet.html, to read, tick and print, and the same as JSON lines: pairs.jsonl, ...
"""


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
    what = "draw nothing; compare answers with the dataset"
    add("--answers", **{**several, "metavar": "FILE"}, type=Path, help=what)
    what = "models of different families that answer pairs, for `build --judged`"
    add("--model", **several, help=what)
    add("--seed", metavar="N", type=int, default=0, help="default: 0")
    add("--output", metavar="DIR", type=Path, help="default: judgements/<suite>[_models]")
    return parser


def sample(arguments: argparse.Namespace) -> list[str]:
    """Draw and write; what to say of it, line by line.

    Raises:
        EvaluationError: the folder is no build, has no such config or group, or the output is there
            already or cannot be written.
    """
    from coherencegym.builders.judgement.sheet import SHEET, lines_file, write_sheet
    from coherencegym.builders.release.manifest import MANIFEST
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.files.folders import check_folder, written_beside

    folder: Path = arguments.folder
    if not (folder / MANIFEST).is_file():
        raise EvaluationError(
            f"{folder}: no {MANIFEST}; expected the folder of a build, such as suites/story_cloze"
        )
    source = find_dataset(str(folder))
    kind = _kind(source, arguments)
    unit = JUDGED_UNITS[kind]
    if arguments.answers:
        return _agreement(source, kind, arguments)
    if arguments.model and unit != PAIR:
        raise EvaluationError(f"--model: models read pairs; expected --kind items, not {kind}")
    own = source.suite + "_models" * bool(arguments.model)
    output: Path = arguments.output or Path("judgements", own)
    drawing = _drawing(source, kind, arguments)
    drawn = drawing.drawn
    if not drawn:
        wanted = f" of {', '.join(map(repr, arguments.group))}" if arguments.group else ""
        raise EvaluationError(f"{folder}: no {unit}{wanted}; expected {_EXPECTED[unit]}")
    if output.exists():
        # Never overwritten: what annotators have filled in may lie there.
        raise EvaluationError(f"{output} exists; name another folder with --output")
    check_folder(output, False, inputs=[folder])
    answers, said = _read_by_models(drawn, arguments.model) if arguments.model else ("", [])
    with written_beside(output, False) as work:
        if answers:
            (work / MODEL_ANSWERS).write_text(answers, encoding="utf-8")
        else:
            write_sheet(unit, drawn, work)
    shares = ", ".join(f"{name} {count}" for name, count in drawing.counts.items())
    lines = [f"{len(drawn)} {unit}s ({shares})"]
    if sum(drawing.counts.values()) > len(drawn):
        lines.append("what several configs have is drawn once and counts for each of them")
    if unit == PAIR and (controls := _diagnostic(source, arguments)):
        lines.append(f"controls are asked only where --config names them: {', '.join(controls)}")
    if len(drawn) < arguments.n:
        lines.append(f"there are no more than these, {arguments.n} were asked for")
    if drawing.n_repeated and not arguments.model:
        fresh = len(drawn) - drawing.n_repeated
        lines.append(
            f"{drawing.n_repeated} of them repeat a text or a document of another {unit}, which "
            f"may give the answer away; -n {fresh} draws none of these"
        )
    if arguments.model:
        where = f"written to {output / MODEL_ANSWERS}"
        then = _build_again(source, "judged", str(output / MODEL_ANSWERS))
        return [*lines, *said, where, f"then build again {then}"]
    others = [other for other in _kinds(source) if other != kind]
    if others and not arguments.config:
        lines.append(f"the build also has {' and '.join(others)}: --kind {others[0]}")
    return [
        *lines,
        f"written to {output / SHEET} and {output / lines_file(unit)}; give annotators either, one "
        "copy each",
        f"then build again {_build_again(source)}",
        f"or compare: coherencegym judge {quote(str(folder))} --kind {kind} {_THEIRS}",
    ]


_THEIRS = "--answers answers-*.jsonl"
_EXPECTED = {
    "pair": "items with two conditions",
    "span": "answers to parts of texts",
    "document": "texts of two sentences or more",
    "example": "rows with a label",
}


def _kinds(source: Source) -> list[str]:
    there = {about["kind"] for about in source.manifest["configs"].values()}
    return [kind for kind in JUDGED_UNITS if kind in there]


def _kind(source: Source, arguments: argparse.Namespace) -> str:
    from coherencegym.errors import EvaluationError

    known, there = source.manifest["configs"], _kinds(source)
    named = {known[name]["kind"] for name in arguments.config if name in known}
    kind: str = arguments.kind or next((k for k in there if k in (named or there)), "")
    if kind not in there:
        known_kinds, has = ", ".join(JUDGED_UNITS), " and ".join(there) or "none of them"
        raise EvaluationError(
            f"{source.folder}: no {kind or 'rows to judge'}; expected {known_kinds}, of which it "
            f"has {has}"
        )
    return kind


def _drawing(source: Source, kind: str, arguments: argparse.Namespace) -> Drawing[Any]:
    from coherencegym.builders.judgement.draw import draw, draw_rows
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.data.dataset import tables

    suite, n, seed = source.suite, arguments.n, arguments.seed
    questions = _questions(source)
    if JUDGED_UNITS[kind] != PAIR:
        return draw_rows(suite, _tables(source, kind, arguments), n, seed)
    left_out = _diagnostic(source, arguments)
    found = [one for one in tables(source, arguments.config) if one.config not in left_out]
    # Items that readers chose are easier to read: what people find is of the unfiltered ones.
    unfiltered = [table for table in found if not table.unfiltered]
    if found and not unfiltered:
        raise EvaluationError(
            f"--config {' '.join(arguments.config)}: filtered by readers; expected "
            f"{' '.join(dict.fromkeys(table.unfiltered for table in found))}, which is not"
        )
    return draw(suite, unfiltered, n, seed, arguments.group, questions)


def _diagnostic(source: Source, arguments: argparse.Namespace) -> list[str]:
    # What they ask is of other configs, and people answer it only where it was asked for.
    from coherencegym.builders.release.manifest import diagnostic_configs

    return [] if arguments.config else diagnostic_configs(source.manifest.get("configs", {}))


def _questions(source: Source) -> dict[str, tuple[Question, ...]]:
    from coherencegym.builders.judgement.questions import questions_of
    from coherencegym.errors import EvaluationError

    try:
        return questions_of(source.manifest)
    except ValueError as error:
        raise EvaluationError(f"{source.folder}: manifest.json cannot be read ({error})") from None


def _read_by_models(pairs: Sequence[DrawnPair], models: Sequence[str]) -> tuple[str, list[str]]:
    # The lines of their answers, and what to say of them.
    from coherencegym.builders.judgement.questions import MODEL_READER
    from coherencegym.builders.judgement.sheet import answer_line
    from coherencegym.eval.tasks.pair_readings import pair_readings

    said, lines = [], []
    texts = [(one.text_a, one.text_b) for one in pairs]
    for reader in pair_readings(models, texts):
        name = f"{MODEL_READER}{reader.name}@{reader.commit}"
        for pair, answers in zip(pairs, reader.answers, strict=True):
            for order, answer in zip((pair, pair.exchanged), answers, strict=True):
                lines.append(answer_line(order, name, answer))
        both = sum(set(answers) == {"a", "b"} for answers in reader.answers)
        letters = [answer for answers in reader.answers for answer in answers]
        said.append(
            f"{reader.name}: {both} of {len(pairs)} pairs answered alike in both orders; "
            f"A {letters.count('a')} times, B {letters.count('b')}, too long {letters.count('')}"
        )
    return "".join(lines), said


def _tables(source: Source, kind: str, arguments: argparse.Namespace) -> list[TableRows[Any]]:
    # What models are tested on, and not what they learn from.
    from coherencegym.eval.data.table_rows import table_rows
    from coherencegym.eval.kinds.registry import kind_named

    return list(table_rows(source, arguments.config, kind=kind_named(kind), test_only=True))


def _agreement(source: Source, kind: str, arguments: argparse.Namespace) -> list[str]:
    from coherencegym.builders.judgement.figures import agreement_lines
    from coherencegym.builders.judgement.match import Matcher
    from coherencegym.builders.judgement.questions import distinct
    from coherencegym.builders.judgement.read import read_answers

    questions = distinct(q for own in _questions(source).values() for q in own)
    matcher = Matcher(source.suite, read_answers(arguments.answers, questions=questions))
    compared = _compared_pairs if JUDGED_UNITS[kind] == PAIR else _compared_rows
    answers = list(compared(source, kind, arguments, matcher))
    matcher.check()
    return agreement_lines(answers) or ["no answer"]


def _compared_pairs(
    source: Source, kind: str, arguments: argparse.Namespace, matcher: Matcher
) -> Iterator[ComparedAnswer]:
    from coherencegym.builders.judgement.figures import answers_to_pair
    from coherencegym.eval.data.dataset import tables

    for table in tables(source, arguments.config):
        for item in () if table.unfiltered else table.items:
            for one in matcher.judged(table.config, table.split, item):
                yield from answers_to_pair(table.config, one)


def _compared_rows(
    source: Source, kind: str, arguments: argparse.Namespace, matcher: Matcher
) -> Iterator[ComparedAnswer]:
    from coherencegym.builders.judgement.asked import RowPlace, asked_of
    from coherencegym.builders.judgement.figures import answers_to_row
    from coherencegym.builders.judgement.match import JudgedRow

    for table in _tables(source, kind, arguments):
        place = RowPlace(source.suite, table.config, table.split, table.about)
        for row in table.each():
            for asked in asked_of(kind, place, row):
                votes = matcher.votes(JUDGED_UNITS[kind], asked)
                yield from answers_to_row(JudgedRow(row, asked, votes))


def _build_again(
    source: Source, option: str = "judgements", answers: str = "answers-*.jsonl"
) -> str:
    # A manifest says what a build was of, but names no folder of this machine.
    suite, configs = source.suite, list(source.manifest["configs"].values())
    named = (config.get("corpus", {}).get("name") for config in configs)
    corpora = list(dict.fromkeys(filter(None, named)))
    if not corpora:  # a dataset of somebody else's
        return f"with --{option} {answers}"
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
    return f"with their files{where}: {join(words)} --overwrite --{option} {answers}"
