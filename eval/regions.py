"""Which region of a condition each token belongs to, by the rules of :mod:`eval.encode`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eval.rendering import Rendered
from eval.suite import Condition
from eval.whitespace import solid

#: In place of a region number: a token of the text that stands in no region.
NO_REGION = 0
#: In place of a region number: a start-of-text or separator token, which no metric reads.
SPECIAL = -1


@dataclass(frozen=True, slots=True, eq=False)
class RegionMap:
    """The regions of a rendered text of N characters.

    Attributes:
        at: shape (N + 1,): the region of each character, and again that of the last.
        after: shape (N + 1,): the place of the first character at or after this one that is not
            white space; N where none follows.
        before: shape (N,): the place of the last such character at or before this one, or -1.
    """

    at: np.ndarray
    after: np.ndarray
    before: np.ndarray

    def of(self, starts: np.ndarray) -> np.ndarray:
        """The region of each token, from the character where it starts; both of shape (T,)."""
        solid = self.after[starts]
        # Nothing but white space follows: the region that the token stands in, if any.
        regions: np.ndarray = np.where(solid < len(self.before), self.at[solid], self.at[starts])
        return regions

    def count_spanning(self, starts: np.ndarray, ends: np.ndarray) -> int:
        """How many tokens have characters of two regions."""
        wide = ends > starts
        first, last = self.after[starts[wide]], self.before[ends[wide] - 1]
        return int(((first < last) & (self.at[first] != self.at[last])).sum())


def region_map(condition: Condition, rendered: Rendered) -> RegionMap:
    """The regions of a condition's characters, as they stand in its rendered text."""
    by_character = np.full(len(condition.content), NO_REGION)
    offsets = condition.region_offsets()
    for region, (start, end) in zip(condition.regions, offsets, strict=True):
        by_character[start:end] = region.region_number
    size = len(rendered.text)
    at = np.full(size + 1, NO_REGION)
    at[:size] = by_character[rendered.origin]
    if size:
        at[size] = at[size - 1]
    is_solid = solid(rendered.text)
    places = np.arange(size)
    after = np.full(size + 1, size)
    after[:size] = np.minimum.accumulate(np.where(is_solid, places, size)[::-1])[::-1]
    return RegionMap(
        at=at,
        after=after,
        before=np.maximum.accumulate(np.where(is_solid, places, -1)),
    )
