"""Span coherence: is a classifier that is right about a text right about its parts, too?

The definitions of Storks and Chai 2021 as the paper gives them, for one text (is it positive?) and
for a choice between texts. What their program computes instead is in
:mod:`eval.tasks.spans.released`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coherencegym.eval.kinds.documents import NEGATIVE, POSITIVE, UNDECIDED, SpanText

#: Start and end of a span in units, from 0, both included.
SpanPlace = tuple[int, int]
#: The confidence thresholds of choices that the paper tries.
THRESHOLDS = tuple(step / 20 for step in range(1, 21))
#: Metrics that a threshold is chosen for: each has its own, as in the paper.
COHERENCE_METRICS = ("strict", "lenient", "lenient if right")
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class SpanPrediction:
    """The answer to one span.

    Attributes:
        answer: the most probable one; never :data:`UNDECIDED`.
        probability: that of a positive answer, or of the chosen alternative.
        margin: the probability of the answer to a choice minus that of the runner-up.
    """

    answer: int
    probability: float
    margin: float = 1.0

    @classmethod
    def of_one_text(cls, probability: float, answer: int | None = None) -> SpanPrediction:
        """A positive answer from a half on, unless the ``answer`` is known otherwise."""
        found = (POSITIVE if probability >= 0.5 else NEGATIVE) if answer is None else answer
        return cls(found, probability)

    @classmethod
    def of_choice(cls, probabilities: Sequence[float]) -> SpanPrediction:
        """The first of the most probable alternatives."""
        best = max(range(len(probabilities)), key=lambda number: probabilities[number])
        others = (p for number, p in enumerate(probabilities) if number != best)
        return cls(best, probabilities[best], probabilities[best] - max(others))


@dataclass(frozen=True)
class TextPrediction:
    """A text, and the answers to each of the spans that have a right one.

    Attributes:
        text: the row.
        predicted: the answer to each span; the order is nobody's business.
    """

    text: SpanText
    predicted: Mapping[SpanPlace, SpanPrediction]

    @cached_property
    def gold(self) -> dict[SpanPlace, int]:
        """The right answers, by span."""
        return {(one.start, one.end): one.answer for one in self.text.gold}

    @cached_property
    def right(self) -> bool:
        """The task itself is answered rightly."""
        return self.predicted[0, self.text.size - 1].answer == self.text.label

    def answer(self, place: SpanPlace, threshold: float) -> int:
        """The answer to a span; undecided where a choice is not confident."""
        own = self.predicted[place]
        if self.text.is_choice and own.margin < threshold:
            return UNDECIDED
        return own.answer

    def span_rights(self, threshold: float) -> list[bool]:
        """Say of each span whether it is answered rightly."""
        return [self.answer(place, threshold) == gold for place, gold in self.gold.items()]

    def metric(self, name: str, threshold: float) -> float:
        """A metric of :data:`COHERENCE_METRICS` on this text alone, from 0 to 1."""
        rights = self.span_rights(threshold)
        if name == "strict":
            return float(all(rights))
        if name == "lenient if right" and not self.right:
            return 0.0
        return sum(rights) / len(rights)

    def monotone(self, threshold: float) -> bool:
        """No decided span stands in a longer one with another answer.

        Of one text only a positive answer is to be kept, as more text takes no support away.
        """
        answers = {place: self.answer(place, threshold) for place in self.gold}
        none = UNDECIDED if self.text.is_choice else NEGATIVE
        return all(
            answers[other] == answer
            for (start, end), answer in answers.items()
            if answer != none
            for other in answers
            if other[0] <= start and end <= other[1]
        )


def places_of(text: SpanText) -> list[SpanPlace]:
    """The spans that have a right answer, the whole among them."""
    return [(one.start, one.end) for one in text.gold]


def identical_spans(text: SpanText) -> frozenset[SpanPlace]:
    """The spans of a choice at which all alternatives have the same text."""
    return frozenset(
        (one.start, one.end)
        for one in text.gold
        if len({alternative[one.start : one.end + 1] for alternative in text.alternatives}) == 1
    )


def mean_of(values: Iterable[float]) -> float:
    """The mean of numbers, at least one, added in their order."""
    found = list(values)
    return sum(found) / len(found)


def best_thresholds(judged: Sequence[TextPrediction]) -> dict[str, float]:
    """The threshold at which each metric is best on these very choices, as the paper reports it.

    Of equals the lowest.
    """
    found = {}
    for name in COHERENCE_METRICS:
        means = [mean_of(one.metric(name, at) for one in judged) for at in THRESHOLDS]
        found[name] = THRESHOLDS[means.index(max(means))]
    return found


def thresholds_by_folds(judged: Sequence[TextPrediction]) -> dict[str, list[float]]:
    """A threshold of each metric for each text, the best one on the texts of other folds.

    Clusters are dealt to five folds, or as many as there are clusters. Of one cluster there are no
    others: its threshold is the lowest.
    """
    clusters = {one.text.cluster for one in judged}
    fold_of = dealt_folds(clusters, min(_FOLDS, len(clusters)))
    own_folds = [fold_of[one.text.cluster] for one in judged]
    chosen: dict[int, dict[str, float]] = {}
    for fold in {*own_folds}:
        others = [one for one, own in zip(judged, own_folds, strict=True) if own != fold]
        lowest = dict.fromkeys(COHERENCE_METRICS, THRESHOLDS[0])
        chosen[fold] = best_thresholds(others) if others else lowest
    return {name: [chosen[fold][name] for fold in own_folds] for name in COHERENCE_METRICS}


def dealt_folds(clusters: Iterable[str], number: int) -> dict[str, int]:
    """The fold (from 0) of each cluster: dealt to so many in the order of their hashes."""
    order = sorted(set(clusters), key=lambda one: hashlib.sha256(f"fold\0{one}".encode()).digest())
    return {cluster: place % number for place, cluster in enumerate(order)}


def constant_answers(text: SpanText, answer: int) -> TextPrediction:
    """A system that reads nothing: always this answer, certain wherever it makes a difference.

    Of a choice :data:`UNDECIDED` is a system that is never confident, and takes the first one.
    """
    if not text.is_choice:
        predicted = dict.fromkeys(places_of(text), SpanPrediction.of_one_text(float(answer)))
        return TextPrediction(text, predicted)
    same = identical_spans(text)
    unsure = SpanPrediction(max(answer, 0), 1 / len(text.alternatives), 0.0)
    return TextPrediction(
        text,
        {
            place: unsure if answer == UNDECIDED or place in same else SpanPrediction(answer, 1.0)
            for place in places_of(text)
        },
    )


def most_frequent_answer(texts: Sequence[SpanText]) -> int:
    """The label that most texts have, the lowest of equals."""
    labels = [text.label for text in texts]
    return max(sorted({*labels}), key=labels.count)
