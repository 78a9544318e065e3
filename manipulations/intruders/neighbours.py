"""Documents that are alike: their vectors, the nearest of each, and groups that share lines.

By unigrams and bigrams, hashed (Chen et al. 2017, DrQA, section 3.1), weighted by TF-IDF, as in
Shen et al. 2021, section 3.3. A bigram does not reach over the end of a sentence, so that a
document's counts are the sum of its sentences', and each text is read once. Cosines are multiplied
out exactly by ``sparse_dot_topn``, in blocks of rows. Where two are equally near, the document that
stands first is the nearer one, so that blocks decide nothing.

Windows of one conversation overlap, and copies of an article differ in a sentence. Such documents
go to one side of a division into training and test, and none is taken for the neighbour of another:
a sentence out of the next window of the same conversation is no intruder.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.words import with_spaces

#: Lines of fewer words ("Thank you.") say nothing about where they come from.
FEWEST_WORDS = 4
#: A line of more documents than this is a formula ("Its population was 12 in 2010."), no copy.
MOST_DOCUMENTS = 100
#: Sentences that are hashed at a time: what the hasher holds beside its result.
_CHUNK = 20_000
#: Rows of a block.
BLOCK = 1_000


def nearest(
    vectors: Any,
    k: int,
    group_of: Sequence[int],
    *,
    rows: Sequence[int] | None = None,
    threads: int = 1,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[Any, Any]:
    """The ``k`` nearest documents of each that are not of its own group, nearest first.

    Args:
        vectors: CSR, float32, documents x features, rows of length 1.
        group_of: a label of each document's group; documents of one group are no neighbours.
        rows: the documents whose neighbours are wanted; none: all.
        threads: those that the product may take; they do not change the result.
        progress: told how many rows are done.

    Returns:
        The indices of the documents (int32, documents x k; -1 where there are fewer), and cosines
        (float32) of the same shape.
    """
    import numpy as np

    labels = np.asarray(group_of, dtype=np.int64)
    wanted = np.arange(len(labels)) if rows is None else np.asarray(rows, dtype=np.int64)
    _, group, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    # Rows of large groups need more than k, as some of the best are of their own group: sorted by
    # size, a block asks for no more than its largest group needs.
    order = wanted[np.argsort(sizes[group[wanted]], kind="stable")]
    columns = vectors.T.tocsr()
    indices = np.full((len(labels), k), -1, dtype=np.int32)
    similarities = np.zeros((len(labels), k), dtype=np.float32)
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        # A row may find all of its own group, itself included, before the first other one; one more
        # tells whether the last is the only one that is as near.
        most = k + int(sizes[group[block]].max()) + 1
        indices[block], similarities[block] = _nearest_in_block(
            vectors[block], labels[block], columns, labels, k, most, threads
        )
        progress(start + len(block))
    return indices, similarities


def _nearest_in_block(
    rows: Any, own: Any, columns: Any, group_of: Any, k: int, most: int, threads: int
) -> tuple[Any, Any]:
    # ``own``: the groups of the rows; ``most``: how many are looked at, the own group included.
    import numpy as np
    from sparse_dot_topn import sp_matmul_topn

    best = sp_matmul_topn(
        rows,
        columns,
        top_n=min(most, len(group_of)),
        sort=True,
        threshold=0.0,
        n_threads=threads if threads > 1 else None,
    )
    documents, products = _ranked(best, group_of, own, k)
    # What was cut off may be as near as the last that is wanted: such rows are looked at further.
    ends, full = best.indptr[1:], np.diff(best.indptr) == most
    lowest = np.where(full, np.append(best.data, 0)[ends - 1], -1)
    if len(unsure := np.flatnonzero(products[:, -1] <= lowest)) and most < len(group_of):
        documents[unsure], products[unsure] = _nearest_in_block(
            rows[unsure], own[unsure], columns, group_of, k, 4 * most, threads
        )
    return documents, products


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
    """

    counts: Any
    first: Any
    idf: Any

    def of(self, rows: Any) -> Any:
        """The weighted vectors of these sentences, rows of length 1 (or 0)."""
        return _weigh(self.counts[rows], self.idf)


def text_vectors(
    documents: Sequence[Sequence[str]],
    features: int = 2**20,
    engine: Engine = ALONE_IN_PROCESS,
) -> tuple[Any, SentenceVectors]:
    """Vectors of all documents and of all sentences of a collection.

    A weight is tf · (ln((1 + N) / (1 + df)) + 1); tf counts in the document (or sentence), df the
    documents of the N that have the feature.

    Those of the documents are CSR, float32, documents x features (the places that words and pairs
    are hashed into), rows of length 1 (or 0), so that a product is a cosine.
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
    df = np.bincount(total.indices, minlength=features)
    idf = (np.log((1 + number) / (1 + df)) + 1).astype(np.float32)
    return _weigh(total, idf), SentenceVectors(sentences, first, idf)


def hashed_counts(texts: Sequence[str], features: int) -> Any:
    """Words and pairs of words of texts: CSR, float32, texts x features."""
    import numpy as np
    from sklearn.feature_extraction.text import HashingVectorizer

    hasher = HashingVectorizer(
        n_features=features, ngram_range=(1, 2), alternate_sign=False, norm=None, dtype=np.float32
    )
    return hasher.transform(map(with_spaces, texts))


def _weigh(counts: Any, idf: Any) -> Any:
    # In place: the counts are lost.
    from sklearn.preprocessing import normalize

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
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    keys, owners = array("q"), array("q")
    for index, lines in enumerate(documents):
        # The hash of a line and not the line: little memory for a hundred thousand documents.
        for key in {hash(n) for n in map(normalised, lines) if len(n.split()) >= FEWEST_WORDS}:
            keys.append(key)
            owners.append(index)
    _, line, sizes = np.unique(np.array(keys), return_inverse=True, return_counts=True)
    kept = sizes[line] <= MOST_DOCUMENTS
    number = len(documents)
    ends = np.array(owners)[kept], number + line[kept]
    shape = 2 * (number + len(sizes),)
    graph = sparse.coo_matrix((np.ones(kept.sum()), ends), shape=shape)
    labels = connected_components(graph, directed=False)[1][:number]
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    return list(map(int, first[group]))
