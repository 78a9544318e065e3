"""The adversarial filter: which candidates a detector does not recognise as the intruder.

Shen et al. 2021 filter with a fine-tuned classifier; here it is any detector that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.intruder_candidates import Candidate, Drawn
from coherencegym.manipulations.operator import Detector


def filter_candidates(
    drawn: Sequence[Drawn],
    discourses: Sequence[Discourse],
    detector: Detector,
    announce: Callable[[int], None],
) -> dict[int, list[Candidate]]:
    """Ask the detector about every candidate in its place.

    A candidate is difficult when it is not the sentence with the highest score of its document.

    Returns:
        Index of the document -> its difficult candidates.
    """
    asked: list[tuple[int, int, Candidate]] = []
    texts: list[list[str]] = []
    for one in drawn:
        for candidate in one.candidates:
            sentences = list(discourses[one.document].texts)
            sentences[one.slot] = candidate.inserted
            asked.append((one.document, one.slot, candidate))
            texts.append(sentences)
    announce(len(texts))
    difficult: dict[int, list[Candidate]] = {one.document: [] for one in drawn}
    if not texts:
        return difficult
    for (document, slot, candidate), scores in zip(asked, detector(texts), strict=True):
        if any(score > scores[slot] for place, score in enumerate(scores) if place != slot):
            difficult[document].append(candidate)
    return difficult
