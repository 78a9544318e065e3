"""Products of sparse rows with a whole collection, of which the best are kept: with all features,
or first with the rare ones.

A cosine is the sum of a part over rare features and a part over common ones. The rare part is
cheap to search, the common part is a product of short dense rows. So a row's best documents by the
rare part are looked for, and their cosines completed: exact similarities, of which a few of the
best may be missed. How few is measured, and depends on how much common features weigh: next to
nothing in DrQA's weighting, a lot in ``tfidf``.
"""

from __future__ import annotations

from typing import Any

#: How many times what is wanted the rare search keeps.
KEPT = 10


class SparseProduct:
    """Rows of a collection times all of it."""

    def __init__(self, vectors: Any, group_of: Any, threads: int) -> None:
        self._vectors = vectors
        self._transposed = vectors.T.tocsr()
        self._group_of = group_of
        self._threads = threads if threads > 1 else None

    def found(self, rows: Any, wanted: int) -> tuple[Any, Any, Any]:
        """The best ``wanted`` documents of each row, without those of its own group.

        Returns:
            Arrays of equal length: places in ``rows``, documents, products.
        """
        import numpy as np
        from sparse_dot_topn import sp_matmul_topn

        best = sp_matmul_topn(
            self._vectors[rows],
            self._transposed,
            top_n=min(wanted, self._vectors.shape[0]),
            sort=True,
            threshold=0.0,
            n_threads=self._threads,
        )
        place = np.repeat(np.arange(len(rows)), np.diff(best.indptr))
        other = self._group_of[best.indices] != self._group_of[rows[place]]
        return place[other], best.indices[other], best.data[other]

    def best(self, rows: Any, k: int, largest_group: int) -> tuple[Any, Any]:
        """Documents and products, rows x k, best first; -1 and 0 where there are fewer."""
        # A row may find all of its own group, itself included, before the first other one.
        place, documents, products = self.found(rows, k + largest_group)
        return ranked(place, documents, products, len(rows), k)


class Pruned:
    """The same by way of the features that at most a share ``prune_df`` of the documents has."""

    def __init__(self, vectors: Any, group_of: Any, threads: int, prune_df: float) -> None:
        import numpy as np

        df = np.bincount(vectors.indices, minlength=vectors.shape[1])
        common = df > prune_df * vectors.shape[0]
        self._rare = SparseProduct(_only(vectors, ~common), group_of, threads)
        self._common = vectors[:, np.flatnonzero(common)].toarray()

    def best(self, rows: Any, k: int, largest_group: int) -> tuple[Any, Any]:
        """Documents and cosines, rows x k, best first; -1 and 0 where there are fewer."""
        place, documents, rare = self._rare.found(rows, KEPT * k + largest_group)
        cosines = rare + _products(self._common, rows[place], documents)
        return ranked(place, documents, cosines, len(rows), k)


def ranked(place: Any, documents: Any, products: Any, rows: int, k: int) -> tuple[Any, Any]:
    """The best ``k`` of each place, best first; the lower document first where two are equal."""
    import numpy as np

    order = np.lexsort((documents, -products, place))
    place, documents, products = place[order], documents[order], products[order]
    rank = np.arange(len(place)) - np.searchsorted(place, np.arange(rows))[place]
    kept = rank < k
    indices = np.full((rows, k), -1, dtype=np.int32)
    similarities = np.zeros((rows, k), dtype=np.float32)
    indices[place[kept], rank[kept]] = documents[kept]
    similarities[place[kept], rank[kept]] = products[kept]
    return indices, similarities


def _only(vectors: Any, kept: Any) -> Any:
    """The vectors with only these features; the shape stays."""
    import numpy as np
    from scipy import sparse

    mask = kept[vectors.indices]
    ends = np.concatenate([[0], np.cumsum(mask)])
    return sparse.csr_matrix(
        (vectors.data[mask], vectors.indices[mask], ends[vectors.indptr]), shape=vectors.shape
    )


def _products(vectors: Any, left: Any, right: Any, chunk: int = 20_000) -> Any:
    """The products of pairs of dense rows, a chunk of pairs at a time."""
    import numpy as np

    made = np.empty(len(left), dtype=np.float32)
    for i in range(0, len(left), chunk):
        pairs = slice(i, i + chunk)
        made[pairs] = np.einsum("ij,ij->i", vectors[left[pairs]], vectors[right[pairs]])
    return made
