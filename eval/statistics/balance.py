"""Balance weights: weights of items under which no counted cue tells the coherent side.

Of each item there is a vector of surface differences (:mod:`eval.statistics.surface`). The weights
are above 0, add up to 1, and make the weighted mean of each difference, and of its sign, zero; of
all such weights they are the nearest to equal ones, by their entropy (Hainmueller 2012, "Entropy
balancing for causal effects", Political Analysis 20). A task in which no single feature tells
anything of the answer is a competency problem (Gardner et al. 2021): the weights make one of any
items, for the cues that are counted and for no others. They are solved from features alone, never
from what a model does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherencegym.eval.statistics.effective_size import (
    ROUNDING,
    cluster_pairs,
    effective_sample_size,
    over_documents,
    quantile_of_t,
)
from coherencegym.eval.statistics.intervals import Interval

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.statistics.surface import SurfaceDifferences

#: The version of the weights: with other features or another method it is another one.
BALANCE_VERSION = 1
#: Weights are feasible where no mean that remains is larger than this many standard deviations,
#: and no item has a larger part of the weight.
MOST_REMAINING, MOST_OF_ONE = 0.02, 0.05
#: One feature is balanced for so many items, and with fewer than 500 items no more than twelve.
_ITEMS_A_FEATURE, _FEW_ITEMS, _FEW_FEATURES = 12, 500, 12
#: A feature counts where it differs in this share of the items.
_RARELY = 0.02
_STEPS = 200
#: Rounds in which the correlation inside clusters is estimated.
_ROUNDS = 5
_DONE = 1e-12
#: Of the squares of the multipliers; what it leaves of a mean is far below what is feasible.
_PENALTY = 1e-5
#: The name of the interval of a weighted mean.
WILSON = "Wilson, weighted"
#: The smallest weight, as a part of an equal one.
_SMALLEST = 1e-9


@dataclass(frozen=True)
class Balance:
    """Weights of items, and what they leave.

    Attributes:
        weights: one for each item; they add up to 1.
        remaining: the largest mean difference that is left, in standard deviations.
        worst: the feature that has it.
    """

    weights: np.ndarray
    remaining: float
    worst: str

    @property
    def effective(self) -> float:
        """The number of equally weighted items that they are worth, 1 / Σw² (Kish 1965)."""
        return 1 / float(self.weights @ self.weights) if len(self.weights) else 0.0

    @property
    def solved(self) -> bool:
        """No mean remains: there are weights that balance the items."""
        return bool(len(self.weights)) and self.remaining < MOST_REMAINING

    @property
    def feasible(self) -> bool:
        """No mean remains, and no item outweighs the others."""
        return self.solved and float(self.weights.max()) <= MOST_OF_ONE


def balanced(differences: SurfaceDifferences) -> Balance:
    """The balance weights of items by their surface differences and the signs of these.

    Of the features that differ at all, the first are balanced: one for every twelve items, and no
    more than twelve of fewer than 500 items.
    """
    import numpy as np

    items = differences.items
    most = items // _ITEMS_A_FEATURE
    if items < _FEW_ITEMS:
        most = min(most, _FEW_FEATURES)
    differing = (abs(differences.signs) > 0).mean(axis=0) if items else np.zeros(0)
    chosen = np.flatnonzero(differing >= _RARELY)[:most]
    columns = np.hstack([differences.means[:, chosen], differences.signs[:, chosen]])
    return balance_of(columns, [*(differences.names[place] for place in chosen)] * 2)


def balance_of(columns: np.ndarray, names: Sequence[str]) -> Balance:
    """The weights under which the weighted mean of each column is zero; (items, columns)."""
    import numpy as np

    items = len(columns)
    size = np.sqrt((columns**2).mean(axis=0)) if items else np.zeros(len(names))
    scaled = columns[:, size > 0] / size[size > 0]
    names = [name for name, one in zip(names, size > 0, strict=True) if one]
    if not items:
        return Balance(np.zeros(0), 0.0, "")
    weights = _solved(scaled)
    if not names:
        return Balance(weights, 0.0, "")
    means = abs(weights @ scaled)
    worst = int(means.argmax())
    return Balance(weights, float(means[worst]), names[worst])


def _solved(columns: np.ndarray) -> Any:
    # Newton's method on the dual, log Σ exp(x λ), which is convex, with steps that are halved until
    # it falls. Where no weights do, λ would grow without end: a small penalty stops it, and what
    # remains says so.
    import numpy as np

    items, number = columns.shape
    if not columns.size:
        return np.full(items, 1 / max(1, items))
    multipliers = np.zeros(number)
    value, weights = _dual(columns, multipliers)
    for _ in range(_STEPS):
        means = weights @ columns
        centred = columns - means
        curvature = centred.T @ (weights[:, None] * centred)
        curvature[np.diag_indices(number)] += _PENALTY
        slope = means + _PENALTY * multipliers
        step = np.linalg.solve(curvature, slope)
        if slope @ step < _DONE:
            break
        shrink = 1.0
        while shrink > _DONE:
            lower, found = _dual(columns, multipliers - shrink * step)
            if lower < value:
                break
            shrink /= 2
        else:
            break
        multipliers, value, weights = multipliers - shrink * step, lower, found
    # None is as small as zero.
    weights = np.maximum(weights, _SMALLEST / items)
    return weights / weights.sum()


def _dual(columns: np.ndarray, multipliers: np.ndarray) -> tuple[float, Any]:
    import numpy as np

    scores = columns @ multipliers
    largest = scores.max()
    exponents = np.exp(scores - largest)
    total = exponents.sum()
    penalty = _PENALTY / 2 * float(multipliers @ multipliers)
    return float(largest + math.log(total)) + penalty, exponents / total


def weighted_interval(
    values: Sequence[float], weights: Sequence[float], clusters: Sequence[str]
) -> Interval:
    """The 95 % interval of a weighted mean of values from 0 to 1, one for each item.

    It is Wilson's (1927) on the effective number of items, 1 / Σw², divided by the design effect of
    the clusters: how many fewer items would do if they were independent, by how alike the outcomes
    of a cluster are (Kish 1965). The variance over clusters, as that of other scores, is too small
    where a few weights are large. Of one cluster it is from 0 to 1.
    """
    value, size, number = weighted_size(values, weights, clusters)
    if number < 2:
        return Interval(0.0, 1.0, "one cluster")
    low, high = wilson_limits(value, size)
    return Interval(low, high, WILSON)


def weighted_size(
    values: Sequence[float], weights: Sequence[float], clusters: Sequence[str]
) -> tuple[float, float, int]:
    """The weighted mean, the number of independent items that it is worth, and that of clusters."""
    import numpy as np

    weight = np.asarray(weights, dtype=np.float64)
    weight = weight / weight.sum()
    value = np.asarray(values, dtype=np.float64)
    mean = float(weight @ value)
    number, ids, documents = cluster_pairs(clusters)
    most = 1 / float(weight @ weight)
    of_cluster = np.bincount(ids, weights=weight)
    if documents is None:
        fewest = effective_sample_size(of_cluster)
    else:
        fewest = effective_sample_size(over_documents(of_cluster, documents), of_cluster)
    fewest = min(fewest, most)
    means = np.bincount(ids, weights=weight * value) / of_cluster
    free = float(np.maximum(most * of_cluster - 1, 0).sum())
    inside = most * (mean - float(of_cluster @ means**2)) / free if free > ROUNDING else 0.0
    size = most
    # The variance about the mean of the sample is too small by what the mean itself varies.
    for _ in range(_ROUNDS):
        over_all = mean * (1 - mean) * size / max(size - 1, 1.0)
        alike = min(1.0, max(0.0, 1 - inside / over_all)) if over_all > ROUNDING else 1.0
        size = most / (1 + alike * (most / fewest - 1))
    return mean, size, number


def wilson_limits(share: float, size: float) -> tuple[float, float]:
    """Limits of a binomial share of so many trials (Wilson 1927).

    The number of trials is estimated: the quantile is Student's, with one degree of freedom less.
    """
    z = quantile_of_t(size - 1)
    centre = (share + z**2 / (2 * size)) / (1 + z**2 / size)
    half = z * math.sqrt(share * (1 - share) / size + z**2 / (4 * size**2)) / (1 + z**2 / size)
    return max(0.0, centre - half), min(1.0, centre + half)
