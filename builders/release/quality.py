"""Quality of a build's own rows: what gives items and intruders away without being read.

The partial-input baseline of items (Poliak et al. 2018; Feng et al. 2019) is a bag-of-words
classifier that never sees the contrast in its context: it decides for the condition that it scores
as less incoherent, out of fold. A language model has to beat it to show more than habits of wording
or position (compare Sharma et al. 2018 on Story Cloze endings). The lexical-overlap baseline beside
it decides by repeated words (:mod:`builders.release.overlap`).

Documents with intruders have the checks of Shen et al. 2021, section 4.4: a classifier that sees
each sentence alone should do no better than calling all of them a document's own, and intruders
should be neither longer nor shorter than the sentences that they replace.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import mean, quantiles
from typing import Any, TypeVar

from coherencegym.builders.release.baselines import (
    BaselineDecision,
    baseline_scores,
    decisions_on,
)
from coherencegym.builders.release.overlap import overlap_decisions
from coherencegym.builders.suite import Config, Contrast, GeneratedDocument, GeneratedItem
from coherencegym.eval.data.baselines import BASELINES, LEXICAL_OVERLAP, PARTIAL_INPUT
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.eval.statistics.bag_of_words import word_classifier
from coherencegym.eval.statistics.intervals import share_interval

#: Items, and sentences of documents, that a classifier sees at most.
_MOST_ITEMS, _MOST_SENTENCES = 6000, 10_000
#: Fewer discourses than this give no partial-input baseline.
FEWEST_DISCOURSES = 20
#: Fewer documents with an intruder than this give no classifier.
FEWEST_INTRUDED = 20
#: The folds of the cross-validation, each of other clusters; of fewer clusters each is one.
FOLDS = 10
#: Those of the baselines of items that are trained.
BASELINE_FOLDS = {PARTIAL_INPUT: FOLDS}


def baseline_decisions(
    config: Config, generated: Sequence[GeneratedItem], decided: Sequence[BaselineDecision]
) -> dict[str, list[BaselineDecision]]:
    """The decisions of each baseline on the items of one config and split.

    The classifier may have ``decided`` on more items than these: what it said of other discourses
    is left aside.
    """
    own = {one.item.discourse_id for one in generated}
    return {
        PARTIAL_INPUT: [decision for decision in decided if decision.discourse in own],
        LEXICAL_OVERLAP: overlap_decisions(generated, config.breakdowns),
    }


def quality(
    config: Config,
    generated: Sequence[GeneratedItem],
    decisions: Mapping[str, Sequence[BaselineDecision]],
) -> dict[str, Any]:
    """The quality section of one config and split of items, as the manifest records it.

    There is at least one item; ``decisions`` are those of each baseline on them.
    """
    own = {one.item.discourse_id for one in generated}
    compared = [
        tuple([one.item.condition(name).content for name in names] for names in (c.worse, c.better))
        for one in generated
        for c in one.contrasts
    ]
    differences = [_words(incoherent) - _words(coherent) for incoherent, coherent in compared]
    identical = sum(sorted(incoherent) == sorted(coherent) for incoherent, coherent in compared)
    return {
        "items": len(generated),
        "discourses": len(own),
        "identical_conditions": identical / len(compared),
        "length_difference": {
            "unit": "words, incoherent minus coherent condition",
            "mean": round(mean(differences), 3),
            "mean_absolute": round(mean(map(abs, differences)), 3),
            "largest": max(differences, key=abs),
        },
        "partial_input_classifier": config.partial_input,
        **{
            name: baseline_scores(
                decisions.get(name, ()), config.headline, BASELINE_FOLDS.get(name, 0)
            )
            for name in BASELINES
        },
    }


def _words(texts: Iterable[str]) -> int:
    return sum(len(text.replace(SEPARATOR, " ").split()) for text in texts)


def decide(generated: Sequence[GeneratedItem], breakdowns: Sequence[str]) -> list[BaselineDecision]:
    """The classifier's decisions on the generated items, each out of fold.

    None where there are fewer than :data:`FEWEST_DISCOURSES` discourses to learn from, or all of
    them are of one cluster: the forms of one text leave none to be tested on.
    """
    seen = whole_clusters(generated, lambda one: one.item.cluster, _MOST_ITEMS)
    clusters = {one.item.cluster for one in seen}
    if len({d.item.discourse_id for d in seen}) < FEWEST_DISCOURSES or len(clusters) < 2:
        return []
    return list(_decide(seen, breakdowns))


def _decide(
    generated: Sequence[GeneratedItem], breakdowns: Sequence[str]
) -> Iterator[BaselineDecision]:
    texts: list[tuple[str, ...]] = []
    labels: list[int] = []
    cluster_ids: list[str] = []
    row_of: dict[tuple[int, str], int] = {}
    for number, one in enumerate(generated):
        incoherent = {name for contrast in one.contrasts for name in contrast.worse}
        for name, view in one.views.items():
            row_of[number, name] = len(texts)
            texts.append(tuple(text.replace(SEPARATOR, " ") for text in view))
            labels.append(int(name in incoherent))
            cluster_ids.append(one.item.cluster)
    scores = out_of_fold_scores(texts, labels, cluster_ids)
    for number, one in enumerate(generated):

        def incoherence(name: str, contrast: Contrast, number: int = number) -> float:
            return scores[row_of[number, name]]

        yield from decisions_on(one, breakdowns, incoherence)


_T = TypeVar("_T")


def whole_clusters(values: Sequence[_T], cluster: Callable[[_T], str], most: int) -> list[_T]:
    """The values, or of more than ``most`` a sample of no more than that, in their order.

    The sample is of whole clusters: by a hash of their names, all that there is still room for.
    """
    if len(values) <= most:
        return list(values)
    sizes = Counter(map(cluster, values))
    kept, room = set[str](), most
    for name in sorted(sizes, key=lambda name: hashlib.sha256(name.encode()).digest()):
        if sizes[name] <= room:
            kept.add(name)
            room -= sizes[name]
    return [value for value in values if cluster(value) in kept]


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


def document_quality(generated: Sequence[GeneratedDocument]) -> dict[str, Any]:
    """The quality section of one split of documents, as the manifest records it.

    Lengths are in words; similarities are TF-IDF cosines of intruders and the sentences that they
    replace. ``sentence_alone`` is none where there is too little to learn from.
    """
    intruded = [one for one in generated if one.document.intruded]
    similarities = [one.document.extra.get("similarity") for one in intruded]
    new = [d.document.sentences[d.document.intruder_position] for d in intruded]
    old = [d.original[d.document.intruder_position] for d in intruded]
    lengths = {
        name: _spread([len(sentence.split()) for sentence in sentences])
        for name, sentences in (("intruders", new), ("replaced", old))
    }
    return {
        "items": len(generated),
        "discourses": len({one.document.discourse_id for one in generated}),
        "intruded": len(intruded),
        "words": lengths if intruded else {},
        "similarity": _spread([float(value) for value in similarities if value is not None]),
        "sentence_alone": _sentence_alone(generated),
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    cuts = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    found = {"mean": mean(values), **dict(zip(("q1", "median", "q3"), cuts, strict=True))}
    return {name: round(value, 3) for name, value in found.items()}


def _sentence_alone(generated: Sequence[GeneratedDocument]) -> dict[str, Any] | None:
    # A classifier that sees sentences without their document, out of fold by document; the first
    # sentence of a document is none of them.
    sentences = [
        (sentence, place == one.document.intruder_position, one.document.cluster)
        for one in generated
        for place, sentence in enumerate(one.document.sentences[1:], start=1)
    ]
    sentences = whole_clusters(sentences, lambda sentence: sentence[2], _MOST_SENTENCES)
    if len({cluster for _, is_intruder, cluster in sentences if is_intruder}) < FEWEST_INTRUDED:
        return None
    labels = [label for _, label, _ in sentences]
    cluster_ids = [cluster for _, _, cluster in sentences]
    scores = out_of_fold_scores([(text,) for text, _, _ in sentences], labels, cluster_ids)
    called = [score > 0 for score in scores]
    right = [float(c == label) for c, label in zip(called, labels, strict=True)]
    hits = sum(c and label for c, label in zip(called, labels, strict=True))
    found = sum(called) + sum(labels)
    interval = share_interval(right, cluster_ids, folds=FOLDS)
    return {
        "sentences": len(labels),
        "accuracy": round(mean(right), 4),
        "ci_low": round(interval.low, 4),
        "ci_high": round(interval.high, 4),
        "majority": round(1 - mean(labels), 4),
        "f1": round(2 * hits / found, 4) if found else 0.0,
    }
