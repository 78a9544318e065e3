"""Quality of documents with intruders: the checks of Shen et al. 2021, section 4.4.

Whether a sentence is an intruder must not show without its document: a classifier that sees each
sentence alone should do no better than calling all of them a document's own, and intruders should
be neither longer nor shorter than the sentences that they replace.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from statistics import mean, quantiles
from typing import Any

from coherencegym.builders.release.quality import FOLDS, out_of_fold_scores
from coherencegym.builders.suite import DocumentDraft
from coherencegym.eval.statistics.intervals import share_interval

#: Documents that the classifier is trained on at most (the first ones in order of a hash).
MOST_DOCUMENTS = 2000
#: Fewer documents with an intruder than this give no classifier.
FEWEST_INTRUDED = 20


def document_quality(drafts: Sequence[DocumentDraft]) -> dict[str, Any]:
    """The quality section of one split of documents, as the manifest records it.

    Lengths are in words; similarities are TF-IDF cosines of intruders and the sentences that they
    replace. ``sentence_alone`` is none where there is too little to learn from.
    """
    intruded = [draft for draft in drafts if draft.document.intruded]
    lengths: dict[str, Any] = {}
    similarities = [
        float(similarity)
        for draft in intruded
        if (similarity := draft.document.extra.get("similarity")) is not None
    ]
    if intruded:
        new = [len(d.document.sentences[d.document.intruder_position].split()) for d in intruded]
        old = [len(d.original[d.document.intruder_position].split()) for d in intruded]
        lengths = {"intruders": spread_of(new), "replaced": spread_of(old)}
    return {
        "items": len(drafts),
        "discourses": len({draft.document.discourse_id for draft in drafts}),
        "intruded": len(intruded),
        "words": lengths,
        "similarity": spread_of(similarities) if similarities else {},
        "sentence_alone": sentence_alone(drafts),
    }


def spread_of(values: Sequence[float]) -> dict[str, float]:
    """Mean and quartiles."""
    low, middle, high = (
        quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    )
    return {
        "mean": round(mean(values), 3),
        "q1": round(low, 3),
        "median": round(middle, 3),
        "q3": round(high, 3),
    }


def sentence_alone(drafts: Sequence[DocumentDraft]) -> dict[str, Any] | None:
    """Measure how well a classifier that sees sentences without their document finds intruders.

    Logistic regression on bags of words, out of fold by document; sentences that are not the first
    of their document. A sentence is called an intruder where the classifier finds that more likely
    than not.
    """
    chosen = sorted(drafts, key=lambda d: hashlib.sha256(d.document.item_id.encode()).digest())[
        :MOST_DOCUMENTS
    ]
    if sum(draft.document.intruded for draft in chosen) < FEWEST_INTRUDED:
        return None
    texts, labels, owners = [], [], []
    for draft in chosen:
        for place, sentence in enumerate(draft.document.sentences[1:], start=1):
            texts.append((sentence,))
            labels.append(int(place == draft.document.intruder_position))
            owners.append(draft.document.discourse_id)
    called = [score > 0 for score in out_of_fold_scores(texts, labels, owners)]
    right = [float(c == bool(label)) for c, label in zip(called, labels, strict=True)]
    hits = sum(c and bool(label) for c, label in zip(called, labels, strict=True))
    found = sum(called) + sum(labels)
    interval = share_interval(right, owners, folds=FOLDS)
    return {
        "sentences": len(labels),
        "accuracy": round(mean(right), 4),
        "ci_low": round(interval.low, 4),
        "ci_high": round(interval.high, 4),
        "majority": round(1 - mean(labels), 4),
        "f1": round(2 * hits / found, 4) if found else 0.0,
    }
