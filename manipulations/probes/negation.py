"""Negation: ``He walked home`` becomes ``He did not walk home``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from coherencegym.manipulations.probes.clauses import MainVerb, main_verb
from coherencegym.manipulations.probes.inflection import base_form
from coherencegym.manipulations.probes.probe import Replacement, put
from coherencegym.manipulations.probes.sentence import (
    ADVERBS,
    BE,
    NOUNS,
    Tagged,
    TaggedSentence,
    first_plain,
    word_at,
)
from coherencegym.words import word_list, word_set

#: A sentence with one of these is negative already, or what it says would not bear a negation.
_NEGATIVE = word_list("negative_words")
#: Words that a negation would have to change: ``some`` to ``any``, ``already`` to ``yet``.
_POSITIVE = word_list("positive_words")
#: Quantifiers: if the subject has one, it is not clear what is denied.
_QUANTIFIERS = word_list("quantified_subjects")
#: Nouns of ``there are a number of``: a negation would ask for ``there are no``.
_MANY = word_set("number variety lot series range couple several")
#: Adverbs that stand before ``not``: ``it also did not``, ``is therefore not``.
_BEFORE_NOT = word_list("before_not")
#: Words that take a negation to themselves behind the verb, so that the clause need not be denied:
#: ``will not be discussed in detail``, ``does not detect at least one``, ``was not sold because``.
_FOCUS = word_list("negation_focus")
#: Adverbs in -ly that say nothing of how something is done.
_NO_MANNER = word_set("finally recently lately formerly eventually subsequently previously early")
#: Nouns of ``in detail``, ``in full``.
_EXTENT = word_set("detail full part particular general depth order total addition")
#: Modals of what may be so, and may also not be so.
_POSSIBLE = word_set("may might could")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_HAVE = ("has", "have", "had")
_DO = {"VBD": "did not", "VBZ": "does not", "VBP": "do not"}
#: Verbs that are no auxiliaries and do not take ``do`` well either.
_UNSURE = word_set("used ought need dare")


def negation(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """``not`` after the first auxiliary of the main clause, or with ``do`` where there is none.

    Sound: the sentence is not negative already, has no word that would have to change with it
    (``some``, ``already``), its subject is not quantified, and nothing behind the verb takes the
    negation to itself (quantities, manner, reasons: ``will not be discussed in detail``).
    """
    if not _NEGATIVE.union(_POSITIVE).isdisjoint(sentence.lowers):
        return ()
    verb = main_verb(sentence)
    if verb is None:
        return ()
    words = sentence.words
    quantified = not _QUANTIFIERS.isdisjoint(words[index].lower for index in verb.subject)
    many = not _MANY.isdisjoint(word.lower for word in words[verb.index + 1 : verb.index + 5])
    if quantified or many or _is_partial(words, verb):
        return ()
    return _behind_auxiliary(words, verb) or _with_do(words, verb)


def _is_partial(words: Sequence[Tagged], verb: MainVerb) -> bool:
    # It could deny only how, how many, why, or that it may be.
    if words[verb.index].lower in _POSSIBLE:
        return True
    return any(
        _takes_negation(word, word_at(words, at))
        for at, word in enumerate(words[verb.adverbs :], verb.adverbs + 1)
    )


def _takes_negation(word: Tagged, after: Tagged) -> bool:
    if word.lower in _FOCUS or _is_count(word, after):
        return True
    if word.lower.endswith("ly") and word.is_only(ADVERBS):
        return word.lower not in _NO_MANNER | _BEFORE_NOT
    if word.lower == "in":
        return after.lower in _EXTENT
    # "was not cruising and spotted a ship": is the second denied, too?
    second = after.may_be(("VBD", "VBZ")) and not after.may_be(NOUNS)
    return word.lower in ("and", "or") and second


def _is_count(word: Tagged, after: Tagged) -> bool:
    # ``Three boats``, no date, year or part of a name.
    number = word.is_only(("CD",)) and not _YEAR.fullmatch(word.text)
    return number and after.may_be(("NNS", "JJ", "NN", "CD"))


def _behind_auxiliary(words: Sequence[Tagged], verb: MainVerb) -> tuple[Replacement, ...]:
    word, rest = words[verb.index], words[verb.index + 1 :]
    if not rest or not _is_auxiliary(word, verb.tag, first_plain(rest)):
        return ()
    if rest[0].lower in ("better", "to", "like", "have") and word.lower in ("had", "would"):
        return ()
    if word.lower == "can":
        return (put("cannot", word),)
    place = word.end
    for other in rest:
        if other.lower not in _BEFORE_NOT:
            break
        place = other.end
    return (Replacement(place, place, " not"),)


def _is_auxiliary(word: Tagged, tag: str, following: Tagged) -> bool:
    if word.lower in ("'d", "'ve", "'ll", "'m"):
        return False
    if word.lower == "'s":
        return bool(following.text) and not following.may_be(("NN", "NNS", "NNP"))
    if word.lower in _HAVE:
        return following.may_be(("VBN",)) and following.lower != "had"
    return (word.lower in BE or tag == "MD") and word.lower not in _UNSURE


def _with_do(words: Sequence[Tagged], verb: MainVerb) -> tuple[Replacement, ...]:
    word, rest = words[verb.index], words[verb.index + 1 :]
    if verb.tag == "MD" or word.lower in BE | _UNSURE | {"'s"} or not rest:
        return ()
    if _coordinated(rest) or rest[0].lower in ("not", "n't", "rid"):
        return ()
    base = _base_of(word, verb.tag, first_plain(rest))
    if base is None:
        return ()
    adverbs = words[verb.adverbs : verb.index]
    start = next((other.start for other in adverbs if other.lower not in _BEFORE_NOT), word.start)
    if start == word.start:
        return (Replacement(start, word.end, f"{_DO[verb.tag]} {base}"),)
    return (Replacement(start, start, f"{_DO[verb.tag]} "), Replacement(word.start, word.end, base))


def _base_of(word: Tagged, tag: str, following: Tagged) -> str | None:
    if word.lower in ("do", "does", "did"):
        return "do"
    if word.lower not in _HAVE:
        return base_form(word.lower, tag)
    auxiliary = not following.text or following.may_be(("VBN",)) or following.lower == "better"
    return None if auxiliary else "have"


def _coordinated(rest: Sequence[Tagged]) -> bool:
    # ``Built and sold boats``.
    signs = rest[0].text == "," or rest[0].lower in ("and", "or", "as")
    if signs and len(rest) > 1:
        return any(other.may_be(("VBD", "VBZ", "VBP")) for other in rest[1:4])
    return any(
        one.lower in ("and", "or")
        and other.may_be(("VBP", "VB"))
        and not other.may_be(("NN", "JJ", "VBD"))
        for one, other in pairwise(rest)
    )
