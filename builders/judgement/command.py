"""``coherencegym judge``: rows of a build for people to judge.

What is drawn depends on the seed, on the rows, and on which configs there are.

Nothing in either says which answer is the right one, which suite and config a text is from, or
where the two texts of a pair differ. The difference is not marked on purpose: marks draw the eye to
words, and the question is how the whole text reads. They would also give the replaced word away.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.builders.judgement.asked import (
    ANSWER,
    FREE_FIELDS,
    JUDGED_UNITS,
    Asked,
    RowPlace,
    asked_of,
)
from coherencegym.command_line import Parser, finish
from coherencegym.escapes import templates_of, under_policy
from coherencegym.eval.data.table_rows import TableRows
from coherencegym.eval.kinds.documents import SPANS

if TYPE_CHECKING:
    from coherencegym.eval.data.source import Source

#: A table (its number), and the group of which its questions take turns with those of others.
_Pool = tuple[int, str]


#: A question, its pool, and its sources: its texts, and discourses of a corpus.
_Candidate = tuple[Asked, _Pool, frozenset[tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Questions in the order of the sheet; by config more where configs share texts.

    ``n_repeated`` of them have a text, or are of a discourse, of which another one is.
    """

    asked: tuple[Asked, ...]
    counts: dict[str, int]
    n_repeated: int


def draw(
    suite: str,
    tables: Sequence[TableRows[Any]],
    n: int,
    seed: int,
    groups: Sequence[str] = (),
) -> Drawing:
    """Draw questions about rows.

    The next is of the table of which fewest were drawn; a pair whose two texts several tables have
    is drawn once and counts for all of them. Of a table groups take turns: of pairs those of its
    predictions, of spans the answers. No two questions have a text or a discourse in common as
    long as any table has others: whoever has read the coherent text once knows it when it comes
    again.

    Args:
        suite: the suite's name, part of the questions' identifiers.
        tables: the tables of the build.
        n: the number to draw; fewer are drawn where there are fewer.
        seed: same seed, same questions.
        groups: of pairs the groups of predictions to draw from; none: a table's headline, or all.
    """
    candidates = [
        candidate
        for number, table in enumerate(tables)
        for candidate in _candidates(suite, table, number, frozenset(groups))
    ]
    holders: dict[str, set[int]] = defaultdict(set)
    pools: dict[_Pool, deque[_Candidate]] = defaultdict(deque)
    for candidate in sorted(candidates, key=lambda one: _rank(seed, one[0].id)):
        asked, pool, _ = candidate
        holders[asked.id].add(pool[0])
        pools[pool].append(candidate)
    later: dict[_Pool, deque[_Candidate]] = defaultdict(deque)
    chosen: dict[str, Asked] = {}
    of_table, of_pool = Counter[int](), Counter[_Pool]()
    uses: Counter[tuple[str, ...]] = Counter()
    most_uses = n_fresh = 0
    while len(chosen) < n and any(pools.values()):
        pool = min((of_table[p[0]], of_pool[p], p) for p, left in pools.items() if left)[-1]
        asked, _, sources = candidate = pools[pool].popleft()
        if max(uses[source] for source in sources) > most_uses:
            later[pool].append(candidate)
        elif asked.id not in chosen:
            chosen[asked.id] = asked
            uses.update(sources)
            n_fresh += most_uses == 0
            of_pool[pool] += 1
            of_table.update(holders[asked.id])
        if not any(pools.values()):
            pools, later = later, defaultdict(deque)
            most_uses += 1
    counts: Counter[str] = Counter()
    for number, table in enumerate(tables):
        counts[table.config] += of_table[number]
    drawn = tuple(chosen[name] for name in sorted(chosen))
    return Drawing(drawn, dict(counts), len(drawn) - n_fresh)


def _rank(seed: int, identifier: str) -> bytes:
    return hashlib.sha256(f"{seed} {identifier}".encode()).digest()


