"""Documents that are alike: their vectors, the nearest of each, and groups that share lines.

By unigrams and bigrams, hashed (Chen et al. 2017, DrQA, section 3.1), weighted by TF-IDF, as in
Shen et al. 2021, section 3.3. A bigram does not reach over the end of a sentence, so that a
document's counts are the sum of its sentences', and each text is read once. Cosines are multiplied
out exactly, in blocks of rows, by ``sparse_dot_topn``, which keeps the best of each row only.

Windows of one conversation overlap, and copies of an article differ in a sentence. Such documents
go to one side of a division into training and test, and none is taken for the neighbour of another:
a sentence out of the next window of the same conversation is no intruder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import zipfile
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError

#: Lines of fewer words ("Thank you.") say nothing about where they come from.
FEWEST_WORDS = 4
#: A line of more documents than this is a formula ("Its population was 12 in 2010."), no copy.
MOST_DOCUMENTS = 100
#: Weightings of counts: ``tfidf`` as scikit-learn does, ``drqa`` as in DrQA's retriever.
WEIGHTINGS = ("tfidf", "drqa")
#: Sentences that are hashed at a time: what the hasher holds beside its result.
_CHUNK = 20_000
#: Rows of a block: what a run that is cut off does again.
BLOCK = 2_000


class RetrievalError(EvaluationError):
    """Retrieval cannot run: one line that says why and what to do."""


@dataclass(frozen=True)
class BlockFolder:
    """Blocks of a retrieval that are done, one file each, so that a run that was cut off goes on.

    The folder's name stands for everything that the blocks depend on; who makes it sees to that.
    A file that cannot be read, or that has another shape, counts as not there.

    Attributes:
        folder: made when the first block is kept.
        k: neighbours of each row.
    """

    folder: Path
    k: int

    def load(self, block: int) -> tuple[Any, Any] | None:
        """The indices and similarities of a block, or nothing."""
        import numpy as np

        try:
            with np.load(self._path(block), allow_pickle=False) as kept:
                indices, similarities = kept["indices"], kept["similarities"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        right = indices.shape == similarities.shape and indices.ndim == 2
        if not right or indices.shape[1] != self.k or indices.dtype != np.int32:
            return None
        return indices, similarities

    def save(self, block: int, indices: Any, similarities: Any) -> None:
        """Keep a block; written beside and renamed, so that there is never half of one."""
        import numpy as np

        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(block)
        beside = path.with_suffix(f".{os.getpid()}.tmp")
        with beside.open("wb") as file:
            np.savez(file, indices=indices, similarities=similarities)
        beside.replace(path)

    def clear(self) -> None:
        """Forget all blocks: what they were kept for is done."""
        with contextlib.suppress(OSError):
            shutil.rmtree(self.folder)

    def _path(self, block: int) -> Path:
        return self.folder / f"block-{block:06d}.npz"


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
    threads: int = 1,
    store: BlockFolder | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Neighbours:
    """The ``k`` nearest documents of each that are not of its own group.

    The result does not depend on ``threads``, or on which blocks were there already.

    Args:
        vectors: CSR, float32, documents x features, rows of length 1.
        group_of: a label of each document's group; documents of one group are no neighbours.
        rows: the documents whose neighbours are wanted; none: all.
        store: keeps blocks of the product; ``progress`` is told how many rows are done.

    Raises:
        RetrievalError: ``sparse_dot_topn`` is not installed.
    """
    import numpy as np

    try:
        from sparse_dot_topn import sp_matmul_topn
    except ImportError:
        raise RetrievalError(
            "sparse_dot_topn is not installed; expected pip install sparse-dot-topn"
        ) from None
    number = vectors.shape[0]
    labels, sizes = np.asarray(group_of), Counter(group_of)
    size_of = np.fromiter((sizes[g] for g in group_of), dtype=np.int64, count=number)
    # Rows of large groups need more than k, as some of the best are of their own group: sorted by
    # size, a block asks for no more than its largest group needs.
    wanted = np.arange(number) if rows is None else np.asarray(rows, dtype=np.int64)
    order = wanted[np.argsort(size_of[wanted], kind="stable")]
    indices = np.full((number, k), -1, dtype=np.int32)
    similarities = np.zeros((number, k), dtype=np.float32)
    transposed = vectors.T.tocsr()
    for block, start in enumerate(range(0, len(order), BLOCK)):
        some = order[start : start + BLOCK]
        done = store.load(block) if store is not None else None
        if done is None:
            best = sp_matmul_topn(
                vectors[some],
                transposed,
                # A row may find all of its own group, itself included, before the first other one.
                top_n=min(k + int(size_of[some].max()), number),
                sort=True,
                threshold=0.0,
                n_threads=threads if threads > 1 else None,
            )
            done = _ranked(best, labels, some, k)
            if store is not None:
                store.save(block, *done)
        indices[some], similarities[some] = done
        progress(min(start + BLOCK, len(order)))
    return Neighbours(indices, similarities)


def _ranked(best: Any, group_of: Any, rows: Any, k: int) -> tuple[Any, Any]:
    """Documents and products of these rows of a product, rows x k, best first; else -1 and 0.

    A row's own group is left out; the lower document comes first where two are equal.
    """
    import numpy as np

    place = np.repeat(np.arange(len(rows)), np.diff(best.indptr))
    other = group_of[best.indices] != group_of[rows[place]]
    place, documents, products = place[other], best.indices[other], best.data[other]
    order = np.lexsort((documents, -products, place))
    place, documents, products = place[order], documents[order], products[order]
    rank = np.arange(len(place)) - np.searchsorted(place, np.arange(len(rows)))[place]
    kept = rank < k
    indices = np.full((len(rows), k), -1, dtype=np.int32)
    similarities = np.zeros((len(rows), k), dtype=np.float32)
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
    documents: Sequence[Sequence[str]], features: int = 2**20, weighting: str = "tfidf"
) -> tuple[Any, SentenceVectors]:
    """Vectors of all documents and of all sentences of a collection.

    ``tfidf`` is tf · (ln((1 + N) / (1 + df)) + 1), ``drqa`` is ln(1 + tf) ·
    ln((N - df + 0.5) / (df + 0.5)), which is 0 where it would be negative; tf counts in the
    document (or sentence), df the documents of the N that have the feature.

    Those of the documents are CSR, float32, documents x features (the places that words and pairs
    are hashed into), rows of length 1 (or 0), so that a product is a cosine.
    """
    import numpy as np
    from scipy import sparse
    from sklearn.feature_extraction.text import HashingVectorizer

    hasher = HashingVectorizer(
        n_features=features, ngram_range=(1, 2), alternate_sign=False, norm=None, dtype=np.float32
    )
    lengths = np.fromiter(map(len, documents), dtype=np.int64, count=len(documents))
    first = np.concatenate([[0], np.cumsum(lengths)])
    texts = list(chain.from_iterable(documents))
    parts = [hasher.transform(texts[i : i + _CHUNK]) for i in range(0, len(texts), _CHUNK)]
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
    if weighting == "tfidf":
        idf = np.log((1 + number) / (1 + df)) + 1
    else:
        idf = np.maximum(np.log((number - df + 0.5) / (df + 0.5)), 0)
    idf = idf.astype(np.float32)
    return _weigh(total, idf, weighting), SentenceVectors(sentences, first, idf, weighting)


def _weigh(counts: Any, idf: Any, weighting: str) -> Any:
    """Put weights in the place of counts, each row of length 1 (or 0); the counts are lost."""
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
