"""Draw what people judge, blind, in fair shares, and few of one text.

What is drawn, which text of a pair is A, and where each stands in the sheet depend on (seed, suite,
row) and on which configs there are, and on nothing else.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from coherencegym.builders.judgement.asked import Asked, AskedRow, RowPlace, asked_of
from coherencegym.builders.judgement.pairs import (
    ConditionPair,
    condition_pairs,
    place_digest,
    texts_digest,
)
from coherencegym.builders.judgement.questions import Question, distinct
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.table_rows import TableRows
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.spans import SPANS
from coherencegym.manipulations.operator import Context


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """A pair as annotators get it, with the further questions that are asked of it."""

    id: str
    text_a: str
    text_b: str
    questions: tuple[Question, ...] = ()

    @property
    def exchanged(self) -> DrawnPair:
        """The pair with A and B exchanged."""
        place = self.id.partition("-")[0]
        new = f"{place}-{texts_digest(self.text_b, self.text_a)}"
        return DrawnPair(new, self.text_b, self.text_a, self.questions)


#: A pair, or a question about a row.
_D = TypeVar("_D", bound=DrawnPair | Asked)


@dataclass(frozen=True, slots=True)
class _Candidate(Generic[_D]):
    # ``identity``: what is drawn once; ``sources``: its texts, and discourses of a corpus;
    # candidates of different ``group`` take turns.
    drawn: _D
    identity: Hashable
    sources: frozenset[tuple[str, ...]]
    group: str
    rank: float
    position: float


@dataclass(frozen=True, slots=True)
class Drawing(Generic[_D]):
    """Pairs or questions in the order of the sheet; by config more where configs share texts.

    ``n_repeated`` of them have a text, or are of a discourse, of which another one is.
    """

    drawn: tuple[_D, ...]
    counts: dict[str, int]
    n_repeated: int = 0


def draw(
    suite: str,
    tables: Sequence[ItemTable],
    n: int,
    seed: int,
    groups: Sequence[str] = (),
    questions: Mapping[str, Sequence[Question]] = MappingProxyType({}),
) -> Drawing[DrawnPair]:
    """Draw pairs.

    Each table in turn gives the next of its pairs, the one that has fewest first; a pair whose two
    texts several tables have is drawn once and counts for all of them. A table goes through the
    groups of its predictions in turn as well. No two pairs have a text or a discourse in common as
    long as any table has others: whoever has read the coherent text once knows it when it comes
    again.

    Args:
        suite: the suite's name, part of the random key.
        tables: the tables of the build.
        n: the number to draw; fewer are drawn where there are fewer.
        seed: same seed, same pairs.
        groups: the groups of predictions to draw from; none: a table's headline, or all.
        questions: further questions, by config; of a pair those of all configs that have it.
    """
    chosen, holders, counts, n_repeated = _take(
        [list(_pairs(suite, table, seed, groups)) for table in tables], n
    )
    drawn = []
    for candidate in chosen:
        configs = dict.fromkeys(tables[holder].config for holder in holders[candidate.identity])
        further = distinct(q for config in configs for q in questions.get(config, ()))
        drawn.append(replace(candidate.drawn, questions=further))
    return Drawing(tuple(drawn), _by_config(tables, counts), n_repeated)


def draw_rows(
    suite: str, tables: Sequence[TableRows[AskedRow]], n: int, seed: int
) -> Drawing[Asked]:
    """Draw questions about rows, as :func:`draw` draws pairs.

    Of a text with several spans one is drawn, so that kinds of answers are equally many as far as
    possible: whoever has read a part of a text knows more of it than is asked. Of other tables each
    row may be drawn as well as any other, so that people answer what models are tested on.
    """
    found = [list(_rows(Context(seed, suite), table)) for table in tables]
    chosen, _, counts, n_repeated = _take(found, n)
    drawn = tuple(candidate.drawn for candidate in chosen)
    return Drawing(drawn, _by_config(tables, counts), n_repeated)


def _by_config(tables: Sequence[Any], counts: Sequence[int]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for table, number in zip(tables, counts, strict=True):
        found[table.config] += number
    return dict(found)


def _take(
    candidates: Sequence[Sequence[_Candidate[_D]]], n: int
) -> tuple[list[_Candidate[_D]], Mapping[Hashable, Sequence[int]], list[int], int]:
    # Those taken, in the order of the sheet; the numbers of the tables that have the same; how many
    # were taken of each table; and how many have a text or a discourse of others.
    queues = [_in_turn(own) for own in candidates]
    later: list[deque[_Candidate[_D]]] = [deque() for _ in queues]
    holders: dict[Hashable, list[int]] = {}
    for number, own in enumerate(candidates):
        for identity in dict.fromkeys(candidate.identity for candidate in own):
            holders.setdefault(identity, []).append(number)
    chosen: dict[Hashable, _Candidate[_D]] = {}
    uses: Counter[tuple[str, ...]] = Counter()
    counts = [0] * len(queues)
    most_uses = n_fresh = 0
    while len(chosen) < n and any(queues):
        number = min((c, i) for i, c in enumerate(counts) if queues[i])[1]
        candidate = queues[number].popleft()
        if max(uses[source] for source in candidate.sources) > most_uses:
            later[number].append(candidate)
        else:
            chosen[candidate.identity] = candidate
            uses.update(candidate.sources)
            n_fresh += most_uses == 0
            for holder in holders[candidate.identity]:
                counts[holder] += 1
        if not any(queues):
            queues = [deque(c for c in own if c.identity not in chosen) for own in later]
            later = [deque() for _ in queues]
            most_uses += 1
    placed = sorted(chosen.values(), key=lambda c: (c.position, c.drawn.id))
    return placed, holders, counts, len(chosen) - n_fresh


def _in_turn(candidates: Iterable[_Candidate[_D]]) -> deque[_Candidate[_D]]:
    # One of each group, then a second one of each: the sort keeps the order within a round.
    rounds: dict[str, Iterator[int]] = defaultdict(count)
    ranked = sorted(candidates, key=lambda c: (c.rank, c.drawn.id))
    keyed = [(next(rounds[candidate.group]), candidate) for candidate in ranked]
    return deque(candidate for _, candidate in sorted(keyed, key=itemgetter(0)))


def _pairs(
    suite: str, table: ItemTable, seed: int, groups: Sequence[str]
) -> Iterator[_Candidate[DrawnPair]]:
    wanted = set(groups) or ({table.headline} if table.headline else set())
    context = Context(seed, suite)
    for item in table.items:
        for pair in condition_pairs(item):
            if not wanted or wanted & set(pair.groups):
                yield _of_pair(context, table, item, pair)


def _of_pair(
    context: Context, table: ItemTable, item: Item, pair: ConditionPair
) -> _Candidate[DrawnPair]:
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
        identity=frozenset((text_a, text_b)),
        sources=_sources(item, (text_a, text_b)),
        group=pair.groups[0] if pair.groups else "",
        rank=random.random(),
        position=random.random(),
    )


def _sources(row: Item | AskedRow, texts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    discourses = ((row.corpus, discourse) for discourse in row.discourses)
    return frozenset((*((text,) for text in texts), *discourses))


def _rows(context: Context, table: TableRows[AskedRow]) -> Iterator[_Candidate[Asked]]:
    place = RowPlace(context.suite, table.config, table.split, table.about)
    both = ((row, tuple(asked_of(table.kind.name, place, row))) for row in table.each())
    counts: Counter[str] = Counter()
    # Those that have no choice come first, and the others make up for what they are short of.
    for row, asked in sorted(
        ((row, asked) for row, asked in both if asked),
        key=lambda one: (len({each.answer_kind for each in one[1]}), one[1][0].id),
    ):
        random = context.random_for(
            row.corpus, row.discourse_id, "judgement", item=row.item_id, config=table.config
        )
        rare = min(counts[one.answer_kind] for one in asked)
        drawn = random.choice([one for one in asked if counts[one.answer_kind] == rare])
        counts[drawn.answer_kind] += 1
        yield _Candidate(
            drawn=drawn,
            identity=drawn.id,
            sources=_sources(row, ("\n".join(lines) for _, lines in drawn.texts)),
            group=drawn.answer_kind if table.kind is SPANS else "",
            rank=random.random(),
            position=random.random(),
        )
