"""The effective size of a share: how many independent items those of some clusters are worth.

Items of one cluster (a discourse, or a family of those that share text) are not independent. The
variance of their mean, estimated over clusters, says how many independent items would have it: the
effective size, by which a binomial interval is computed (Kish 1965; Korn and Graubard 1998). What
is particular here is what is done where clusters are few, and benchmarks/coverage.py shows why:

- residuals are those of Bell and McCaffrey (2002), unbiased also where clusters differ in size;
- the size is never above what Kish's formula gives for the intraclass correlation that the insides
  of the clusters show (:func:`correlated_size`). Where a few clusters hold most items, the
  variance over clusters is that of those few: without the rarer outcome in one of them it is too
  small, however many small clusters show that a cluster has one outcome. Where clusters are of one
  size this is never the smaller one;
- the size is corrected by quantiles of t (Korn and Graubard 1998), with no more degrees of freedom
  than there are clusters among which the rarer outcome is spread: of outcomes that came together in
  one cluster the variance is known as badly as if there were one cluster;
- it is never above the number of independent observations, nor below what the clusters would be
  worth if all items of a cluster had one outcome, as no variance is larger than that.

An item of two documents, each of which may be in items with others, is in no cluster: it varies
with every item that shares either document (a dyad: Fafchamps and Gubert 2007, "The formation of
risk sharing networks", Journal of Development Economics 83; Aronow, Samii and Assenova 2015,
"Cluster-robust variance estimation for dyadic data", Political Analysis 23). Products of items that
share a document are those inside documents, less those inside pairs, which share both (Cameron and
Miller 2014, "Robust inference for dyadic data"). So are sizes: each sum of squares over clusters is
that over documents less that over pairs. The name of an item's cluster then has both documents
(:data:`WITH`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

#: Two-sided 95 %.
TAIL = 0.025
#: Shares and variances this near to their limits differ from them by rounding alone.
ROUNDING = 1e-12
#: Stands between the two documents of an item in the name of its cluster.
WITH = " × "
#: The fewest degrees of freedom of a quantile of t; with fewer it would say nothing.
_FEWEST_DF = 0.5


@dataclass(frozen=True, slots=True)
class Clusters:
    """A weighted mean of values from 0 to 1, by cluster: arrays of one number for each cluster.

    Attributes:
        weights: add up to 1 over all clusters, and to 2 over the documents of dyads.
        totals: weight times value; they add up to the mean, or to twice as much.
        residuals: deviations of the mean that come from each cluster.
        fewest, most: the worth of the clusters if all items of one have one outcome, and if all
            observations are independent.
        correlated: the worth by :func:`correlated_size`; infinite where that is not known.
        pairs: the same by pair of documents, where these here are the documents of dyads.
    """

    weights: np.ndarray
    totals: np.ndarray
    residuals: np.ndarray
    fewest: float
    most: float
    correlated: float = math.inf
    pairs: Clusters | None = None

    @property
    def share(self) -> float:
        """The mean."""
        totals = self.totals if self.pairs is None else self.pairs.totals
        return min(1.0, max(0.0, float(totals.sum())))

    @property
    def variance(self) -> float:
        """The variance of the mean; of dyads no less than with pairs as independent clusters."""
        own = float(self.residuals @ self.residuals)
        return own if self.pairs is None else max(own - self.pairs.variance, self.pairs.variance)

    def _rarer(self, share: float) -> np.ndarray:
        return self.weights - self.totals if share > 0.5 else self.totals

    @property
    def size(self) -> float:
        """The effective size."""
        share = self.share
        variance = self.variance
        if min(share, 1 - share) < ROUNDING or self.fewest >= self.most:
            return min(self.fewest, self.most)
        if variance < ROUNDING**2:
            # The clusters do not differ at all: so many independent ones would hardly ever do that.
            estimate = self.most
        else:
            estimate = share * (1 - share) * self.most / max(self.most - 1, ROUNDING) / variance
        estimate = min(estimate, self.correlated)
        pairs = None if self.pairs is None else self.pairs._rarer(share)
        rare = effective_sample_size(self._rarer(share), pairs)
        freedom = min(self.fewest - 1, rare)
        correction = quantile_of_t(self.most - 1) / quantile_of_t(freedom)
        return min(self.most, max(self.fewest, min(estimate, self.most) * correction**2))


def effective_sample_size(weights: np.ndarray, pairs: np.ndarray | None = None) -> float:
    """The number of equal weights that a mean with these is worth (Kish 1965, section 11.7).

    Of dyads the weights are those of documents, and ``pairs`` those of pairs of documents.
    """
    if pairs is None:
        return float(weights.sum() ** 2 / (weights @ weights))
    return float(pairs.sum() ** 2 / (weights @ weights - pairs @ pairs))


def clustered(
    sums: np.ndarray, sizes: np.ndarray, most: float, documents: np.ndarray | None = None
) -> Clusters:
    """A share of sums by cluster: the sums of ``sums`` over those of ``sizes``, arrays.

    ``documents`` are both of each cluster, where clusters are pairs (:func:`cluster_pairs`).
    """
    import numpy as np

    whole, keep = sizes.sum(), sizes > 0
    if not keep.all():
        sums, sizes = sums[keep], sizes[keep]
        documents = None if documents is None else documents[keep]
    weights, totals = sizes / whole, sums / whole
    # In place, here and below, as there may be millions of clusters.
    residuals = totals.sum() * weights
    np.subtract(totals, residuals, out=residuals)
    apart = None
    if documents is not None:
        both = [over_documents(own, documents) for own in (weights, totals, residuals)]
        apart = both[0], both[1], adjusted(both[2], both[0])
    residuals = adjusted(residuals, weights)
    fewest = effective_sample_size(weights)
    # Rounding aside, they are the same where every item is of another cluster.
    most = max(most, fewest)
    parts = totals / weights
    squares = np.multiply(parts, totals, out=parts).sum()
    free = np.maximum(np.subtract(most * weights, 1, out=parts), 0, out=parts).sum()
    correlated = correlated_size(totals.sum(), squares, free, fewest, most)
    found = Clusters(weights, totals, residuals, fewest, most, float(correlated))
    return found if apart is None else dyadic(apart, found)


def dyadic(documents: tuple[np.ndarray, np.ndarray, np.ndarray], pairs: Clusters) -> Clusters:
    """The clusters of dyads: weights, totals and residuals of documents, beside those of pairs."""
    fewest = effective_sample_size(documents[0], pairs.weights)
    return Clusters(*documents, fewest, max(pairs.most, fewest), pairs.correlated, pairs)


def over_documents(values: np.ndarray, documents: np.ndarray) -> Any:
    """The sums by document of values of pairs, each of which counts for both documents."""
    import numpy as np

    return np.bincount(documents.ravel(), weights=np.repeat(values, 2))


def correlated_size(share: Any, squares: Any, free: Any, fewest: Any, most: Any) -> Any:
    """The effective size of a share by how alike outcomes are inside the clusters (Kish 1965).

    The intraclass correlation is what outcomes vary less inside a cluster than over all, as a part
    of the latter: 1 where each cluster has one outcome. Shares of several outcomes are taken for
    those, which vary at least as much: the size is then on the large side.

    Args:
        share: the mean, or an array of those of several groups, as are all arguments.
        squares: the weighted mean of the squares of the clusters' means.
        free: observations without one of each cluster.
        fewest, most: the same as in :class:`Clusters`.

    Returns:
        The size; infinite where all outcomes are alike.
    """
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(free > ROUNDING, most * (share - squares) / free, 0.0)
        over_all = share * (1 - share)
        correlation = np.clip(1 - inside / over_all, 0.0, 1.0)
        size = most / (1 + correlation * (most / fewest - 1))
    return np.where(over_all > ROUNDING, size, np.inf)


def adjusted(residuals: np.ndarray, weights: np.ndarray) -> Any:
    """Residuals of clusters about a mean, as large as if the mean were another sample's.

    Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with
    multi-stage samples", Survey Methodology 28, for the mean.
    """
    import numpy as np

    scale = 1 - weights
    np.sqrt(np.maximum(scale, ROUNDING, out=scale), out=scale)
    return np.divide(residuals, scale, out=scale)


def quantile_of_t(freedom: float) -> float:
    """The upper 2.5 % point of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, _FEWEST_DF), 1 - TAIL))


