"""Which sequences go through a model together: pure Python, so that tests assert on the work.

Sequences of one item, or some of them, often begin with the same tokens, which a :class:`Batch` may
run once. Packed, the beginning and the rest of each sequence stand in one row. From a cache, the
beginnings are run first, all cut to one length so that nothing in them is padding, and then the
rest of every sequence on the keys and values that they left. Without shared beginnings a batch is
simply padded.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from coherencegym.eval.models.limits import UNLIMITED, Limits
from coherencegym.eval.plan.beginnings import Sharing, alike, shared_length
from coherencegym.eval.text.sequence import TokenSequence

#: More groups than these are cut into batches greedily: padding is then small anyway.
_EXACT = 1000


@dataclass(frozen=True, slots=True)
class Budget:
    """What a batch may take.

    Attributes:
        tokens: most tokens in one forward pass, padding included.
        head_rows: most rows of logits in one forward pass.
        cached: most tokens whose keys and values are held for sharing.
        forward: what one more forward pass costs, in tokens: below it, padding is the cheaper.
    """

    tokens: int
    head_rows: int
    cached: int
    forward: int = 16

    def halved(self) -> Budget | None:
        """Half of it, for a model that ran out of memory; None where one token is left."""
        if self.tokens <= 1:
            return None
        return replace(
            self,
            tokens=self.tokens // 2,
            head_rows=max(1, self.head_rows // 2),
            cached=self.cached // 2,
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """Sequences that go through the model together.

    Attributes:
        groups: indices of sequences; those of a group begin with the same ``prefix`` tokens.
        prefix: how many tokens are shared from a cache, in every group; 0: none.
        length: tokens that the model reads of the longest sequence, the prefix included; of packed
            rows the tokens of the longest row.
        head_rows: rows of logits, of all forward passes.
        prefixes: how many tokens are shared in each packed row; empty: rows are not packed.
    """

    groups: tuple[tuple[int, ...], ...]
    prefix: int
    length: int
    head_rows: int
    prefixes: tuple[int, ...] = ()

    @property
    def shares(self) -> bool:
        """Whether beginnings are shared; else each sequence is a group."""
        return bool(self.prefix or self.prefixes)

    @property
    def shared(self) -> tuple[int, ...]:
        """How many tokens the sequences of each group share."""
        return self.prefixes or (self.prefix,) * len(self.groups)

    @property
    def passes(self) -> int:
        """How many forward passes it takes."""
        return 2 if self.prefix else 1

    @property
    def saved_tokens(self) -> int:
        """Tokens that are not read as they are shared."""
        pairs = zip(self.groups, self.shared, strict=True)
        return sum((len(group) - 1) * shared for group, shared in pairs)

    @property
    def indices(self) -> tuple[int, ...]:
        """Indices of all its sequences, group by group."""
        return tuple(index for group in self.groups for index in group)

    @property
    def padded_tokens(self) -> int:
        """Tokens that the model reads, padding included."""
        if self.prefixes:
            return len(self.groups) * self.length
        rows = sum(map(len, self.groups))
        return len(self.groups) * self.prefix + rows * (self.length - self.prefix)


@dataclass(frozen=True, slots=True)
class _Group:
    """Sequences that share a beginning: how long it is, and the longest, or the row if packed."""

    indices: tuple[int, ...]
    prefix: int
    length: int
    head_rows: int
    packed: bool = False

    @property
    def rows(self) -> int:
        """Rows of a forward pass over the group."""
        return 1 if self.packed else len(self.indices)

    @property
    def cut(self) -> int:
        """What a forward pass before that can read."""
        return 0 if self.packed else self.prefix


def make_batches(
    sequences: Sequence[TokenSequence],
    families: Iterable[Sequence[int]],
    budget: Budget,
    *,
    sharing: Sharing,
    limits: Limits = UNLIMITED,
) -> tuple[Batch, ...]:
    """Put sequences into batches, the longest first: what does not fit into memory shows at once.

    All sequences of a batch are on one side of every length beyond which the model reads otherwise.

    Args:
        sequences: all sequences.
        families: indices of the sequences to batch; those of one family may share a beginning.
        budget: what a batch may take; a sequence that alone takes more is a batch of its own.
        sharing: whether and how beginnings are shared.
        limits: of the model.
    """
    kinds: dict[tuple[int, bool], list[_Group]] = {}
    for family in families:
        for side, members in _by_side(sequences, family, limits):
            # From a cache a text goes on as it began: in the positions of a short one.
            way = "none" if side and sharing == "cache" else sharing
            for group in _groups(sequences, members, budget, way, limits):
                kinds.setdefault((side, not group.prefix), []).append(group)
    batches = [b for kind in sorted(kinds) for b in _partition(sequences, kinds[kind], budget)]
    return tuple(sorted(batches, key=lambda batch: -batch.length))


def _by_side(
    sequences: Sequence[TokenSequence], family: Sequence[int], limits: Limits
) -> Iterable[tuple[int, Sequence[int]]]:
    """The parts of a family that may stand together, each with its side of the model's lengths."""
    if not limits.lengths:
        return [(0, family)]
    sides: dict[int, list[int]] = {}
    for index in family:
        sides.setdefault(limits.side(sequences[index].length), []).append(index)
    return sides.items()


def head_rows(sequences: Sequence[TokenSequence], group: Sequence[int], prefix: int) -> int:
    """Rows of logits that a group takes: those within the prefix are the same for all of it."""
    places = [sequences[index].places for index in group]
    if len(places) == 1:
        return len(places[0])
    cuts = [bisect_right(own, prefix) for own in places]
    within = {place for own, cut in zip(places, cuts, strict=True) for place in own[:cut]}
    return len(within) + sum(len(own) - cut for own, cut in zip(places, cuts, strict=True))


