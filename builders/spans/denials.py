"""Dialogues in which a speaker's word is denied later: a contradiction if it is the same speaker.

What was said of oneself is negated (:mod:`manipulations.probes.negation`) and put at the end of a
later utterance: of who said it, which contradicts it, or of the other, who may well be different.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from coherencegym.builders.spans.contradictions import contradiction_row
from coherencegym.builders.suite import Contrast
from coherencegym.eval.kinds.spans import SpanText
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probes.negation import negation
from coherencegym.manipulations.probes.probe import apply
from coherencegym.manipulations.probes.sentence import analyse

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


@dataclass(frozen=True, slots=True)
class Denial:
    """A sentence of a unit, and its negation."""

    unit: int
    sentence: str
    denied: str


def denials(units: Sequence[Unit]) -> Iterator[Denial]:
    """Find statements of some units that can be denied, each in its own words."""
    for number, unit in enumerate(units):
        for sentence in re.split(r"(?<=[.!?]) +", unit.text):
            if not _OF_SELF.fullmatch(sentence) or _NOT_ALONE.search(sentence):
                continue
            capital = sentence[0].upper() + sentence[1:]
            if replacements := negation(analyse(capital)):
                denied = apply(capital, replacements)
                yield Denial(number, sentence, sentence[0] + denied[1:])


@dataclass(frozen=True)
class Denials:
    """A stretch of a dialogue with a denial, by the same speaker in every second dialogue."""

    contrasts: tuple[Contrast, ...] = ()

    @property
    def recipe(self) -> str:
        """The operation, as the manifest records it."""
        return f"a statement, negated, at the end of a later utterance; {_UNITS} units"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the row, unless nothing is said that can be denied."""
        generator = context.random(discourse, "Denials")
        units, same = discourse.units, generator.random() < 0.5
        places = [
            (denial, later)
            for denial in denials(units)
            if (later := _later(units, denial.unit, same, generator)) is not None
        ]
        if not places:
            context.skipped["nothing is said that can be denied later"] += 1
            return
        denial, later = generator.choice(places)
        begin = generator.randint(max(0, later - _UNITS + 1), min(denial.unit, len(units) - _UNITS))
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


def _later(units: Sequence[Unit], unit: int, same: bool, generator: Random) -> int | None:
    """A unit two to five places later, of the same speaker or of the other; none without one."""
    fits = [
        place
        for place in range(unit + 2, min(unit + _UNITS, len(units)))
        if (units[place].speaker == units[unit].speaker) == same
    ]
    return generator.choice(fits) if fits and len(units) >= _UNITS else None
