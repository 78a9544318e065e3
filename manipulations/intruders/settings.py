"""Settings by which an intruder sentence is drawn and a collection is searched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coherencegym.manipulations.intruders.neighbours import BlockStore
from coherencegym.manipulations.intruders.text_vectors import WEIGHTINGS
from coherencegym.manipulations.operator import Detector

#: Sources of the other documents: the most similar ones, any, or any of the same category.
STRATEGIES = ("similar", "random", "same_category")


@dataclass(frozen=True)
class IntruderSettings:
    """The settings that decide which sentence takes which place.

    Attributes:
        strategy: one of :data:`STRATEGIES`.
        neighbours: the number of other documents that give a candidate.
        most_similar: candidates whose TF-IDF cosine with S is at least this are dropped.
        share: the share of the documents that are drawn.
        weighting: the weighting of the TF-IDF vectors
        (:mod:`manipulations.intruders.text_vectors`).
        features: into how many places words and word pairs are hashed.
        category: the key of ``meta`` that has to be the same for ``same_category``.
    """

    strategy: str = "similar"
    neighbours: int = 10
    most_similar: float = 0.6
    share: float = 0.5
    weighting: str = "tfidf"
    features: int = 2**20
    category: str = "domain"

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ValueError(
                f"strategy is {self.strategy!r}; expected one of {', '.join(STRATEGIES)}"
            )
        if self.weighting not in WEIGHTINGS:
            raise ValueError(
                f"weighting is {self.weighting!r}; expected one of "
                f"{', '.join(map(repr, WEIGHTINGS))}"
            )
        if self.neighbours < 1:
            raise ValueError(f"neighbours is {self.neighbours}; expected at least 1")
        if not 0 < self.share <= 1:
            raise ValueError(f"share is {self.share}; expected more than 0, at most 1")


@dataclass(frozen=True)
class Fitting:
    """The way a fit is run; without a detector none of this changes its result.

    Attributes:
        threads: threads of the search for neighbours.
        store: keeps the blocks of the search that are done: made from a digest of all that they
            depend on, and the number of neighbours.
        detector: the adversarial filter; none: no filter.
        announce: told how many documents the detector will be asked about, before it is.
        progress: told what is being done.
    """

    threads: int = 1
    store: Callable[[str, int], BlockStore] | None = None
    detector: Detector | None = None
    announce: Callable[[int], None] = lambda documents: None
    progress: Callable[[str], None] = lambda message: None
