"""What people are asked about rows of a build: ``coherencegym judge`` draws it and writes a sheet.

- A **pair** of conditions of an item: which text is the less coherent? Which of them is A is up to
  their digests, so that it says nothing, and is the same in every sheet.
- A **span** of a text is shown without the text around it (Storks and Chai 2021).
- A **document**: which of its sentences is from elsewhere, or none (Shen et al. 2021, section 4.5).
  The first sentence is never the intruder, and no answer.
- A **labelled example**: which label is right (Chen et al. 2019, Table 5). People see what a
  classifier gets vectors of, and no more: the text around it may give the label away.

An identifier says nothing to people, and to a build which row it is about, and that neither text
nor question has changed since. So answers need no key.

What is drawn depends on the seed, on the rows, and on which configs there are. Nothing in a sheet
says which answer is the right one, which suite and config a text is from, or where the two texts of
a pair differ. The difference is not marked on purpose: marks draw the eye to words, and the
question is how the whole text reads. They would also give the replaced word away.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from coherencegym.command_line import Parser, finish, positive
from coherencegym.errors import EvaluationError
from coherencegym.escapes import templates_of, under_policy
from coherencegym.eval.data.table_rows import TableRows
from coherencegym.eval.kinds.documents import (
    DOCUMENTS,
    EXAMPLES,
    NEGATIVE,
    NO_INTRUDER,
    SPANS,
    UNDECIDED,
    Document,
    LabelledExample,
    SpanText,
)
from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import ITEMS, SEPARATOR, Item, contrast_of

if TYPE_CHECKING:
    from coherencegym.eval.data.source import Source


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the words that are printed, and its answers: value in the field -> words."""

    text: str
    answers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ConditionPair:
    """Two conditions of an item, and their texts; the groups of all predictions about these two."""

    coherent: str
    incoherent: str
    coherent_text: str
    incoherent_text: str
    groups: tuple[str, ...]


def condition_pairs(item: Item) -> list[ConditionPair]:
    """The pairs of an item, in the order of its predictions, each once.

    A prediction that adds up several conditions on each side gives a pair of each of them with the
    one on the other side that has the same text around what is compared. A prediction that is not
    about sums of regions gives none, and neither do two conditions of the same text.
    """
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for prediction in item.predictions:
        for names in _compared(item, prediction.formula):
            groups.setdefault(names, {}).update(dict.fromkeys(prediction.groups))
    found = []
    for (coherent, incoherent), named in groups.items():
        texts = item.condition(coherent).content, item.condition(incoherent).content
        if texts[0] != texts[1]:
            found.append(ConditionPair(coherent, incoherent, *texts, tuple(named)))
    return found


def _compared(item: Item, formula: str) -> Iterator[tuple[str, str]]:
    contrast = contrast_of(formula)
    if contrast is None or len(contrast.worse) != len(contrast.better):
        return
    left = list(contrast.worse)
    first = 1 if contrast.region == WHOLE else int(contrast.region)
    for name in contrast.better:
        own = [region.content for region in item.condition(name).regions]

        def similarity(other: str, own: list[str] = own) -> tuple[bool, int]:
            regions = [region.content for region in item.condition(other).regions]
            same = sum(a == b for a, b in zip(own, regions, strict=True))
            return own[: first - 1] == regions[: first - 1], same

        nearest = max(left, key=similarity)
        left.remove(nearest)
        yield name, nearest


YES, NO, CANNOT_TELL = "yes", "no", "cannot tell"
#: The answer that nothing is as the question says.
NONE = "none"

#: The field of a line with the answer, and those that annotators may fill as well.
ANSWER = "answer"
FREE_FIELDS = ("annotator", "comment")

#: A row that people are asked about.
AskedRow = Item | SpanText | Document | LabelledExample
#: Texts as they are shown, (name, lines): one without a name, or alternatives.
ShownTexts = tuple[tuple[str, tuple[str, ...]], ...]

