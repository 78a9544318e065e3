"""Baselines of pairs: systems that do not read, which a language model has to beat.

The partial-input baseline (Poliak et al. 2018; Feng et al. 2019) is a bag-of-words classifier that
never sees the contrast in its context: it decides for the condition that it scores as less
incoherent, out of fold. The lexical-overlap baseline decides by repeated words
(:mod:`eval.statistics.bag_of_words`), the surface baseline by all that context and target look
like (:mod:`eval.statistics.surface`), learned as well.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from coherencegym.eval.data.dataset import LEXICAL_OVERLAP, PARTIAL_INPUT, SURFACE
from coherencegym.eval.kinds.examples import Contrast, GeneratedItem, Incoherence
from coherencegym.eval.kinds.items import SEPARATOR, Item, Prediction
from coherencegym.eval.statistics.bag_of_words import FOLDS, no_overlap_in, out_of_fold_scores
from coherencegym.eval.statistics.surface import surface_folds, surface_scores
from coherencegym.words.scripts import with_spaces

_T = TypeVar("_T")

#: Items that a classifier sees at most; one that also reads the contexts takes longer.
_MOST_ITEMS, _MOST_WITH_CONTEXT = 6000, 3000
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
    the other. ``item`` is its item's id, ``columns`` are the groups that its item is in by its
    columns.
    """

    discourse: str
    cluster: str
    item: str
    prediction: Prediction
    columns: tuple[str, ...]
    value: float


def decisions_on(
    generated: GeneratedItem, breakdowns: Sequence[str], incoherence: Incoherence
) -> Iterator[BaselineDecision]:
    """The decisions on the predictions of an item, in their order.

    The side of a contrast whose ``incoherence`` sums up to more is called the incoherent one.
    """
    values = (decided(contrast, incoherence) for contrast in generated.contrasts)
    return _decisions(generated, breakdowns, values)


def _decisions(
    generated: GeneratedItem, breakdowns: Sequence[str], values: Iterable[float]
) -> Iterator[BaselineDecision]:
    item = generated.item
    columns = tuple(f"{column}={str(item.extra[column]).lower()}" for column in breakdowns)
    for contrast, value in zip(generated.contrasts, values, strict=True):
        yield BaselineDecision(
            item.discourse_id, item.cluster, item.item_id, contrast.prediction, columns, value
        )


def decided(contrast: Contrast, incoherence: Incoherence) -> float:
    """Decide a contrast: 1 right, 0 wrong, one half a tie."""
    worse = sum(incoherence(name, contrast) for name in contrast.worse)
    better = sum(incoherence(name, contrast) for name in contrast.better)
    return _value_of(worse - better)


def _value_of(difference: float) -> float:
    return TIED if abs(difference) < TIE else float(difference > 0)


def overlap_decisions(
    generated: Sequence[GeneratedItem], breakdowns: Sequence[str]
) -> list[BaselineDecision]:
    """The decisions on all generated items."""
    return [
        decision
        for one in generated
        for decision in decisions_on(
            one, breakdowns, no_overlap_in(one.item.conditions, one.language, one.words)
        )
    ]


def partial_input_decisions(
    generated: Sequence[GeneratedItem], breakdowns: Sequence[str]
) -> list[BaselineDecision]:
    """The classifier's decisions on the generated items, each out of fold.

    None where there are fewer than :data:`FEWEST_DISCOURSES` discourses to learn from, or all of
    them are of one cluster: the forms of one text leave none to be tested on.
    """
    seen = _learnable(generated, _MOST_ITEMS)
    return list(_decide(seen, breakdowns)) if seen else []


def surface_decisions(
    generated: Sequence[GeneratedItem], breakdowns: Sequence[str]
) -> list[BaselineDecision]:
    """The decisions of a classifier of the surface on the generated items, each out of fold.

    None where the partial-input classifier gives none.
    """
    seen = _learnable(generated, _MOST_WITH_CONTEXT)
    return [
        decision
        for one, scores in zip(seen, surface_scores(seen), strict=True)
        for decision in _decisions(one, breakdowns, map(_value_of, scores))
    ]


def trained_decisions(
    generated: Sequence[GeneratedItem], breakdowns: Sequence[str]
) -> dict[str, list[BaselineDecision]]:
    """The decisions of each baseline that is trained, by its name."""
    return {
        PARTIAL_INPUT: partial_input_decisions(generated, breakdowns),
        SURFACE: surface_decisions(generated, breakdowns),
    }


def baseline_folds(generated: Sequence[GeneratedItem]) -> dict[str, int]:
    """The folds of each baseline that is trained, by its name."""
    return {PARTIAL_INPUT: FOLDS, SURFACE: surface_folds(generated)}


def _learnable(generated: Sequence[GeneratedItem], most: int) -> list[GeneratedItem]:
    # No more than a classifier can take, and none where there is too little to learn from.
    seen = whole_clusters(generated, lambda one: one.item.cluster, most)
    clusters = {one.item.cluster for one in seen}
    discourses = {one.item.discourse_id for one in seen}
    discourses |= {str(one.item.extra.get("partner_discourse", "")) for one in seen} - {""}
    return seen if len(discourses) >= FEWEST_DISCOURSES and len(clusters) > 1 else []


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
            plain = (text.replace(SEPARATOR, " ") for text in view)
            texts.append(tuple(with_spaces(text, one.words) for text in plain))
            labels.append(int(name in incoherent))
            cluster_ids.append(one.item.cluster)
    scores = out_of_fold_scores(texts, labels, cluster_ids)
    for number, one in enumerate(generated):

        def incoherence(name: str, contrast: Contrast, number: int = number) -> float:
            return scores[row_of[number, name]]

        yield from decisions_on(one, breakdowns, incoherence)


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


@dataclass(frozen=True)
class ComputedBaselines:
    """The baselines of items that no build wrote, computed when they are first asked for.

    One that ties everywhere is left out.
    """

    items: Sequence[GeneratedItem]

    @cached_property
    def _values(self) -> dict[str, dict[str, list[float]]]:
        found = trained_decisions(self.items, ())
        found[LEXICAL_OVERLAP] = overlap_decisions(self.items, ())
        values: dict[str, dict[str, list[float]]] = {name: {} for name in found}
        for name, decisions in found.items():
            if any(decision.value != TIED for decision in decisions):
                for decision in decisions:
                    values[name].setdefault(decision.item, []).append(decision.value)
        return values

    @property
    def folds(self) -> dict[str, int]:
        """Folds of the cross-validation of each baseline that was trained."""
        known = baseline_folds(self.items)
        return {name: folds for name, folds in known.items() if self._values[name]}

    def check(self) -> None:
        """Nothing was published."""

    def decisions(self, items: Iterable[Item]) -> dict[str, dict[str, list[float]]]:
        """The decisions on the predictions of some items: baseline -> item id -> values."""
        asked = {item.item_id for item in items}
        return {
            name: {item: own[item] for item in own if item in asked}
            for name, own in self._values.items()
        }
