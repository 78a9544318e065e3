"""Documents that are alike: their vectors, the nearest of each, and groups that share lines.

By unigrams and bigrams, hashed (Chen et al. 2017, DrQA, section 3.1), weighted by TF-IDF, as in
Shen et al. 2021, section 3.3. A bigram does not reach over the end of a sentence, so that a
document's counts are the sum of its sentences', and each text is read once. Cosines are multiplied
out exactly by ``sparse_dot_topn``, in a grid of blocks of rows and of columns, each of which gives
the best of its rows; of these the best are kept. Where two are equally near, the document that
stands first is the nearer one, so that the grid decides nothing.

Windows of one conversation overlap, and copies of an article differ in a sentence. Such documents
go to one side of a division into training and test, and none is taken for the neighbour of another:
a sentence out of the next window of the same conversation is no intruder.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, islice
from typing import Any

from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.errors import EvaluationError
from coherencegym.words.scripts import with_spaces

#: Lines of fewer words ("Thank you.") say nothing about where they come from.
FEWEST_WORDS = 4
#: A line of more documents than this is a formula ("Its population was 12 in 2010."), no copy.
MOST_DOCUMENTS = 100
#: Weightings of counts: ``tfidf`` as scikit-learn does, ``drqa`` as in DrQA's retriever.
WEIGHTINGS = ("tfidf", "drqa")
#: Sentences that are hashed at a time: what the hasher holds beside its result.
_CHUNK = 20_000
#: Rows of a block.
BLOCK = 1_000
#: Columns of a block: what a worker holds of the collection at a time.
BLOCK_COLUMNS = 1 << 16


class RetrievalError(EvaluationError):
    """Retrieval cannot run: one line that says why and what to do."""


@dataclass(frozen=True)
class Neighbours:
    """The nearest other documents of each document that was asked for, nearest first.

    Attributes:
        indices: int32, documents x k; -1 where there are fewer.
        similarities: float32 of the same shape, cosines.
    """

    indices: Any
    similarities: Any


def nearest(
    vectors: Any,
    k: int,
    group_of: Sequence[int],
    *,
    rows: Sequence[int] | None = None,
    engine: Engine = ALONE_IN_PROCESS,
    progress: Callable[[int], None] = lambda done: None,
) -> Neighbours:
    """The ``k`` nearest documents of each that are not of its own group.

    The result does not depend on the engine.

    Args:
        vectors: CSR, float32, documents x features, rows of length 1.
        group_of: a label of each document's group; documents of one group are no neighbours.
        rows: the documents whose neighbours are wanted; none: all.
        engine: runs the blocks of the product.
        progress: told how many rows are done.

    Raises:
        RetrievalError: ``sparse_dot_topn`` is not installed.
    """
    import numpy as np

    try:
        import sparse_dot_topn  # noqa: F401  (before anything is sent about)
    except ImportError:
        raise RetrievalError(
            "sparse_dot_topn is not installed; expected pip install sparse-dot-topn"
        ) from None
    number, engine = vectors.shape[0], engine.for_arrays
    wanted = np.arange(number) if rows is None else np.asarray(rows, dtype=np.int64)
    search = _Search(vectors, k, group_of, wanted)
    indices = np.full((number, k), -1, dtype=np.int32)
    similarities = np.zeros((number, k), dtype=np.float32)
    found, done = engine.run(nearest_in_block, search.tasks(engine)), 0
    for some in search.blocks:
        # Of each part of the columns the best; of these the best.
        indices[some], similarities[some] = reduce(_nearer, islice(found, len(search.parts)))
        progress(done := done + len(some))
    return Neighbours(indices, similarities)


class _Search:
    # A grid: blocks of rows by parts of the columns.
    def __init__(self, vectors: Any, k: int, group_of: Sequence[int], wanted: Any) -> None:
        import numpy as np

        sizes = Counter(group_of)
        self.vectors, self.k = vectors, k
        self.labels = np.asarray(group_of, dtype=np.int64)
        self.size_of = np.fromiter((sizes[g] for g in group_of), np.int64, count=len(self.labels))
        # Rows of large groups need more than k, as some of the best are of their own group: sorted
        # by size, a block asks for no more than its largest group needs.
        order = wanted[np.argsort(self.size_of[wanted], kind="stable")]
        self.blocks = [order[start : start + BLOCK] for start in range(0, len(order), BLOCK)]
        self.parts = range(0, len(self.labels), BLOCK_COLUMNS)

    def tasks(self, engine: Engine) -> Iterator[tuple[Any, ...]]:
        columns = [
            engine.share(
                (
                    self.vectors[first : first + BLOCK_COLUMNS].T.tocsr(),
                    self.labels[first : first + BLOCK_COLUMNS],
                    first,
                )
            )
            for first in self.parts
        ]
        for some in self.blocks:
            shared = engine.share((self.vectors[some], self.labels[some]))
            for column in columns:
                yield shared, column, self.k, self._most(some), engine.threads

    def _most(self, rows: Any) -> int:
        # A row may find all of its own group, itself included, before the first other one; one more
        # tells whether the last is the only one that is as near.
        return self.k + int(self.size_of[rows].max()) + 1


def nearest_in_block(
    rows: tuple[Any, Any], columns: tuple[Any, Any, int], k: int, most: int, threads: int = 1
) -> tuple[Any, Any]:
    """The ``k`` best of the columns for each of the rows: documents and products.

    Args:
        rows: vectors (CSR, rows x features), and the label of each one's group.
        columns: vectors of documents (CSR, features x columns), labels of groups, and the number of
            the first document.
        k, most: the number that is wanted, and that of those looked at, its own group included.
        threads: those that the product may take.
    """
    import numpy as np
    from sparse_dot_topn import sp_matmul_topn

    (vectors, own), (transposed, others, first) = rows, columns
    if not transposed.data.flags.writeable:  # as an object store hands it out; the product minds
        transposed = transposed.copy()
    if not vectors.data.flags.writeable:
        vectors = vectors.copy()
    best = sp_matmul_topn(
        vectors,
        transposed,
        top_n=min(most, len(others)),
        sort=True,
        threshold=0.0,
        n_threads=threads if threads > 1 else None,
    )
    documents, products = _ranked(best, others, own, k)
    # What was cut off may be as near as the last that is wanted: such rows are looked at further.
    ends, full = best.indptr[1:], np.diff(best.indptr) == most
    lowest = np.where(full, np.append(best.data, 0)[ends - 1], -1)
    if len(unsure := np.flatnonzero(products[:, -1] <= lowest)) and most < len(others):
        again = (vectors[unsure], own[unsure]), (transposed, others, 0)
        documents[unsure], products[unsure] = nearest_in_block(*again, k, 4 * most, threads)
    documents[documents >= 0] += first
    return documents, products


def _nearer(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    import numpy as np

    documents, products = (np.concatenate(pair, axis=1) for pair in zip(one, other, strict=True))
    order = np.lexsort((documents, -products), axis=1)[:, : one[0].shape[1]]
    return np.take_along_axis(documents, order, 1), np.take_along_axis(products, order, 1)


def _ranked(best: Any, group_of: Any, own: Any, k: int) -> tuple[Any, Any]:
    # Rows x k, best first, else -1 and 0; the lower document comes first where two are equal.
    import numpy as np

    place = np.repeat(np.arange(len(own)), np.diff(best.indptr))
    found, values = best.indices[: len(place)], best.data[: len(place)]
    other = group_of[found] != own[place]
    place, documents, products = place[other], found[other], values[other]
    order = np.lexsort((documents, -products, place))
    place, documents, products = place[order], documents[order], products[order]
    rank = np.arange(len(place)) - np.searchsorted(place, np.arange(len(own)))[place]
    kept = rank < k
    indices = np.full((len(own), k), -1, dtype=np.int32)
    similarities = np.zeros((len(own), k), dtype=np.float32)
    indices[place[kept], rank[kept]] = documents[kept]
    similarities[place[kept], rank[kept]] = products[kept]
    return indices, similarities


@dataclass(frozen=True)
class SentenceVectors:
    """The sentences of a collection.

    Attributes:
        counts: ``scipy.sparse`` CSR, float32, sentences x features, in the order of the documents.
        first: the row of each document's first sentence; one more for the end.
        idf: the weight of each feature, float32.
        weighting: one of :data:`WEIGHTINGS`.
    """

    counts: Any
    first: Any
    idf: Any
    weighting: str

    def of(self, rows: Any) -> Any:
        """The weighted vectors of these sentences, rows of length 1 (or 0)."""
        return _weigh(self.counts[rows], self.idf, self.weighting)


def text_vectors(
    documents: Sequence[Sequence[str]],
    features: int = 2**20,
    weighting: str = "tfidf",
    engine: Engine = ALONE_IN_PROCESS,
    weights: Any = None,
) -> tuple[Any, SentenceVectors]:
    """Vectors of all documents and of all sentences of a collection.

    ``tfidf`` is tf · (ln((1 + N) / (1 + df)) + 1), ``drqa`` is ln(1 + tf) ·
    ln((N - df + 0.5) / (df + 0.5)), which is 0 where it would be negative; tf counts in the
    document (or sentence), df the documents of the N that have the feature.

    Those of the documents are CSR, float32, documents x features (the places that words and pairs
    are hashed into), rows of length 1 (or 0), so that a product is a cosine. ``weights``, one of
    each feature, are those that other documents gave; none: of these documents.
    """
    import numpy as np
    from scipy import sparse

    lengths = np.fromiter(map(len, documents), dtype=np.int64, count=len(documents))
    first = np.concatenate([[0], np.cumsum(lengths)])
    texts = list(chain.from_iterable(documents))
    chunks = [(texts[i : i + _CHUNK], features) for i in range(0, len(texts), _CHUNK)]
    # Counts go about between processes for more than it takes to make them; not so on a cluster,
    # to which the texts have to go anyway.
    parts = list(engine.for_arrays.run(hashed_counts, chunks))
    sentences = sparse.vstack(parts, format="csr") if len(parts) > 1 else parts[0]
    del parts
    number = len(documents)
    ones = np.ones(len(texts), dtype=np.float32)
    columns = np.arange(len(texts), dtype=np.int32)
    # Row d of the sum has a one at each sentence of document d.
    of = sparse.csr_matrix((ones, columns, first.astype(np.int32)), shape=(number, len(texts)))
    total = of @ sentences
    total.sort_indices()  # sums in one order, whatever the product left behind
    idf = weights
    if idf is None:
        df = np.bincount(total.indices, minlength=features)
        if weighting == "tfidf":
            idf = np.log((1 + number) / (1 + df)) + 1
        else:
            idf = np.maximum(np.log((number - df + 0.5) / (df + 0.5)), 0)
        idf = idf.astype(np.float32)
    return _weigh(total, idf, weighting), SentenceVectors(sentences, first, idf, weighting)


def hashed_counts(texts: Sequence[str], features: int) -> Any:
    """Words and pairs of words of texts: CSR, float32, texts x features."""
    import numpy as np
    from sklearn.feature_extraction.text import HashingVectorizer

    hasher = HashingVectorizer(
        n_features=features, ngram_range=(1, 2), alternate_sign=False, norm=None, dtype=np.float32
    )
    return hasher.transform(map(with_spaces, texts))


def _weigh(counts: Any, idf: Any, weighting: str) -> Any:
    # In place: the counts are lost.
    import numpy as np
    from sklearn.preprocessing import normalize

    if weighting == "drqa":
        np.log1p(counts.data, out=counts.data)
    counts.data *= idf[counts.indices]
    return normalize(counts, copy=False)


def normalised(line: str) -> str:
    """A line as it is compared: case folded, white space as single spaces."""
    return " ".join(line.casefold().split())


def groups(documents: Sequence[Sequence[str]]) -> list[int]:
    """Give each document the index of the first one of its group.

    Two documents that have a line in common are of one group, and so are all that are connected in
    this way. Lines of fewer than :data:`FEWEST_WORDS` words, and those that more than
    :data:`MOST_DOCUMENTS` documents have, connect nothing. Time is linear in the text.
    """
    import numpy as np

    keys, owners = array("q"), array("q")
    for index, lines in enumerate(documents):
        # The hash of a line and not the line: little memory for a hundred thousand documents.
        for key in {hash(n) for n in map(normalised, lines) if len(n.split()) >= FEWEST_WORDS}:
            keys.append(key)
            owners.append(index)
    parent = list(range(len(documents)))

    def first(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    order = np.argsort(np.array(keys), kind="stable")
    lines_of, owner_of = np.array(keys)[order], np.array(owners)[order]
    starts = np.flatnonzero(np.r_[True, lines_of[1:] != lines_of[:-1]]) if len(order) else order
    sizes = np.diff(np.r_[starts, len(order)])
    for start, size in zip(starts, sizes, strict=True):
        if not 2 <= size <= MOST_DOCUMENTS:
            continue
        members = owner_of[start : start + size].tolist()
        root = min(map(first, members))
        for member in members:
            parent[first(member)] = root
    return [first(index) for index in range(len(documents))]
