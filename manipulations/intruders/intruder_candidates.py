"""Sentences that could take the place of a document's own: drawn from its neighbours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.neighbours import (
    WEIGHTINGS,
    SentenceVectors,
    groups,
    nearest,
    normalised,
    text_vectors,
)
from coherencegym.manipulations.intruders.people import (
    exchanged_names,
    sentence_gender,
    text_gender,
)
from coherencegym.manipulations.operator import Context, Detector
from coherencegym.manipulations.probes.probe import Replacement, apply

#: The neighbours of a document (their indices), and their similarity.
Others = list[tuple[int, float]]
#: The operator's name in the random key.
OPERATOR = "IntruderSentence"
#: Documents whose candidates are compared at a time.
_CHUNK = 1_000
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
        weighting: one of :data:`WEIGHTINGS`.
        features: into how many places words and word pairs are hashed.
        category: the key of ``meta`` that has to be the same for ``same_category``.
        keep_last: the number of sentences at the end that are never replaced.
    """

    strategy: str = "similar"
    neighbours: int = 10
    most_similar: float = 0.6
    share: float = 0.5
    weighting: str = "tfidf"
    features: int = 2**20
    category: str = "domain"
    keep_last: int = 0

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            expected = ", ".join(STRATEGIES)
            raise ValueError(f"strategy is {self.strategy!r}; expected one of {expected}")
        if self.weighting not in WEIGHTINGS:
            expected = ", ".join(map(repr, WEIGHTINGS))
            raise ValueError(f"weighting is {self.weighting!r}; expected one of {expected}")
        if self.neighbours < 1:
            raise ValueError(f"neighbours is {self.neighbours}; expected at least 1")
        if not 0 < self.share <= 1:
            raise ValueError(f"share is {self.share}; expected more than 0, at most 1")
        if self.keep_last < 0:
            raise ValueError(f"keep_last is {self.keep_last}; expected 0 or more")


