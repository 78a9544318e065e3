"""Intervals for shares, means and medians of items that may share a discourse.

Wilson's score interval (Wilson 1927) where every item comes from another discourse; a percentile
bootstrap that resamples discourses (Efron and Tibshirani 1993, chapter 13) where one discourse
gives several items, as items of one discourse are not independent. Discourses that share most of
their text (Winograd twins) count as one: what is said of discourses here goes for their families.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

#: Resamples of a bootstrap.
RESAMPLES = 2000
#: Two-sided 95 %.
Z95 = 1.959963984540054
#: A bootstrap's interval narrower than this has no width but for rounding.
_NO_WIDTH = 1e-9
#: Numbers of a block of resamples: few enough to stay in the processor's cache.
_BLOCK = 250_000
#: A resample's median is looked for within so many standard deviations of the middle first.
_DEVIATIONS = 5


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval.

    ``method`` is ``wilson`` or ``bootstrap``, and where a bootstrap would claim an interval of no
    width: ``wilson over discourses`` (all discourses have the same mean: every item the same 0 or
    1, or one item of every pair of twins), or ``one discourse`` (which says nothing about others:
    the interval is 0 to 1).
    """

    low: float
    high: float
    method: str


def wilson(successes: float, n: int) -> Interval:
    """Wilson's score interval of a share.

    Raises:
        ValueError: ``n`` is 0.
    """
    if n <= 0:
        raise ValueError("an interval needs at least one item")
    share = successes / n
    scale = 1 + Z95**2 / n
    centre = (share + Z95**2 / (2 * n)) / scale
    half = Z95 * math.sqrt(share * (1 - share) / n + Z95**2 / (4 * n**2)) / scale
    return Interval(max(0.0, centre - half), min(1.0, centre + half), "wilson")


def share_interval(values: Sequence[float], discourses: Sequence[str], seed: int = 0) -> Interval:
    """The interval of the mean of values between 0 and 1, one for each item.

    Args:
        values: 1 where the prediction holds, 0 where not, or a share of the item's predictions.
        discourses: the discourse, or family of discourses, of each item.
        seed: of the bootstrap, where one is needed.

    Raises:
        ValueError: there is no item.
    """
    n_discourses = len(set(discourses))
    if n_discourses == len(discourses):
        return wilson(sum(values), len(values))
    if n_discourses == 1 and set(values) not in ({0.0}, {1.0}):
        return Interval(0.0, 1.0, "one discourse")
    found = bootstrap(values, discourses, seed=seed)
    if found.high - found.low > _NO_WIDTH:
        return found
    flat = wilson(n_discourses * math.fsum(values) / len(values), n_discourses)
    return Interval(flat.low, flat.high, "wilson over discourses")


