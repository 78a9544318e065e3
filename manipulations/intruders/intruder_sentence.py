"""Intruder sentence: put a sentence of a similar document in the place of one of a document's own.

Shen et al. 2021, section 3.3 (INSteD). The operator has to see the collection first: ``fit`` finds
the neighbours of the documents and draws slots and intruders; the fitted operator replaces. Simpler
ways to find the other document are those of Chen et al. 2019 (DiscoEval, Discourse Coherence).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.editing import replace_places, replace_text
from coherencegym.manipulations.intruders.intruder_candidates import (
    OPERATOR,
    Candidate,
    Draw,
    Drawn,
    Fitting,
    IntruderSettings,
)
from coherencegym.manipulations.operator import Composable, Context, Detector

#: Note of the edits that exchange the names of participants in an intruder.
_EXCHANGED_NAMES = "ExchangedNames"

#: Reasons why a document stays coherent.
NOT_SELECTED = "stays coherent: not selected for an intruder"
NO_CANDIDATE = "stays coherent: no sentence of another text fits"
TOO_SHORT = "stays coherent: fewer than two sentences"


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
class IntruderSentence(IntruderSettings, Composable):
    """Replace a sentence of a document by an intruder, a sentence of another document.

    Attributes:
        share: the share of documents that get an intruder, 0.5 by default. The operator draws these
            documents at random.
        neighbours: the number of similar documents (10 by default) from which the operator draws
            possible intruders, one sentence from each document. Documents are similar if they have
            similar words (cosine of TF-IDF vectors).
        most_similar: the limit for the similarity (TF-IDF cosine) of an intruder and the replaced
            sentence. A sentence at or above the limit does not become an intruder.

    The operator draws the replaced sentence at random. The first sentence of a document is never
    replaced and never becomes an intruder. A sentence does not become an intruder if the document
    that gets the intruder already contains the same sentence. A sentence also does not become an
    intruder if its first pronoun (such as ``she``) has another gender than most pronouns of the
    document that gets the intruder.

    If an intruder comes from a chat, the intruder may contain names of persons who take part in
    this chat. The operator replaces these names by names of persons in the chat that gets the
    intruder (:mod:`manipulations.intruders.people`). If two documents have a sentence in common,
    neither document gives the other an intruder (:mod:`manipulations.intruders.neighbours`).

    Call :meth:`fit` with all documents before you use the operator, because the operator compares
    the documents. The result is named ``intruded``. A document that gets no intruder gives no
    result.
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Raise a TypeError: the operator has to see the collection first."""
        raise TypeError("IntruderSentence is not fitted: call fit(discourses, context) first")

    def fit(
        self,
        discourses: Sequence[Discourse],
        context: Context,
        fitting: Fitting | None = None,
        group_of: Sequence[int] | None = None,
    ) -> FittedIntruderSentence:
        """Find and draw the intruders of a collection (one split: the rest must not be seen).

        ``group_of`` labels the documents by groups that give each other nothing; none: those that
        share lines.

        Raises:
            RetrievalError: ``sparse_dot_topn`` is not installed.
            ValueError: two discourses have the same id.
        """
        fitting = fitting or Fitting()
        if len({discourse.id for discourse in discourses}) < len(discourses):
            raise ValueError("two discourses have the same id; expected each once")
        drawn = Draw(self, discourses, context, fitting, group_of).candidates()
        difficult: dict[int, list[Candidate]] = {}
        if fitting.detector is not None:
            fitting.announce(sum(len(one.candidates) for one in drawn))
            difficult = _difficult(drawn, discourses, fitting.detector)
        reasons: dict[str, str] = {}
        choices: dict[str, Choice] = {}
        of_index = {one.document: one for one in drawn}
        for index, discourse in enumerate(discourses):
            one = of_index.get(index)
            if one is None:
                short = len(discourse.units) - self.keep_last < 2
                reasons[discourse.id] = TOO_SHORT if short else NOT_SELECTED
            elif not one.candidates:
                reasons[discourse.id] = NO_CANDIDATE
            else:
                generator = context.random(discourse, f"{OPERATOR} choice")
                choices[discourse.id] = _choice(one, difficult.get(index), generator)
        return FittedIntruderSentence(self, choices, reasons)


def _difficult(
    drawn: Sequence[Drawn], discourses: Sequence[Discourse], detector: Detector
) -> dict[int, list[Candidate]]:
    # Shen et al. 2021 filter with a fine-tuned classifier; here it is any detector that is handed
    # in.
    asked = [(one, candidate) for one in drawn for candidate in one.candidates]
    texts = []
    for one, candidate in asked:
        texts.append([*discourses[one.document].texts])
        texts[-1][one.slot] = candidate.inserted
    difficult: dict[int, list[Candidate]] = {one.document: [] for one in drawn}
    for (one, candidate), scores in zip(asked, detector(texts) if texts else (), strict=True):
        if any(score > scores[one.slot] for score in scores):
            difficult[one.document].append(candidate)
    return difficult


def _choice(drawn: Drawn, difficult: list[Candidate] | None, generator: Random) -> Choice:
    if difficult is None:
        return Choice(drawn.slot, generator.choice(drawn.candidates))
    pool = difficult or drawn.candidates
    return Choice(drawn.slot, generator.choice(pool), "difficult" if difficult else "easy")


@dataclass(frozen=True)
class FittedIntruderSentence(Composable):
    """The operator after it has seen the collection; variants are called ``intruded``.

    ``choices`` are those for the documents (by id) that get an intruder, ``reasons`` the others'.
    """

    operator: IntruderSentence
    choices: Mapping[str, Choice] = field(repr=False)
    reasons: Mapping[str, str] = field(repr=False)

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the document with its intruder.

        Raises:
            KeyError: the document was not in the collection.
        """
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
