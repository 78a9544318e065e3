"""Person genders: give the two persons of a Winograd schema, and its pronoun, a gender each.

Of the person that the pronoun means and of the other one, each may fit the pronoun or not: the
design of studies of interference in the resolution of pronouns (Badecker and Straub 2002). All
names are new and of one length, so that no version has a name that was chosen for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from coherencegym.loaders.discourse import Alternative, Discourse
from coherencegym.manipulations.editing import replace_text, text_around
from coherencegym.manipulations.operator import Composable, Context
from coherencegym.manipulations.reference.genders import (
    GENDERED_NOUNS,
    GENDERED_PRONOUN,
    GENDERS,
    gender_of_name,
    pronoun_for,
)
from coherencegym.manipulations.reference.noun_phrases import NotApplicableError
from coherencegym.words import word_lists

_NAME = "PersonGenders"
#: Letters of a name: of each gender many usual ones have as many.
_LETTERS = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class PersonGenders(Composable):
    """Choose the genders of the two persons and of the pronoun in a Winograd schema.

    Attributes:
        person: the gender of the person that the pronoun refers to, ``feminine`` or ``masculine``.
        other: the gender of the other person.
        pronoun: the gender of the pronoun.

    A Winograd schema is a text with two persons and a pronoun that refers to one of them. The
    operator gives both persons new names of the chosen genders. The new names are drawn at random.
    If two operators choose the same gender for a person of a schema, both give this person the
    same name. For example, ``PersonGenders()`` and ``PersonGenders(other='masculine')`` differ only
    in the name of the other person. ``alternatives`` of the result lists the two new names, and the
    name of the person that the pronoun refers to comes first. The result is named ``genders``. A
    schema gives no result if another word shows a gender, such as a second pronoun, or if no words
    follow the pronoun.
    """

    person: str = "feminine"
    other: str = "feminine"
    pronoun: str = "feminine"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the schema with these genders; count why another one has none."""
        try:
            yield self._with_genders(discourse, context)
        except NotApplicableError as reason:
            context.skipped[str(reason)] += 1

    def _with_genders(self, discourse: Discourse, context: Context) -> Discourse:
        persons = _persons(discourse)
        names = _new_names(discourse, context.random(discourse, _NAME))
        new = [names[0][self.person], names[1][self.other]]
        places = [
            (unit, match.start(), match.end(), after)
            for unit, text in enumerate(discourse.texts)
            for old, after in zip(persons, new, strict=True)
            for match in re.finditer(rf"\b{re.escape(old)}\b", text)
        ]
        ((unit, start, end),) = discourse.alternatives[0].span
        text = discourse.units[unit].text
        pronoun = pronoun_for(self.pronoun, text, start, end)
        places.append((unit, start, end, pronoun))
        changed = discourse
        for place in sorted(places, reverse=True):
            changed = replace_text(changed, *place, operator=_NAME)
        at = start + sum(
            len(after) - (last - first)
            for of, first, last, after in places
            if of == unit and first < start
        )
        candidates = Alternative(((unit, at, at + len(pronoun)),), tuple(new), 0)
        return replace(changed, alternatives=(candidates,), variant="genders")


def _persons(discourse: Discourse) -> list[str]:
    # Whom the pronoun means, and the other one.
    alternative = next((a for a in discourse.alternatives if len(a.span) == 1), None)
    if alternative is None or len(set(alternative.options)) != 2:
        raise NotApplicableError("not two candidates")
    before, pronoun, rest = text_around(discourse, *alternative.span[0])
    if GENDERED_PRONOUN.fullmatch(pronoun) is None:
        raise NotApplicableError("not a pronoun for a man or a woman")
    person = alternative.options[alternative.right]
    persons = [person, *set(alternative.options) - {person}]
    if not all(map(gender_of_name, persons)):
        raise NotApplicableError("not two given names")
    words = [word for word in _WORD.findall(before + rest) if word not in persons]
    if any(word.lower() in GENDERED_NOUNS or gender_of_name(word) for word in words):
        raise NotApplicableError("noun of one gender, or a third person's name")
    if GENDERED_PRONOUN.search(before + rest):
        raise NotApplicableError("another pronoun for a man or a woman")
    if not set(persons) <= set(_WORD.findall(before)):
        raise NotApplicableError("candidate that stands after the pronoun")
    if not re.match(r"[ '’]", rest) or _WORD.search(rest) is None:
        raise NotApplicableError("nothing follows")
    return persons


def _new_names(discourse: Discourse, random: Random) -> list[dict[str, str]]:
    # Gender -> name, of each person; all begin with letters of their own.
    usual = {of: names for of, *names in word_lists("given_names")[::-1]}
    taken = set(_WORD.findall(discourse.text))
    found: list[dict[str, str]] = [{}, {}]
    initials: set[str] = set()
    for names in found:
        for gender in GENDERS:
            free = [
                name
                for name in usual[gender]
                if len(name) == _LETTERS and name not in taken and name[0] not in initials
            ]
            names[gender] = random.choice(free)
            initials.add(names[gender][0])
    return found
