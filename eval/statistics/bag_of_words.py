"""A classifier of labelled texts that reads their words in no order: what words give away alone.

Chen, Chu and Gimpel 2019 have no such baseline; it comes close to their sentence encoders, so that
no accuracy of a probe means anything without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.statistics.estimators import one_thread
from coherencegym.words import LETTER, with_spaces

#: Fewest clusters, and most folds of the cross-validation.
_FEWEST_CLUSTERS, _MOST_FOLDS = 10, 10


def predicted_ratings(
    texts: Sequence[str], ratings: Sequence[float], clusters: Sequence[str]
) -> list[float] | None:
    """A prediction for each text by a ridge regression on those of other clusters.

    On TF-IDF of words (sublinear, of those in two texts or more), with a penalty of 1. A prediction
    is how far a text's words move it from the mean of the fold's others: that mean itself is lower
    where the held-out ratings are higher, which is no knowledge of theirs.

    Returns:
        None with fewer than ten clusters, or where no word stands in two texts.
    """
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold

    number = len(set(clusters))
    if number < _FEWEST_CLUSTERS:
        return None
    wanted, found = np.asarray(ratings, dtype=np.float64), np.zeros(len(texts))
    with one_thread():
        for learned, held in GroupKFold(min(_MOST_FOLDS, number)).split(texts, groups=clusters):
            bag = TfidfVectorizer(min_df=2, sublinear_tf=True)
            try:
                words = bag.fit_transform([texts[place] for place in learned])
            except ValueError:  # no word that stands in two texts
                return None
            mean = wanted[learned].mean()
            model = Ridge(fit_intercept=False).fit(words, wanted[learned] - mean)
            found[held] = model.predict(bag.transform([texts[place] for place in held]))
    # Predictions that differ by rounding alone are ties.
    return [round(float(value), 9) for value in found]


#: The inverse strengths of the penalty that are tried, on the split :data:`CHOOSING`.
STRENGTHS = (0.3, 1.0, 3.0, 10.0)
#: The one that is taken where there is nothing to choose on.
_UNCHOSEN = 1.0
LEARNING, CHOOSING = "train", "validation"
#: Words of two letters or more, and of one where letters are words.
_WORD = rf"(?u)\b\w\w+\b|{LETTER}"
#: The folds of a cross-validation, each of other clusters; of fewer clusters each is one.
FOLDS = 10

#: The texts of rows: one for each slot. All rows have as many.
SlotTexts = Sequence[Sequence[str]]


class FitError(EvaluationError):
    """A classifier that did not learn."""


@dataclass(frozen=True)
class BagOfWords:
    """Predictions of a bag of words for the rows of each split but that which it learned from.

    Attributes:
        predictions: split -> the label of each row.
        strength: the inverse strength of the penalty, the best on :data:`CHOOSING`.
    """

    predictions: Mapping[str, tuple[str, ...]]
    strength: float


def bag_of_words(
    texts: Mapping[str, SlotTexts],
    labels: Mapping[str, Sequence[str]],
    words: frozenset[str] = frozenset(),
) -> BagOfWords:
    """Learn labels from words on ``train``, and predict those of the other splits.

    Logistic regression on TF-IDF of words (sublinear, of those in two rows or more), one vocabulary
    for each slot, each label against the others; of equally good penalties the strongest is taken.
    The same input gives the same result on every machine.

    Args:
        texts: split -> for each row the text of each of its slots.
        labels: split -> the label of each row.
        words: the words of the corpus, where its script has no spaces; none: pairs of characters.
    """
    return learned_from(slot_bags(texts, words), labels)


#: A slot's sparse matrix (rows, words of this slot in what is learned from), by split.
SlotBag = Mapping[str, Any]


def slot_bags(
    texts: Mapping[str, SlotTexts], words: frozenset[str] = frozenset()
) -> list[SlotBag | None]:
    """The bags of each slot; none where no word stands in two rows of ``train``.

    Arguments are those of :func:`bag_of_words`.
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

    bags: list[SlotBag | None] = []
    for slot in range(len(texts[LEARNING][0]) if texts.get(LEARNING) else 0):
        bag = TfidfVectorizer(min_df=2, sublinear_tf=True, token_pattern=_WORD)
        own = {split: [with_spaces(row[slot], words) for row in texts[split]] for split in texts}
        try:
            found = {LEARNING: bag.fit_transform(own.pop(LEARNING))}
        except ValueError:  # no word that counts in this slot: nothing to learn from it
            bags.append(None)
            continue
        empty = csr_matrix((0, len(bag.vocabulary_)))
        bags.append(found | {s: bag.transform(rows) if rows else empty for s, rows in own.items()})
    return bags


