"""From scores of sentences to intruders: two decisions, and the threshold that both need.

``argmax``: a document has at most one intruder, the sentence with the highest score, if that is
above the threshold. ``independent``: every sentence above the threshold is one, as in Shen et al.
2021, section 5, who classify each sentence by itself. The threshold is the one with the best F1
over sentences on other documents, such as those of the validation split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from coherencegym.errors import EvaluationError

Decision = Literal["argmax", "independent"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)


def highest(scores: Sequence[float]) -> int:
    """The place of the sentence with the highest score; never that of the opening sentence."""
    return max(range(1, len(scores)), key=lambda place: scores[place])


def intruders(scores: Sequence[float], threshold: float, decision: Decision) -> tuple[int, ...]:
    """The places (from 0) of the sentences of a document that are taken for intruders.

    Args:
        scores: of each sentence, at least two; that of the opening one is not looked at.
        threshold: a score must be greater.
        decision: how.
    """
    places = [highest(scores)] if decision == "argmax" else range(1, len(scores))
    return tuple(place for place in places if scores[place] > threshold)


def best_threshold(
    scores: Sequence[Sequence[float]], positions: Sequence[int], decision: Decision
) -> float:
    """The threshold with the highest F1 over sentences.

    Between two scores it is halfway; of several that are as good, the highest, so that nothing is
    called an intruder for nothing.

    Args:
        scores: of each document, of each sentence.
        positions: of each document, the place of its intruder, -1 for none.
        decision: how sentences are chosen.

    Raises:
        EvaluationError: no document has an intruder, and so every threshold has the same F1.
    """
    wanted = sum(position > 0 for position in positions)
    if not wanted:
        raise EvaluationError(
            "no document with an intruder to choose the threshold on; expected some, or --threshold"
        )
    found = sorted(_candidates(scores, positions, decision), key=lambda pair: -pair[0])
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


def _candidates(
    scores: Sequence[Sequence[float]], positions: Sequence[int], decision: Decision
) -> Iterator[tuple[float, bool]]:
    """Scores that a threshold is compared with, and whether each is that of an intruder."""
    for own, position in zip(scores, positions, strict=True):
        places = [highest(own)] if decision == "argmax" else range(1, len(own))
        for place in places:
            yield own[place], place == position
