"""Tokens that cross the edges of regions: do they count alike on both sides of a comparison?

A token counts whole in the region where it begins. What it adds to that region, and takes from the
others that it has characters of, is fair only where the other side of the comparison has the same
token in the same place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from coherencegym.eval.kinds.formula import RegionRef
from coherencegym.eval.text.encode import Encoding


def crossing_differs(
    encodings: Mapping[str, Encoding],
    times: Mapping[tuple[RegionRef, str], int],
    aggregation: str = "sum",
) -> bool:
    """Tell whether a token crosses the edge of a compared region on one side alone.

    A token within a sum of regions that are added alike crosses none.

    Args:
        encodings: the conditions by name.
        times: counts of how often each region of a condition is added; subtracted: below 0.
        aggregation: makes a value of the bits of a region's tokens.
    """
    found: Counter[tuple[int, int, tuple[tuple[int, int], ...]]] = Counter()
    for name, encoding in encodings.items():
        for token, region, reached in encoding.crossing:
            own = times.get((region, name), 0)
            others = tuple((times.get((other, name), 0), n) for other, n in reached)
            if (own and aggregation != "sum") or any(other != own for other, _ in others):
                found[token, own, others] += 1
    return any(
        found[token, -own, tuple((-other, n) for other, n in others)] != number
        for (token, own, others), number in found.items()
    )
