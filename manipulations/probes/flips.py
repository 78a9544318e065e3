"""Flips of words that stand by themselves: conjunctions, demonstratives, and numbers.

- conjunction flip: ``and`` becomes ``but``, ``although`` becomes ``because``;
- demonstrative flip: ``this book was`` becomes ``these books were``;
- number exaggeration: ``She wrote five books`` becomes ``She wrote five thousand books``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from coherencegym.manipulations.probes.sentence import (
    ADVERBS,
    FINITE,
    NOMINATIVE,
    NOUNS,
    Replacement,
    Tagged,
    TaggedSentence,
    base_form,
    first_plain,
    plain,
    plural_of,
    put,
    word_at,
)
from coherencegym.manipulations.probes.verbs import main_verb, visible
from coherencegym.words import word_list, word_set

#: Adverbs set off by commas: the sense is turned round, the syntax is the same.
_ADVERBS = {
    "however": "therefore", "nevertheless": "consequently", "nonetheless": "consequently",
    "therefore": "however", "consequently": "nevertheless", "thus": "however", "hence": "however",
    "accordingly": "nevertheless",
}  # fmt: skip
#: Words that begin a clause with a subject and a finite verb.
_SUBORDINATORS = {
    "although": "because", "though": "because", "because": "although", "before": "after",
    "after": "before", "unless": "if",
}  # fmt: skip
_SUBJECTS = NOMINATIVE | {"it", "there", "this", "these"}
#: Words before a subordinator that would not bear the other one: ``not because``, ``soon after``.
_BEFORE_SUBORDINATOR = word_list("before_subordinators")
#: Words in a clause that hang on whether it is affirmed.
_POLAR = frozenset(("yet", "already", "any", "ever", "then"))
#: Words that an ``and`` may be the second half of.
_PAIRED = word_set("both between either")


#: The index of the last word of a conjunction, and what it becomes.
_Flip = tuple[int, str]


def conjunction_flip(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """One conjunction or connective becomes one of the opposed sense and the same syntax.

    Of a sentence the first is taken that joins clauses (or verb phrases) for certain: ``and``
    before a subject and a finite verb, or before a finite verb after a comma (never ``but``: an
    ``and`` in its place says less, and nothing wrong); ``although``
    and ``because``, ``before`` and ``after``, ``unless`` before a subject pronoun and a finite
    verb; ``however`` and ``therefore`` and their like set off by commas; ``despite`` and ``because
    of``.
    """
    for place in visible(sentence) or ():
        for rule in (_adverb, _because_of, _subordinator, _coordinator):
            if flip := rule(sentence.words, place):
                end, form = flip
                return (put(form, sentence.words[place], sentence.words[end]),)
    return ()


def _at(words: Sequence[Tagged], index: int) -> str:
    return word_at(words, index).lower


def _adverb(words: Sequence[Tagged], at: int) -> _Flip | None:
    # Between commas it may belong to a word and not to the clause: "Smith, however, was".
    set_off = (at == 0 or _at(words, at - 1) == ";") and _at(words, at + 1) == ","
    return (at, _ADVERBS[words[at].lower]) if set_off and words[at].lower in _ADVERBS else None


def _because_of(words: Sequence[Tagged], at: int) -> _Flip | None:
    if _at(words, at - 1) in _BEFORE_SUBORDINATOR | {"-", "both", "either"}:
        return None
    lower = words[at].lower
    if lower == "because" and _at(words, at + 1) == "of":
        return None if _at(words, at + 2) in ("which", "whom") else (at + 1, "despite")
    if lower == "despite" and _at(words, at + 1) not in ("which", "whom"):
        return at, "because of"
    spite = [word.lower for word in words[at : at + 3]] == ["in", "spite", "of"]
    return (at + 2, "because of") if spite else None


def _subordinator(words: Sequence[Tagged], at: int) -> _Flip | None:
    lower, before = words[at].lower, _at(words, at - 1)
    even = lower == "even" and _at(words, at + 1) == "though"
    if not even and (lower not in _SUBORDINATORS or before in _BEFORE_SUBORDINATOR):
        return None
    if before in ("-", '"', "(", "as"):
        return None
    end, lower = (at + 1, "though") if even else (at, lower)
    return (end, _SUBORDINATORS[lower]) if _bears_flip(lower, words[end + 1 :]) else None


def _bears_flip(lower: str, clause: Sequence[Tagged]) -> bool:
    temporal = lower in ("before", "after")
    first = word_at(clause, 0)
    if temporal and first.may_be(("VBG",)):
        return True
    # "before the wind would allow it"
    modal = any(word.may_be(("MD",)) for word in clause[:8])
    following = plain(clause[1:])
    if not following or (temporal and modal):
        return False
    if first.lower not in _SUBJECTS:
        return _full_clause(clause)
    return _is_subject(first.lower, following[0], temporal) and _POLAR.isdisjoint(
        word.lower for word in clause[:12]
    )


def _is_subject(pronoun: str, verb: Tagged, temporal: bool) -> bool:
    if temporal and pronoun in ("this", "these"):
        return False
    return verb.may_be(FINITE) and (pronoun in NOMINATIVE or not verb.may_be(("NN", "NNS")))


def _coordinator(words: Sequence[Tagged], at: int) -> _Flip | None:
    if words[at].lower != "and" or at < 2:
        return None
    end, after = at, "but"
    if _at(words, at + 1) in ("therefore", "thus", "hence", "consequently"):
        end, after = at + 1, "but nevertheless"
    earlier = words[:at]
    clause = any(word.may_be(FINITE) for word in earlier)
    if not clause or not _PAIRED.isdisjoint(word.lower for word in earlier):
        return None
    return (end, after) if _joins_clause(earlier, words[end + 1 :]) else None


def _joins_clause(earlier: Sequence[Tagged], rest: Sequence[Tagged]) -> bool:
    following = plain(rest)
    if len(following) < 2 or rest[0].lower in ("so", "then", "not"):
        return False
    comma = earlier[-1].lower == ","
    subject, verb = following[:2]
    if subject.lower in _SUBJECTS and _is_subject(subject.lower, verb, temporal=False):
        # "the house where he lived and he": a clause inside another is not worth the risk.
        return comma or subject.lower in NOMINATIVE
    lowers = [word.lower for word in earlier]
    if not comma or lowers.count(",") > 1 or "and" in lowers:
        return False  # it may end a list
    return subject.is_only(FINITE) or _full_clause(rest)


def _full_clause(rest: Sequence[Tagged]) -> bool:
    # A noun phrase and then a certain finite verb: ``the house was``.
    if not rest[0].is_only(("DT", "PRP$", "NNP")):
        return False
    for word in rest[1:8]:
        if word.is_only(FINITE):
            return True
        if not word.may_be(("NN", "NNS", "NNP", "JJ", "IN", "DT", "CD")):
            return False
    return False


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
    plural = None if noun.lower in _TEXTS else plural_of(noun.lower)
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


_FACTOR = 1000
_DIGITS = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?")
_YEAR = re.compile(r"1[0-9]\d\d|20\d\d|21\d\d")
_TENS = word_set("twenty thirty forty fifty sixty seventy eighty ninety")
_ONES = word_set("one two three four five six seven eight nine")
_UNITS = (
    _ONES
    | _TENS
    | word_set("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
)
_SCALES = {"hundred": "hundred thousand", "thousand": "million", "million": "billion",
           "billion": "trillion"}  # fmt: skip
#: Words that say that there are two, or that the numbers are of a place.
_OF_TWO = frozenset(("degrees", "both", "either", "neither", "respectively", "former", "latter"))
#: Words that may stand before a number that counts.
_BEFORE_NUMBER = word_list("before_numbers")
#: Plurals with the form of the singular that are counted.
_EITHER_NUMBER = word_set("people species series aircraft spacecraft")


#: Tags of what may stand between a number and the plural that it counts.
_BETWEEN = word_set("JJ JJR JJS NN VBN NNS VB VBP RB")
#: Words and signs before a number that is none of a count: a sum of money, a score, a rank.
_NO_COUNT = word_set("- – — / $ £ € ¥ # : . top no no. number nos. age aged one")


def number_exaggeration(sentence: TaggedSentence) -> tuple[Replacement, ...]:
    """Numbers that count things are multiplied by a thousand and written as they were.

    A number counts when a plural noun or the sign of a unit follows it, with at most two adjectives
    between. Years, dates, ordinals, money, percentages, scores, numbers in names and numbers with a
    hyphen are left, and so is one: its noun would have to change.
    """
    words = sentence.words
    if not _OF_TWO.isdisjoint(sentence.lowers):
        return ()
    changes: list[Replacement] = []
    at = 0
    while at < len(words):
        end = _number_end(words, at)
        if end > at and _counts(words, at, end):
            changed = _exaggerated(words[at:end])
            if changed is None:
                return ()
            changes.append(changed)
        elif end > at and _measures(word_at(words, end)):
            return ()  # one of two measures alone would be changed: "7 km (4 miles)"
        at = max(end, at + 1)
    return tuple(changes)


def _number_end(words: Sequence[Tagged], at: int) -> int:
    end = at
    if _DIGITS.fullmatch(words[at].text):
        end = at + 1
        while word_at(words, end).lower in _SCALES:
            end += 1
        return end
    if words[at].lower in _SCALES:
        return at  # "a hundred", "hundreds": written too freely
    while word_at(words, end).lower in _UNITS | _SCALES.keys() or (end > at and _joins(words, end)):
        end += 1
    return end


def _joins(words: Sequence[Tagged], at: int) -> bool:
    # The hyphen of ``twenty-one``.
    before, after = words[at - 1].lower, word_at(words, at + 1).lower
    return word_at(words, at).text == "-" and before in _TENS and after in _ONES


def _counts(words: Sequence[Tagged], at: int, end: int) -> bool:
    number = words[at]
    if at and not _may_follow_number(words, at):
        return False
    if word_at(words, end).text in ("-", "–", "/", "%", "°", ":"):
        return False
    one = number.lower in ("one", "1", "zero") or number.text.startswith("0")
    if end - at == 1 and (one or _YEAR.fullmatch(number.text)):
        return False
    return _begins_plural(words, end)


def _measures(word: Tagged) -> bool:
    return word.text in word_list("units") or word.lower in ("miles", "feet", "metres", "acres")


def _begins_plural(words: Sequence[Tagged], at: int) -> bool:
    for index, word in enumerate(words[at : at + 3], at):
        follows = word_at(words, index + 1)
        if follows.text in ("-", "'", "’", "'s", "’s", "/"):
            return False
        if index == at and word.text in word_list("units"):
            return True
        if word.text != word.lower:
            return False
        plural = word.may_be(("NNS",)) and not word.may_be(("NN", "IN"))
        if plural or word.lower in _EITHER_NUMBER:
            return not follows.is_only(("NN",))  # no compound
        if not word.is_only(_BETWEEN):
            return False
    return False


def _may_follow_number(words: Sequence[Tagged], at: int) -> bool:
    before = words[at - 1]
    if before.lower in _NO_COUNT:
        return False
    if before.lower in _BEFORE_NUMBER:
        return not (before.lower in ("and", "to", "or", "between", "from") and _in_range(words, at))
    if before.lower in ("a", "an"):
        return True
    if before.text[:1].isupper() and at > 1:
        return False
    verb = before.may_be(("VBD", "VBZ")) and not before.may_be(("NN", "NNS", "NNP"))
    return verb or not before.may_be(("NN", "NNP", "NNS", "CD", "POS"))


def _in_range(words: Sequence[Tagged], at: int) -> bool:
    after = word_at(words, at + 1).lower in ("and", "to", "or")
    numbers = [word_at(words, place).may_be(("CD",)) for place in (at - 2, at + 2)]
    return numbers[0] or (after and numbers[1])


def _exaggerated(number: Sequence[Tagged]) -> Replacement | None:
    first, last = number[0], number[-1]
    if last.lower in _SCALES:
        scale = None if number[-2].lower in _SCALES else _SCALES[last.lower]
        return None if scale is None else Replacement(last.start, last.end, scale)
    if _DIGITS.fullmatch(first.text):
        after = _thousandfold(first.text)
        return None if after is None else Replacement(first.start, first.end, after)
    if any(word.lower in _SCALES for word in number):
        return None  # "two hundred five"
    return Replacement(last.end, last.end, " thousand")


def _thousandfold(text: str) -> str | None:
    match = _DIGITS.fullmatch(text)
    assert match is not None
    whole, part = int(match[1].replace(",", "")), (match[2] or ".")[1:]
    if len(part) > 3 or not 0 < whole < 10**9:
        return None
    return f"{whole * _FACTOR + int(part.ljust(3, '0')):,}"
