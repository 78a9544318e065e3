"""English noun phrases, given names and pronouns, by words and no parser.

The number, the possessive and the first letter of noun phrases (where words do not tell, nothing is
said), given names (``lists/given_names.txt``), and pronouns. Where something tells a gender and
cannot be changed, a :class:`NotApplicableError` says what.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from random import Random

from coherencegym.loaders.languages.language import ENGLISH
from coherencegym.manipulations.operator import NotApplicableError
from coherencegym.words import word_list, word_lists, word_set

#: Determiners whose capital is only that of a sentence's start; other words may be names.
DETERMINERS = frozenset(
    ("the", "a", "an", "my", "your", "his", "her", "its", "our", "their", "one's")
)

#: Pronouns that stand for a whole noun phrase.
PLAIN = word_set("i me you he him she it we us they them this that these those one who whom")
#: Pronouns in the place of a possessive; ``her`` is that or a plain one: :func:`her_is_possessive`.
POSSESSIVE = word_set("my mine your yours his hers its our ours their theirs whose")
PLURAL = frozenset(("our", "ours", "their", "theirs"))
REFLEXIVE = ENGLISH.forms("reflexive")

#: Words that no noun phrase goes on with after a possessive, so that ``her`` before them is an
#: object: prepositions, conjunctions, other determiners and pronouns, auxiliaries, some adverbs.
#: Not those that are nouns or stand before adjectives too (``her will``, ``her very own``).
_AFTER_OBJECT = word_list("after_object")
#: Verbs after which ``her`` and a bare word may be two complements (``made her laugh``, ``gave her
#: money``) or one (``saw her mother``): nothing next to the pronoun tells.
_TWO_COMPLEMENTS = re.compile(
    r"(?:let|lets|letting|mak(?:es?|ing)|made|help\w*|saw|seen|sees?|seeing|watch\w*|hear\w*|fe[el]l"
    r"|felt|feels|bid|g[ai]ves?|given|giving|tells?|told|telling|sen[dt]s?|sending|show\w*|offer\w*"
    r"|asks?|asked|asking|calls?|called|calling|len[dt]s?|lending|teach\w*|taught|bring\w*|brought"
    r"|buys?|bought|buying|paid|pays?|paying|cost|costs|wish\w*)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w'’]+")
_AFTER_HEAD = re.compile(
    r",|\s(?:of|in|on|at|for|with|from|by|to|that|who|whom|which|whose|where|when|as|about|like|into"
    r"|between|near|under|over|above|behind|after|before|during|than|without|within|against|across"
    r"|through|around|called|named|known)\s"
)
_DETERMINERS_OF = {
    "singular": re.compile(r"(?:an?|this|that|each|every|another|one)\s", re.IGNORECASE),
    "plural": re.compile(
        r"(?:these|those|both|many|few|several|two|three|four|five|six|seven|eight|nine|ten)\s",
        re.IGNORECASE,
    ),
}
_JOINED_NOUNS = re.compile(r"\s(?:and|&)\s")
_JOINED_PHRASE = re.compile(r"\s(?:and|&)\s(?:(?:an?|the|his|her|its|their)\s|[A-Z])")
_PLURALS = word_set(
    "police cattle feet teeth geese mice lice oxen folk criteria phenomena bacteria alumni"
)
#: Words that end as ``firemen`` does, and are no plurals.
_MEN = word_set("specimen regimen omen abdomen acumen semen stamen")
_EITHER = word_list("either_number")
#: Words that end in ``s`` in the singular.
_SINGULAR_ENDING = re.compile(r"(?:ss|us|is|ics|news|lens|chaos|gas|bias|atlas|canvas|christmas)$")


def her_is_possessive(before: str, after: str) -> bool | None:
    """Tell whether ``her`` between these texts is a possessive (``her coat``), or an object.

    Returns:
        None where the words beside it do not tell.
    """
    following = after.lstrip(" ")
    if following[:1] in set('"“‘('):  # her "Dibs!"
        following = following[1:]
    word = _WORD.match(following)
    if word is None or word[0].lower() in _AFTER_OBJECT:
        return False
    preceding = _WORD.findall(before)
    if preceding and _TWO_COMPLEMENTS.match(preceding[-1]):
        return None
    return True


def possessive(phrase: str, plural: bool = False) -> str:
    """The possessive of a phrase; ``plural`` says whether it names more than one.

    ``the boys`` → ``the boys'``, ``the children`` → ``the children's``, ``James`` → ``James's``,
    ``Ann and James`` → ``Ann and James's``, ``the Smiths`` → ``the Smiths'``.
    """
    last = phrase.split()[-1]
    name = last[0].isupper() and phrase.split()[0].lower() not in DETERMINERS
    if plural and last.endswith("s") and not last.endswith("ss") and not name:
        return f"{phrase}'"
    return f"{phrase}'s"


def capitalised(phrase: str) -> str:
    """The phrase as it begins a sentence."""
    return phrase[0].upper() + phrase[1:]


def mid_sentence(phrase: str) -> str:
    """The phrase as it stands inside a sentence: a determiner at its start is lowered."""
    first = phrase.split(" ", 1)[0]
    return phrase[0].lower() + phrase[1:] if first.lower() in DETERMINERS else phrase


def number_of(text: str, name: bool = False) -> str:
    """``singular`` or ``plural``, or nothing where the words do not tell.

    Args:
        text: a noun phrase.
        name: true where its head is a name: of those that end in ``s`` (``James``, ``the Smiths``)
            nothing is said.

    >>> number_of("the old men at sea"), number_of("a black and white dog"), number_of("Ann and Bo")
    ('plural', 'singular', 'plural')
    """
    front = _AFTER_HEAD.split(text, maxsplit=1)[0].strip()
    if _JOINED_PHRASE.search(text) and not re.search(r"\s(?:who|which|that|whose)\s", text):
        return "plural"
    for number, pattern in _DETERMINERS_OF.items():
        if pattern.match(front):
            return number
    if _JOINED_NOUNS.search(front):
        return ""  # salt and pepper, his friend and mentor, cats and dogs
    words = re.findall(r"[\w-]+", re.sub(r"['’]s?$", "", front))
    return _number_of_noun(words[-1], name) if words else ""


def _number_of_noun(noun: str, name: bool) -> str:
    word = re.split("-", noun.lower())[-1]
    if word in _PLURALS or (word.endswith(("men", "people", "children")) and word not in _MEN):
        return "plural"
    if word in _EITHER or not word or not word[-1].isalpha():
        return ""
    if word.endswith("s") and not _SINGULAR_ENDING.search(word):
        return "" if name else "plural"
    return "singular"


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


def new_name(gender: str, text: str, random: Random) -> str:
    """Draw a given name of a gender that is not in a text."""
    usual = next(names for of, *names in word_lists("given_names") if of == gender)
    words = set(re.findall(r"\w+", text))
    free = [name for name in usual if name not in words]
    if not free:
        raise NotApplicableError("no given name that is not in the text")
    return random.choice(free)
