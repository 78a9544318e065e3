"""Sentences that could take the place of a document's own: drawn from its neighbours."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.document_groups import groups, normalised
from coherencegym.manipulations.intruders.neighbours import nearest
from coherencegym.manipulations.intruders.participant_names import exchanged_names
from coherencegym.manipulations.intruders.protagonist_gender import sentence_gender, text_gender
from coherencegym.manipulations.intruders.settings import Fitting, IntruderSettings
from coherencegym.manipulations.intruders.text_vectors import SentenceVectors, text_vectors
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probes.probe import Replacement, apply

#: The neighbours of a document (their indices), and their similarity.
Others = list[tuple[int, float]]
#: The operator's name in the random key.
NAME = "IntruderSentence"
#: Documents whose candidates are compared at a time.
_CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of another document.

    Attributes:
        text: the sentence as it stands there.
        discourse, unit: the place that it comes from.
        similarity: TF-IDF cosine with the sentence that it would replace.
        document_similarity: the same of the two documents; 0 where neighbours are random.
        names: new names for the participants that it names, in the other document
            (:mod:`manipulations.intruders.participant_names`).
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


def draw_candidates(
    operator: IntruderSettings,
    discourses: Sequence[Discourse],
    context: Context,
    fitting: Fitting,
) -> list[Drawn]:
    """Draw documents, their slots and their candidates, without those that must not be."""
    drawn = list(_draw_documents(operator, discourses, context))
    if not drawn:
        return []
    texts = [discourse.texts for discourse in discourses]
    fitting.progress(f"reading {len(texts):,} documents")
    documents, sentences = text_vectors(texts, operator.features, operator.weighting)
    others = _others(operator, discourses, drawn, documents, groups(texts), context, fitting)
    del documents  # the iterator has it, and lets it go in time
    for start in range(0, len(drawn), _CHUNK):
        some = drawn[start : start + _CHUNK]
        _compare(operator, discourses, some, islice(others, len(some)), sentences, context)
    return drawn


def _draw_documents(
    operator: IntruderSettings, discourses: Sequence[Discourse], context: Context
) -> Iterator[Drawn]:
    # What only decides how neighbours are found does not move the slots.
    for index, discourse in enumerate(discourses):
        if len(discourse.units) < 2:
            continue
        generator = context.random(discourse, NAME, share=operator.share)
        if generator.random() < operator.share:
            yield Drawn(index, generator.randrange(1, len(discourse.units)))


def _others(
    operator: IntruderSettings,
    discourses: Sequence[Discourse],
    drawn: Sequence[Drawn],
    documents: Any,
    group_of: Sequence[int],
    context: Context,
    fitting: Fitting,
) -> Iterator[Others]:
    """Find, for each document drawn, the others that give a candidate, and their similarity."""
    if operator.strategy != "similar":
        yield from _random_others(operator, discourses, drawn, group_of, context)
        return
    rows = [one.document for one in drawn]
    store = None
    if fitting.store is not None:
        store = fitting.store(_digest(operator, discourses, rows), operator.neighbours)
    found = nearest(
        documents,
        operator.neighbours,
        group_of,
        rows=rows,
        threads=fitting.threads,
        store=store,
        progress=lambda done: fitting.progress(
            f"neighbours of {done:,} of {len(rows):,} documents"
        ),
    )
    del documents  # as large as what is compared next
    for row in rows:
        near = zip(found.indices[row], found.similarities[row], strict=True)
        yield [(int(other), float(similarity)) for other, similarity in near if other >= 0]


def _random_others(
    operator: IntruderSettings,
    discourses: Sequence[Discourse],
    drawn: Sequence[Drawn],
    group_of: Sequence[int],
    context: Context,
) -> Iterator[Others]:
    """Other documents drawn from all, or from those of the same category."""
    same = operator.strategy == "same_category"

    def category(index: int) -> str:
        return discourses[index].meta.get(operator.category, "") if same else ""

    members: dict[str, list[int]] = defaultdict(list)
    for index in sorted(range(len(discourses)), key=lambda i: discourses[i].id):
        members[category(index)].append(index)
    for one in drawn:
        pool = members[category(one.document)]
        # A few more than are wanted: some may be of its own group.
        generator = context.random(discourses[one.document], f"{NAME} others")
        tried = generator.sample(pool, min(len(pool), 4 * operator.neighbours))
        fitting = [i for i in tried if group_of[i] != group_of[one.document]]
        yield [(i, 0.0) for i in fitting[: operator.neighbours]]


def _compare(
    operator: IntruderSettings,
    discourses: Sequence[Discourse],
    drawn: Sequence[Drawn],
    others: Iterable[Others],
    sentences: SentenceVectors,
    context: Context,
) -> None:
    """Draw a candidate from each neighbour; keep those that could stand in the slot.

    Passed over are those that are too similar, or its own; those about a man in a document about a
    woman and the other way round; and those that name more people than the document.
    """
    import numpy as np

    pairs: list[tuple[Drawn, int, int, float]] = []
    for one, near in zip(drawn, others, strict=True):
        # One draw for each neighbour in its order, whatever becomes of the candidate.
        generator = context.random(discourses[one.document], f"{NAME} candidates")
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
        if cosine >= operator.most_similar or normalised(text) in own[one.document]:
            continue
        if wanted and sentence_gender(text) not in (wanted, ""):
            continue
        names = exchanged_names(discourses[other], unit, discourses[one.document], one.slot)
        if names is None:
            continue
        identifier, rounded = discourses[other].id, round(float(cosine), 6)
        one.candidates.append(
            Candidate(text, identifier, unit, rounded, round(similarity, 6), names)
        )


def _digest(
    operator: IntruderSettings, discourses: Sequence[Discourse], rows: Sequence[int]
) -> str:
    """Digest everything that the neighbours depend on."""
    digest = hashlib.sha256()
    settings = (operator.neighbours, operator.weighting, operator.features)
    digest.update(repr((settings, list(rows))).encode())
    for discourse in discourses:
        digest.update(repr(discourse.texts).encode())
    return digest.hexdigest()
