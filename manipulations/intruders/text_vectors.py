"""Sentences and documents as weighted bags of hashed words and word pairs (TF-IDF).

The representation by which Shen et al. 2021, section 3.3, find documents that are alike: unigrams
and bigrams, hashed (Chen et al. 2017, DrQA, section 3.1). A bigram does not reach over the end of
a sentence, so that a document's counts are the sum of its sentences', and each text is read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

#: Weightings of counts: ``tfidf`` as scikit-learn does, ``drqa`` as in DrQA's retriever.
WEIGHTINGS = ("tfidf", "drqa")
#: Sentences that are hashed at a time: what the hasher holds beside its result.
CHUNK = 20_000


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

    Args:
        documents: the sentences of each.
        features: the number of places that words and word pairs are hashed into.
        weighting: one of :data:`WEIGHTINGS`.

    Returns:
        The documents: CSR, float32, documents x features, rows of length 1 (or 0), so that a
        product is a cosine; and the sentences.

    Raises:
        ValueError: no such weighting.
    """
    import numpy as np
    from scipy import sparse
    from sklearn.feature_extraction.text import HashingVectorizer

    if weighting not in WEIGHTINGS:
        raise ValueError(
            f"weighting is {weighting!r}; expected one of {', '.join(map(repr, WEIGHTINGS))}"
        )
    hasher = HashingVectorizer(
        n_features=features, ngram_range=(1, 2), alternate_sign=False, norm=None, dtype=np.float32
    )
    lengths = np.fromiter(map(len, documents), dtype=np.int64, count=len(documents))
    first = np.concatenate([[0], np.cumsum(lengths)])
    texts = list(chain.from_iterable(documents))
    parts = [hasher.transform(texts[i : i + CHUNK]) for i in range(0, len(texts), CHUNK)]
    sentences = sparse.vstack(parts, format="csr") if len(parts) > 1 else parts[0]
    del parts
    number = len(documents)
    # Row d of the sum has a one at each sentence of document d.
    ones = np.ones(len(texts), dtype=np.float32)
    columns = np.arange(len(texts), dtype=np.int32)
    total = (
        sparse.csr_matrix((ones, columns, first.astype(np.int32)), shape=(number, len(texts)))
        @ sentences
    )
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