def bootstrap(
    values: Sequence[float],
    discourses: Sequence[str],
    *,
    statistic: Literal["mean", "median"] = "mean",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """Percentile bootstrap over discourses of the mean or median of the values.

    Args:
        values: one number for each item.
        discourses: the discourse of each item; whole discourses are drawn.
        statistic: of the items drawn.
        seed: same seed, same interval.
        resamples: how many resamples.

    Raises:
        ValueError: there is no item.
    """
    (interval,) = bootstraps(
        values, discourses, statistics=(statistic,), seed=seed, resamples=resamples
    )
    return interval


def bootstraps(
    values: Sequence[float],
    discourses: Sequence[str],
    *,
    statistics: Sequence[Literal["mean", "median"]] = ("mean", "median"),
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[Interval, ...]:
    """:func:`bootstrap` of several statistics, whose resamples are drawn once for all of them."""
    import numpy as np

    if not len(values):
        raise ValueError("an interval needs at least one item")
    names, owner = np.unique(np.asarray(discourses), return_inverse=True)
    items = np.asarray(values, dtype=np.float64)
    compute = [_means(items, owner) if s == "mean" else _medians(items, owner) for s in statistics]
    blocks = []
    for counts in resampled(len(names), resamples, len(items), seed):
        # As floats, exact for counts: products of integers do not go through the fast library.
        drawn = counts.astype(np.float64)
        blocks.append([one(drawn) for one in compute])
    intervals = []
    for own in zip(*blocks, strict=True):
        low, high = np.quantile(np.concatenate(own), [0.025, 0.975])
        intervals.append(Interval(float(low), float(high), "bootstrap"))
    return tuple(intervals)


def resampled(
    n_discourses: int, resamples: int, n_items: int, seed: int | Sequence[int]
) -> Iterator[Any]:
    """How often each discourse is drawn in each resample: blocks of (resamples, discourses)."""
    import numpy as np

    generator = np.random.default_rng(seed)
    block = max(1, min(resamples, _BLOCK // max(n_discourses, n_items)))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = generator.integers(0, n_discourses, size=(rows, n_discourses))
        drawn += np.arange(rows)[:, None] * n_discourses
        counts = np.bincount(drawn.ravel(), minlength=rows * n_discourses)
        yield counts.reshape(rows, n_discourses)


def _means(items: Any, owner: Any) -> Callable[[Any], Any]:
    """Means of a block of resamples, from how often each discourse was drawn in them."""
    import numpy as np

    sums, sizes = np.bincount(owner, weights=items), np.bincount(owner).astype(np.float64)

    def means(drawn: Any) -> Any:
        return (drawn @ sums) / (drawn @ sizes)

    return means


def _medians(items: Any, owner: Any) -> Callable[[Any], Any]:
    """Medians of a block, with each item counted as often as its discourse was drawn."""
    import numpy as np

    order = np.argsort(items)
    values, places = items[order], owner[order]
    n, half = len(places), len(places) // 2
    sizes = np.bincount(owner).astype(np.float64)
    # How many more items of the lower half than of the upper half a resample has varies by this.
    excess = np.bincount(places[:half], minlength=len(sizes)) - sizes / 2
    reach = math.ceil(_DEVIATIONS * math.sqrt(float(excess @ excess))) + 1

    def medians(drawn: Any) -> Any:
        found, missed = within(drawn, max(0, half - reach), min(n, half + reach))
        if missed.any():
            found[missed], _ = within(drawn[missed], 0, n)
        return found

    def within(drawn: Any, start: int, end: int) -> tuple[Any, Any]:
        """Medians that are among these items in their order, and which resamples have others."""
        below = np.bincount(places[:start], minlength=len(sizes)).astype(np.float64)
        total = drawn @ sizes
        before = drawn @ below
        reached = before[:, None] + drawn[:, places[start:end]].cumsum(axis=1)
        # The item at rank (total - 1) // 2 and that at total // 2, counted from 0, as np.median.
        ranks = (total - 1) // 2, total // 2
        missed = (before > ranks[0]) | (reached[:, -1] <= ranks[1])
        # A missed one has no item here; its place is that of the last.
        lower, upper = (
            np.minimum(start + (reached <= rank[:, None]).sum(axis=1), n - 1) for rank in ranks
        )
        return (values[lower] + values[upper]) / 2, missed

    return medians


def macro_bootstrap(
    groups: Sequence[tuple[Sequence[float], Sequence[str]]],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """Percentile bootstrap over discourses of the unweighted mean of the groups' means.

    Args:
        groups: the values and the discourses of each group's items; a discourse may be in several
            groups, and is then drawn for all of them together.
        seed: same seed, same interval.
        resamples: how many resamples.

    Raises:
        ValueError: there is no group, or a group without items.
    """
    import numpy as np

    if not groups or not all(len(values) for values, _ in groups):
        raise ValueError("a macro average needs at least one group, and items in each")
    sums, sizes = _totals(groups)
    means = []
    for counts in resampled(len(sums), resamples, len(sums), seed):
        drawn = counts @ sizes
        # A group that a resample misses altogether says nothing in it.
        with np.errstate(invalid="ignore"):
            means.append(np.nanmean(np.where(drawn > 0, (counts @ sums) / drawn, np.nan), axis=1))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return Interval(float(low), float(high), "bootstrap")


def difference_bootstrap(
    sample: tuple[Sequence[float], Sequence[str]],
    control: tuple[Sequence[float], Sequence[str]],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """Percentile bootstrap over discourses of the mean of a sample minus that of another.

    The discourses of each sample are drawn apart from the other's (two independent samples; Efron
    and Tibshirani 1993, section 8.3). A discourse that is in both is drawn for both together.

    Args:
        sample, control: the values and the discourses of each one's items.
        seed: same seed, same interval.
        resamples: how many resamples.

    Raises:
        ValueError: a sample without items.
    """
    import numpy as np

    if not len(sample[0]) or not len(control[0]):
        raise ValueError("a difference needs at least one item on each side")
    sums, sizes = _totals([sample, control])
    held_by = (sizes > 0) @ np.array([1, 2])
    drawn_sums, drawn_sizes = np.zeros((resamples, 2)), np.zeros((resamples, 2))
    for stratum in (1, 2, 3):
        own = np.flatnonzero(held_by == stratum)
        if len(own):
            # A stream for each: strata of one size would else be drawn alike, and so vary together.
            blocks = list(_drawn_totals(sums[own], sizes[own], resamples, [seed, stratum]))
            drawn_sums += np.concatenate([block for block, _ in blocks])
            drawn_sizes += np.concatenate([block for _, block in blocks])
    means = drawn_sums / drawn_sizes
    low, high = np.quantile(means[:, 0] - means[:, 1], [0.025, 0.975])
    return Interval(float(low), float(high), "bootstrap")


def _totals(groups: Sequence[tuple[Sequence[float], Sequence[str]]]) -> tuple[Any, Any]:
    """Sums and numbers of the values of each discourse in each group: (discourses, groups)."""
    import numpy as np

    names = sorted({name for _, discourses in groups for name in discourses})
    place = {name: index for index, name in enumerate(names)}
    owners = [[place[name] for name in discourses] for _, discourses in groups]
    sums = [
        np.bincount(owner, weights=np.asarray(values, dtype=np.float64), minlength=len(names))
        for owner, (values, _) in zip(owners, groups, strict=True)
    ]
    sizes = [np.bincount(owner, minlength=len(names)) for owner in owners]
    return np.stack(sums, axis=1), np.stack(sizes, axis=1)


def _drawn_totals(
    sums: Any, sizes: Any, resamples: int, seed: Sequence[int]
) -> Iterator[tuple[Any, Any]]:
    """Sums and numbers of the values of each group in each resample, in blocks."""
    for counts in resampled(len(sums), resamples, len(sums), seed):
        yield counts @ sums, counts @ sizes
