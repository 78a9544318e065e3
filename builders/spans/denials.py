"""Dialogues in which a speaker's word is denied later: a contradiction if it is the same speaker.

What was said of oneself is negated (:mod:`manipulations.probes.verbs`) and put at the end of a
later utterance: of who said it, which contradicts it, or of the other, who may well be different.
Whoever denies it says nothing else of the matter, so that nothing else contradicts the denial.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from coherencegym.builders.crossing.partners import stems
from coherencegym.builders.spans.contradictions import contradiction_row
from coherencegym.builders.suite import Contrast
from coherencegym.eval.kinds.documents import SpanText
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probes.sentence import analyse, apply
from coherencegym.manipulations.probes.verbs import negation

#: Units of the stretch of a dialogue that a row has.
_UNITS = 6
#: A sentence of somebody about themself, and nobody else.
_OF_SELF = re.compile(r"(?:i|my)\b[a-z' -]{12,60}\.", re.IGNORECASE)
#: Words of what is said to the other, points to what was said before, or is so of the moment only.
_NOT_ALONE = re.compile(
    r"\b(?:you|your|it|that|this|those|these|them|they|their|one|he|she|him|her|there|too|also|"
    r"just|but|or|if|so|then|still|we|(?:am|was|been|be|get|getting) \w+ing|"
    r"do|does|did|said|thinks?|thought|guess|hope|bet|mean|know|wish|wonder|agree|thank|thanks|sorry|would|could|might|"
    r"maybe|currently|today|tonight|now|going|trying|because|since|when|while)\b",
    re.IGNORECASE,
)
#: Words that nobody denies with ``not``, or that are all it denies: ``i do not prefer pop music``.
_NOT_DENIED = re.compile(
    r"\b(?:should|must|prefers?|preferred|hates?|hated|imagine|sometimes|except)\b", re.IGNORECASE
)
#: An answer to what the other said just before.
_ANSWER = re.compile(r"(?:yes|yeah|yep|yup|sure|of course|no|nope|nah|not|i|it|they)\b", re.I)
#: An answer by which what the other said becomes one's own word.
_AGREES = re.compile(
    r"\b(?:me too|me neither|same here|so (?:do|am|did|have) i|we both|both of us|i agree"
    r"|you(?: are|['’]re) right)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Denial:
    """A sentence of a unit, and its negation."""

    unit: int
    sentence: str
    denied: str


def denials(units: Sequence[Unit]) -> Iterator[Denial]:
    """Find statements of some units that can be denied, each in its own words but for love."""
    for number, unit in enumerate(units):
        for sentence in re.split(r"(?<=[.!?]) +", unit.text):
            if not _OF_SELF.fullmatch(sentence):
                continue
            if _NOT_ALONE.search(sentence) or _NOT_DENIED.search(sentence):
                continue
            capital = sentence[0].upper() + sentence[1:]
            if replacements := negation(analyse(capital)):
                # Who does not love something may still like it.
                denied = apply(capital, replacements).replace(" not love ", " not like ")
                yield Denial(number, sentence, sentence[0] + denied[1:])


@dataclass(frozen=True, slots=True)
class _Place:
    # ``later``: the unit behind which it is denied; ``begin``: the first unit of the stretch.
    denial: Denial
    later: int
    begin: int


@dataclass(frozen=True)
class Denials:
    """A stretch of a dialogue with a denial, in as many by the same speaker as by the other.

    ``chosen`` says of the dialogues of a fit whether it is the same speaker.
    """

    contrasts: tuple[Contrast, ...] = ()
    chosen: Mapping[str, bool] = field(default_factory=dict, repr=False, compare=False)

    @property
    def recipe(self) -> str:
        """The operation, as the manifest records it."""
        return f"a statement, negated, at the end of a later utterance; {_UNITS} units"

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Any) -> Self:
        """The item generator that knows who denies in which of these dialogues."""
        order = []
        for discourse in discourses:
            generator = context.random(discourse, "Denials")
            preferred, lot = generator.random() < 0.5, generator.random()
            may_be = [
                same
                for same in (preferred, not preferred)
                if any(_alone(discourse.units, place) for place in _places(discourse.units, same))
            ]
            if may_be:
                order.append((len(may_be), may_be[0] != preferred, lot, discourse.id, may_be))
        # Those that may be either come last, where fewer are.
        chosen: dict[bool, list[str]] = {True: [], False: []}
        for *_, name, may_be in sorted(order):
            chosen[min(may_be, key=lambda same: len(chosen[same]))].append(name)
        most = min(map(len, chosen.values())) + 1
        return replace(
            self, chosen={name: same for same, of in chosen.items() for name in of[:most]}
        )

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the row, unless nothing is said that can be denied."""
        units = discourse.units
        same = (self.chosen or self.fit([discourse], context, None).chosen).get(discourse.id)
        if same is None:
            context.skipped[_why_left(units)] += 1
            return
        generator = context.random(discourse, "Denials", same=same)
        place = generator.choice([one for one in _places(units, same) if _alone(units, one)])
        denial, later, begin = place.denial, place.later, place.begin
        texts = [*discourse.texts]
        end = "" if texts[later][-1] in ".!?" else "."
        texts[later] = f"{texts[later]}{end} {denial.denied}"
        stretch = slice(begin, begin + _UNITS)
        speakers = ["AB"[unit.speaker != units[0].speaker] for unit in units]
        yield contradiction_row(
            discourse,
            texts[stretch],
            speakers[stretch],
            (denial.unit - begin, later - begin),
            same,
            "contradiction" if same else "said by the other",
        )


def _places(units: Sequence[Unit], same: bool) -> list[_Place]:
    return [
        _Place(denial, later, begin)
        for denial in denials(units)
        for later in range(denial.unit + 2, min(denial.unit + _UNITS, len(units)))
        if (units[later].speaker == units[denial.unit].speaker) == same
        for begin in range(max(0, later - _UNITS + 1), min(denial.unit, len(units) - _UNITS) + 1)
    ]


def _alone(units: Sequence[Unit], place: _Place) -> bool:
    shown = units[place.begin : place.begin + _UNITS]
    first, later = place.denial.unit - place.begin, place.later - place.begin
    return not says_more(shown, place.denial.sentence, first, later)


def _why_left(units: Sequence[Unit]) -> str:
    places = [*_places(units, same=True), *_places(units, same=False)]
    if not places:
        return "no statement that can be denied later"
    if not any(_alone(units, place) for place in places):
        return "the speaker of the denial says more about the subject"
    return "left out, so that as many denials are by the other speaker"


def says_more(units: Sequence[Unit], statement: str, first: int, later: int) -> bool:
    """Tell whether who denies a statement speaks of it elsewhere, too.

    That is in a word of the statement, in an answer to one by the other, or by agreeing with the
    other somewhere between the statement (in the unit ``first``) and its denial (``later``).
    """
    matter, denier = stems(statement), units[later].speaker
    for place, unit in enumerate(units):
        answer = units[place + 1 : place + 2]
        agrees = unit.speaker == denier != units[first].speaker and _AGREES.search(unit.text)
        if agrees and first < place <= later:
            return True
        if matter & stems(unit.text.replace(statement, "")) and (
            unit.speaker == denier
            or any(one.speaker == denier and _ANSWER.match(one.text) for one in answer)
        ):
            return True
    return False
