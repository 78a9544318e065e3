"""How often intervals hold the truth, and how wide they are: ``python -m benchmarks.coverage``.

Samples are drawn from distributions whose truth is known, and each gets the interval that this
project computes and the one that it computed before (a percentile bootstrap over clusters; Wilson's
where every item is of another cluster). Prints the tables of docs/intervals.md, with more rows and
columns.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from coherencegym.eval.statistics.balance import weighted_interval
from coherencegym.eval.statistics.correlation import correlation, correlation_within
from coherencegym.eval.statistics.effective_size import cluster_ids, clustered
from coherencegym.eval.statistics.estimators import area
from coherencegym.eval.statistics.intervals import (
    Estimate,
    Interval,
    difference_of_means,
    interval_of,
    mean_interval,
    ratio_interval,
    share_interval,
)
from coherencegym.eval.statistics.paired import (
    _flipped,
    _whole_sums,
    difference_interval,
    sign_flips,
)
from coherencegym.eval.tasks.detect.documents import decision_parts

#: Numbers of clusters.
CLUSTERS = (2, 3, 4, 5, 7, 10, 20, 60, 200, 500)
#: True shares.
SHARES = (0.5, 0.7, 0.9, 0.97)
#: Resamples of the bootstrap that was used before.
RESAMPLES = 1000
Generator = np.random.Generator


#: The numbers of items of clusters, given the shape of the array.
Sizes = Callable[[tuple[int, int], Generator], Any]


def _all(size: int) -> Sizes:
    return lambda shape, _: np.full(shape, size)


def _one_to_five(shape: tuple[int, int], generator: Generator) -> Any:
    return generator.integers(1, 6, shape)


def _pareto(shape: tuple[int, int], generator: Generator) -> Any:
    """Half of the clusters have one item, and one in forty has forty, which is the most."""
    return np.minimum(40, np.floor(1 + generator.pareto(1.0, shape))).astype(int)


def _one_in_ten(shape: tuple[int, int], generator: Generator) -> Any:
    """One cluster in ten has forty items, the others have one."""
    return np.where(generator.random(shape) < 0.1, 40, 1)


@dataclass(frozen=True)
class Design:
    """Clusters of so many items, whose outcomes correlate so much within a cluster."""

    name: str
    sizes: Sizes
    correlation: float

    def chances(self, share: float, shape: tuple[int, int], generator: Generator) -> Any:
        """The chance of each cluster's items, with this share as the mean."""
        if self.correlation == 0 or share in (0.0, 1.0):
            return np.full(shape, share)
        if self.correlation == 1:
            return (generator.random(shape) < share).astype(float)
        strength = (1 - self.correlation) / self.correlation
        return generator.beta(share * strength, (1 - share) * strength, shape)


DESIGNS = (
    Design("1 item", _all(1), 0.0),
    Design("1 to 5, ICC 0", _one_to_five, 0.0),
    Design("1 to 5, ICC .3", _one_to_five, 0.3),
    Design("1 to 5, ICC 1", _one_to_five, 1.0),
    Design("20, ICC 0", _all(20), 0.0),
    Design("20, ICC .3", _all(20), 0.3),
    Design("20, ICC 1", _all(20), 1.0),
)
#: Designs in which a few clusters hold most items.
HEAVY = (
    Design("Pareto, ICC 0", _pareto, 0.0),
    Design("Pareto, ICC .3", _pareto, 0.3),
    Design("Pareto, ICC 1", _pareto, 1.0),
    Design("1 or 40, ICC .3", _one_in_ten, 0.3),
    Design("1 or 40, ICC 1", _one_in_ten, 1.0),
    Design("1 to 5, ICC .3", _one_to_five, 0.3),
    Design("20, ICC .3", _all(20), 0.3),
)


@dataclass(frozen=True)
class Found:
    """Coverage and mean width of an interval, before and now; before is nan where unknown."""

    before: tuple[float, float]
    now: tuple[float, float]


