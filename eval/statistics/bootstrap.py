"""Percentile intervals of ratios by a bootstrap over clusters (Efron 1979).

They are there where a specification names them. docs/intervals.md shows that of few clusters they
are too narrow, so that the intervals of scores are those of :mod:`eval.statistics.intervals`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coherencegym.eval.statistics.effective_size import TAIL, cluster_ids
from coherencegym.eval.statistics.estimators import Counts
from coherencegym.eval.statistics.intervals import Interval

RESAMPLES = 5_000
#: Clusters of a block of resamples that are in memory at once.
_BLOCK = 4_000_000


def bootstrap_intervals(
    ratios: Mapping[str, Counts],
    clusters: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Interval | None]:
    """A 95 % interval of each ratio of sums, all from the same resamples of clusters.

    Args:
        ratios: the parts and wholes of each item, by name; of a mean each whole is 1.
        clusters: the discourse, or family of discourses, of each item; those of one are drawn
            together.
        resamples: the number of samples, each of as many clusters as there are.
        seed: that of the generator which draws them.

    Returns:
        The intervals; None of one cluster, and where more than one resample in twenty has nothing
        to divide by.
    """
    import numpy as np

    if not len(clusters):
        raise ValueError("a bootstrap needs at least one item")
    number, ids = cluster_ids(clusters)
    if number == 1:
        return dict.fromkeys(ratios)
    sums = np.stack(
        [
            np.bincount(ids, weights=np.asarray(own, dtype=np.float64), minlength=number)
            for counts in ratios.values()
            for own in counts
        ],
        axis=1,
    )
    drawn = np.concatenate(list(_resampled(sums, resamples, np.random.default_rng(seed))))
    found: dict[str, Interval | None] = {}
    for place, name in enumerate(ratios):
        part, whole = drawn[:, 2 * place], drawn[:, 2 * place + 1]
        known = part[whole > 0] / whole[whole > 0]
        found[name] = None
        if len(known) >= 0.95 * resamples:
            low, high = np.quantile(known, (TAIL, 1 - TAIL))
            found[name] = Interval(float(low), float(high), "bootstrap")
    return found


def _resampled(sums: Any, resamples: int, generator: Any) -> Any:
    import numpy as np

    number = len(sums)
    rows = max(1, _BLOCK // number)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        places = generator.integers(0, number, size=(size, number))
        places += number * np.arange(size)[:, None]
        times = np.bincount(places.ravel(), minlength=size * number).reshape(size, number)
        yield times.astype(np.float64) @ sums