def p_of_t(value: float, freedom: float) -> float:
    """The two-sided p-value of a value of Student's t."""
    from scipy.special import stdtr

    return 2 * float(stdtr(freedom, -abs(value)))


def ranks_of(values: Any) -> Any:
    """The ranks of values from 1, the mean of their places for those that are equal."""
    import numpy as np

    _, place, count = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place.reshape(-1)]


def binomial_limits(share: float, size: float, tail: Any = TAIL) -> tuple[Any, Any]:
    """Limits of a binomial share, exact for whole numbers (Clopper and Pearson 1934).

    The size is a number of trials, which need not be whole; of an array of tails there are arrays.
    """
    import numpy as np
    from scipy.special import betaincinv

    met = share * size
    none, all_ = share < ROUNDING, share > 1 - ROUNDING
    tail = np.asarray(tail, dtype=np.float64)
    low = np.zeros_like(tail) if none else betaincinv(met, size - met + 1, tail)
    high = np.ones_like(tail) if all_ else betaincinv(met + 1, size - met, 1 - tail)
    return low, high


def cluster_ids(clusters: Any) -> tuple[int, Any]:
    """The number of clusters, and the number of each item's, in the order of their names.

    An array of whole numbers, none negative, may stand for the names, and one of two columns for
    those of items of two documents. Documents that are in items together are then one cluster, and
    so are all that are connected in this way.
    """
    import numpy as np

    names = np.asarray(clusters)
    if names.dtype.kind == "i" and len(names) and names.ndim == 1:
        there = np.bincount(names) > 0
        if there.all():
            return len(there), names
        return int(there.sum()), (np.cumsum(there, dtype=names.dtype) - 1)[names]
    if not len(names):
        return 0, np.zeros(0, np.int64)
    found, ids = np.unique(names, axis=0 if names.ndim == 2 else None, return_inverse=True)
    ids = ids.reshape(len(names))
    if (documents := dyads_of(found)) is None:
        return len(found), ids
    number, of_pair = _connected(documents)
    return number, of_pair[ids]