def judged(lows: Any, highs: Any, truth: float) -> tuple[float, float]:
    """The share of intervals that hold the truth, and their mean width."""
    lows, highs = np.asarray(lows), np.asarray(highs)
    held = (lows <= truth + 1e-9) & (truth - 1e-9 <= highs)
    return float(held.mean()), float((highs - lows).mean())


def _judged(found: Sequence[Interval | Estimate | None], truth: float) -> tuple[float, float]:
    known = [one for one in found if one is not None and one.low is not None]
    if not known:
        return math.nan, math.nan
    return judged([one.low for one in known], [one.high for one in known], truth)


def counts(clusters: int, generator: Generator) -> Any:
    """How often each cluster is drawn in each resample: (resamples, clusters)."""
    return generator.multinomial(clusters, [1 / clusters] * clusters, RESAMPLES).astype(float)


def _percentiles(drawn: Any) -> tuple[Any, Any]:
    low, high = np.nanquantile(drawn, [0.025, 0.975], axis=0)
    return low, high


def wilson(share: Any, n: Any) -> tuple[Any, Any]:
    """Wilson's score interval (1927)."""
    z2 = 1.959963984540054**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return centre - half, centre + half


def shares_before(sums: Any, sizes: Any, generator: Generator) -> tuple[Any, Any]:
    """The intervals of shares of earlier releases: (runs, clusters) each."""
    n, clusters = sizes.sum(axis=1), sums.shape[1]
    share = sums.sum(axis=1) / n
    if (sizes == 1).all():
        return wilson(share, n)
    drawn = counts(clusters, generator)
    low, high = _percentiles((drawn @ sums.T) / (drawn @ sizes.T))
    flat_low, flat_high = wilson(share, clusters)
    flat = high - low < 1e-9
    return np.where(flat, flat_low, low), np.where(flat, flat_high, high)


def of_shares(
    design: Design, clusters: int, share: float, runs: int, generator: Generator
) -> Found:
    """The intervals of a share."""
    shape = runs, clusters
    sizes = design.sizes(shape, generator)
    sums = generator.binomial(sizes, design.chances(share, shape, generator)).astype(float)
    sizes = sizes.astype(float)
    now = [
        interval_of(clustered(met, of, of.sum()), clusters)
        for met, of in zip(sums, sizes, strict=True)
    ]
    before = shares_before(sums, sizes, generator)
    return Found(judged(*before, share), _judged(now, share))


def of_heavy(design: Design, clusters: int, share: float, runs: int, generator: Generator) -> Found:
    """The intervals of a share; before is without what the insides of clusters say."""
    shape = runs, clusters
    sizes = design.sizes(shape, generator)
    sums = generator.binomial(sizes, design.chances(share, shape, generator)).astype(float)
    before, now = [], []
    for met, of in zip(sums, sizes.astype(float), strict=True):
        own = clustered(met, of, of.sum())
        now.append(interval_of(own, clusters))
        before.append(interval_of(replace(own, correlated=math.inf), clusters))
    return Found(_judged(before, share), _judged(now, share))


def _cells(found: Sequence[Found]) -> str:
    """The lowest coverage and the mean of the widths, before and now."""
    parts = []
    for kind in ("before", "now"):
        several = [getattr(one, kind) for one in found]
        coverage, width = min(c for c, _ in several), sum(w for _, w in several) / len(several)
        parts.append("–" if math.isnan(coverage) else f"{coverage:.3f} ({width:.3g})")
    return " → ".join(parts)


def table(
    head: str,
    rows: Sequence[int],
    columns: Sequence[str],
    measure: Callable[[int, str], Sequence[Found]],
) -> Iterator[str]:
    """A Markdown table: a row for each number, a column for each kind."""
    yield f"| {head} | " + " | ".join(columns) + " |"
    yield "|" + "---|" * (len(columns) + 1)
    for number in rows:
        cells = [_cells(measure(number, column)) for column in columns]
        yield f"| {number} | " + " | ".join(cells) + " |"


