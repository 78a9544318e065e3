"""Number exaggeration: ``She wrote five books`` becomes ``She wrote five thousand books``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from coherencegym.manipulations.probes.sentence import Replacement, Tagged, TaggedSentence, word_at
from coherencegym.words import word_list, word_set

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
_BEFORE = word_list("before_numbers")
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
    if before.lower in _BEFORE:
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
