"""The surface baseline: predictions decided by what context and target look like, learned.

It sees what a language model sees, but only the surface of it: how many words, stems and pieces of
words the target repeats of its context, how long both are, whether they agree in pronouns, tense
and typing habits (capitals, apostrophes, final marks, smileys, digits), and the n-grams of each by
itself. A linear classifier learns from the differences between the two sides of a prediction which
of them is the coherent one, and decides on documents that it has not seen. So a matching that
leaves something behind is found out, whatever it was matched on. (Gururangan et al. 2018; Kaushik
and Lipton 2018, on classifiers as measures of what a data set gives away.)
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

from coherencegym.eval.kinds.examples import Contrast, GeneratedItem
from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import SEPARATOR, Condition
from coherencegym.eval.kinds.table_kind import HALF
from coherencegym.eval.statistics.bag_of_words import (
    FOLDS,
    all_words,
    content_words,
    cosine,
    turns_and_sentences,
    word_classifier,
)
from coherencegym.words.scripts import with_spaces

#: A text looks so or not; context and target agree where both do or neither does.
_HABITS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?i)\b(?:I|me|my|mine|we|us|our|ours|I'm)\b",
        r"(?i)\byou(?:rs?)?\b",
        r"(?i)\b(?:he|him|his)\b",
        r"(?i)\b(?:she|hers?)\b",
        r"(?i)\b(?:they|them|theirs?)\b",
        r"(?i)\bits?\b",
        r"(?i)\b(?:is|are|am|has|have|do|does|'s|'re|'ve)\b",
        r"(?i)\b(?:was|were|had|did|\w{2,}ed)\b",
        r"(?i)\b(?:will|won't)\b|'ll\b",
        r"^\W*[a-z]",
        r"\b[A-Z]{2,}\b",
        r"(?<=[\w,;'] )[A-Z]\w",
        r"\w['’]\w",
        r"(?i)\b(?:dont|cant|wont|didnt|doesnt|isnt|im|ive|thats|u|ur|pls|plz|thx)\b",
        r"[:;=8][-o]?[)(DPp/]|\b(?:lol|haha+|heh)",
        r"\d",
        r"[\"“”]",
        r",",
        r"[.][\"'”’)]*\s*$",
        r"[?][\"'”’)]*\s*$",
        r"[!][\"'”’)]*\s*$",
        r"\w\s*$",
        r"\.\.",
    )
)
#: Characters of a context or a target that are looked at: its last ones, and those of which the
#: pieces of words are counted.
_MOST_CHARACTERS, _MOST_IN_PIECES = 2000, 300
_HASHES = 2**16
#: A feature that differs by less than this between sides is the same.
_SAME = 1e-9


def surface_scores(generated: Sequence[GeneratedItem]) -> list[list[float]]:
    """Score by how much the worse side of each contrast of each item looks worse, out of fold.

    Above 0 is right, 0 a tie. Logistic regression on differences of features, without an
    intercept, so that sides that change places change the sign and nothing else: what stands on
    both sides of a crossed item, cancels. Folds are of clusters (two or more), or the halves of
    items that were matched by halves; of what is learned from, those items are left out that share
    a document with one that is decided.

    Returns:
        For each item the scores of its contrasts.
    """
    import numpy as np
    from sklearn.model_selection import GroupKFold

    rows = [(place, contrast) for place, one in enumerate(generated) for contrast in one.contrasts]
    clusters = [generated[place].item.cluster for place, _ in rows]
    if not rows:
        return []
    documents = [one.item.discourses for one in generated]
    features = _differences(generated, rows)
    scores = np.zeros(len(rows))
    halves = _halves(generated)
    fold_of = [halves[place] for place, _ in rows] if halves else clusters
    folds = GroupKFold(n_splits=min(FOLDS, len({*fold_of})))
    for train, test in folds.split(scores, groups=fold_of):
        decided = {name for row in test for name in documents[rows[row][0]]}
        train = [row for row in train if decided.isdisjoint(documents[rows[row][0]])]
        if len(train) > 1:
            scores[test] = _learned(features, train, test)
    found: list[list[float]] = [[] for _ in generated]
    for (place, _), score in zip(rows, scores, strict=True):
        found[place].append(float(score))
    return found


def surface_folds(generated: Sequence[GeneratedItem]) -> int:
    """The folds of the classifier: 2 where the items were matched by halves."""
    return 2 if _halves(generated) else FOLDS


def _halves(generated: Sequence[GeneratedItem]) -> list[int]:
    # The half of each item; none where there are not two.
    halves = [int(one.item.extra.get(HALF) or 0) for one in generated]
    return halves if {*halves} == {1, 2} else []


def _learned(features: tuple[Any, Any], train: Any, test: Any) -> Any:
    import numpy as np
    from scipy.sparse import csr_matrix, hstack

    numbers, bags = features
    # By how large they are in what is learned from; not centred, as a side has no direction.
    size = np.sqrt((numbers[train] ** 2).mean(axis=0))
    scaled = numbers / np.where(size > _SAME, size, np.inf)
    whole = hstack([csr_matrix(scaled), bags]).tocsr()
    # Every second row the other way round: to a model without intercept that is the same.
    sign = np.where(np.arange(len(train)) % 2, -1.0, 1.0)
    learned = whole[train].multiply(sign[:, None]).tocsr()
    model = word_classifier(learned, [one > 0 for one in sign], intercept=False)
    return whole[test] @ model.coef_[0]


def _differences(
    generated: Sequence[GeneratedItem], rows: Sequence[tuple[int, Contrast]]
) -> tuple[Any, Any]:
    # Of each contrast the features of its worse side minus those of its better side: an array of
    # numbers, and a sparse matrix of hashed n-grams.
    import numpy as np
    from scipy.sparse import csr_matrix, hstack

    numbers = []
    bags: list[dict[str, int]] = [{} for _ in _BAGS]
    used: list[list[tuple[int, int, int]]] = [[] for _ in _BAGS]
    for row, (place, contrast) in enumerate(rows):
        made = generated[place]
        named = {one.condition_name: one for one in made.item.conditions}
        total = np.zeros(_WIDTH)
        for sign, names in ((1, contrast.worse), (-1, contrast.better)):
            for name in names:
                context, target = _stretches(named[name], contrast)
                total += sign * np.array(_numbers(context, target, made.language, made.words))
                texts = (with_spaces(text, made.words) for text in _texts(context, target))
                for known, own, text in zip(bags, used, texts, strict=True):
                    own.append((row, known.setdefault(text, len(known)), sign))
        numbers.append(np.where(abs(total) > _SAME, total, 0.0))
    parts = []
    for (field, sizes), known, own in zip(_BAGS, bags, used, strict=True):
        places, columns, signs = zip(*own, strict=True)
        # A text that is on both sides adds up to none before its n-grams are added.
        chosen = csr_matrix((signs, (places, columns)), shape=(len(rows), len(known)), dtype=float)
        parts.append(chosen @ _hashed(list(known), field, sizes))
    together = hstack(parts).tocsr()
    together.eliminate_zeros()
    # Nearly all hashes are of no n-gram here; each of their columns would cost every step of a fit.
    return np.array(numbers), together[:, np.unique(together.indices)]


def _stretches(condition: Condition, contrast: Contrast) -> tuple[str, str]:
    # What is compared, and what stands before it.
    if contrast.region == WHOLE:
        return "", condition.content
    first, *_, last = (*contrast.regions, *contrast.regions)
    texts = [region.content for region in condition.regions]
    before, own = texts[: int(first) - 1], texts[int(first) - 1 : int(last)]
    return " ".join(before)[-_MOST_CHARACTERS:], " ".join(own)


#: The kinds of n-grams, and their sizes, of the texts that :func:`_texts` gives.
_BAGS = (
    ("word", (1, 2)),
    ("char_wb", (3, 5)),
    ("word", (1, 2)),
    ("word", (1, 2)),
    ("word", (1, 2)),
)


def _texts(context: str, target: str) -> Iterator[str]:
    # Of each by itself; of a target of several sentences also how it begins and ends.
    sentences = turns_and_sentences(target)
    several = len(sentences) > 1
    yield target[:_MOST_CHARACTERS]
    yield target if len(target) < _MOST_IN_PIECES else ""
    yield context
    yield sentences[0] if several else ""
    yield sentences[-1] if several else ""


def _hashed(texts: Sequence[str], field: str, sizes: tuple[int, int]) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    hashes = HashingVectorizer(
        n_features=_HASHES,
        analyzer=field,
        ngram_range=sizes,
        token_pattern=r"\w+|[^\w\s]",
        lowercase=False,
        binary=True,
        alternate_sign=False,
    )
    return hashes.transform([text.replace(SEPARATOR, " ") for text in texts])


@lru_cache(maxsize=20_000)
def _numbers(context: str, target: str, language: str, words: frozenset[str]) -> tuple[float, ...]:
    # How they go together, and each by itself. Without a context the sentences of the target are
    # compared, each with the one before it.
    if context:
        together = _compared(context, target, language, words)
    else:
        pairs = [_compared(*two, language, words) for two in pairwise(turns_and_sentences(target))]
        width = _WIDTH - len(_HABITS) - 2
        together = tuple(map(math.fsum, zip(*pairs, strict=True))) if pairs else (0.0,) * width
        together = tuple(value / max(1, len(pairs)) for value in together)
    return (*together, *_habits(target), math.log1p(len(target)), math.log1p(len(context)))


def _compared(context: str, target: str, language: str, words: frozenset[str]) -> tuple[float, ...]:
    content = partial(content_words, language=language, words=words)
    every = partial(all_words, words=words)
    ways = [(count(context), count(target)) for count in (every, content, _stems, _pieces)]
    shared = [math.log1p(_repeated(*counts)) for counts in ways]
    lengths = [math.log1p(len(text.split())) for text in (context, target)]
    last = turns_and_sentences(context)[-1:] or ("",)
    near = cosine(content(last[0]), content(target))
    agree = (a * b for a, b in zip(_habits(context), _habits(target), strict=True))
    cosines = [cosine(*counts) for counts in ways]
    return (*cosines, *shared, near, abs(lengths[0] - lengths[1]), math.prod(lengths), *agree)


def _repeated(one: Mapping[str, int], other: Mapping[str, int]) -> int:
    return sum(min(one[word], other[word]) for word in one.keys() & other.keys())


#: The numbers of a context with its target.
_WIDTH = 2 * 4 + 3 + len(_HABITS) + len(_HABITS) + 2


@lru_cache(maxsize=50_000)
def _habits(text: str) -> tuple[float, ...]:
    return tuple(1.0 if habit.search(text) else -1.0 for habit in _HABITS)


@lru_cache(maxsize=20_000)
def _stems(text: str) -> Mapping[str, int]:
    # The beginnings of words, which their forms share.
    return Counter(word[:5] for word in all_words(text) if len(word) > 3)


@lru_cache(maxsize=20_000)
def _pieces(text: str) -> Mapping[str, int]:
    text = f" {text[-_MOST_CHARACTERS:].lower()} "
    return Counter(text[i : i + size] for size in (3, 4, 5) for i in range(len(text) - size + 1))