def share_table(rows: Sequence[int], runs: int, generator: Generator) -> Iterator[str]:
    """Shares; each cell over all true shares."""
    by_name = {design.name: design for design in DESIGNS}
    yield from table(
        "clusters",
        rows,
        list(by_name),
        lambda n, name: [of_shares(by_name[name], n, p, runs, generator) for p in SHARES],
    )


def heavy_table(rows: Sequence[int], runs: int, generator: Generator) -> Iterator[str]:
    """Shares where a few clusters hold most items; each cell over all true shares."""
    by_name = {design.name: design for design in HEAVY}
    yield from table(
        "clusters",
        rows,
        list(by_name),
        lambda n, name: [of_heavy(by_name[name], n, p, runs, generator) for p in SHARES],
    )


#: True shares of the configs of a headline.
GROUPS = (0.3, 0.5, 0.6, 0.7, 0.9)


def of_means(clusters: int, across: bool, runs: int, generator: Generator) -> Found:
    """The intervals of a mean over configs, each of so many clusters of 1 to 5 items, ICC .3.

    ``across``: a cluster has items in all configs; else each has clusters of its own.
    """
    design, truth = DESIGNS[2], sum(GROUPS) / len(GROUPS)
    now: list[Interval] = []
    low: list[float] = []
    high: list[float] = []
    total = clusters if across else clusters * len(GROUPS)
    drawn = counts(total, generator)
    for _ in range(runs):
        groups, sums, sizes = [], np.zeros((total, 5)), np.zeros((total, 5))
        for place, share in enumerate(GROUPS):
            of = design.sizes((1, clusters), generator)[0]
            met = generator.binomial(of, design.chances(share, (1, clusters), generator)[0])
            names = np.arange(clusters) + (0 if across else place * clusters)
            sums[names, place], sizes[names, place] = met, of
            values = [float(i < m) for m, n in zip(met, of, strict=True) for i in range(n)]
            groups.append((values, [str(name) for name in np.repeat(names, of)]))
        weights = [1 / len(own) for own, _ in groups for _ in own]
        together, clusters_of = (
            [each for own in one for each in own] for one in zip(*groups, strict=True)
        )
        now.append(weighted_interval(together, weights, clusters_of))
        with np.errstate(invalid="ignore"):
            means = np.nanmean((drawn @ sums) / (drawn @ sizes), axis=1)
        for ends, end in zip((low, high), _percentiles(means), strict=True):
            ends.append(end)
    return Found(judged(low, high, truth), _judged(now, truth))


#: Shares of items that two models judge differently, and of these the share that the second wins.
DIFFERENCES = ((0.05, 0.5), (0.05, 0.9), (0.3, 0.5), (0.3, 0.8), (0.3, 1.0))


def of_differences(
    design: Design, clusters: int, runs: int, generator: Generator
) -> Iterator[tuple[Found, float, float]]:
    """The intervals of a difference; how often the old and the new contradict the test."""
    drawn = counts(clusters, generator)
    for differ, won in DIFFERENCES:
        truth = differ * (2 * won - 1)
        now, low, high, p = [], [], [], []
        for _ in range(runs):
            of = design.sizes((1, clusters), generator)[0]
            differs = design.chances(differ, (1, clusters), generator)[0]
            wins = design.chances(won, (1, clusters), generator)[0]
            ids = np.repeat(np.arange(clusters), of)
            signs = np.where(generator.random(len(ids)) < wins[ids], 1.0, -1.0)
            values = signs * (generator.random(len(ids)) < differs[ids])
            names = [str(name) for name in ids]
            test = sign_flips(values.tolist(), names)
            p.append(test.p)
            now.append(difference_interval(values.tolist(), names, test))
            sums = np.bincount(ids, weights=values, minlength=clusters)
            ends = _percentiles((drawn @ sums) / (drawn @ of))
            if ends[1] - ends[0] < 1e-9:
                other = wilson(0.0, clusters)[1]
                middle = (1 - other) * values.mean()
                ends = middle - other, middle + other
            low.append(ends[0])
            high.append(ends[1])
        found = Found(judged(low, high, truth), _judged(now, truth))
        significant = np.array(p) < 0.05
        yield (
            found,
            float((((np.array(low) > 0) | (np.array(high) < 0)) != significant).mean()),
            float(((_ends(now, "low") > 0) | (_ends(now, "high") < 0) != significant).mean()),
        )