def cluster_pairs(clusters: Any) -> tuple[int, Any, Any]:
    """The number of documents of dyads, the pair of each item, and the documents of each pair.

    Where no document is in several pairs these are the clusters of :func:`cluster_ids`, and None.
    An item of one document is one of a pair with nothing else.
    """
    import numpy as np

    names = np.asarray(clusters)
    is_dyadic = names.ndim == 2 or (names.dtype.kind == "U" and any(WITH in n for n in names))
    if not is_dyadic or not len(names):
        return *cluster_ids(names), None
    found, ids = np.unique(names, axis=0 if names.ndim == 2 else None, return_inverse=True)
    documents = dyads_of(found)
    assert documents is not None
    # The two documents of a pair have no order.
    documents, again = np.unique(np.sort(documents, axis=1), axis=0, return_inverse=True)
    ids = again.reshape(len(found))[ids.reshape(len(names))]
    number, of_pair = _connected(documents)
    if number == len(documents):
        return number, of_pair[ids], None
    alone = documents[:, 0] == documents[:, 1]
    whole = int(documents.max()) + 1
    documents[alone, 1] = whole + np.arange(alone.sum())
    return len(np.unique(documents[~alone])), ids, documents


def dyads_of(names: Any) -> Any:
    """The numbers of both documents of clusters, an array of two columns; None without dyads."""
    import numpy as np

    if names.ndim == 2:
        return names.copy()
    if names.dtype.kind not in "UO" or not any(WITH in name for name in names):
        return None
    both = [(first, second or first) for first, _, second in (n.partition(WITH) for n in names)]
    return np.unique(np.array(both), return_inverse=True)[1].reshape(len(both), 2)


def _connected(documents: Any) -> tuple[int, Any]:
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size = int(documents.max()) + 1
    edges = coo_matrix((np.ones(len(documents)), documents.T), shape=(size, size))
    labels = connected_components(edges, directed=False)[1][documents[:, 0]]
    found, of_pair = np.unique(labels, return_inverse=True)
    return len(found), of_pair
