"""The smallest difference between two models that a suite is likely to show.

Two models are compared on the same items, by the share of items on which each is right. Of the
items on which they differ (the discordance) some speak for the one, some for the other: the
variance of the difference of shares is ``discordance - difference ** 2`` over the number of items
(McNemar 1947; Connor 1987). Items of a cluster are alike, so that fewer independent ones would tell
as much (Kish 1965). Discordance and clustering are stated, never taken from the result of the
comparison itself: power computed from that says no more than its p-value (Hoenig and Heisey 2001).
"""

from __future__ import annotations

import math
from typing import Any

from coherencegym.eval.statistics.effective_size import cluster_pairs, over_documents

#: The discordance, the intraclass correlation and the power where none is stated.
DISCORDANCE, CORRELATION, POWER = 0.3, 0.1, 0.8
#: The level of the two-sided test.
_LEVEL = 0.05


def effective_items(clusters: Any, correlation: float = CORRELATION) -> float:
    """The number of independent items that tell as much as items of these clusters.

    Args:
        clusters: the cluster of each item, by name or number.
        correlation: that of the outcomes of two items of a cluster, 0 to 1; also of those that
            share one of two documents.
    """
    if not len(clusters):
        return 0.0
    import numpy as np

    _, ids, documents = cluster_pairs(clusters)
    sizes = np.bincount(ids)
    squares = float(sizes @ sizes)
    if documents is not None:
        by_one = over_documents(sizes, documents)
        squares = float(by_one @ by_one) - squares
    items = len(ids)
    # The number of items that share a cluster with one, on average over items.
    size = squares / items
    return items / (1 + (size - 1) * correlation)


def smallest_difference(
    items: float, discordance: float = DISCORDANCE, power: float = POWER
) -> float | None:
    """The smallest difference of two models' shares that a test of level 0.05 shows.

    Args:
        items: independent items.
        discordance: the share of items on which exactly one of the models is right, above 0.
        power: the probability with which the difference is shown, 0.5 to 1.

    Returns:
        A share; None where even models that differ in favour of one alone are not told apart.
    """
    from scipy.special import ndtri

    ends = float(ndtri(1 - _LEVEL / 2) + ndtri(power)) ** 2
    found = math.sqrt(ends * discordance / (items + ends))
    return found if found <= discordance else None