def learned_from(bags: Sequence[SlotBag | None], labels: Mapping[str, Sequence[str]]) -> BagOfWords:
    """The predictions of :func:`bag_of_words` from some slots' bags."""
    from scipy.sparse import hstack

    if len(set(labels.get(LEARNING, ()))) < 2:
        raise FitError(f"no two labels in split {LEARNING!r}; expected some to tell apart")
    known = [bag for bag in bags if bag is not None]
    if not known:
        raise FitError(f"no word stands in two rows of split {LEARNING!r}; expected some")
    whole = {split: hstack([bag[split] for bag in known]).tocsr() for split in known[0]}
    learned = whole.pop(LEARNING)
    choosing = whole.get(CHOOSING)
    best, chosen, right = None, _UNCHOSEN, -1.0
    for strength in STRENGTHS if choosing is not None else (_UNCHOSEN,):
        model = word_classifier(learned, labels[LEARNING], strength)
        found = 0.0 if choosing is None else _share(model.predict(choosing), labels[CHOOSING])
        if found > right:
            best, chosen, right = model, strength, found
    assert best is not None
    predictions = {
        split: tuple(map(str, best.predict(bag))) if bag.shape[0] else ()
        for split, bag in whole.items()
    }
    return BagOfWords(predictions, chosen)


def _share(predicted: Sequence[str], labels: Sequence[str]) -> float:
    right = sum(one == other for one, other in zip(predicted, labels, strict=True))
    return right / len(labels)


def word_classifier(
    features: Any,
    labels: Sequence[Any],
    strength: float = 1.0,
    *,
    intercept: bool = True,
    weights: Any = None,
) -> Any:
    """A logistic regression on bags of words, each label against the others.

    By Newton's method in a trust region (liblinear): some steps over the words of the texts, where
    lbfgs takes hundreds. What says nothing of the label keeps a weight of zero, as at the optimum,
    so that what is a tie there is one here; coordinate descent on the dual is as fast, and breaks
    such ties by its noise.

    Args:
        features: sparse matrix (rows, words).
        labels: two different ones or more.
        strength: the inverse strength of the penalty.
        intercept: false where a row and its negative are to have opposite labels.
        weights: one for each row; None: all count alike. Of two labels only.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    how = {"solver": "liblinear", "tol": 0.01, "max_iter": 1000, "fit_intercept": intercept}
    model: Any = LogisticRegression(C=strength, **how)
    if len({*labels}) > 2:
        model = OneVsRestClassifier(model)
    with one_thread():
        if weights is None:
            return model.fit(features, np.asarray(labels))
        return model.fit(features, np.asarray(labels), sample_weight=weights)


def out_of_fold_scores(
    texts: Sequence[tuple[str, ...]], labels: Sequence[int], cluster_ids: Sequence[str]
) -> list[float]:
    """Score how incoherent texts look to a classifier trained on the other discourses' texts.

    Logistic regression on one binary bag of words (unigrams and bigrams) for each text of a tuple;
    folds by discourse (``cluster_ids``, at least two), so no discourse is on both sides.
    """
    import numpy as np
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold

    y = np.array(labels)
    scores = np.zeros(len(texts))
    bags = []
    for view in range(len(texts[0])):
        bag = CountVectorizer(token_pattern=r"\w+|[^\w\s]", ngram_range=(1, 2), binary=True)
        try:
            bags.append(bag.fit_transform([text[view] for text in texts]).tocsr())
        except ValueError:  # no word at all in this view: nothing to learn from it
            continue
    if not bags:
        return [0.0] * len(texts)
    # A word that no text to learn from has gets no weight: it is as good as unknown.
    whole = hstack(bags).tocsr()
    folds = GroupKFold(n_splits=min(FOLDS, len({*cluster_ids})))
    for train, test in folds.split(texts, y, cluster_ids):
        model = word_classifier(whole[train], y[train])
        scores[test] = model.decision_function(whole[test])
    return [float(score) for score in scores]
