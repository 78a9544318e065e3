"""The adversarial filter: which candidates a detector does not recognise as the intruder.

Shen et al. 2021 filter with a fine-tuned classifier; here it is any detector that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loaders.discourse import Discourse
from manipulations.intruder_candidates import Candidate, Drawn
from manipulations.operator import Detector


@dataclass(frozen=True, slots=True)
class Filtered:
    """The candidates of a document that are difficult."""

    difficult: list[Candidate]


def filter_candidates(
    drawn: Sequence[Drawn],
    discourses: Sequence[Discourse],
    detector: Detector,
    announce: Callable[[int], None],
) -> dict[int, Filtered]:
    """Ask the detector about every candidate in its place.

    A candidate is difficult when it is not the sentence with the highest score of its document.

    Returns:
        Index of the document -> what is difficult.
    """
    asked: list[tuple[int, int, Candidate]] = []
    texts: list[list[str]] = []
    for one in drawn:
        for candidate in one.candidates:
            sentences = list(discourses[one.document].texts)
            sentences[one.slot] = candidate.text
            asked.append((one.document, one.slot, candidate))
            texts.append(sentences)
    announce(len(texts))
    filtered = {one.document: Filtered([]) for one in drawn}
    if not texts:
        return filtered
    for (document, slot, candidate), scores in zip(asked, detector(texts), strict=True):
        if any(score > scores[slot] for place, score in enumerate(scores) if place != slot):
            filtered[document].difficult.append(candidate)
    return filtered
