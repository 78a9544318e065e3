"""Regions of a condition that tokens belong to, by the rules of :mod:`eval.text.encode`.

All texts that are encoded together are placed together: their characters stand in one row, each
text with one more place at its end, which is no white space and belongs to no region.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from coherencegym.eval.kinds.items import Condition
from coherencegym.eval.text.places import Tokens, joined, solid
from coherencegym.eval.text.special import Rendered

#: A token of the text that stands in no region, in place of a region number.
NO_REGION = 0
#: A start-of-text or separator token, which no metric reads, in place of a region number.
SPECIAL = -1
#: Stands in the place at the end of each text; anything that is no white space.
_END = "."


#: The other regions that a token has characters of, and how many that are no white space; mostly
#: none.
Reached = tuple[tuple[int, int], ...]
#: A token of a condition: its id, its region or :data:`NO_REGION`, its start and end (characters in
#: the condition's content), and the other regions that it reaches into.
PlacedToken = tuple[int, int, int, int, Reached]


def place_tokens(
    conditions: Sequence[Condition], rendered: Sequence[Rendered], tokens: Sequence[Tokens]
) -> list[list[PlacedToken]]:
    """The tokens of each condition in it.

    ``tokens`` are those of each ``rendered`` text, with places in it.
    """
    counts = [len(own.ids) for own in tokens]
    if not sum(counts):
        return [[] for _ in conditions]
    sizes = np.array([len(each.text) + 1 for each in rendered])
    bases = np.concatenate([[0], sizes.cumsum()[:-1]])
    owner = np.repeat(np.arange(len(tokens)), counts)
    base, end = bases[owner], (bases + sizes - 1)[owner]
    whole = joined(tokens)
    starts, ends = whole.starts + base, whole.ends + base
    final = np.maximum(ends - 1, base)
    after, before = _next_solid(rendered)
    origin = _origins(rendered, bases, sizes)
    region_of, contents = _regions(conditions)

    first = after[starts]
    # Nothing but white space follows: the region that the token stands in, if any. A token of no
    # width may stand at the very end: the region of the last character.
    places = np.where(first < end, first, np.maximum(np.minimum(starts, end - 1), base))
    own = region_of[origin[places] + contents[owner]]
    regions = np.where(end > base, own, NO_REGION)
    last = before[final]
    reaches = np.flatnonzero(first < last)  # no token of no width, or of white space only
    others = region_of[origin[last[reaches]] + contents[owner[reaches]]]
    reached: list[Reached] = [()] * len(owner)
    for token in reaches[others != regions[reaches]].tolist():
        inside = np.arange(first[token], last[token] + 1)
        inside = origin[inside[after[inside] == inside]] + contents[owner[token]]
        held = Counter(region_of[inside].tolist())
        reached[token] = tuple((r, n) for r, n in held.items() if r != regions[token])

    # The end is one after the last character, which a separator may have stood behind.
    opened = origin[starts]
    closed = np.where(ends > starts, origin[final] + 1, opened)
    columns = (column.tolist() for column in (whole.ids, regions, opened, closed))
    placed = list(zip(*columns, reached, strict=True))
    cuts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    return [placed[a:b] for a, b in pairwise(cuts)]


def _next_solid(rendered: Sequence[Rendered]) -> tuple[np.ndarray, np.ndarray]:
    # The first place at or after each that is no white space, and the last before.
    is_solid = solid(_END.join([*(each.text for each in rendered), ""]))
    places = np.arange(len(is_solid))
    after = np.where(is_solid, places, len(places))
    before = np.where(is_solid, places, -1)
    return np.minimum.accumulate(after[::-1])[::-1], np.maximum.accumulate(before)


def _origins(rendered: Sequence[Rendered], bases: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    # Of a character in its own content; at the end of a text one more.
    found: np.ndarray = np.arange(sizes.sum()) - np.repeat(bases, sizes)
    for each, base in zip(rendered, bases.tolist(), strict=True):
        if each.breaks and each.text:
            end = base + len(each.text)
            found[base:end] = each.origin
            found[end] = found[end - 1] + 1
    return found


def _regions(conditions: Sequence[Condition]) -> tuple[np.ndarray, np.ndarray]:
    sizes = [len(condition.content) + 1 for condition in conditions]
    bases = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    regions = np.full(sum(sizes), NO_REGION)
    for condition, base in zip(conditions, bases.tolist(), strict=True):
        for region, (start, end) in zip(condition.regions, condition.region_offsets(), strict=True):
            regions[base + start : base + end] = region.region_number
    return regions, bases