def _candidates(
    suite: str, table: TableRows[Any], number: int, groups: frozenset[str]
) -> Iterator[_Candidate]:
    place = RowPlace(suite, table.config, table.split, table.about)
    headline = table.about.get("headline")
    wanted = groups or ({headline} if headline else set())
    for row in table.each():
        discourses = [(row.corpus, discourse) for discourse in row.discourses]
        for asked in asked_of(table.kind.name, place, row):
            if wanted and wanted.isdisjoint(asked.groups):
                continue
            group = asked.answer_kind if table.kind is SPANS else next(iter(asked.groups), "")
            texts = (("\n".join(lines),) for _, lines in asked.texts)
            yield asked, (number, group), frozenset((*texts, *discourses))


#: The page of a folder for annotators; beside it are the lines, ``pairs.jsonl``.
SHEET = "sheet.html"
#: Answers of no more characters than this stand in one line.
_LINE = 60


def json_lines(unit: str, drawn: Sequence[Asked]) -> str:
    """One object a line: the identifier, the texts, and empty fields for the answer and a name.

    ``answers`` has the values that the answer may have, and their words.
    """
    lines = (
        {
            unit: one.id,
            "number": number,
            **{f"text_{name.lower()}" if name else "text": "\n".join(t) for name, t in one.texts},
            "question": one.question.text,
            "answers": one.question.answers,
            **dict.fromkeys((ANSWER, *FREE_FIELDS), ""),
        }
        for number, one in enumerate(drawn, start=1)
    )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def page(unit: str, drawn: Sequence[Asked]) -> str:
    """A page of HTML that needs nothing else.

    On a screen it keeps the answers in the browser and saves them as JSON lines; on paper it has
    circles to tick, and no question or text is torn apart by the end of a page.
    """
    environment = templates_of("builders.judgement", autoescape=True)
    environment.filters["short"] = lambda answers: sum(map(len, answers.values())) <= _LINE
    identifiers = "\n".join(one.id for one in drawn)
    text: str = environment.get_template("sheet.html.jinja").render(
        unit=unit,
        drawn=drawn,
        # The browser keeps what was ticked under this name, so that no sheet finds another's.
        sheet=hashlib.sha256(identifiers.encode()).hexdigest()[:16],
    )
    return under_policy(text)


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


def main(argv: Sequence[str] | None = None, prog: str = "coherencegym judge") -> int:
    """Draw what people judge and write the sheet; the exit code is 2 where the user can mend it."""
    from coherencegym.builders.command.show import explain, print_lines

    arguments = make_parser(prog).parse_args(argv)

    def work() -> int:
        print_lines(sample(arguments))
        return 0

    return finish(prog, work, explain)


def make_parser(prog: str = "coherencegym judge") -> Parser:
    """The parser of ``coherencegym judge``."""
    from coherencegym.command_line import positive

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
    from coherencegym.builders.release.manifest import MANIFEST, diagnostic_configs
    from coherencegym.errors import EvaluationError
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.eval.data.table_rows import table_rows
    from coherencegym.eval.kinds import kind_named
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
    lines = f"{unit}s.jsonl"
    with written_beside(output, False) as work:
        (work / lines).write_text(json_lines(unit, drawing.asked), encoding="utf-8")
        (work / SHEET).write_text(page(unit, drawing.asked), encoding="utf-8")
    shares = ", ".join(f"{name} {count}" for name, count in drawing.counts.items())
    said = [f"{drawn} {unit}s ({shares})"]
    if sum(drawing.counts.values()) > drawn:
        said.append("what several configs have is drawn once and counts for each of them")
    if controls:
        said.append(f"controls are asked only where --config names them: {', '.join(controls)}")
    if drawn < arguments.n:
        said.append(f"there are no more than these, {arguments.n} were asked for")
    if drawing.n_repeated:
        said.append(
            f"{drawing.n_repeated} of them repeat a text or a document of another {unit}, which "
            f"may give the answer away; -n {drawn - drawing.n_repeated} draws none of these"
        )
    if others and not arguments.config:
        said.append(f"the build also has {' and '.join(others)}: --kind {others[0]}")
    return [
        *said,
        f"written to {output / SHEET} and {output / lines}; give annotators either, one copy each",
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
