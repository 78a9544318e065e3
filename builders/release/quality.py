"""Quality of a build's own rows: what gives items and intruders away without being read.

Items have their baselines (:mod:`eval.statistics.pair_baselines`), which a language model has to
beat to show more than habits of wording or position (compare Sharma et al. 2018 on Story Cloze
endings).

Documents with intruders have the checks of Shen et al. 2021, section 4.4: a classifier that sees
each sentence alone should do no better than calling all of them a document's own, and intruders
should be neither longer nor shorter than the sentences that they replace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from statistics import mean, quantiles
from typing import Any

from coherencegym.builders.release.baselines import baseline_scores
from coherencegym.builders.suite import Config, GeneratedDocument, GeneratedItem
from coherencegym.eval.data.baselines import BASELINES, LEXICAL_OVERLAP
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.eval.statistics.bag_of_words import FOLDS, out_of_fold_scores
from coherencegym.eval.statistics.intervals import share_interval
from coherencegym.eval.statistics.pair_baselines import (
    BaselineDecision,
    baseline_folds,
    overlap_decisions,
    whole_clusters,
)
from coherencegym.eval.statistics.power import effective_items, smallest_difference
from coherencegym.words.scripts import count_words, with_spaces

#: Sentences of documents that a classifier sees at most.
_MOST_SENTENCES = 10_000
#: Fewer documents with an intruder than this give no classifier.
FEWEST_INTRUDED = 20


def baseline_decisions(
    config: Config,
    generated: Sequence[GeneratedItem],
    decided: Mapping[str, Sequence[BaselineDecision]],
) -> dict[str, list[BaselineDecision]]:
    """The decisions of each baseline on the items of one config and split.

    Classifiers may have ``decided`` on more items than these: what they said of other discourses
    is left aside.
    """
    own = {one.item.discourse_id for one in generated}
    found = {name: [one for one in of if one.discourse in own] for name, of in decided.items()}
    found[LEXICAL_OVERLAP] = overlap_decisions(generated, config.breakdowns)
    return {name: found[name] for name in BASELINES if name in found}


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
    # The scores that a card shows, and those by which a headline is chosen.
    declared = (contrast.prediction.groups[:1] for contrast in config.generator.contrasts)
    shown = {"", config.headline_value, *chain.from_iterable(declared)}
    folds = baseline_folds(generated)
    # Of two models, by what is usual and not by what is measured.
    counted = [one.item.cluster for one in generated if one.item.counts_in(config.headline)]
    difference = smallest_difference(effective_items(counted))
    return {
        "items": len(generated),
        "discourses": len(own),
        "power": {"smallest_difference": None if difference is None else round(difference, 4)},
        "identical_conditions": identical / len(compared),
        "length_difference": {
            "mean": round(mean(differences), 3),
            "mean_absolute": round(mean(map(abs, differences)), 3),
        },
        "partial_input_classifier": config.partial_input,
        **{
            name: baseline_scores(
                decisions.get(name, ()), shown, config.headline, folds.get(name, 0)
            )
            for name in BASELINES
        },
    }


def _words(texts: Iterable[str]) -> int:
    return sum(count_words(text.replace(SEPARATOR, " ")) for text in texts)


def document_quality(generated: Sequence[GeneratedDocument]) -> dict[str, Any]:
    """The quality section of one split of documents, as the manifest records it.

    Lengths are in words; similarities are TF-IDF cosines of intruders and the sentences that they
    replace. ``sentence_alone`` is none where there is too little to learn from.
    """
    located = [one for one in generated if one.document.located]
    intruded = [one for one in located if one.document.intruded]
    similarities = [one.document.extra.get("similarity") for one in intruded]
    new = [d.document.sentences[d.document.intruder_position] for d in intruded]
    old = [d.original[d.document.intruder_position] for d in intruded]
    lengths = {
        name: _spread([count_words(sentence) for sentence in sentences])
        for name, sentences in (("intruders", new), ("replaced", old))
    }
    return {
        "items": len(generated),
        "intruded": sum(one.document.intruded for one in generated),
        "words": lengths if intruded else {},
        "similarity": _spread([float(value) for value in similarities if value is not None]),
        "sentence_alone": _sentence_alone(located),
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
        (
            with_spaces(sentence, one.words),
            place == one.document.intruder_position,
            one.document.cluster,
        )
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