@dataclass(frozen=True)
class Tested:
    """Differences of two models.

    Attributes:
        design: the items of clusters, and how they correlate.
        worse: the share of clusters that are worse by 1; the others are better by as much as makes
            the means equal.
        change: where that is 0, the share of items that are judged differently, and of these the
            share that the second model wins.
        is_share: a cluster is one item, and these are its predictions.
    """

    design: Design
    worse: float = 0.0
    change: tuple[float, float] = (0.3, 0.5)
    is_share: bool = False


_EVEN, _BETTER = (0.3, 0.5), (0.3, 0.8)
TESTED = {
    "1 in 11 worse": Tested(DESIGNS[0], 1 / 11),
    "1 in 21 worse": Tested(DESIGNS[0], 1 / 21),
    "1 in 11, 1 to 5 items": Tested(DESIGNS[3], 1 / 11),
    "1 in 11, Pareto": Tested(HEAVY[2], 1 / 11),
    "even, 1 to 5 items": Tested(DESIGNS[2], change=_EVEN),
    "even, 20 items": Tested(DESIGNS[5], change=_EVEN),
    "better, 1 item": Tested(DESIGNS[0], change=_BETTER),
    "better, 5 predictions": Tested(Design("", _all(5), 0.3), change=_BETTER, is_share=True),
    "better, 1 to 5 items": Tested(DESIGNS[2], change=_BETTER),
    "better, 20 items": Tested(DESIGNS[5], change=_BETTER),
}


def of_tests(kind: Tested, clusters: int, runs: int, generator: Generator) -> tuple[float, float]:
    """How often p is below 0.05: of the sign flips alone, and of the test as it is."""
    found, shape = [], (1, clusters)
    for _ in range(runs):
        ids = np.repeat(np.arange(clusters), kind.design.sizes(shape, generator)[0])
        if kind.worse:
            less = generator.random(clusters) < kind.worse
            values = np.where(less, -1.0, round(kind.worse / (1 - kind.worse), 9))[ids]
        else:
            differ, won = (kind.design.chances(one, shape, generator)[0] for one in kind.change)
            signs = np.where(generator.random(len(ids)) < won[ids], 1.0, -1.0)
            values = signs * (generator.random(len(ids)) < differ[ids])
        if kind.is_share:
            values, ids = np.bincount(ids, values) / np.bincount(ids), np.arange(clusters)
        names = list(map(str, ids.tolist()))
        number, of = cluster_ids(names)
        flips = _flipped(*_whole_sums(values.tolist(), of, number), 0)
        found.append((flips.p < 0.05, sign_flips(values.tolist(), names).p < 0.05))
    before, now = np.mean(found, axis=0)
    return float(before), float(now)


def rejection_table(rows: Sequence[int], runs: int, generator: Generator) -> Iterator[str]:
    """Shares of samples in which the test of a difference has p < 0.05."""
    yield "| clusters | " + " | ".join(TESTED) + " |"
    yield "|" + "---|" * (len(TESTED) + 1)
    for number in rows:
        cells = (of_tests(kind, number, runs, generator) for kind in TESTED.values())
        yield f"| {number} | " + " | ".join(f"{a:.3f} → {b:.3f}" for a, b in cells) + " |"


#: Crossed items: how often each document is in one, and the correlation of (latent)
#: outcomes of two items that share one. A `star` has one document in a quarter of all items.
DYADS = {
    "1 item, .3": (1, 0.3),
    "2 items, 0": (2, 0.0),
    "2 items, .1": (2, 0.1),
    "2 items, .3": (2, 0.3),
    "6 items, .1": (6, 0.1),
    "6 items, .3": (6, 0.3),
    "star, .3": (0, 0.3),
}


