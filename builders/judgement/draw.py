"""Draw pairs for people to judge, blind, in fair shares, and few of one text; and write them.

Which pairs are drawn, which text of a pair is A, and where the pair stands in the sheet depend on
(seed, suite, item) and on which configs there are, and on nothing else.

Annotators get JSON lines, and one page to read, tick or print. Nothing in either says which text is
the coherent one, which suite and config a pair is from, or where the two texts differ. The
difference is not marked on purpose: marks draw the eye to words, and the question is how the whole
text reads. They would also give the replaced word away.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, cycle
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType

from coherencegym.builders.judgement.pairs import (
    ConditionPair,
    condition_pairs,
    place_digest,
    texts_digest,
)
from coherencegym.builders.judgement.questions import (
    ANSWER_LABELS,
    FREE_FIELDS,
    NONE,
    QUESTIONS,
    Question,
    distinct,
)
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.items import SEPARATOR, Item
from coherencegym.files.templates import templates_of, under_policy
from coherencegym.manipulations.operator import Context

#: The files of a folder for annotators.
PAIRS, SHEET = "pairs.jsonl", "sheet.html"


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """A pair as annotators get it, with the further questions that are asked of it."""

    id: str
    text_a: str
    text_b: str
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    # ``cluster``: a discourse of a corpus, or a family of them.
    drawn: DrawnPair
    texts: frozenset[str]
    cluster: tuple[str, str]
    first_group: str
    rank: float
    position: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """The pairs in the order of the sheet; by config more than these where configs share texts."""

    pairs: tuple[DrawnPair, ...]
    counts: dict[str, int]


def draw(
    suite: str,
    tables: Sequence[ItemTable],
    n: int,
    seed: int,
    groups: Sequence[str] = (),
    questions: Mapping[str, Sequence[Question]] = MappingProxyType({}),
) -> Drawing:
    """Draw pairs.

    Each table in turn gives the next of its pairs, the one that has fewest first; a pair whose two
    texts several tables have is drawn once and counts for all of them. A table goes through the
    groups of its predictions in turn as well, and takes pairs of discourses that are not in the
    sheet yet as long as there are any: whoever has read the coherent text once knows it when it
    comes again.

    Args:
        suite: the suite's name, part of the random key.
        tables: the tables of the build.
        n: the number to draw; fewer are drawn where there are fewer.
        seed: same seed, same pairs.
        groups: the groups of predictions to draw from; none: a table's headline, or all.
        questions: further questions, by config; of a pair those of all configs that have it.
    """
    queues = [_Queue(_candidates(suite, table, seed, groups)) for table in tables]
    holders: dict[frozenset[str], list[int]] = {}
    for number, queue in enumerate(queues):
        for texts in {candidate.texts for candidate in queue.fresh}:
            holders.setdefault(texts, []).append(number)
    chosen, counts = _take(queues, holders, n)
    by_config: Counter[str] = Counter()
    for table, number in zip(tables, counts, strict=True):
        by_config[table.config] += number
    drawn = []
    for candidate in sorted(chosen, key=lambda c: (c.position, c.drawn.id)):
        configs = dict.fromkeys(tables[holder].config for holder in holders[candidate.texts])
        further = distinct(q for config in configs for q in questions.get(config, ()))
        drawn.append(replace(candidate.drawn, questions=further))
    return Drawing(tuple(drawn), dict(by_config))


def _take(
    queues: Sequence[_Queue], holders: Mapping[frozenset[str], Sequence[int]], n: int
) -> tuple[list[_Candidate], list[int]]:
    chosen: dict[frozenset[str], _Candidate] = {}
    uses: Counter[tuple[str, str]] = Counter()
    counts = [0] * len(queues)
    while len(chosen) < n and any(queues):
        number = min((c, i) for i, c in enumerate(counts) if queues[i])[1]
        candidate = queues[number].next(uses)
        if candidate.texts in chosen:
            continue
        chosen[candidate.texts] = candidate
        uses[candidate.cluster] += 1
        for holder in holders[candidate.texts]:
            counts[holder] += 1
    return list(chosen.values()), counts


class _Queue:
    def __init__(self, candidates: Iterable[_Candidate]) -> None:
        # One of each group, then a second one of each: the sort keeps the order within a round.
        rounds: dict[str, Iterator[int]] = defaultdict(count)
        ranked = sorted(candidates, key=lambda c: (c.rank, c.drawn.id))
        keyed = [(next(rounds[candidate.first_group]), candidate) for candidate in ranked]
        self.fresh = deque(candidate for _, candidate in sorted(keyed, key=itemgetter(0)))
        self.later: deque[_Candidate] = deque()
        self.most_uses = 0

    def __bool__(self) -> bool:
        return bool(self.fresh or self.later)

    def next(self, uses: Counter[tuple[str, str]]) -> _Candidate:
        while True:
            while self.fresh:
                candidate = self.fresh.popleft()
                if uses[candidate.cluster] <= self.most_uses:
                    return candidate
                self.later.append(candidate)
            self.fresh, self.later = self.later, deque()
            self.most_uses = min(uses[candidate.cluster] for candidate in self.fresh)


def _candidates(
    suite: str, table: ItemTable, seed: int, groups: Sequence[str]
) -> Iterator[_Candidate]:
    wanted = set(groups) or ({table.headline} if table.headline else set())
    context = Context(seed, suite)
    for item in table.items:
        for pair in condition_pairs(item):
            if not wanted or wanted & set(pair.groups):
                yield _candidate(context, table, item, pair)


def _candidate(context: Context, table: ItemTable, item: Item, pair: ConditionPair) -> _Candidate:
    text_a, text_b = pair.coherent_text, pair.incoherent_text
    # Not the config: a pair that two configs have is the same draw in both.
    random = context.random_for(
        *(item.corpus, item.discourse_id, "judgement"),
        item=item.item_id,
        texts=texts_digest(text_a, text_b),
    )
    if random.random() < 0.5:
        text_a, text_b = text_b, text_a
    place = place_digest(context.suite, table.config, table.split, item.item_id, pair)
    return _Candidate(
        drawn=DrawnPair(f"{place}-{texts_digest(text_a, text_b)}", text_a, text_b),
        texts=frozenset((text_a, text_b)),
        cluster=(item.corpus, item.cluster),
        first_group=pair.groups[0] if pair.groups else "",
        rank=random.random(),
        position=random.random(),
    )


def write_sheet(pairs: Sequence[DrawnPair], folder: Path) -> None:
    """Write the pairs into a folder that is there."""
    (folder / PAIRS).write_text(json_lines(pairs), encoding="utf-8")
    (folder / SHEET).write_text(page(pairs), encoding="utf-8")


def json_lines(pairs: Sequence[DrawnPair]) -> str:
    """One object a line: the pair's identifier, the exact texts, and empty fields for answers.

    The field of a question with several answers is an empty list.
    """
    lines = (
        {
            "pair": pair.id,
            "number": number,
            "text_a": pair.text_a,
            "text_b": pair.text_b,
            **dict.fromkeys(QUESTIONS, ""),
            **{question.name: [] if question.several else "" for question in pair.questions},
            **dict.fromkeys(FREE_FIELDS, ""),
        }
        for number, pair in enumerate(pairs, start=1)
    )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def page(pairs: Sequence[DrawnPair]) -> str:
    """A page of HTML that needs nothing else.

    On a screen it keeps the answers in the browser and saves them as JSON lines; on paper it has
    boxes to tick, and no pair is torn apart by the end of a page.
    """
    environment = templates_of("builders.judgement", autoescape=True)
    identifiers = "\n".join(pair.id for pair in pairs)
    text: str = environment.get_template("sheet.html.jinja").render(
        pairs=[
            {"number": number, "id": pair.id, "texts": turns(pair), "further": pair.questions}
            for number, pair in enumerate(pairs, start=1)
        ],
        speakers=any(SEPARATOR in pair.text_a + pair.text_b for pair in pairs),
        questions={
            field: (question, [(answer, ANSWER_LABELS[answer]) for answer in answers])
            for field, (question, answers) in QUESTIONS.items()
        },
        further=distinct(question for pair in pairs for question in pair.questions),
        nothing=NONE,
        # The browser keeps what was ticked under this name, so that no sheet finds another's.
        sheet=hashlib.sha256(identifiers.encode()).hexdigest()[:16],
    )
    return under_policy(text)


def turns(pair: DrawnPair) -> list[tuple[str, list[tuple[str, str]]]]:
    """The two texts as they are printed: (A or B, [(speaker, what is said), ...]).

    Where either text has a change of speaker, both are printed as a dialogue of two: the speaker
    changes at each :data:`SEPARATOR`. They are called 1 and 2, as A and B are the texts.
    """
    dialogue = SEPARATOR in pair.text_a + pair.text_b
    shown = []
    for name, text in (("A", pair.text_a), ("B", pair.text_b)):
        names = cycle(("Speaker 1:", "Speaker 2:") if dialogue else ("",))
        parts = (part.strip() for part in text.split(SEPARATOR))
        shown.append((name, list(zip(names, parts, strict=False))))
    return shown
