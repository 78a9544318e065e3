"""Demonstrative flip: ``this book was`` becomes ``these books were``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from coherencegym.manipulations.probes.inflection import base_form, inflect
from coherencegym.manipulations.probes.sentence import (
    ADVERBS,
    FINITE,
    NOUNS,
    Replacement,
    Tagged,
    TaggedSentence,
    first_plain,
    plain,
    put,
    word_at,
)
from coherencegym.manipulations.probes.verbs import main_verb
from coherencegym.words import word_list, word_set

_PLURAL = {"this": "these", "that": "those"}
#: Nouns that stand as adverbials of time without a preposition: ``that year``.
_TIMES = word_list("adverbial_times")
_COUNTABLE_TIMES = word_set("year day week month season period decade century time")
#: Prepositions before a time that bear the plural: ``during these years``, but ``to this day``.
_TIME_PREPOSITIONS = word_set("during in of throughout for from between over")
_BEFORE_THAT = word_list("before_that")
_AGREEING = {"is": "are", "was": "were", "has": "have", "does": "do"}
_LINKING = word_set("is was be been become became becomes remains remained are were 's")
_SINGULAR = word_set("it its itself each another every unique only")
#: Words between the demonstrative and its noun that ask for one thing.
_ONE = word_set("one single sole only whole entire very latter former particular")
#: Names that a text gives itself: no antecedent says that it is one, and there may be more of them.
_TEXTS = word_list("texts")
#: Words of ``released this song as a single``.
_BEFORE_ONE = word_set("as into became become becoming remain remained make")
_RELATIVES = word_set("who which that whose where when whom")


#: Prepositions that begin no clause.
_PREPOSITIONS = (_BEFORE_THAT | {"in", "to", "from", "over"}) - {"after", "before"}
_CLAUSE_BEGINNERS = word_set(
    "and but because although though when while if since until whether that as so where , ;"
)
_NO_KIND = word_set("one kind sort type much many latter former")


def demonstrative_flip(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """``this`` and ``that`` with a singular noun become ``these`` and ``those`` with its plural.

    Sound: the noun is of those that are commonly counted and does not name the text itself (``in
    this paper``), its phrase ends with it, a verb of which it is the subject agrees, and nothing
    else in the sentence speaks of the one thing (``it``, ``which``, ``is a``).
    """
    for at, word in enumerate(sentence.words):
        if word.lower in _PLURAL and (changes := _plural(sentence, at)):
            return changes
    return ()


def _plural(sentence: TaggedSentence, at: int) -> tuple[Replacement, ...]:
    words = sentence.words
    word, noun_at = words[at], _head_noun(words, at)
    if noun_at is None or (word.text[0].isupper() and at > 0):
        return ()
    noun = words[noun_at]
    plural = None if noun.lower in _TEXTS else inflect(noun.lower, "NNS")
    if plural is None or plural == noun.lower or noun.text != noun.lower:
        return ()
    if _says_one(words[at + 1 : noun_at], words[noun_at + 1 :]):
        return ()
    if not _may_follow(word_at(words, at - 1).lower, word.lower, noun.lower):
        return ()
    agreement = _agreement(sentence, at, noun_at)
    if agreement is None:
        return ()
    return (put(_PLURAL[word.lower], word), put(plural, noun), *agreement)


def _head_noun(words: Sequence[Tagged], at: int) -> int | None:
    countable = word_list("countable_nouns") | _COUNTABLE_TIMES
    for index, word in enumerate(words[at + 1 : at + 4], at + 1):
        if word.lower in countable and _ends_phrase(word_at(words, index + 1)):
            return index
        if not word.may_be(("JJ", "NN", "VBN")) or word.may_be(("IN", "DT", "VBZ", "MD", "PRP")):
            return None
        if word.lower in _NO_KIND:
            return None
    return None


def _ends_phrase(after: Tagged) -> bool:
    if after.may_be(("JJ",)) and not after.may_be(FINITE | ADVERBS | {"IN"}):
        return False
    if after.may_be(FINITE) and not after.may_be(("NN", "NNP", "POS")):
        return True
    signs = ("-", "'", "’", '"', "“", "``", "/")
    return not after.may_be(NOUNS | {"POS", "CD"}) and after.text not in signs


def _says_one(modifiers: Sequence[Tagged], rest: Sequence[Tagged]) -> bool:
    lowers = [word.lower for word in rest]
    as_one = any(
        one in _BEFORE_ONE and other in ("a", "an", "the", "one") for one, other in pairwise(lowers)
    )
    return (
        not _SINGULAR.isdisjoint(lowers)
        or not _ONE.isdisjoint(word.lower for word in modifiers)
        or not _RELATIVES.isdisjoint(lowers[:2])
        or as_one
        or word_at(rest, 0).text in ("(", "and", "or")  # "this aim (and that one) is"
    )


def _may_follow(before: str, demonstrative: str, noun: str) -> bool:
    if noun in _TIMES and not (noun in _COUNTABLE_TIMES and before in _TIME_PREPOSITIONS):
        return False
    if demonstrative == "that" and before not in _BEFORE_THAT | {"in"}:
        return False  # a conjunction, as far as the rules can tell
    return before not in ("as", "like", "such", "than", "unlike", "half")


def _agreement(sentence: TaggedSentence, at: int, noun_at: int) -> tuple[Replacement, ...] | None:
    words = sentence.words
    verb = main_verb(sentence)
    if verb is not None and at in verb.subject:
        begin = verb.subject.index(at)
        # The phrase is the subject's head, and no part of a phrase in it.
        if begin == 0 or words[verb.subject[begin - 1]].text == ",":
            return _verbs_agree(words, verb.index)
    after = first_plain(words[noun_at + 1 :])
    if at > 0 and words[at - 1].lower not in _CLAUSE_BEGINNERS:
        return () if _is_no_subject(words[at - 1], after) else None
    return _verbs_agree(words, words.index(after)) if after.is_only(FINITE) else None


def _is_no_subject(before: Tagged, after: Tagged) -> bool:
    if before.lower in _PREPOSITIONS:  # "the end of this year was": not the subject
        return True
    if before.lower in _AGREEING or after.may_be(FINITE):
        return False  # "what is this error": the verb before it may agree with it
    return before.is_only(("IN", "RP", "RB", "TO", "VBZ", "VBD", "VBN", "VB", "VBG", "VBP"))


def _verbs_agree(words: Sequence[Tagged], index: int) -> tuple[Replacement, ...] | None:
    changes: list[Replacement] = []
    for place, word in enumerate(words[index:], index):
        if place != index:
            singular = word.may_be(("VBZ",)) and not word.may_be(NOUNS)
            if word.lower not in _AGREEING and not singular:
                continue
            if first_plain(words[place - 1 :: -1]).lower not in ("and", "but"):
                return None  # a verb of another subject, or of this one
        changed = _plural_verb(word, plain(words[place + 1 :]))
        if changed is None:
            return None
        changes += changed
    return tuple(changes)


def _plural_verb(word: Tagged, rest: Sequence[Tagged]) -> tuple[Replacement, ...] | None:
    if word.lower in _LINKING and not _fits_several(word_at(rest, 0)):
        return None
    if word_at(rest, 0).lower in _LINKING and not _fits_several(word_at(rest, 1)):
        return None
    if word.lower in _AGREEING:
        return (put(_AGREEING[word.lower], word),)
    if word.is_only(("VBD", "MD")) or (word.may_be(("VBD",)) and not word.may_be(("VBZ",))):
        return ()
    base = base_form(word.lower, "VBZ")
    if base is None or word.lower == "'s":
        return None
    return (Replacement(word.start, word.end, base),)


def _fits_several(predicate: Tagged) -> bool:
    # No ``a painter``, no ``the best``.
    one = ("DT", "PRP$", "CD", "WRB", "WP", "PRP", "NNP", "NNS", "NN")
    return predicate.may_be(("VBN", "VBG", "JJ", "IN")) and not predicate.may_be(one)
