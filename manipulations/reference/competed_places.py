"""Places where a person is mentioned again, with and without a competitor, in Winograd schemas.

A competitor is another person of the same gender who was mentioned, too: a pronoun may then mean
either, and writers choose the name more often (Ariel 1990; Arnold 2010). Of a place there are two
texts before the mention, which differ in nothing but the competitor's name and gender, and two
forms of the mention, the pronoun and the name. Each form may follow each text, and the rest follows
all. Whom the pronoun means, the schema says by its right candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.editing import text_around
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.candidate_substitution import in_place
from coherencegym.manipulations.reference.genders import (
    GENDERED_NOUNS,
    GENDERED_PRONOUN,
    GENDERS,
    gender_of_name,
    new_name,
    other_gender,
    pronoun_for,
)
from coherencegym.manipulations.reference.noun_phrases import NotApplicableError

_OPERATOR = "CompetedPlaces"
#: Signs and words that part two clauses of a sentence, so that a name may stand in both.
_BOUNDARY = re.compile(
    r"[,.;:!?—–]|\b(?:because|but|so|and|although|though|while|when|whenever|as|after|before|since"
    r"|if|until|where)\b"
)


@dataclass(frozen=True)
class CompetedPlace:
    """A mention of a person in two forms, and the text around it in two versions.

    Attributes:
        variant: its place in the discourse: ``u<unit>c<character>``.
        none, competitor: the text before it, where the other person is of the other gender, and
            where that one is of the same, as in the schema.
        pronoun, name: the mention in its two forms, of which the pronoun is the schema's.
        rest: the text after it.
        gender: that of the person.
        between: true where the competitor is mentioned between it and the person's last mention.
    """

    variant: str
    none: str
    competitor: str
    pronoun: str
    name: str
    rest: str
    gender: str
    between: bool


def competed_candidates(discourse: Discourse, context: Context) -> Iterator[CompetedPlace]:
    """Yield the place of a Winograd schema of two names; count why another one has none.

    The right candidate is the person, the other one the competitor.
    """
    try:
        yield _schema_place(discourse, context)
    except NotApplicableError as reason:
        context.skipped[str(reason)] += 1


def _schema_place(discourse: Discourse, context: Context) -> CompetedPlace:
    alternative = next((a for a in discourse.alternatives if len(a.span) == 1), None)
    if alternative is None or len(set(alternative.options)) != 2:
        raise NotApplicableError("not two candidates")
    unit, start, end = alternative.span[0]
    before, pronoun, rest = text_around(discourse, unit, start, end)
    if GENDERED_PRONOUN.fullmatch(pronoun) is None:
        raise NotApplicableError("not a pronoun for a man or a woman")
    person = alternative.options[alternative.right]
    (competitor,) = set(alternative.options) - {person}
    gender = GENDERS[pronoun.lower() in ("she", "her", "hers", "herself")]
    if {gender_of_name(person), gender_of_name(competitor)} != {gender}:
        raise NotApplicableError("not two given names of the pronoun's gender")
    if any(word.lower() in GENDERED_NOUNS for word in re.findall(r"\w+", before + rest)):
        raise NotApplicableError("noun of one gender")
    if GENDERED_PRONOUN.search(rest) or _places(competitor, rest):
        raise NotApplicableError("another pronoun, or the competitor, after it")
    _check_beside(before, rest)
    random = context.random(discourse, _OPERATOR, place=f"u{unit}c{start}")
    new = new_name(other_gender(gender), discourse.text, person, random)
    none = _with_another(before, person, competitor, new).rstrip()
    own, others = _places(person, before)[-1], _places(competitor, before)[-1]
    _check_apart(before[own:])
    text = discourse.units[unit].text
    name = in_place(person, text, start, end)
    return CompetedPlace(
        f"u{unit}c{start}",
        none,
        before.rstrip(),
        pronoun,
        name,
        rest.strip(),
        gender,
        others > own,
    )


def _check_beside(before: str, rest: str) -> None:
    if not re.search(r"\w", rest):
        raise NotApplicableError("nothing follows")
    if rest[0] not in " ,.;:!?" or before[-1:].strip():
        raise NotApplicableError("a mark beside it")


def _check_apart(between: str) -> None:
    # A name would be no English: ``Ann said that Ann was ill`` is of two persons.
    if _BOUNDARY.search(between) is None:
        raise NotApplicableError("in one clause with the mention before")


def _places(name: str, text: str) -> list[int]:
    return [match.start() for match in re.finditer(rf"\b{re.escape(name)}\b", text)]


def _with_another(text: str, person: str, competitor: str, new: str) -> str:
    # A pronoun that stands between the two names is the first one's.
    own, others = _places(person, text), _places(competitor, text)
    if not own or not others:
        raise NotApplicableError("candidate that stands after the pronoun")
    changes = {(place, place + len(competitor)): new for place in others}
    for match in GENDERED_PRONOUN.finditer(text):
        if not min(own[0], others[0]) < match.start() < max(own[0], others[0]):
            raise NotApplicableError("another pronoun of one of the two")
        if others[0] < own[0]:
            gender = gender_of_name(new)
            changes[match.span()] = pronoun_for(gender, text, *match.span())
    for (start, end), after in sorted(changes.items(), reverse=True):
        text = text[:start] + after + text[end:]
    return text
