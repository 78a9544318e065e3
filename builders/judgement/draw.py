"""Draw what people judge, blind, in fair shares, and few of one text.

What is drawn depends on the seed, on the rows, and on which configs there are.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.builders.judgement.asked import Asked, RowPlace, asked_of
from coherencegym.eval.data.table_rows import TableRows
from coherencegym.eval.kinds.spans import SPANS

#: A table (its number), and the group of which its questions take turns with those of others.
_Pool = tuple[int, str]


@dataclass(frozen=True, slots=True)
class _Candidate:
    # ``sources``: its texts, and discourses of a corpus.
    asked: Asked
    pool: _Pool
    sources: frozenset[tuple[str, ...]]


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
    for candidate in sorted(candidates, key=lambda one: _rank(seed, one.asked.id)):
        holders[candidate.asked.id].add(candidate.pool[0])
        pools[candidate.pool].append(candidate)
    later: dict[_Pool, deque[_Candidate]] = defaultdict(deque)
    chosen: dict[str, Asked] = {}
    of_table, of_pool = Counter[int](), Counter[_Pool]()
    uses: Counter[tuple[str, ...]] = Counter()
    most_uses = n_fresh = 0
    while len(chosen) < n and any(pools.values()):
        pool = min((of_table[p[0]], of_pool[p], p) for p, left in pools.items() if left)[-1]
        candidate = pools[pool].popleft()
        if max(uses[source] for source in candidate.sources) > most_uses:
            later[pool].append(candidate)
        elif candidate.asked.id not in chosen:
            chosen[candidate.asked.id] = candidate.asked
            uses.update(candidate.sources)
            n_fresh += most_uses == 0
            of_pool[pool] += 1
            of_table.update(holders[candidate.asked.id])
        if not any(pools.values()):
            pools, later = later, defaultdict(deque)
            most_uses += 1
    counts: Counter[str] = Counter()
    for number, table in enumerate(tables):
        counts[table.config] += of_table[number]
    asked = tuple(chosen[name] for name in sorted(chosen))
    return Drawing(asked, dict(counts), len(asked) - n_fresh)


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
            yield _Candidate(asked, (number, group), frozenset((*texts, *discourses)))