@dataclass(frozen=True)
class Fitting:
    """The way a fit is run; without a detector none of this changes its result.

    Attributes:
        engine: runs the reading of the texts and the search for neighbours.
        detector: the adversarial filter; none: no filter.
        announce: told how many documents the detector will be asked about, before it is.
        progress: told what is being done.
    """

    engine: Engine = ALONE_IN_PROCESS
    detector: Detector | None = None
    announce: Callable[[int], None] = lambda documents: None
    progress: Callable[[str], None] = lambda message: None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of another document.

    Attributes:
        text: the sentence as it stands there.
        discourse, unit: the place that it comes from.
        similarity: TF-IDF cosine with the sentence that it would replace.
        document_similarity: the same of the two documents; 0 where neighbours are random.
        names: new names for the participants that it names, in the other document
            (:mod:`manipulations.intruders.people`).
    """

    text: str
    discourse: str
    unit: int
    similarity: float
    document_similarity: float
    names: tuple[Replacement, ...] = ()

    @property
    def inserted(self) -> str:
        """The sentence as it stands in the other document."""
        return apply(self.text, self.names)


@dataclass(slots=True)
class Drawn:
    """A document (its index) that was drawn, its slot, and what could stand there."""

    document: int
    slot: int
    candidates: list[Candidate] = field(default_factory=list)


@dataclass(frozen=True)
class Draw:
    """A draw of documents, of their slots, and of what could stand there, from a collection.

    ``group_of`` has a label of each document's group, whose documents give each other nothing;
    none: those that share lines are a group.
    """

    operator: IntruderSettings
    discourses: Sequence[Discourse]
    context: Context
    fitting: Fitting
    group_of: Sequence[int] | None = None

    def candidates(self) -> list[Drawn]:
        """The documents drawn, their slots and candidates, but for those that must not be."""
        drawn = list(self._documents())
        if not drawn:
            return []
        texts = [discourse.texts for discourse in self.discourses]
        self.fitting.progress(f"reading {len(texts):,} documents")
        operator = self.operator
        documents, sentences = text_vectors(
            texts, operator.features, operator.weighting, self.fitting.engine
        )
        group_of = groups(texts) if self.group_of is None else self.group_of
        others = self._others(drawn, documents, group_of)
        del documents  # the iterator has it, and lets it go in time
        for start in range(0, len(drawn), _CHUNK):
            some = drawn[start : start + _CHUNK]
            self._compare(some, islice(others, len(some)), sentences)
        return drawn

    def _documents(self) -> Iterator[Drawn]:
        share = self.operator.share
        for index, discourse in enumerate(self.discourses):
            if (end := len(discourse.units) - self.operator.keep_last) > 1:
                # What only decides how neighbours are found does not move the slots.
                generator = self.context.random(discourse, OPERATOR, share=share)
                if generator.random() < share:
                    yield Drawn(index, generator.randrange(1, end))

    def _others(
        self, drawn: Sequence[Drawn], documents: Any, group_of: Sequence[int]
    ) -> Iterator[Others]:
        if self.operator.strategy != "similar":
            yield from self._random_others(drawn, group_of)
            return
        rows, k, fitting = [one.document for one in drawn], self.operator.neighbours, self.fitting
        found = nearest(
            documents,
            k,
            group_of,
            rows=rows,
            engine=fitting.engine,
            progress=lambda done: fitting.progress(
                f"neighbours of {done:,} of {len(rows):,} documents"
            ),
        )
        del documents  # as large as what is compared next
        for row in rows:
            near = zip(found.indices[row], found.similarities[row], strict=True)
            yield [(int(other), float(similarity)) for other, similarity in near if other >= 0]

    def _random_others(self, drawn: Sequence[Drawn], group_of: Sequence[int]) -> Iterator[Others]:
        discourses, k = self.discourses, self.operator.neighbours
        same = self.operator.strategy == "same_category"

        def category(index: int) -> str:
            return discourses[index].meta.get(self.operator.category, "") if same else ""

        members: dict[str, list[int]] = defaultdict(list)
        for index in sorted(range(len(discourses)), key=lambda i: discourses[i].id):
            members[category(index)].append(index)
        for one in drawn:
            pool = members[category(one.document)]
            # A few more than are wanted: some may be of its own group.
            generator = self.context.random(discourses[one.document], f"{OPERATOR} others")
            tried = generator.sample(pool, min(len(pool), 4 * k))
            fitting = [i for i in tried if group_of[i] != group_of[one.document]]
            yield [(i, 0.0) for i in fitting[:k]]

    def _compare(
        self, drawn: Sequence[Drawn], others: Iterable[Others], sentences: SentenceVectors
    ) -> None:
        import numpy as np

        discourses = self.discourses
        pairs: list[tuple[Drawn, int, int, float]] = []
        for one, near in zip(drawn, others, strict=True):
            # One draw for each neighbour in its order, whatever becomes of the candidate.
            generator = self.context.random(discourses[one.document], f"{OPERATOR} candidates")
            pairs += [
                (one, other, generator.randrange(1, len(discourses[other].units)), similarity)
                for other, similarity in near
                if len(discourses[other].units) > 1
            ]
        if not pairs:
            return
        own: dict[int, set[str]] = {}
        gender: dict[int, str] = {}
        for one in drawn:
            texts = discourses[one.document].texts
            own[one.document] = set(map(normalised, texts))
            gender[one.document] = text_gender(texts[: one.slot] + texts[one.slot + 1 :])
        slots = sentences.of([sentences.first[one.document] + one.slot for one, *_ in pairs])
        candidates = sentences.of([sentences.first[other] + unit for _, other, unit, _ in pairs])
        cosines = np.asarray(slots.multiply(candidates).sum(axis=1)).ravel()
        for (one, other, unit, similarity), cosine in zip(pairs, cosines, strict=True):
            text, wanted = discourses[other].units[unit].text, gender[one.document]
            if cosine >= self.operator.most_similar or normalised(text) in own[one.document]:
                continue
            if wanted and sentence_gender(text) not in (wanted, ""):
                continue
            names = exchanged_names(discourses[other], unit, discourses[one.document], one.slot)
            # It names more people than the document.
            if names is None:
                continue
            identifier, rounded = discourses[other].id, round(float(cosine), 6)
            one.candidates.append(
                Candidate(text, identifier, unit, rounded, round(similarity, 6), names)
            )
