"""Which sequences of an item begin alike, so that it pays to run their beginning once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from coherencegym.eval.text.sequence import TokenSequence, common_start

#: How beginnings are shared: not at all, from a cache, or in one row.
Sharing = Literal["none", "cache", "packed"]
#: Fewest tokens that sharing a beginning has to save.
WORTH_SHARING = 8
#: From a cache, the share of a group's tokens that it has to save: two passes and the cache that is
#: handed on cost more than a tenth of them (measured on shuffled texts, GPT-2's shape, a CPU).
_WORTH_A_CACHE = 0.2


def shared_length(sequences: Sequence[TokenSequence], family: Sequence[int]) -> int:
    """How many tokens all sequences of a family begin with, of those that the model reads.

    At least one token of each sequence is left: a row of logits belongs to a token that is read.
    """
    members = [sequences[index] for index in family]
    most = min(member.length for member in members) - 1
    return max(0, min(most, common_start([member.ids for member in members])))


def alike(
    sequences: Sequence[TokenSequence], family: Sequence[int], sharing: Sharing
) -> list[tuple[int, ...]]:
    """The parts of a family whose shared beginnings save the most tokens, where it is worth it.

    Conditions may begin alike in several ways, as the shuffles of a text that begin with the same
    sentence: all of the family in one part shares what all begin with, several parts more of it.

    Args:
        sequences: all sequences.
        family: indices of some of them.
        sharing: how they would share.
    """
    if sharing == "none":
        return []
    # In this order those that go on alike are neighbours, and what some of them share is the least
    # that two neighbours among them do.
    ordered = sorted(family, key=lambda index: sequences[index].ids)
    shared = [shared_length(sequences, pair) for pair in pairwise(ordered)]
    _, parts = _best_parts(shared, 0, len(ordered))
    place = {index: number for number, index in enumerate(family)}
    found = [tuple(sorted(ordered[a:b], key=place.__getitem__)) for a, b in parts]
    if sharing == "cache":
        found = [part for part in found if _saves(sequences, part) >= _WORTH_A_CACHE]
    return found


def _saves(sequences: Sequence[TokenSequence], group: Sequence[int]) -> float:
    """The share of a group's tokens that are read once instead of for every sequence."""
    tokens = sum(sequences[index].length for index in group)
    return (len(group) - 1) * shared_length(sequences, group) / tokens


def _best_parts(shared: Sequence[int], start: int, end: int) -> tuple[int, list[tuple[int, int]]]:
    """Tokens saved, and the parts as (start, end), of some sequences in the order of their tokens.

    Args:
        shared: how many tokens each of all sequences has in common with the one behind it.
        start, end: the sequences.
    """
    if end - start < 2:
        return 0, []
    least = min(shared[start : end - 1])
    cuts = [place + 1 for place in range(start, end - 1) if shared[place] == least]
    found = [_best_parts(shared, a, b) for a, b in pairwise([start, *cuts, end])]
    together, apart = (end - start - 1) * least, sum(saved for saved, _ in found)
    if apart > together:
        return apart, [part for _, parts in found for part in parts]
    return (together, [(start, end)]) if together >= WORTH_SHARING else (0, [])
