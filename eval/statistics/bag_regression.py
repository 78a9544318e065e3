"""Ratings that a bag of words predicts for texts that it did not learn from."""

from __future__ import annotations

from collections.abc import Sequence

from coherencegym.eval.statistics.threads import one_thread

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
