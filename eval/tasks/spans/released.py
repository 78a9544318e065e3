"""Span coherence as the released program of Storks and Chai 2021 computes it.

``sled-group/Verifiable-Coherent-NLU`` at ``67ac402``, cells 83 and 106 of its notebook. It differs
from the paper (:mod:`eval.tasks.spans.coherence`) in seven ways: on choices the last visited span
alone decides about strict coherence, whatever the answer to the task (1, 6); single sentences are
not visited (2); the sums behind lenient coherence are never reset (3); the threshold of either
metric is chosen by comparing lenient coherence with that metric (4); what follows a span whose
answer a longer one takes back is not visited (5); and a span counts for lenient coherence only
where the task is answered rightly (7). The outputs stored in the notebook are reproduced to the
last digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coherencegym.eval.kinds.spans import NEGATIVE, UNDECIDED
from coherencegym.eval.tasks.spans.coherence import THRESHOLDS, SpanPlace, TextPrediction, mean_of

#: Spans of a choice in the order in which the program visits them.
VISITED_OF_CHOICE: tuple[SpanPlace, ...] = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class ReleasedSpans:
    """The figures of the program.

    Attributes:
        stricts, lenients: the values of texts whose means are its two metrics, from 0 to 1.
        strict_at, lenient_at: the thresholds that it chooses for them; None of one text.
        visited: the spans of each text that were looked at, for choices at the threshold of
            ``strict``.
    """

    stricts: tuple[float, ...]
    lenients: tuple[float, ...]
    strict_at: float | None
    lenient_at: float | None
    visited: tuple[frozenset[SpanPlace], ...]


@dataclass
class _Sums:
    # Right spans and visited spans; of choices they are never set back.
    right: int = 0
    visited: int = 0

    @property
    def share(self) -> float:
        return self.right / self.visited


def released_coherence(
    judged: Sequence[TextPrediction], thresholds: Sequence[float] = THRESHOLDS
) -> ReleasedSpans:
    """The figures of the program for texts of one question, at least one, in their order."""
    if judged[0].text.is_choice:
        return _choices(judged, thresholds)
    found = [_one_text(one) for one in judged]
    return ReleasedSpans(
        stricts=tuple(float(strict) for strict, _, _ in found),
        lenients=tuple(lenient for _, lenient, _ in found),
        strict_at=None,
        lenient_at=None,
        visited=tuple(visited for _, _, visited in found),
    )


def _one_text(one: TextPrediction) -> tuple[bool, float, frozenset[SpanPlace]]:
    coherent, sums, visited = True, _Sums(), set()
    end = one.predicted[one.whole].answer if one.end is None else one.end
    for place in sorted(one.gold):
        answer = one.predicted[place].answer
        visited.add(place)
        right = answer == one.gold[place]
        sums.visited += 1
        sums.right += right and one.right
        coherent = coherent and right
        if answer == NEGATIVE:
            continue
        if end == NEGATIVE or any(
            one.predicted[other].answer == NEGATIVE for other in _spans_around(one, place)
        ):
            break
    return coherent, sums.share, frozenset(visited)


def _spans_around(one: TextPrediction, place: SpanPlace) -> Iterator[SpanPlace]:
    return (other for other in one.gold if other[0] <= place[0] and place[1] <= other[1])


def _choices(judged: Sequence[TextPrediction], thresholds: Sequence[float]) -> ReleasedSpans:
    strict, lenient = (_best_of_choices(judged, thresholds, name) for name in ("strict", "lenient"))
    return replace(strict, lenients=lenient.lenients, lenient_at=lenient.lenient_at)


def _best_of_choices(
    judged: Sequence[TextPrediction], thresholds: Sequence[float], metric: str
) -> ReleasedSpans:
    none = (0.0,) * len(judged)
    sums, best, highest = _Sums(), ReleasedSpans(none, none, None, None, ()), 0.0
    for threshold in thresholds:
        strict, lenient, visited = [], [], []
        for one in judged:
            coherent, seen = _one_choice(one, threshold, sums)
            strict.append(float(coherent))
            lenient.append(sums.share)
            visited.append(seen)
        # Whichever metric is looked for, it is lenient coherence that has to be above it.
        if mean_of(lenient) > highest:
            found = tuple(strict), tuple(lenient)
            best = ReleasedSpans(*found, threshold, threshold, tuple(visited))
            highest = mean_of(strict if metric == "strict" else lenient)
    return best


def _one_choice(
    one: TextPrediction, threshold: float, sums: _Sums
) -> tuple[bool, frozenset[SpanPlace]]:
    coherent, visited = True, set()
    for place in VISITED_OF_CHOICE:
        answer = one.answer(place, threshold)
        visited.add(place)
        coherent = answer == one.gold[place]
        sums.visited += 1
        sums.right += coherent and one.right
        if answer != UNDECIDED and any(
            one.answer(other, threshold) != answer for other in _spans_around(one, place)
        ):
            break
    return coherent, frozenset(visited)
