"""The documents of a collection that are most alike, exactly, in blocks of rows.

Cosines of TF-IDF vectors (:mod:`manipulations.intruders.text_vectors`), multiplied out by
``sparse_dot_topn``, which keeps the best of each row only. A block that is done is kept where a
store is given, so that a run that was cut off goes on where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

#: Rows of a block: what a run that is cut off does again.
BLOCK = 2_000


class RetrievalError(Exception):
    """Retrieval cannot run: one line that says why and what to do."""


class BlockStore(Protocol):
    """Keeps the blocks that are done."""

    def load(self, block: int) -> tuple[Any, Any] | None:
        """The indices and similarities of a block, or nothing."""

    def save(self, block: int, indices: Any, similarities: Any) -> None:
        """Keep them."""


@dataclass(frozen=True)
class Neighbours:
    """The nearest other documents of each document that was asked for, nearest first.

    Attributes:
        indices: int32, documents x k; -1 where there are fewer.
        similarities: float32 of the same shape, cosines.
    """

    indices: Any
    similarities: Any

    def of(self, document: int) -> list[int]:
        """The neighbours of a document."""
        return [int(index) for index in self.indices[document] if index >= 0]


def nearest(
    vectors: Any,
    k: int,
    groups: Sequence[int],
    *,
    rows: Sequence[int] | None = None,
    threads: int = 1,
    store: BlockStore | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Neighbours:
    """The ``k`` nearest documents of each that are not of its own group.

    The result does not depend on ``threads``, or on which blocks were there already.

    Args:
        vectors: CSR, float32, documents x features, rows of length 1.
        k: the number of neighbours.
        groups: a label of each document's group; documents of one group are no neighbours.
        rows: the documents whose neighbours are wanted; none: all.
        threads: threads of the matrix product.
        store: the place in which blocks of the product are kept.
        progress: told how many rows are done.

    Raises:
        RetrievalError: ``sparse_dot_topn`` is not installed.
    """
    import numpy as np

    try:
        import sparse_dot_topn as _  # noqa: F401
    except ImportError:
        raise RetrievalError(
            "sparse_dot_topn is not installed; pip install 'coherencegym[intruders]'"
        ) from None
    number = vectors.shape[0]
    group_of = np.asarray(groups)
    sizes = Counter(groups)
    size_of = np.fromiter((sizes[g] for g in groups), dtype=np.int64, count=number)
    # Rows of large groups need more than k, as some of the best are of their own group: sorted by
    # size, a block asks for no more than its largest group needs.
    wanted = np.arange(number) if rows is None else np.asarray(rows, dtype=np.int64)
    order = wanted[np.argsort(size_of[wanted], kind="stable")]
    indices = np.full((number, k), -1, dtype=np.int32)
    similarities = np.zeros((number, k), dtype=np.float32)
    search = _SparseProduct(vectors, group_of, threads)
    for block, start in enumerate(range(0, len(order), BLOCK)):
        some = order[start : start + BLOCK]
        done = store.load(block) if store is not None else None
        if done is None:
            done = search.best(some, k, int(size_of[some].max()))
            if store is not None:
                store.save(block, *done)
        indices[some], similarities[some] = done
        progress(min(start + BLOCK, len(order)))
    return Neighbours(indices, similarities)


class _SparseProduct:
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
        return _ranked(place, documents, products, len(rows), k)


def _ranked(place: Any, documents: Any, products: Any, rows: int, k: int) -> tuple[Any, Any]:
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