def _groups(
    sequences: Sequence[TokenSequence],
    family: Sequence[int],
    budget: Budget,
    sharing: Sharing,
    limits: Limits,
) -> Iterator[_Group]:
    parts = alike(sequences, family, sharing)
    apart = set(family).difference(*parts)
    for index in family:
        if index in apart:
            sequence = sequences[index]
            yield _Group((index,), 0, sequence.length, head_rows(sequences, (index,), 0))
    for part in parts:
        yield from _fitting(sequences, part, budget, sharing, limits)


def _fitting(
    sequences: Sequence[TokenSequence],
    group: Sequence[int],
    budget: Budget,
    sharing: Sharing,
    limits: Limits,
) -> Iterator[_Group]:
    """A group that shares its beginning, or halves of it that budget and window allow."""
    prefix = shared_length(sequences, group)
    lengths = [sequences[index].length for index in group]
    rows = head_rows(sequences, group, prefix)
    packed = sharing == "packed"
    length = prefix + sum(lengths) - prefix * len(lengths) if packed else max(lengths)
    whole = _Group(tuple(group), prefix, length, rows, packed)
    sees_all = not packed or not limits.own or length <= limits.own
    if sees_all and _fits(1, whole.rows, whole.cut, length, rows, budget):
        yield whole
        return
    half = len(group) // 2
    for part in (group[:half], group[half:]):
        yield from _groups(sequences, part, budget, sharing, limits)


def _fits(groups: int, rows: int, prefix: int, length: int, head: int, budget: Budget) -> bool:
    if head > budget.head_rows or rows * (length - prefix) > budget.tokens:
        return False
    return not prefix or (groups * prefix <= budget.tokens and rows * length <= budget.cached)


def _partition(
    sequences: Sequence[TokenSequence], groups: list[_Group], budget: Budget
) -> list[Batch]:
    """Cut an order of groups into batches, so that they read as few tokens as possible."""
    if len(groups) > _EXACT:
        return list(_greedy(_tiled(groups, budget), budget, sequences))
    orders = [sorted(groups, key=lambda g: (g.length, g.prefix))]
    if any(group.cut for group in groups):
        orders.append(sorted(groups, key=lambda g: (g.prefix, g.length)))
        orders.append(sorted(groups, key=lambda g: (g.length - g.prefix, g.length)))
    candidates = [_exact(order, budget, sequences) for order in orders]
    return min(candidates, key=lambda found: found[0])[1]


def _tiled(groups: list[_Group], budget: Budget) -> list[_Group]:
    """Neighbours are alike in prefix and in length: strips of one, each ordered by the other."""
    work = sum(g.rows * (g.length - g.cut) for g in groups)
    strips = max(1, math.isqrt(work // max(1, budget.tokens)))
    by_prefix = sorted(groups, key=lambda g: (g.cut, g.length))
    if not by_prefix[-1].cut:
        return by_prefix
    size = math.ceil(len(groups) / strips)
    tiled: list[_Group] = []
    for number, start in enumerate(range(0, len(groups), size)):
        strip = by_prefix[start : start + size]
        # There and back, so that the end of a strip is like the beginning of the next.
        tiled += sorted(strip, key=lambda g: g.length, reverse=bool(number % 2))
    return tiled


def _greedy(
    order: Sequence[_Group], budget: Budget, sequences: Sequence[TokenSequence]
) -> Iterator[Batch]:
    members: list[_Group] = []
    rows = head = length = 0
    prefix = 0
    for group in order:
        cut = min(prefix, group.cut) if members else group.cut
        longest = max(length, group.length)
        fits = _fits(
            len(members) + 1,
            rows + group.rows,
            cut,
            longest,
            head + group.head_rows,
            budget,
        )
        if members and not fits:
            yield _batch(members, sequences)
            members, rows, head = [], 0, 0
            cut, longest = group.cut, group.length
        members.append(group)
        rows += group.rows
        head += group.head_rows
        prefix, length = cut, longest
    if members:
        yield _batch(members, sequences)


def _exact(
    order: Sequence[_Group], budget: Budget, sequences: Sequence[TokenSequence]
) -> tuple[float, list[Batch]]:
    """The cheapest cuts of one order, by dynamic programming, and what they cost in tokens."""
    best = [0.0] + [math.inf] * len(order)
    start = [0] * (len(order) + 1)
    for end in range(1, len(order) + 1):
        prefix, length, rows, head = order[end - 1].cut, 0, 0, 0
        for begin in range(end - 1, -1, -1):
            group = order[begin]
            prefix, length = min(prefix, group.cut), max(length, group.length)
            rows, head = rows + group.rows, head + group.head_rows
            groups = end - begin
            if groups > 1 and not _fits(groups, rows, prefix, length, head, budget):
                break
            passes = 2 if prefix else 1
            tokens = groups * prefix + rows * (length - prefix) + passes * budget.forward
            if best[begin] + tokens < best[end]:
                best[end], start[end] = best[begin] + tokens, begin
    batches = []
    end = len(order)
    while end:
        batches.append(_batch(order[start[end] : end], sequences))
        end = start[end]
    return best[-1], batches


def _batch(members: Sequence[_Group], sequences: Sequence[TokenSequence]) -> Batch:
    packed = members[0].packed
    prefix = min(group.cut for group in members)
    shared = [group.prefix if packed else prefix for group in members]
    return Batch(
        tuple(group.indices for group in members),
        prefix,
        max(group.length for group in members),
        sum(head_rows(sequences, g.indices, own) for g, own in zip(members, shared, strict=True)),
        tuple(shared) if packed else (),
    )