def dyads(documents: int, kind: str, runs: int, generator: Generator) -> Iterator[tuple[Any, Any]]:
    """Samples of pairs of documents, and the latent outcomes of their items, normal deviates."""
    times, correlation = DYADS[kind]
    for _ in range(runs):
        orders = [generator.permutation(documents) for _ in range(max(times, 1))]
        pairs = np.concatenate([order.reshape(-1, 2) for order in orders])
        if not times:
            others = np.arange(1, 1 + documents // 6)
            pairs = np.concatenate([pairs, np.column_stack([np.zeros_like(others), others])])
        effects = math.sqrt(correlation) * generator.standard_normal(documents)
        rest = math.sqrt(1 - 2 * correlation) * generator.standard_normal(len(pairs))
        yield pairs, effects[pairs].sum(axis=1) + rest


def alone(pairs: Any) -> Any:
    """The number of each item's pair."""
    return np.unique(pairs, axis=0, return_inverse=True)[1]


def of_dyads(documents: int, kind: str, runs: int, generator: Generator) -> list[Found]:
    """The intervals of a share; before is as if items of other pairs were independent."""
    found = []
    for share in SHARES:
        now, before = [], []
        for pairs, latent in dyads(documents, kind, runs, generator):
            right: Any = (latent < ndtri(share)).astype(float)
            now.append(share_interval(right, pairs))
            before.append(share_interval(right, alone(pairs)))
        found.append(Found(_judged(before, share), _judged(now, share)))
    return found


def of_controlled(number: int, kind: str, runs: int, generator: Generator) -> list[Found]:
    """The intervals of a share of weighted items, of discourses or of pairs of documents."""
    found = []
    for share in SHARES:
        now = []
        for names, right in _weighed(number, kind, share, runs, generator):
            weights: Any = np.exp(0.6 * generator.standard_normal(len(right)))
            now.append(weighted_interval(right.astype(float), weights, names))
        found.append(Found((math.nan, math.nan), _judged(now, share)))
    return found


def _weighed(
    number: int, kind: str, share: float, runs: int, generator: Generator
) -> Iterator[tuple[Any, Any]]:
    if kind in DYADS:
        for pairs, latent in dyads(number, kind, runs, generator):
            yield pairs, latent < ndtri(share)
        return
    design = next(own for own in DESIGNS if own.name == kind)
    for _ in range(runs):
        ids = np.repeat(np.arange(number), design.sizes((1, number), generator)[0])
        yield (
            ids,
            generator.random(len(ids)) < design.chances(share, (1, number), generator)[0][ids],
        )


def dyad_tests(rows: Sequence[int], runs: int, generator: Generator) -> Iterator[str]:
    """Shares of samples in which a difference of items of two documents has p < 0.05."""
    balances = {"equal": 0.5, "better": 0.8}
    heads = [f"{kind}, {name}" for name in balances for kind in DYADS]
    yield "| documents | " + " | ".join(heads) + " |"
    yield "|" + "---|" * (len(heads) + 1)
    for number in rows:
        cells = []
        for won in balances.values():
            for kind in DYADS:
                found = []
                for pairs, latent in dyads(number, kind, runs, generator):
                    changed = generator.random(len(pairs)) < 0.3
                    values: Any = np.where(latent < ndtri(won), 1.0, -1.0) * changed
                    found.append(
                        [sign_flips(values, own).p < 0.05 for own in (alone(pairs), pairs)]
                    )
                before, now = np.mean(found, axis=0)
                cells.append(f"{before:.3f} → {now:.3f}")
        yield f"| {number} | " + " | ".join(cells) + " |"


def _ends(found: Sequence[Any], name: str) -> Any:
    return np.array([getattr(one, name) for one in found])


def difference_table(rows: Sequence[int], runs: int, generator: Generator) -> Iterator[str]:
    """Differences; each cell over all kinds of differences."""
    chosen = [DESIGNS[0], DESIGNS[2], DESIGNS[3], DESIGNS[5]]
    names = [design.name for design in chosen]
    yield "| clusters | " + " | ".join(names) + " | other than the test |"
    yield "|" + "---|" * (len(chosen) + 2)
    for number in rows:
        found = [list(of_differences(design, number, runs, generator)) for design in chosen]
        cells = [_cells([one for one, _, _ in column]) for column in found]
        contradicted = (np.mean([row[k] for column in found for row in column]) for k in (1, 2))
        cells.append(" → ".join(f"{100 * share:.1f} %" for share in contradicted))
        yield f"| {number} | " + " | ".join(cells) + " |"


def of_bits(clusters: int, kind: str, runs: int, generator: Generator) -> Found:
    """The intervals of means and differences of means in bits; clusters of 1 to 5."""
    statistic, _, shape = kind.partition(", ")
    drawn = counts(clusters, generator)
    other = counts(clusters, generator)

    def sample() -> tuple[Any, Any]:
        """Half of the variance is between clusters."""
        ids = np.repeat(np.arange(clusters), generator.integers(1, 6, clusters))
        if shape == "skewed":
            return (
                generator.exponential(1, clusters)[ids] + generator.exponential(1, len(ids)),
                ids,
            )
        return generator.normal(0, 1, clusters)[ids] + generator.normal(0, 1, len(ids)), ids

    truth = 2.0 if shape == "skewed" and statistic == "mean" else 0.0
    now, low, high = [], [], []
    for _ in range(runs):
        values, ids = sample()
        names = [str(name) for name in ids]
        means = _resampled_means(values, ids, drawn)
        if statistic == "mean":
            now.append(mean_interval(values.tolist(), names))
        else:
            theirs, other_ids = sample()
            pair = theirs.tolist(), [f"b{name}" for name in other_ids]
            now.append(difference_of_means((values.tolist(), names), pair))
            means = means - _resampled_means(theirs, other_ids, other)
        ends = _percentiles(means)
        low.append(ends[0])
        high.append(ends[1])
    return Found(judged(low, high, truth), _judged(now, truth))


def _resampled_means(values: Any, ids: Any, drawn: Any) -> Any:
    return (drawn @ np.bincount(ids, weights=values)) / (drawn @ np.bincount(ids))


def of_documents(number: int, kind: str, runs: int, generator: Generator) -> Found:
    """F1 and the area under the ROC curve over documents of five sentences, half with an intruder.

    An intruder scores a standard deviation higher; one of documents as hard as they come.
    """

    def documents(n: int) -> tuple[Any, Any]:
        places = np.where(generator.random(n) < 0.5, generator.integers(1, 5, n), -1)
        scores = generator.normal(0, 1, (n, 5)) + generator.normal(0, 1, (n, 1))
        scores[places > 0, places[places > 0]] += 1.0
        return scores, places

    scores, places = documents(200_000)
    wanted = np.zeros(scores.shape, dtype=bool)
    wanted[places > 0, places[places > 0]] = True
    if kind == "F1":
        predicted = scores[:, 1:] > 1
        truth = 2 * (predicted & wanted[:, 1:]).sum() / (predicted.sum() + wanted[:, 1:].sum())
    else:
        yes, no = scores[:, 1:][wanted[:, 1:]], scores[:, 1:][~wanted[:, 1:]]
        truth = (np.searchsorted(np.sort(no), yes) / len(no)).mean()
    names = [str(place) for place in range(number)]
    drawn = counts(number, generator)
    now, low, high = [], [], []
    for _ in range(runs):
        scores, places = documents(number)
        predicted = [
            decision_parts([i for i in range(1, 5) if s[i] > 1], p)["f1"]
            for s, p in zip(scores, places, strict=True)
        ]
        if kind == "F1":
            parts = np.array(predicted)
            now.append(_f1(parts, names))
            with np.errstate(invalid="ignore"):
                resampled = (drawn @ parts[:, 0]) / (drawn @ parts[:, 1])
        else:
            truths = places[:, None] == np.arange(1, scores.shape[1])
            clusters = np.repeat(names, scores.shape[1] - 1).tolist()
            now.append(area(scores[:, 1:].ravel(), truths.ravel(), clusters))
            resampled = _resampled_areas(scores, places, drawn)
        if now[-1].value is None or np.isnan(resampled).all():
            now.pop()
            continue
        ends = _percentiles(resampled)
        low.append(ends[0])
        high.append(ends[1])
    return Found(judged(low, high, float(truth)), _judged(now, float(truth)))


def _f1(parts: Any, names: Sequence[str]) -> Estimate:
    hits, wholes = parts.sum(axis=0)
    if not wholes:
        return Estimate(None, None, len(parts))
    interval = ratio_interval(parts[:, 0], parts[:, 1], names, wholes**2 / (hits + wholes))
    return Estimate(hits / wholes, interval, len(parts))


def _resampled_areas(scores: Any, places: Any, drawn: Any) -> Any:
    mine = np.where(places > 0, scores[np.arange(len(places)), places], np.nan)
    others = scores[:, 1:].copy()
    others[places > 0, places[places > 0] - 1] = np.nan
    wins = (mine[:, None, None] > others[None]).sum(axis=2)
    pairs = (drawn @ (places > 0)) * (drawn @ (~np.isnan(others)).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return ((drawn @ wins) * drawn).sum(axis=1) / pairs


def of_partial_inputs(number: int, cue: str, runs: int, generator: Generator) -> Found:
    """The partial-input baseline: a cue in more of the incoherent texts, two items a discourse."""
    from coherencegym.eval.statistics.bag_of_words import FOLDS, out_of_fold_scores

    more = float(cue.rpartition(" ")[2]) / 2
    words = [f"w{place}" for place in range(60)]
    ids = [str(place // 2) for place in range(2 * number)]
    values = []
    for _ in range(runs):
        texts = []
        for chance in (0.5 + more, 0.5 - more) * (2 * number):
            drawn = [*generator.choice(words, 5), *["cue"] * (generator.random() < chance)]
            texts.append((" ".join(drawn),))
        labels, of_texts = [1, 0] * (2 * number), [name for name in ids for _ in range(2)]
        scores = np.array(out_of_fold_scores(texts, labels, of_texts)).reshape(-1, 2)
        values.append(np.where(np.ptp(scores, axis=1) < 1e-9, 0.5, scores[:, 0] > scores[:, 1]))
    truth = float(np.mean(values))
    now = [share_interval(own.tolist(), ids, folds=FOLDS) for own in values]
    sums = np.array(values).reshape(runs, number, 2).sum(axis=2)
    before = shares_before(sums, np.full(sums.shape, 2.0), generator)
    return Found(judged(*before, truth), _judged(now, truth))


#: Texts of a prompt, how much of their variance is the prompt's, and the correlations that are
#: tried between scores and what raters feel.
_TEXTS, _SHARED, _STRENGTHS = 3, 0.3, (0.0, 0.3, 0.7)
#: Clusters of the sample whose correlation is the true one.
_MANY = 20_000


def of_correlations(clusters: int, kind: str, runs: int, generator: Generator) -> list[Found]:
    """Spearman's coefficient of scores with ratings from 1 to 5, partial, or within clusters.

    What is held constant goes along with the score. Nothing was computed before.
    """

    def texts(number: int, strength: float) -> tuple[Any, Any, Any]:
        shape = [[1, strength], [strength, 1]]
        shared = generator.multivariate_normal([0, 0], shape, number).repeat(_TEXTS, axis=0)
        own = generator.multivariate_normal([0, 0], shape, number * _TEXTS)
        scores, felt = (math.sqrt(_SHARED) * shared + math.sqrt(1 - _SHARED) * own).T
        ratings = np.clip(np.round(3.5 + 1.2 * felt), 1, 5)
        return scores, ratings, 0.3 * scores + generator.normal(size=len(scores))

    def measured(number: int, strength: float) -> Any:
        scores, ratings, lengths = texts(number, strength)
        names = [f"{place:06d}" for place in np.arange(number).repeat(_TEXTS)]
        if kind == "within clusters":
            return correlation_within(scores, ratings, names)
        return correlation(scores, ratings, names, lengths if kind == "partial" else None)

    found = []
    for strength in _STRENGTHS:
        truth = measured(_MANY, strength).value
        now = [own.interval for _ in range(runs) if (own := measured(clusters, strength))]
        found.append(Found((math.nan, math.nan), _judged(now, truth)))
    return found


def sections(quick: bool, runs: int, seed: int) -> Iterator[tuple[str, Iterator[str]]]:
    """The tables, each with its title; ``quick``: of few clusters."""

    def generator(number: int) -> Generator:
        return np.random.default_rng([seed, number])

    few = (2, 5) if quick else (2, 3, 5, 10, 20, 60, 200)
    yield "Shares", share_table(few if quick else CLUSTERS, runs, generator(0))
    fewer = max(2, runs // 4)
    draw = generator(1)
    yield (
        "Means of five configs",
        table(
            "clusters of a config",
            (1, 2) if quick else (1, 2, 3, 5, 10, 20, 60),
            ("clusters of one config", "clusters of all configs"),
            lambda n, kind: [of_means(n, kind.endswith("all configs"), fewer, draw)],
        ),
    )
    yield "Differences of two models", difference_table(few, fewer, generator(2))
    bits = generator(3)
    yield (
        "Margins, bits",
        table(
            "clusters",
            few,
            [f"{what}, {how}" for what in ("mean", "difference") for how in ("normal", "skewed")],
            lambda n, kind: [of_bits(n, kind, fewer, bits)],
        ),
    )
    ours = generator(4)
    yield (
        "Detection",
        table(
            "documents",
            few[1:],
            ("F1", "AUC"),
            lambda n, kind: [of_documents(n, kind, fewer, ours)],
        ),
    )
    rated = generator(6)
    yield (
        "Correlations with ratings",
        table(
            "clusters",
            few[1:],
            ("plain", "partial", "within clusters"),
            lambda n, kind: of_correlations(n, kind, fewer, rated),
        ),
    )
    uneven = (5, 10) if quick else (5, 10, 20, 60, 200, 500)
    yield "Clusters of different sizes", heavy_table(uneven, runs, generator(7))
    yield "Tests of differences", rejection_table(few[1:], runs, generator(8))
    pairs = generator(9)
    yield (
        "Crossed items",
        table(
            "documents",
            (6, 10) if quick else (6, 10, 20, 40, 80, 200),
            list(DYADS),
            lambda n, kind: of_dyads(n, kind, fewer, pairs),
        ),
    )
    weighed = generator(11)
    yield (
        "Controlled scores",
        table(
            "discourses",
            (6, 10) if quick else (6, 10, 20, 40, 200),
            ("1 item", "1 to 5, ICC .3", "20, ICC .3", *DYADS),
            lambda n, kind: of_controlled(n, kind, fewer, weighed),
        ),
    )
    some = (6, 10) if quick else (10, 20, 40, 80, 200)
    yield "Differences of two documents", dyad_tests(some, fewer, generator(10))
    classifier = generator(5)
    yield (
        "Partial-input baselines",
        table(
            "discourses",
            (20,) if quick else (20, 60),
            ("cue 0", "cue 0.4") if quick else ("cue 0", "cue 0.2", "cue 0.4", "cue 0.8"),
            lambda n, kind: [of_partial_inputs(n, kind, max(2, runs // 10), classifier)],
        ),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, metavar="N", help="samples; default 2000")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default 0")
    parser.add_argument("--only", metavar="TEXT", help="tables with this in their title")
    parser.add_argument("--quick", action="store_true", help="few clusters: to see that it runs")
    chosen = parser.parse_args(arguments)
    for title, lines in sections(chosen.quick, chosen.runs, chosen.seed):
        if chosen.only is None or chosen.only.lower() in title.lower():
            print(f"## {title}\n", flush=True)
            for line in lines:
                print(line, flush=True)
            print()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
