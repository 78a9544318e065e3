"""Position habits: how much a unit by itself looks as if it stood in a place of its text.

A naive Bayes classifier of each unit's words, first words, length and capitals, which knows nothing
of its neighbours. It is cross-fitted: what it says of a text it has learned from others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from coherencegym.loaders.discourse import Discourse
from coherencegym.words.scripts import with_spaces

#: Texts that the classifier does not see when it is asked about one of them: one of so many parts.
_FOLDS = 10

_TOKEN = re.compile(r"\w+|[^\w\s]")
_CAPITAL = re.compile(r"(?<=\s)[A-Z]")
#: Longer units, and more names, count as so long and so many.
_LONGEST, _MOST_NAMES = 40, 4


def unit_features(text: str) -> list[str]:
    """The features of a unit alone: words, the first ones, the last, length, digits, capitals."""
    tokens = _TOKEN.findall(with_spaces(text.lower()))
    return [
        *(f"word {token}" for token in tokens),
        *(f"{place} {token}" for place, token in enumerate(tokens[:3])),
        f"first {' '.join(tokens[:2])}",
        f"last {' '.join(tokens[-1:])}",
        f"length {min(len(tokens), _LONGEST) // 4}",
        f"names {min(len(_CAPITAL.findall(text)), _MOST_NAMES)}",
        *(["digit"] if any(map(str.isdigit, text)) else []),
    ]


def place_scores(texts: Sequence[Discourse], cluster_ids: Sequence[str]) -> list[Any]:
    """Score how well each unit of a text fits each place, by a classifier that knows others only.

    Args:
        texts: discourses of equally many units, whose first and last are left aside.
        cluster_ids: the name of what each is from; the classifier has learned from others only.

    Returns:
        For each text an array (units, units): the logarithm of the probability of the second's
        place given the first's words. All zero where one cluster has everything.
    """
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold
    from sklearn.naive_bayes import MultinomialNB

    size = len(texts[0].units) if texts else 0
    scores = [np.zeros((size, size)) for _ in texts]
    parts = min(_FOLDS, len(set(cluster_ids)))
    if parts < 2:
        return scores
    inside = range(1, size - 1)
    counted = CountVectorizer(analyzer=unit_features, binary=True)
    units = counted.fit_transform(unit for text in texts for unit in text.texts[1:-1])
    places = np.tile(inside, len(texts))
    rows = np.arange(units.shape[0]).reshape(len(texts), len(inside))
    for train, test in GroupKFold(n_splits=parts).split(rows, groups=cluster_ids):
        learned = units[rows[train].ravel()]
        known = learned.getnnz(axis=0) > 0  # not even the words of the others are known
        model = MultinomialNB().fit(learned[:, known], places[rows[train].ravel()])
        said = model.predict_log_proba(units[rows[test].ravel()][:, known])
        for number, own in zip(test, said.reshape(len(test), len(inside), -1), strict=True):
            scores[number][1:-1, 1:-1] = own
    return scores
