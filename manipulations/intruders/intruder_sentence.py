"""Intruder sentence: put a sentence of a similar document in the place of one of a document's own.

Shen et al. 2021, section 3.3 (INSteD). The operator has to see the collection first: ``fit`` finds
the neighbours of the documents and draws slots and intruders; the fitted operator replaces. Simpler
ways to find the other document are those of Chen et al. 2019 (DiscoEval, Discourse Coherence).

A message that speaks to somebody whom nobody else in the conversation has ever named gives itself
away by the name alone, as nobody's coherence would: names are exchanged, one for one. So does one
about a man in a text about a woman.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from coherencegym.engines import ALONE_IN_PROCESS, Engine
from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.loaders.text.sentences import PARTICIPANT
from coherencegym.manipulations.editing import replace_places, replace_text
from coherencegym.manipulations.intruders.neighbours import (
    SentenceVectors,
    groups,
    nearest,
    normalised,
    text_vectors,
)
from coherencegym.manipulations.operator import Context, Detector, Operator
from coherencegym.manipulations.probes.sentence import Replacement, apply

_PRONOUN = re.compile(
    r"\b(?:(?P<masculine>[Hh](?:e|im(?:self)?|is))|(?P<feminine>[Ss]he|[Hh]er(?:s|self)?))\b"
)


def exchanged_names(
    source: Discourse, unit: int, host: Discourse, slot: int
) -> tuple[Replacement, ...] | None:
    """Find the names to exchange where a message takes the place of another one.

    Each name becomes one that the host mentions outside the slot, the same one in the whole
    message, and no two become one. A name that the host mentions itself stays. Whoever tells of
    themselves (``ann waves``) becomes whoever speaks in the slot, if that is mentioned; others
    become whom the replaced message names, or else those who are named nearest to it, and the
    speaker of the slot last.

    ``unit`` is the message's index in its document, ``slot`` that of the message that it replaces
    in the host. None where it names more people than the host does outside the slot.
    """
    named = [mention for mention in _participants(source) if mention.span[0][0] == unit]
    if not named:
        return ()
    free = _by_distance(host, slot)
    names = list(dict.fromkeys(mention.chain for mention in named))
    if len(names) > len(free):
        return None
    becomes = _exchange(names, free, source.units[unit].speaker, host.units[slot].speaker)
    return tuple(
        Replacement(start, end, becomes[mention.chain])
        for mention in named
        for _, start, end in mention.span
        if becomes[mention.chain] != mention.chain
    )


def _exchange(
    names: Sequence[str], free: Sequence[str], own: str | None, speaker: str | None
) -> dict[str, str]:
    # ``own`` speaks the message, ``speaker`` in its new place.
    becomes = {name: name for name in names if name in free}
    for name in names:
        if name not in becomes:
            left = [other for other in free if other not in becomes.values()]
            wanted = [other for other in left if (other == speaker) == (name == own)]
            becomes[name] = (wanted or left)[0]
    return becomes


def _participants(discourse: Discourse) -> list[Mention]:
    return [one for one in discourse.mentions if one.features.entity == PARTICIPANT]


def _by_distance(host: Discourse, slot: int) -> list[str]:
    # Whom the slot names first, then the nearest first.
    named = [(mention.span[0][0], mention.chain) for mention in _participants(host)]
    outside = {name for unit, name in named if unit != slot}
    named.sort(key=lambda place: (abs(place[0] - slot), place[0]))
    return list(dict.fromkeys(name for _, name in named if name in outside))


def sentence_gender(sentence: str) -> str:
    """``masculine`` or ``feminine`` by the first pronoun; empty where there is none.

    The first one is most often about whom the text is; those behind it may be somebody whom the
    sentence itself brings in (``He married her in 1920``).
    """
    found = _PRONOUN.search(sentence)
    return found.lastgroup or "" if found else ""


def text_gender(sentences: Iterable[str]) -> str:
    """The gender of most sentences that have one; empty where there is none, or no majority."""
    counts = Counter(filter(None, map(sentence_gender, sentences)))
    masculine, feminine = counts["masculine"], counts["feminine"]
    if masculine == feminine:
        return ""
    return "masculine" if masculine > feminine else "feminine"


#: The operator's name in the random key.
OPERATOR = "IntruderSentence"
#: Sources of the other documents: the most similar ones, any, or any of the same category.
STRATEGIES = ("similar", "random", "same_category")
#: Documents whose candidates are compared at a time.
_CHUNK = 1_000
#: Note of the edits that exchange the names of participants in an intruder.
_EXCHANGED_NAMES = "ExchangedNames"

#: Reasons why a document stays coherent.
NOT_SELECTED = "stays coherent: not selected for an intruder"
NO_CANDIDATE = "stays coherent: no sentence of another text fits"
TOO_SHORT = "stays coherent: fewer than two sentences"

#: The neighbours of a document (their indices), and their similarity.
_Neighbours = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of another document.

    Attributes:
        text: the sentence as it stands there.
        discourse, unit: the place that it comes from.
        similarity: TF-IDF cosine with the sentence that it would replace.
        document_similarity: the same of the two documents; 0 where neighbours are random.
        names: new names for the participants that it names, in the other document
            (:mod:`manipulations.intruders.intruder_sentence`).
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


@dataclass(frozen=True, slots=True)
class Choice:
    """The fate of one document.

    Attributes:
        slot: the sentence (from 0) that is replaced.
        intruder: the sentence that takes its place, and where it is from.
        difficulty: ``difficult`` where the filter's detector did not see that it is the intruder,
            ``easy`` where it did; empty without a filter.
    """

    slot: int
    intruder: Candidate
    difficulty: str = ""


@dataclass(frozen=True)
class IntruderSentence(Operator):
    """Replace a sentence of a document by an intruder, a sentence of another document.

    Attributes:
        strategy: the source of the other documents: ``similar`` (the default), ``random``, or
            ``same_category`` (random documents with the same value of ``category``).
        neighbours: the number of similar documents (10 by default) from which the operator draws
            possible intruders, one sentence from each document. Documents are similar if they have
            similar words (cosine of TF-IDF vectors).
        most_similar: the limit for the similarity (TF-IDF cosine) of an intruder and the replaced
            sentence. A sentence at or above the limit does not become an intruder.
        share: the share of documents that get an intruder, 0.5 by default. The operator draws these
            documents at random.
        category: the key of ``meta`` for ``same_category``.
        keep_last: the number of sentences at the end of a document that are never replaced.

    The operator draws the replaced sentence at random. The first sentence of a document is never
    replaced and never becomes an intruder. A sentence does not become an intruder if the document
    that gets the intruder already contains the same sentence. A sentence also does not become an
    intruder if its first pronoun (such as ``she``) has another gender than most pronouns of the
    document that gets the intruder.

    If an intruder comes from a chat, the intruder may contain names of persons who take part in
    this chat. The operator replaces these names by names of persons in the chat that gets the
    intruder. If two documents have a sentence in common, neither document gives the other an
    intruder (:mod:`manipulations.intruders.neighbours`).

    Call :meth:`fit` with all documents before you use the operator, because the operator compares
    the documents. The result is named ``intruded``. A document that gets no intruder gives no
    result.
    """

    strategy: str = "similar"
    neighbours: int = 10
    most_similar: float = 0.6
    share: float = 0.5
    category: str = "domain"
    keep_last: int = 0

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            expected = ", ".join(STRATEGIES)
            raise ValueError(f"strategy is {self.strategy!r}; expected one of {expected}")
        if self.neighbours < 1:
            raise ValueError(f"neighbours is {self.neighbours}; expected at least 1")
        if not 0 < self.share <= 1:
            raise ValueError(f"share is {self.share}; expected more than 0, at most 1")
        if self.keep_last < 0:
            raise ValueError(f"keep_last is {self.keep_last}; expected 0 or more")

    def fit(
        self,
        discourses: Sequence[Discourse],
        context: Context,
        *,
        group_of: Sequence[int] | None = None,
        detector: Detector | None = None,
        engine: Engine = ALONE_IN_PROCESS,
        progress: Callable[[str], None] = lambda message: None,
    ) -> FittedIntruderSentence:
        """Find and draw the intruders of a collection (one split: the rest must not be seen).

        Args:
            discourses: the collection.
            context: the seed and the suite.
            group_of: labels the documents by groups that give each other nothing; none: those that
                share lines.
            detector: the adversarial filter: intruders that it does not find are preferred.
            engine: runs the reading of the texts and the search for neighbours; without a detector
                it does not change the result.
            progress: told what is being done.
        """
        if len({discourse.id for discourse in discourses}) < len(discourses):
            raise ValueError("two discourses have the same id; expected each once")
        slots = self._slots(discourses, context)
        candidates: dict[int, list[Candidate]] = {document: [] for document in slots}
        if slots:
            progress(f"reading {len(discourses):,} documents")
            texts = [discourse.texts for discourse in discourses]
            group_of = groups(texts) if group_of is None else group_of
            documents, sentences = text_vectors(texts, engine=engine)
            if self.strategy == "similar":
                others = self._nearest(documents, slots, group_of, engine, progress)
            else:
                others = self._drawn_others(discourses, slots, group_of, context)
            del documents  # as large as what is compared next; the iterator lets it go in time
            drawn = iter(slots)
            while some := list(islice(drawn, _CHUNK)):
                near = dict(zip(some, others, strict=False))
                self._compare(discourses, slots, near, sentences, context, candidates)
        difficult: dict[int, list[Candidate]] = {}
        if detector is not None:
            difficult = _difficult(discourses, slots, candidates, detector)
        reasons: dict[str, str] = {}
        choices: dict[str, Choice] = {}
        for index, discourse in enumerate(discourses):
            if index not in slots:
                short = len(discourse.units) - self.keep_last < 2
                reasons[discourse.id] = TOO_SHORT if short else NOT_SELECTED
            elif not candidates[index]:
                reasons[discourse.id] = NO_CANDIDATE
            else:
                pool = difficult.get(index) or candidates[index]
                intruder = context.random(discourse, f"{OPERATOR} choice").choice(pool)
                filtered = "difficult" if difficult.get(index) else "easy"
                difficulty = "" if detector is None else filtered
                choices[discourse.id] = Choice(slots[index], intruder, difficulty)
        return FittedIntruderSentence(self, choices, reasons)

    def _slots(self, discourses: Sequence[Discourse], context: Context) -> dict[int, int]:
        # The documents (their indices) that are drawn, and the sentence of each that is replaced.
        slots = {}
        for index, discourse in enumerate(discourses):
            if (end := len(discourse.units) - self.keep_last) > 1:
                # What only decides how neighbours are found does not move the slots.
                generator = context.random(discourse, OPERATOR, share=self.share)
                if generator.random() < self.share:
                    slots[index] = generator.randrange(1, end)
        return slots

    def _nearest(
        self,
        documents: Any,
        slots: Mapping[int, int],
        group_of: Sequence[int],
        engine: Engine,
        progress: Callable[[str], None],
    ) -> Iterator[_Neighbours]:
        indices, similarities = nearest(
            documents,
            self.neighbours,
            group_of,
            rows=list(slots),
            threads=engine.workers,
            progress=lambda done: progress(f"neighbours of {done:,} of {len(slots):,} documents"),
        )
        del documents
        for document in slots:
            near = zip(indices[document], similarities[document], strict=True)
            yield [(int(other), float(similarity)) for other, similarity in near if other >= 0]

    def _drawn_others(
        self,
        discourses: Sequence[Discourse],
        slots: Iterable[int],
        group_of: Sequence[int],
        context: Context,
    ) -> Iterator[_Neighbours]:
        same = self.strategy == "same_category"
        categories = [each.meta.get(self.category, "") if same else "" for each in discourses]
        members: dict[str, list[int]] = defaultdict(list)
        for index in sorted(range(len(discourses)), key=lambda i: discourses[i].id):
            members[categories[index]].append(index)
        for document in slots:
            pool = members[categories[document]]
            # A few more than are wanted: some may be of its own group.
            generator = context.random(discourses[document], f"{OPERATOR} others")
            tried = generator.sample(pool, min(len(pool), 4 * self.neighbours))
            fitting = [other for other in tried if group_of[other] != group_of[document]]
            yield [(other, 0.0) for other in fitting[: self.neighbours]]

    def _compare(
        self,
        discourses: Sequence[Discourse],
        slots: Mapping[int, int],
        near: Mapping[int, _Neighbours],
        sentences: SentenceVectors,
        context: Context,
        candidates: Mapping[int, list[Candidate]],
    ) -> None:
        # Adds the candidates of some documents, those in ``near``.
        import numpy as np

        pairs: list[tuple[int, int, int, float]] = []
        for document, others in near.items():
            # One draw for each neighbour in its order, whatever becomes of the candidate.
            generator = context.random(discourses[document], f"{OPERATOR} candidates")
            pairs += [
                (document, other, generator.randrange(1, len(discourses[other].units)), similarity)
                for other, similarity in others
                if len(discourses[other].units) > 1
            ]
        if not pairs:
            return
        own: dict[int, set[str]] = {}
        gender: dict[int, str] = {}
        for document in near:
            texts, slot = discourses[document].texts, slots[document]
            own[document] = set(map(normalised, texts))
            gender[document] = text_gender(texts[:slot] + texts[slot + 1 :])
        first = sentences.first
        replaced = sentences.of([first[document] + slots[document] for document, *_ in pairs])
        inserted = sentences.of([first[other] + unit for _, other, unit, _ in pairs])
        cosines = np.asarray(replaced.multiply(inserted).sum(axis=1)).ravel()
        for (document, other, unit, similarity), cosine in zip(pairs, cosines, strict=True):
            text, wanted = discourses[other].units[unit].text, gender[document]
            if cosine >= self.most_similar or normalised(text) in own[document]:
                continue
            if wanted and sentence_gender(text) not in (wanted, ""):
                continue
            host, slot = discourses[document], slots[document]
            names = exchanged_names(discourses[other], unit, host, slot)
            # It names more people than the document.
            if names is None:
                continue
            identifier, rounded = discourses[other].id, round(float(cosine), 6)
            candidates[document].append(
                Candidate(text, identifier, unit, rounded, round(similarity, 6), names)
            )


def _difficult(
    discourses: Sequence[Discourse],
    slots: Mapping[int, int],
    candidates: Mapping[int, Sequence[Candidate]],
    detector: Detector,
) -> dict[int, list[Candidate]]:
    # Shen et al. 2021 filter with a fine-tuned classifier; here it is any detector that is handed
    # in.
    asked = [(document, each) for document, fit in candidates.items() for each in fit]
    texts = []
    for document, candidate in asked:
        texts.append([*discourses[document].texts])
        texts[-1][slots[document]] = candidate.inserted
    difficult: dict[int, list[Candidate]] = {document: [] for document in candidates}
    for (document, candidate), scores in zip(asked, detector(texts) if texts else (), strict=True):
        if any(score > scores[slots[document]] for score in scores):
            difficult[document].append(candidate)
    return difficult


@dataclass(frozen=True)
class FittedIntruderSentence(Operator):
    """The operator after it has seen the collection; variants are called ``intruded``.

    ``choices`` are those for the documents (by id) that get an intruder, ``reasons`` the others'.
    """

    operator: IntruderSentence
    choices: Mapping[str, Choice] = field(repr=False)
    reasons: Mapping[str, str] = field(repr=False)

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the document with its intruder."""
        choice = self.choices.get(discourse.id)
        if choice is None:
            context.skipped[self.reasons[discourse.id]] += 1
            return
        slot, intruder = choice.slot, choice.intruder
        replaced = replace_text(
            discourse,
            slot,
            0,
            len(discourse.units[slot].text),
            intruder.text,
            operator=OPERATOR,
            source_discourse=intruder.discourse,
            source_unit=intruder.unit,
        )
        replaced = replace_places(replaced, slot, intruder.names, operator=_EXCHANGED_NAMES)
        yield dataclasses.replace(replaced, variant="intruded")

    def __str__(self) -> str:
        """The operator as it was before it was fitted."""
        return str(self.operator)
