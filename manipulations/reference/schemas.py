"""Winograd schemas: candidates in the place of the pronoun, and mentions of persons.

Levesque et al. 2012 ask which of two candidates a pronoun means; Trinh and Le 2018 let a language
model answer by substituting each, and Beyer et al. 2021, section 4.3, compare the two texts.

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

from coherencegym.loaders.discourse import Discourse, Edit
from coherencegym.manipulations.editing import last_edit, replace_text, text_around
from coherencegym.manipulations.operator import Context, NotApplicableError, Operator, refuse
from coherencegym.manipulations.reference.mention_rules import (
    GENDERED_NOUNS,
    GENDERED_PRONOUN,
    GENDERS,
    PLAIN,
    PLURAL,
    POSSESSIVE,
    PRONOUNS,
    REFLEXIVE,
    capitalised,
    gender_of_name,
    her_is_possessive,
    mid_sentence,
    new_name,
    other_gender,
    possessive,
    pronoun_for,
)

_NAME = "CandidateSubstitution"
_OPENING = "\"'“‘(["
_WORD = re.compile(r"\w+")
#: Signs and words that part two clauses of a sentence, so that a name may stand in both.
_BOUNDARY = re.compile(
    r"[,.;:!?—–]|\b(?:because|but|so|and|although|though|while|when|whenever|as|after|before|since"
    r"|if|until|where)\b"
)


@dataclass(frozen=True)
class CandidateSubstitution(Operator):
    """Replace a pronoun by a candidate, a person or thing that the pronoun may refer to.

    Attributes:
        candidate: ``target`` inserts the right candidate, which the pronoun refers to.
            ``distractor`` (the default) inserts a wrong candidate and gives one result for each
            wrong candidate.

    The corpus must list the candidates of the pronoun, as Winograd schemas do. The result with the
    right candidate is named ``target``. The results with wrong candidates are named ``distractor``,
    ``distractor-2``, .... At the beginning of a sentence, the operator writes the candidate with a
    capital letter. If the candidate replaces a possessive pronoun (``his``), the operator inserts a
    possessive noun (``Victor's``).
    """

    candidate: str = "distractor"

    def __post_init__(self) -> None:
        if self.candidate not in ("target", "distractor"):
            raise ValueError(f"candidate is {self.candidate!r}; expected target or distractor")

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse once for each candidate asked for."""
        with context.counting():
            yield from self._substituted(discourse)

    def _substituted(self, discourse: Discourse) -> Iterator[Discourse]:
        place = next((a for a in discourse.alternatives if len(a.span) == 1), None)
        if place is None:
            raise NotApplicableError("no candidates")
        unit, start, end = place.span[0]
        text = discourse.units[unit].text
        phrases = [in_place(option, text, start, end) for option in place.options]
        target = phrases[place.right]
        chosen = [target]
        if self.candidate == "distractor":
            chosen = [phrase for phrase in dict.fromkeys(phrases) if phrase != target]
        for number, phrase in enumerate(chosen, start=1):
            variant = self.candidate if number == 1 else f"{self.candidate}-{number}"
            yield replace_text(discourse, unit, start, end, phrase, operator=_NAME, variant=variant)


def in_place(option: str, sentence: str, start: int, end: int) -> str:
    """The candidate as it must read in the place of ``sentence[start:end]``."""
    filler = sentence[start:end]
    pronoun = filler.lower()
    if pronoun in REFLEXIVE:
        raise NotApplicableError("reflexive pronoun")
    slot: bool | None = pronoun in POSSESSIVE
    if pronoun == "her":
        slot = her_is_possessive(sentence[:start], sentence[end:])
        if slot is None:
            raise NotApplicableError("'her' may be object or possessive")
    # A pronoun shows by its own capital whether a sentence begins there; "I" and names do not.
    known = pronoun == "her" or pronoun in POSSESSIVE or pronoun in PLAIN - {"i"}
    begins = filler[0].isupper() if known else not sentence[:start].strip(_OPENING)
    phrase = capitalised(option) if begins else mid_sentence(option)
    return possessive(phrase, pronoun in PLURAL) if slot else phrase


def substitution(discourse: Discourse) -> Edit:
    """The edit that put the candidate."""
    edit = last_edit(discourse, _NAME)
    if edit is None:
        raise ValueError(f"{discourse.corpus}/{discourse.id}: no candidate was substituted")
    return edit


def around_candidate(discourse: Discourse) -> tuple[str, str, str]:
    """The text before the candidate, the candidate, and the text after it, without outer spaces."""
    edit = substitution(discourse)
    end = edit.start + len(edit.after)
    before, candidate, after = text_around(discourse, edit.unit, edit.start, end)
    return before.rstrip(), candidate, after.strip()


def _persons(discourse: Discourse) -> tuple[list[str], tuple[int, int, int], tuple[str, str, str]]:
    # Whom the pronoun means and the other one; its place; the text before it, it, and the rest.
    alternative = next((a for a in discourse.alternatives if len(a.span) == 1), None)
    if alternative is None or len(set(alternative.options)) != 2:
        raise NotApplicableError("not two candidates")
    parts = text_around(discourse, *alternative.span[0])
    if GENDERED_PRONOUN.fullmatch(parts[1]) is None:
        raise NotApplicableError("not a pronoun for a man or a woman")
    person = alternative.options[alternative.right]
    return [person, *set(alternative.options) - {person}], alternative.span[0], parts


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
    with context.counting():
        yield _schema_place(discourse, context)


def _schema_place(discourse: Discourse, context: Context) -> CompetedPlace:
    (person, competitor), (unit, start, end), (before, pronoun, rest) = _persons(discourse)
    gender = GENDERS[pronoun.lower() in PRONOUNS[GENDERS[1]].values()]
    refuse(
        (
            {gender_of_name(person), gender_of_name(competitor)} != {gender},
            "not two given names of the pronoun's gender",
        ),
        (
            any(word.lower() in GENDERED_NOUNS for word in _WORD.findall(before + rest)),
            "noun of one gender",
        ),
        (
            GENDERED_PRONOUN.search(rest) or _places(competitor, rest),
            "another pronoun, or the competitor, after it",
        ),
        (not re.search(r"\w", rest), "nothing follows"),
        (rest[:1] not in " ,.;:!?" or before[-1:].strip(), "a mark beside it"),
    )
    variant = f"u{unit}c{start}"
    random = context.random(discourse, "CompetedPlaces", place=variant)
    new = new_name(other_gender(gender), discourse.text, person, random, like=competitor)
    none = _with_another(before, person, competitor, new).rstrip()
    own, others = _places(person, before)[-1], _places(competitor, before)[-1]
    if _BOUNDARY.search(before[own:]) is None:
        # A name would be no English: ``Ann said that Ann was ill`` is of two persons.
        raise NotApplicableError("in one clause with the mention before")
    name = in_place(person, discourse.units[unit].text, start, end)
    return CompetedPlace(
        variant, none, before.rstrip(), pronoun, name, rest.strip(), gender, others > own
    )


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
