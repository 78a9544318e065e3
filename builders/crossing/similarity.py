"""Properties that two texts may have in common, so that none tells which of them stands where.

By rules, so that they are the same for every corpus: persons, tense, names, repeated words.
"""

from __future__ import annotations

import re
from functools import lru_cache

from coherencegym.words import word_list
from coherencegym.words.vocabulary import ENGLISH, stop_words

#: Persons that a text may be about without a name: one about a woman tells by itself that it is not
#: of a story about a man.
_PERSONS = (
    r"\b(?:I|me|my|mine|we|us|our|ours)\b",
    r"\byou(?:rs?)?\b",
    r"\b(?:he|him|his)\b",
    r"\b(?:she|hers?)\b",
    r"\b(?:they|them|theirs?)\b",
)
_PRESENT, _PAST = (
    r"\b(?:is|are|am|has|have|do|does|'s|'re|'ve)\b",
    r"\b(?:was|were|had|did|\w+ed)\b",
)
#: Somebody else's words, and participles, which are no finite verbs: "has already left", "a locked
#: door"; and forms that are the same in the present: "to set".
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")
_PAST_FORM = (
    r"(?:"
    + "|".join(sorted(word_list("irregular_pasts") | word_list("narrated_pasts")))
    + r"|(?!(?:need|indeed|hundred|speed)\b)\w{2,}ed)\b"
)
_NOT_FINITE = re.compile(
    r"(?:\b(?:has|have|is|are|be|been|being|get|gets|to)|['’](?:s|re|ve))"
    rf"(?: (?:\w+ly|already|never|just|not|also|now|still|often))* {_PAST_FORM}"
    rf"|\b(?:an?|the|his|her|its|their|my|our|your|with|of|as) {_PAST_FORM}",
    re.IGNORECASE,
)
_FINITE_PAST = re.compile(
    rf"\b(?:(?:was|were|had|did|could|would)(?:n['’]t)?\b|{_PAST_FORM})", re.IGNORECASE
)
_NO_VERB = (
    r"(?!(?:was|has|is|does|his|its|this|always|as|us|thus|perhaps|across|unless|besides|towards"
    r"|afterwards|less|plus|minus)\b)"
)
_FINITE_PRESENT = re.compile(
    r"\b(?:(?:is|are|am|has|does|can|will)(?:n['’]t)?|cannot|can['’]t|won['’]t)\b"
    r"|\b(?:I|we|you|they) (?:have|do)\b|\w['’](?:m|re|ve|ll)\b"
    # "she waits"; "and waves the others off", as a plural has no object.
    r"|\b(?:he|she|it|who|which|nobody|every(?:body|one)|some(?:body|one))"
    rf"(?: (?:\w+ly|always|never|now|still|then|also|just))? {_NO_VERB}[a-z]\w*[^\Ws]s\b"
    rf"|\b{_NO_VERB}[a-z]\w*[^\Ws]s (?:the|an?|her|his|him|it|them|their|my|me|us|our"
    r"|himself|herself|itself|nothing)\b",
    re.IGNORECASE,
)
_FUTURE = re.compile(r"\b(?:will|won['’]t)\b|\w['’]ll\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=[\w,;’')] )[A-Z][\w’'-]+")
_WORD = re.compile(r"[^\W_]{3,}")
#: Letters of a word that its forms share: a stem that is good enough to count repeated words.
_STEM = 6


@lru_cache(maxsize=20_000)
def persons_in(text: str) -> tuple[bool, ...]:
    """Look for pronouns of the first person, the second, he, she, they: five answers."""
    return tuple(bool(re.search(person, text, re.IGNORECASE)) for person in _PERSONS)


def is_past(text: str) -> bool:
    """Tell whether a text has at least as many forms of the past as of the present."""
    return len(re.findall(_PAST, text)) >= len(re.findall(_PRESENT, text))


def narrative_tense(text: str) -> str:
    """Name the tense that a text tells in: ``past``, ``present`` or ``future``; empty if unclear.

    By the words, outside of quotations: three times as many finite verbs are of it as of others.

    >>> narrative_tense("She has left, and the dog waits."), narrative_tense("He came and went.")
    ('present', 'past')
    """
    told = _QUOTED.sub(" ", text)
    past = len(_FINITE_PAST.findall(_NOT_FINITE.sub(" has ", told)))
    present = len(_FINITE_PRESENT.findall(told))
    if past and past >= 3 * present:
        return "past"
    if not present or present < 3 * past:
        return ""
    return "future" if 2 * len(_FUTURE.findall(told)) > present else "present"


def names(text: str) -> int:
    """The number of capitalised words that do not begin a sentence."""
    return len(set(_NAME.findall(text)) - {"I"})


def _english(code: str) -> frozenset[str]:
    return word_list("closed_classes") | word_list("auxiliaries")


_CLOSED = {ENGLISH: _english}


@lru_cache(maxsize=50_000)
def stems(text: str, code: str = ENGLISH) -> frozenset[str]:
    """The beginnings of the words of a text that are of no closed class of its language.

    ``code`` is the language's, ISO 639-1; of others than English stop words are the closed class.
    """
    closed = _CLOSED.get(code, stop_words)(code)
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word.rstrip("s")[:_STEM] for word in words if word not in closed)