#: The form of an identifier.
IDENTIFIER = r"[0-9a-f]{16}"
#: The answer that no alternative is better.
AS_GOOD = "as good"
_UNSURE = {CANNOT_TELL: CANNOT_TELL}
_LESS_COHERENT = Question("Which is less coherent?", {"a": "A", "b": "B"} | _UNSURE)
_INTRUDER = "Which sentence, if any, is from another text?"
#: Questions about spans, by what a positive answer says of a text.
_OF_SPANS = {
    "entailed": "Is this said in the text, or does it follow from it? “{hypothesis}”",
    "incoherent": "Is there a sentence in the text that does not belong there?",
    "contradictory": "Does a speaker contradict himself or herself in the text?",
}
_PLAUSIBLE = "Which text is the more plausible?"


@dataclass(frozen=True, slots=True)
class RowPlace:
    """The table of a row: names, and the manifest's entry of the config."""

    suite: str
    config: str
    split: str
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a row as annotators get it, and its right answers, which they do not get.

    Attributes:
        right: the right answers; the first is the dataset's own.
        groups: of a pair the groups of the predictions about it.
    """

    id: str
    question: Question
    texts: ShownTexts
    right: tuple[str, ...]
    groups: tuple[str, ...] = ()


def asked_of(kind: str, place: RowPlace, row: Any) -> Iterator[Asked]:
    """The questions that people can be asked about a row of a kind (its name)."""
    return _KINDS[kind][2](place, row)


def _digest(*parts: str) -> str:
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _asked(
    place: RowPlace,
    row: AskedRow,
    question: Question,
    texts: ShownTexts,
    right: tuple[str, ...],
    part: str = "",
) -> Asked:
    where = (place.suite, place.config, place.split, row.item_id, part)
    shown = ("\n".join(lines) for _, lines in texts)
    return Asked(_digest(*where, question.text, *shown), question, texts, right)


def _pairs(place: RowPlace, item: Item) -> Iterator[Asked]:
    for pair in condition_pairs(item):
        texts = sorted((pair.coherent_text, pair.incoherent_text), key=_digest)
        right = "ab"[texts.index(pair.incoherent_text)]
        shown = tuple(zip("AB", printed_turns(texts), strict=True))
        # By its texts alone: where several configs have them, an answer serves all.
        yield Asked(_digest(*texts), _LESS_COHERENT, shown, (right,), pair.groups)


def printed_turns(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The lines of each text: where one has a change of speaker, all are printed as dialogues."""
    dialogue = any(SEPARATOR in text for text in texts)
    for text in texts:
        speakers = cycle(("Speaker 1: ", "Speaker 2: ") if dialogue else ("",))
        turns = zip(speakers, text.split(SEPARATOR), strict=False)
        yield tuple(speaker + turn.strip() for speaker, turn in turns)


def _spans(place: RowPlace, row: SpanText) -> Iterator[Asked]:
    # Left out are those of which the alternatives have the same text.
    names = ascii_uppercase[: len(row.alternatives)]
    positive = str(place.about.get("task_defaults", {}).get("positive", "entailed"))
    question = Question(
        _OF_SPANS.get(positive, f"Is the text {positive}?").replace("{hypothesis}", row.hypothesis),
        {YES: YES, NO: NO} | _UNSURE,
    )
    if row.is_choice:
        letters = {name.lower(): name for name in names}
        question = Question(_PLAUSIBLE, letters | {AS_GOOD: "they are as good"} | _UNSURE)
    for span in row.gold:
        part = slice(span.start, span.end + 1)
        said = zip(row.speakers[part] or ("",) * row.size, row.units[part], strict=False)
        texts: ShownTexts = (("", tuple(f"{who}: {text}" if who else text for who, text in said)),)
        right = NO if span.answer == NEGATIVE else YES
        if row.is_choice:
            parts = (alternative[part] for alternative in row.alternatives)
            texts = tuple(zip(names, parts, strict=False))
            right = AS_GOOD if span.answer == UNDECIDED else names[span.answer].lower()
        if len({lines for _, lines in texts}) == len(texts):
            yield _asked(place, row, question, texts, (right,), f"{span.start}-{span.end}")


def _document(place: RowPlace, row: Document) -> Iterator[Asked]:
    numbers = map(str, range(2, len(row.sentences) + 1))
    # First, so that in a sheet the digit of a key is that of the sentence.
    question = Question(_INTRUDER, {name: name for name in (NONE, *numbers)})
    texts = (("", _numbered(row.sentences)),)
    yield _asked(place, row, question, texts, (answer_of(row.intruder_position),))


