"""The gender that given names and pronouns tell, and those of the other one in their place.

Rules over given names (``lists/given_names.txt``) and pronouns. Where something tells a gender and
cannot be changed, a :class:`NotApplicableError` says what.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from random import Random

from coherencegym.manipulations.operator import NotApplicableError
from coherencegym.manipulations.reference.noun_phrases import her_is_possessive
from coherencegym.words import in_case_of, word_list, word_lists

GENDERS = ("masculine", "feminine")
_CASES = ("subject", "object", "possessive", "independent", "reflexive")
#: Gender -> the case in which a pronoun stands -> its form.
PRONOUNS = {
    "masculine": dict(zip(_CASES, ("he", "him", "his", "his", "himself"), strict=True)),
    "feminine": dict(zip(_CASES, ("she", "her", "her", "hers", "herself"), strict=True)),
}
#: Any pronoun for one man or one woman.
GENDERED_PRONOUN = re.compile(r"\b(?:he|him|his|himself|she|hers?|herself)\b", re.IGNORECASE)
GENDERED_NOUNS = word_list("gendered_nouns")


def other_gender(gender: str) -> str:
    """Give the other one of the two.

    >>> other_gender("feminine")
    'masculine'
    """
    return GENDERS[gender == GENDERS[0]]


@cache
def _given_names() -> Mapping[str, str]:
    return {name: gender for gender, *names in word_lists("given_names") for name in names}


def gender_of_name(name: str) -> str:
    """The gender of a given name; empty where readers may not know it.

    >>> gender_of_name("Susan"), gender_of_name("Robin")
    ('feminine', '')
    """
    return _given_names().get(name, "")


def new_name(gender: str, text: str, unlike: str, random: Random) -> str:
    """Draw a given name of a gender that is not in a text, nor begins as another name does."""
    usual = next(names for of, *names in word_lists("given_names") if of == gender)
    words = set(re.findall(r"\w+", text))
    free = [name for name in usual if name not in words and name[0] != unlike[0]]
    if not free:
        raise NotApplicableError("no given name that is not in the text")
    return random.choice(free)


def pronoun_for(gender: str, text: str, start: int, end: int) -> str:
    """The pronoun of a gender in the place of one for a man or a woman, with its capital."""
    old = text[start:end]
    form = old.lower()
    case = next(case for forms in PRONOUNS.values() for case in forms if forms[case] == form)
    if form == "her":
        is_possessive = her_is_possessive(text[:start], text[end:])
        if is_possessive is None:
            raise NotApplicableError("'her' may be object or possessive")
        case = "possessive" if is_possessive else "object"
    elif form == "his":
        case = "possessive" if re.match(r" [\w\"“‘]", text[end:]) else "independent"
    return in_case_of(old, PRONOUNS[gender][case])
