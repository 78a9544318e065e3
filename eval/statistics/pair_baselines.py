"""Baselines of pairs: systems that do not read, which a language model has to beat.

The partial-input baseline (Poliak et al. 2018; Feng et al. 2019) is a bag-of-words classifier that
never sees the contrast in its context: it decides for the condition that it scores as less
incoherent, out of fold. The lexical-overlap baseline decides by repeated words
(:mod:`eval.statistics.overlap`). What the surface of context and target gives away beyond
balance weights is found by :mod:`eval.statistics.control`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from coherencegym.eval.kinds.items import (
    SEPARATOR,
    Contrast,
    GeneratedItem,
    Incoherence,
    Prediction,
)
from coherencegym.eval.statistics.bag_of_words import out_of_fold_scores
from coherencegym.eval.statistics.overlap import no_overlap_in, whole_clusters
from coherencegym.words import with_spaces

_T = TypeVar("_T")

#: Items that a classifier sees at most.
_MOST_ITEMS = 6000
#: Fewer discourses than this give no baseline that is trained.
FEWEST_DISCOURSES = 20
#: Sides that differ by less than this tie.
TIE = 1e-9
#: The value of a decision between sides that tie.
TIED = 0.5


@dataclass(frozen=True, slots=True)
class BaselineDecision:
    """The decision of a baseline on one prediction: 1 right, 0 wrong, one half a tie.

    ``discourse`` is what its item was made from; ``cluster`` is that, or the family of discourses
    that it belongs to: a classifier must not learn from one Winograd twin what it is asked about
    the other. ``item`` is its item's id.
    """

    discourse: str
    cluster: str
    item: str
    prediction: Prediction
    value: float


def decisions_on(generated: GeneratedItem, incoherence: Incoherence) -> Iterator[BaselineDecision]:
    """The decisions on the predictions of an item, in their order.

    The side of a contrast whose ``incoherence`` sums up to more is called the incoherent one.
    """
    item = generated.item
    for contrast in generated.contrasts:
        value = decided(contrast, incoherence)
        yield BaselineDecision(
            item.discourse_id, item.cluster, item.item_id, contrast.prediction, value
        )


def decided(contrast: Contrast, incoherence: Incoherence) -> float:
    """Decide a contrast: 1 right, 0 wrong, one half a tie."""
    worse = sum(incoherence(name, contrast) for name in contrast.worse)
    better = sum(incoherence(name, contrast) for name in contrast.better)
    return TIED if abs(worse - better) < TIE else float(worse > better)


def overlap_decisions(generated: Sequence[GeneratedItem]) -> list[BaselineDecision]:
    """The decisions on all generated items."""
    return [
        decision
        for one in generated
        for decision in decisions_on(
            one, no_overlap_in(one.item.conditions, one.language, one.words)
        )
    ]


def partial_input_decisions(generated: Sequence[GeneratedItem]) -> list[BaselineDecision]:
    """The classifier's decisions on the generated items, each out of fold.

    None where there are fewer than :data:`FEWEST_DISCOURSES` discourses to learn from, or all of
    them are of one cluster: the forms of one text leave none to be tested on.
    """
    seen = _learnable(generated)
    return list(_decide(seen)) if seen else []


def _learnable(generated: Sequence[GeneratedItem]) -> list[GeneratedItem]:
    # No more than a classifier can take, and none where there is too little to learn from.
    seen = whole_clusters(generated, lambda one: one.item.cluster, _MOST_ITEMS)
    clusters = {one.item.cluster for one in seen}
    discourses = {one.item.discourse_id for one in seen}
    discourses |= {str(one.item.extra.get("partner_discourse", "")) for one in seen} - {""}
    return seen if len(discourses) >= FEWEST_DISCOURSES and len(clusters) > 1 else []


def _decide(generated: Sequence[GeneratedItem]) -> Iterator[BaselineDecision]:
    texts: list[tuple[str, ...]] = []
    labels: list[int] = []
    cluster_ids: list[str] = []
    row_of: dict[tuple[int, str], int] = {}
    for number, one in enumerate(generated):
        incoherent = {name for contrast in one.contrasts for name in contrast.worse}
        for name, view in one.views.items():
            row_of[number, name] = len(texts)
            plain = (text.replace(SEPARATOR, " ") for text in view)
            texts.append(tuple(with_spaces(text, one.words) for text in plain))
            labels.append(int(name in incoherent))
            cluster_ids.append(one.item.cluster)
    scores = out_of_fold_scores(texts, labels, cluster_ids)
    for number, one in enumerate(generated):

        def incoherence(name: str, contrast: Contrast, number: int = number) -> float:
            return scores[row_of[number, name]]

        yield from decisions_on(one, incoherence)