def answer_of(position: int) -> str:
    """The answer that stands for a place (from 0) in a document; -1 for none."""
    return NONE if position == NO_INTRUDER else str(position + 1)


def position_of(answer: str) -> int:
    """The place in a document that an answer stands for; see :func:`answer_of`."""
    return NO_INTRUDER if answer == NONE else int(answer) - 1


def _example(place: RowPlace, row: LabelledExample) -> Iterator[Asked]:
    about = place.about
    labels = {name: name for name in about["features"]["label"]["names"]}
    question = Question(f"Which answer is right? ({about['summary']})", labels)
    segments = [" … ".join(slot.segments) for slot in row.slots]
    names = tuple(map(str, about.get("regions", ())))
    lines = _numbered(segments, names if len(names) == len(segments) else ())
    yield _asked(place, row, question, (("", lines),), (row.label, *row.also))


def _numbered(texts: Sequence[str], names: Sequence[str] = ()) -> tuple[str, ...]:
    if len(texts) == 1:
        return tuple(texts)
    heads = [f"{name}:" for name in names] or [f"{n}." for n in range(1, len(texts) + 1)]
    return tuple(f"{head} {text}" for head, text in zip(heads, texts, strict=True))


#: Kind of table -> what people are asked about (the field of a line with its identifier), what a
#: build has to have for that, and what makes the questions about a row.
_KINDS: Mapping[str, tuple[str, str, Callable[[RowPlace, Any], Iterator[Asked]]]] = {
    ITEMS.name: ("pair", "items with two conditions", _pairs),
    SPANS.name: ("span", "answers to parts of texts", _spans),
    DOCUMENTS.name: ("document", "texts of two sentences or more", _document),
    EXAMPLES.name: ("example", "rows with a label", _example),
}
#: The first of these alone.
JUDGED_UNITS = {kind: unit for kind, (unit, _, _) in _KINDS.items()}


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
    """
    candidates = [
        candidate
        for number, table in enumerate(tables)
        for candidate in _candidates(suite, table, number)
    ]
    holders: dict[str, set[int]] = defaultdict(set)
    pools: dict[_Pool, deque[_Candidate]] = defaultdict(deque)

    def rank(candidate: _Candidate) -> bytes:
        return hashlib.sha256(f"{seed} {candidate[0].id}".encode()).digest()

    for candidate in sorted(candidates, key=rank):
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
    counts = Counter[str]()
    for number, table in enumerate(tables):
        counts[table.config] += of_table[number]
    drawn = tuple(chosen[name] for name in sorted(chosen))
    return Drawing(drawn, dict(counts), len(drawn) - n_fresh)


def _candidates(suite: str, table: TableRows[Any], number: int) -> Iterator[_Candidate]:
    place = RowPlace(suite, table.config, table.split, table.about)
    headline = table.about.get("headline")
    for row in table.each():
        discourses = [(row.corpus, discourse) for discourse in row.discourses]
        for asked in asked_of(table.kind.name, place, row):
            if headline and headline not in asked.groups:
                continue
            group = asked.right[0] if table.kind is SPANS else next(iter(asked.groups), "")
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


_EXAMPLES = """\
  coherencegym judge suites/story_cloze -n 100
  coherencegym judge suites/intruder_sentences --kind documents

then, with the answers that annotators saved:
  coherencegym build story_cloze --corpus sample --overwrite --judgements answers-*.jsonl

The folder has sheet.html, to read, tick and print, and the same as JSON lines: pairs.jsonl, ...
"""


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
    parser = Parser(
        prog,
        "Draw rows of a build for people to judge, and write a sheet that is blind.",
        _EXAMPLES,
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
    add("--seed", metavar="N", type=int, default=0, help="default: 0")
    add("--output", metavar="DIR", type=Path, help="default: judgements/<suite>")
    return parser


def sample(arguments: argparse.Namespace) -> list[str]:
    """Draw and write; what to say of it, line by line."""
    from coherencegym.builders.release.manifest import MANIFEST, diagnostic_configs
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
    drawing = draw(source.suite, tables, arguments.n, arguments.seed)
    drawn = len(drawing.asked)
    if not drawn:
        raise EvaluationError(f"{folder}: no {unit}; expected {_KINDS[kind][1]}")
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
