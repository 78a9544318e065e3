"""What the program of Storks and Chai 2021 computes, and what the paper has of it.

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

from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.eval.kinds.documents import NEGATIVE, UNDECIDED
from coherencegym.eval.tasks.spans.coherence import (
    THRESHOLDS,
    SpanPlace,
    TextPrediction,
    mean_of,
)
from coherencegym.eval.tasks.spans.options import MODE
from coherencegym.papers import PublishedTable, read_papers

#: Spans of a choice in the order in which the program visits them.
_VISITED_OF_CHOICE: tuple[SpanPlace, ...] = ((0, 1), (0, 2), (1, 2))


def paper_tables() -> dict[str, PublishedTable]:
    """The paper's tables by the config of each."""
    return {
        config: table
        for table in read_papers()[MODE].tables.values()
        for row in table.rows.values()
        for config in row.configs
    }


def paper_table(config: str) -> PublishedTable | None:
    """The paper's table of the data that a config holds; None if it holds none of them."""
    return next((table for name, table in paper_tables().items() if name in config), None)


@dataclass(frozen=True)
class ReleasedSpans:
    """The figures of the program.

    Attributes:
        stricts, lenients: the values of texts whose means are its two metrics, from 0 to 1.
        strict_at, lenient_at: the thresholds that it chooses for them; None of one text.
    """

    stricts: Sequence[float]
    lenients: Sequence[float]
    strict_at: float | None = None
    lenient_at: float | None = None


def released_coherence(
    judged: Sequence[TextPrediction], thresholds: Sequence[float] = THRESHOLDS
) -> ReleasedSpans:
    """The figures of the program for texts of one question, at least one, in their order."""
    if judged[0].text.is_choice:
        stricts, _, strict_at = _best_of_choices(judged, thresholds, "strict")
        _, lenients, lenient_at = _best_of_choices(judged, thresholds, "lenient")
        return ReleasedSpans(stricts, lenients, strict_at, lenient_at)
    visited = [(one, _visited(one)) for one in judged]
    return ReleasedSpans(
        stricts=[float(all(rights)) for _, rights in visited],
        lenients=[sum(rights) * one.right / len(rights) for one, rights in visited],
    )


def _visited(one: TextPrediction, threshold: float = 0.0) -> list[bool]:
    """Say of each span that the program looks at whether it is answered rightly."""
    none = UNDECIDED if one.text.is_choice else NEGATIVE
    answers = {place: one.answer(place, threshold) for place in one.gold}
    rights = []
    for start, end in _VISITED_OF_CHOICE if one.text.is_choice else sorted(one.gold):
        answer = answers[start, end]
        rights.append(answer == one.gold[start, end])
        if answer != none and any(
            other != answer
            for (first, last), other in answers.items()
            if first <= start and end <= last
        ):
            break
    return rights


def _best_of_choices(
    judged: Sequence[TextPrediction], thresholds: Sequence[float], metric: str
) -> tuple[Sequence[float], Sequence[float], float | None]:
    # The sums of right and of visited spans are never set back.
    right = visited = 0
    none = [0.0] * len(judged)
    best: tuple[Sequence[float], Sequence[float], float | None] = none, none, None
    highest = 0.0
    for threshold in thresholds:
        strict, lenient = [], []
        for one in judged:
            rights = _visited(one, threshold)
            visited += len(rights)
            right += sum(rights) * one.right
            strict.append(float(rights[-1]))
            lenient.append(right / visited)
        # Whichever metric is looked for, it is lenient coherence that has to be above it.
        if mean_of(lenient) > highest:
            best = strict, lenient, threshold
            highest = mean_of(strict if metric == "strict" else lenient)
    return best
