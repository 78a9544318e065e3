"""Draw pairs for people to judge: blind, in fair shares, and few of one text.

Which pairs are drawn, which text of a pair is A, and where the pair stands in the sheet depend on
(seed, suite, item) and on which configs there are, and on nothing else.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from coherencegym.builders.judgement.pairs import Pair, pairs_of, place_digest, texts_digest
from coherencegym.builders.judgement.questions import Question, distinct
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.items import Item
from coherencegym.manipulations.operator import Context


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """A pair as annotators get it: nothing in it says which text is the coherent one.

    ``questions`` are the further ones that are asked of it.
    """

    id: str
    text_a: str
    text_b: str
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A pair that may be drawn.

    ``texts`` is the same in every config that has these two texts; ``cluster`` is the discourse, or
    the family of discourses, that its item is from.
    """

    drawn: DrawnPair
    texts: frozenset[str]
    cluster: tuple[str, str]
    first_group: str
    rank: float
    position: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """The pairs that were drawn, in the order of the sheet.

    ``counts`` are the pairs by config: more than were drawn in all where configs share texts.
    """

    pairs: tuple[DrawnPair, ...]
    counts: dict[str, int]


#: Config -> its further questions.
ConfigQuestions = Mapping[str, Sequence[Question]]


def draw(
    suite: str,
    tables: Sequence[ItemTable],
    n: int,
    seed: int,
    groups: Sequence[str] = (),
    questions: ConfigQuestions = MappingProxyType({}),
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
        groups: draw pairs of these groups of predictions only; none: of a table's headline, which
            its score is over, or of all where it has none.
        questions: further questions, by config; of a pair those of all configs that have it.
    """
    queues = [
        _Queue(sorted(_candidates(suite, table, seed, groups), key=_rank)) for table in tables
    ]
    holders: dict[frozenset[str], list[int]] = {}
    for number, queue in enumerate(queues):
        for texts in {candidate.texts for candidate in queue.fresh}:
            holders.setdefault(texts, []).append(number)
    chosen: dict[frozenset[str], _Candidate] = {}
    uses: Counter[tuple[str, str]] = Counter()
    counts = [0] * len(tables)
    while len(chosen) < n and any(queues):
        number = min((c, i) for i, c in enumerate(counts) if queues[i])[1]
        candidate = queues[number].next(uses)
        if candidate.texts in chosen:
            continue
        chosen[candidate.texts] = candidate
        uses[candidate.cluster] += 1
        for holder in holders[candidate.texts]:
            counts[holder] += 1
    order = sorted(chosen.values(), key=lambda c: (c.position, c.drawn.id))
    by_config: Counter[str] = Counter()
    for table, count in zip(tables, counts, strict=True):
        by_config[table.config] += count
    drawn = []
    for candidate in order:
        configs = dict.fromkeys(tables[holder].config for holder in holders[candidate.texts])
        further = distinct(q for config in configs for q in questions.get(config, ()))
        drawn.append(replace(candidate.drawn, questions=further))
    return Drawing(tuple(drawn), dict(by_config))


class _Queue:
    """The pairs of one table that were not looked at yet, those of new discourses first."""

    def __init__(self, ranked: Sequence[_Candidate]) -> None:
        rounds: Counter[str] = Counter()
        keyed = []
        for candidate in ranked:
            keyed.append((rounds[candidate.first_group], candidate))
            rounds[candidate.first_group] += 1
        # One of each group, then a second one of each: the sort keeps the order within a round.
        self.fresh = deque(c for _, c in sorted(keyed, key=lambda pair: pair[0]))
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


def _rank(candidate: _Candidate) -> tuple[float, str]:
    return (candidate.rank, candidate.drawn.id)


def _candidates(
    suite: str, table: ItemTable, seed: int, groups: Sequence[str]
) -> Iterator[_Candidate]:
    wanted = set(groups) or ({table.headline} if table.headline else set())
    context = Context(seed, suite)
    for item in table.items:
        for pair in pairs_of(item):
            if not wanted or wanted & set(pair.groups):
                yield _candidate(context, table, item, pair)


def _candidate(context: Context, table: ItemTable, item: Item, pair: Pair) -> _Candidate:
    # Not the config: a pair that two configs have is the same draw in both.
    random = context.random_for(
        item.corpus,
        item.discourse_id,
        "judgement",
        item=item.item_id,
        texts=texts_digest(pair.coherent_text, pair.incoherent_text),
    )
    text_a, text_b = pair.coherent_text, pair.incoherent_text
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
