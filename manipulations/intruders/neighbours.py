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

from coherencegym.manipulations.intruders.pruned import Pruned, SparseProduct

#: Rows of a block: what a run that is cut off does again.
BLOCK = 2_000
#: Rows on which the recall of the pruned search is measured, and what it has to reach.
SAMPLE = 200
RECALL = 0.999


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
    """For each document that was asked for its nearest others, nearest first.

    Attributes:
        indices: int32, documents x k; -1 where there are fewer.
        similarities: float32 of the same shape, cosines.
        recall: of the pruned search, where one was asked for: the share of the exact neighbours
            that it found on a sample of the rows. Below :data:`RECALL` it was not used.
    """

    indices: Any
    similarities: Any
    recall: float | None = None

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
    prune_df: float | None = None,
    store: BlockStore | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Neighbours:
    """The ``k`` nearest documents of each that are not of its own group.

    The result does not depend on ``threads``, or on which blocks were there already.

    Args:
        vectors: CSR, float32, documents x features, rows of length 1.
        k: how many.
        groups: for each document what tells its group from others.
        rows: the documents whose neighbours are wanted; none: all.
        threads: of the product.
        prune_df: search with the features that at most this share of the documents has, and score
            what is found exactly (:mod:`manipulations.intruders.pruned`), if that finds the exact
            neighbours on a sample of the rows; None: search with all features.
        store: where blocks are kept.
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
    exact = SparseProduct(vectors, group_of, threads)
    search: SparseProduct | Pruned = exact
    recall: float | None = None
    if prune_df is not None and len(order):
        search = Pruned(vectors, group_of, threads, prune_df)
        recall = _recall(search, exact, k, size_of, wanted)
        if recall < RECALL:
            search = exact
    for block, start in enumerate(range(0, len(order), BLOCK)):
        some = order[start : start + BLOCK]
        done = store.load(block) if store is not None else None
        if done is None:
            done = search.best(some, k, int(size_of[some].max()))
            if store is not None:
                store.save(block, *done)
        indices[some], similarities[some] = done
        progress(min(start + BLOCK, len(order)))
    return Neighbours(indices, similarities, recall)


def _recall(search: Pruned, exact: SparseProduct, k: int, size_of: Any, wanted: Any) -> float:
    """The share of the exact neighbours that a search finds, on rows spread over those wanted."""
    import numpy as np

    rows = wanted[np.unique(np.linspace(0, len(wanted) - 1, SAMPLE).astype(np.int64))]
    largest = int(size_of[rows].max())
    (found, _), (right, _) = (one.best(rows, k, largest) for one in (search, exact))
    pairs = zip(found.tolist(), right.tolist(), strict=True)
    hits = sum(len(set(mine) & set(theirs) - {-1}) for mine, theirs in pairs)
    return hits / max(1, int((right >= 0).sum()))
