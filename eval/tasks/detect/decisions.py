"""Decisions on scores of sentences: which are intruders, and whether that is right.

Two decisions need a threshold, the one with the best F1 over sentences on other documents, such as
those of the validation split. ``argmax``: a document has at most one intruder, the sentence with
the highest score, if that is above the threshold. ``independent``: every sentence above the
threshold is one, as in Shen et al. 2021, section 5, who classify each sentence by itself.

They are measured as there (section 4.3): **document accuracy** is whether a document has an
intruder at all, and a document is taken to have one if at least one of its sentences is; **F1** is
over its non-opening sentences, the intruders being the positive class. Beside them the **exact
accuracy** asks for every sentence of the document to be right, and the **accuracy of the place**,
for the highest score to be that of the intruder, where there is one, whatever the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from coherencegym.errors import ConfigError
from coherencegym.eval.kinds.documents import NO_INTRUDER

Decision = Literal["argmax", "independent"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)


def was_read(scores: Sequence[float]) -> bool:
    """Tell a document that was read from one that is left out, whose scores are NaN."""
    return scores[-1] == scores[-1]


def why_left_out(scores: Sequence[float]) -> str:
    """The reason why a document that was not read is left out.

    ``too_long``, or ``crossing``, where a token has characters of two sentences: then the score of
    the opening sentence is NaN, too.
    """
    return "too_long" if scores[0] == scores[0] else "crossing"


def highest(scores: Sequence[float]) -> int:
    """The place of the sentence with the highest score; never that of the opening sentence."""
    return max(range(1, len(scores)), key=lambda place: scores[place])


def _candidates(scores: Sequence[float], decision: Decision) -> Sequence[int]:
    return [highest(scores)] if decision == "argmax" else range(1, len(scores))


def intruders(scores: Sequence[float], threshold: float, decision: Decision) -> tuple[int, ...]:
    """The places (from 0) of the sentences of a document that are taken for intruders.

    Their scores are greater than the threshold; that of the opening sentence is not looked at.
    """
    return tuple(place for place in _candidates(scores, decision) if scores[place] > threshold)


def best_threshold(
    scores: Sequence[Sequence[float]], positions: Sequence[int], decision: Decision
) -> float:
    """The threshold with the highest F1 over sentences.

    Between two scores it is halfway; of several that are as good, the highest, so that nothing is
    called an intruder for nothing. ``positions`` are the places of intruders, -1 for none.
    """
    wanted = sum(position > 0 for position in positions)
    if not wanted:
        raise ConfigError(
            "no document with an intruder to choose the threshold on; expected some, or --threshold"
        )
    compared = (
        (own[place], place == position)
        for own, position in zip(scores, positions, strict=True)
        for place in _candidates(own, decision)
    )
    found = sorted(compared, key=lambda pair: -pair[0])
    # Above all scores nothing is an intruder, and F1 is 0.
    best, threshold = 0.0, found[0][0]
    right = 0
    for number, (score, is_intruder) in enumerate(found, start=1):
        right += is_intruder
        after = found[number][0] if number < len(found) else score - 1.0
        f1 = 2 * right / (number + wanted)
        if after < score and f1 > best:
            halfway = (score + after) / 2
            # Of neighbouring floats there is nothing between.
            best, threshold = f1, halfway if after <= halfway < score else after
    return threshold


@dataclass(frozen=True, slots=True)
class DecisionCounts:
    """Counts of a decision on one document; a mean over several decisions has fractions.

    Attributes:
        hits, false_alarms, misses: intruders found, other sentences taken for one, intruders not
            found.
        document: 1 if it was found out whether there is an intruder.
        exact: 1 if every sentence is right.
    """

    hits: float
    false_alarms: float
    misses: float
    document: float
    exact: float

    @property
    def parts(self) -> dict[str, tuple[float, float]]:
        """The part that the document adds, and its whole."""
        return {
            "document_accuracy": (self.document, 1.0),
            "exact_accuracy": (self.exact, 1.0),
            "f1": (2 * self.hits, 2 * self.hits + self.false_alarms + self.misses),
            "precision": (self.hits, self.hits + self.false_alarms),
            "recall": (self.hits, self.hits + self.misses),
        }


def count_decision(predicted: Sequence[int], position: int) -> DecisionCounts:
    """The counts of calling the sentences at these places intruders.

    The position may be -1, or -2 of an unknown one: then ``document`` alone says something.
    """
    hit = position in predicted
    intruded = position != NO_INTRUDER
    return DecisionCounts(
        hits=float(hit),
        false_alarms=float(len(predicted) - hit),
        misses=float(intruded and not hit),
        document=float(bool(predicted) == intruded),
        exact=float(len(predicted) == intruded and (hit or not intruded)),
    )


def mean_counts(counts: Sequence[DecisionCounts]) -> DecisionCounts:
    """The mean of several decisions on one document."""
    return DecisionCounts(
        *(
            math.fsum(getattr(one, name) for one in counts) / len(counts)
            for name in DecisionCounts.__dataclass_fields__
        )
    )


def count_decisions(
    scores: Sequence[Sequence[float]],
    positions: Sequence[int],
    threshold: float,
    decision: Decision,
) -> list[DecisionCounts]:
    """The counts of a decision on each document; see :func:`best_threshold`."""
    return [
        count_decision(intruders(own, threshold, decision), position)
        for own, position in zip(scores, positions, strict=True)
    ]


def summed(counts: Sequence[DecisionCounts], metric: str) -> tuple[list[float], list[float]]:
    """The parts that documents add to a metric, and their wholes."""
    pairs = [one.parts[metric] for one in counts]
    return [part for part, _ in pairs], [whole for _, whole in pairs]
