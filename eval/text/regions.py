"""Which region of a condition each token belongs to, by the rules of :mod:`eval.text.encode`.

All texts that are encoded together are placed together: their characters stand in one row, each
text with one more place at its end, which is no white space and belongs to no region.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from coherencegym.eval.kinds.items import Condition
from coherencegym.eval.text.rendering import Rendered
from coherencegym.eval.text.tokens import Tokens, joined
from coherencegym.eval.text.whitespace import solid

#: In place of a region number: a token of the text that stands in no region.
NO_REGION = 0
#: In place of a region number: a start-of-text or separator token, which no metric reads.
SPECIAL = -1
#: Stands in the place at the end of each text; anything that is no white space.
_END = "."


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the tokens of a condition stand, T tokens without start-of-text and separators.

    Attributes:
        ids: token ids.
        regions: a region number per token, or :data:`NO_REGION`.
        starts, ends: characters in the condition's content.
        spanning: how many tokens have characters of two regions.
    """

    ids: list[int]
    regions: list[int]
    starts: list[int]
    ends: list[int]
    spanning: int


def place_tokens(
    conditions: Sequence[Condition], rendered: Sequence[Rendered], tokens: Sequence[Tokens]
) -> list[Placed]:
    """Where the tokens of some conditions stand.

    Args:
        conditions: with valid regions.
        rendered: their texts.
        tokens: the tokens of each text, with places in it.
    """
    counts = [len(own.ids) for own in tokens]
    if not sum(counts):
        return [Placed([], [], [], [], 0) for _ in conditions]
    sizes = np.array([len(each.text) + 1 for each in rendered])
    bases = np.concatenate([[0], sizes.cumsum()[:-1]])
    owner = np.repeat(np.arange(len(tokens)), counts)
    base, end = bases[owner], (bases + sizes - 1)[owner]
    whole = joined(tokens)
    starts, ends = whole.starts + base, whole.ends + base
    final = np.maximum(ends - 1, base)
    after, before = _next_solid(rendered)
    origin = _origins(rendered, bases, sizes)
    regions_at = _Lookup(conditions)

    first = after[starts]
    # Nothing but white space follows: the region that the token stands in, if any. A token of no
    # width may stand at the very end: the region of the last character.
    places = np.where(first < end, first, np.minimum(starts, end - 1))
    regions = np.where(end > base, regions_at(origin[places], owner), NO_REGION)
    last = before[final]
    reaches = np.flatnonzero(first < last)  # no token of no width, or of white space only
    others = regions_at(origin[last[reaches]], owner[reaches])
    spanning = np.bincount(owner[reaches[others != regions[reaches]]], minlength=len(tokens))

    # The end is one after the last character, which a separator may have stood behind.
    opened = origin[starts]
    closed = np.where(ends > starts, origin[final] + 1, opened)
    ids, numbers = whole.ids.tolist(), regions.tolist()
    firsts, lasts = opened.tolist(), closed.tolist()
    cuts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    return [
        Placed(ids[a:b], numbers[a:b], firsts[a:b], lasts[a:b], own)
        for (a, b), own in zip(pairwise(cuts), spanning.tolist(), strict=True)
    ]


def _next_solid(rendered: Sequence[Rendered]) -> tuple[np.ndarray, np.ndarray]:
    """For each place the first one at or after it that is no white space, and the last before."""
    is_solid = solid(_END.join([*(each.text for each in rendered), ""]))
    places = np.arange(len(is_solid))
    after = np.where(is_solid, places, len(places))
    before = np.where(is_solid, places, -1)
    return np.minimum.accumulate(after[::-1])[::-1], np.maximum.accumulate(before)


def _origins(rendered: Sequence[Rendered], bases: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """For each place its character in its own content; for that at the end of a text one more."""
    found: np.ndarray = np.arange(sizes.sum()) - np.repeat(bases, sizes)
    for each, base in zip(rendered, bases.tolist(), strict=True):
        if each.breaks and each.text:
            end = base + len(each.text)
            found[base:end] = each.origin
            found[end] = found[end - 1] + 1
    return found


class _Lookup:
    """The region of a character of a condition's content."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        sizes = [len(condition.content) + 1 for condition in conditions]
        self._bases = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        starts, ends, numbers = [], [], []
        for condition, base in zip(conditions, self._bases.tolist(), strict=True):
            for region, (start, end) in zip(
                condition.regions, condition.region_offsets(), strict=True
            ):
                if start < end:  # an empty one has no character
                    starts.append(base + start)
                    ends.append(base + end)
                    numbers.append(region.region_number)
        # Before the first region, and behind a last one, there is none.
        self._starts = np.array([-1, *starts])
        self._ends = np.array([-1, *ends])
        self._numbers = np.array([NO_REGION, *numbers])

    def __call__(self, characters: np.ndarray, owner: np.ndarray) -> np.ndarray:
        """Region numbers, shape (T,), of characters of the conditions with these numbers."""
        places = characters + self._bases[owner]
        found = self._starts.searchsorted(places, side="right") - 1
        regions: np.ndarray = np.where(places < self._ends[found], self._numbers[found], NO_REGION)
        return regions
