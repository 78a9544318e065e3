"""Number exaggeration: ``She wrote five books`` becomes ``She wrote five thousand books``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from coherencegym.manipulations.probes.probe import Replacement
from coherencegym.manipulations.probes.sentence import Sentence, Word
from coherencegym.manipulations.probes.words import word_list, word_set

#: The number that numbers are multiplied by.
FACTOR = 1000
_DIGITS = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?")
_ONES = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"),
    *("sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS = frozenset((*_ONES, *_TENS))
_SCALES = {"hundred": "hundred thousand", "thousand": "million", "million": "billion",
           "billion": "trillion"}  # fmt: skip
#: Words that say that there are two, or that the numbers are of a place.
_OF_TWO = frozenset(("degrees", "both", "either", "neither", "respectively", "former", "latter"))
_ARTICLES = frozenset(("a", "an"))
#: Words that may stand before a number that counts.
_BEFORE = word_set(
    "the these those its his her their our my all of in on at by for from with about over under "
    "between within after before since during through than to and or as into until up least most "
    "nearly almost around approximately roughly some only just exactly another , ( ; : than into "
    "including has have had was were is are be been being by also won lost scored contains "
    "contained comprises comprised includes included wrote made played published released sold "
    "lies stands runs extends measures covers spans weighs reaches seats holds has "
    "spent built owned employed nearly about every per among plus total additional other"
)
#: Plurals with the form of the singular that are counted.
_EITHER_NUMBER = word_set("people species series aircraft spacecraft")


@dataclass(frozen=True)
class NumberExaggeration:
    """Numbers that count things are multiplied by a thousand and written as they were.

    A number counts when a plural noun or the sign of a unit follows it, with at most two adjectives
    between. Years, dates, ordinals, money, percentages, scores, numbers in names and numbers with a
    hyphen are left, and so is one: its noun would have to change.
    """

    name: str = "number_exaggeration"

    def __call__(self, sentence: Sentence) -> tuple[Replacement, ...]:
        """One replacement for each number, from left to right."""
        words = sentence.words
        if not _OF_TWO.isdisjoint(sentence.lowers):
            return ()
        changes: list[Replacement] = []
        at = 0
        while at < len(words):
            end = _number_end(words, at)
            if end == at:
                at += 1
                continue
            if _counts(words, at, end):
                changed = _exaggerated(words[at:end])
                if changed is None:
                    return ()
                changes.append(changed)
            elif _measures(words, end):
                return ()  # one of two measures alone would be changed: "7 km (4 miles)"
            at = end
        return tuple(changes)


def _is_digits(word: Word) -> bool:
    return _DIGITS.fullmatch(word.text) is not None


def _number_end(words: Sequence[Word], at: int) -> int:
    """Find the end of the number that begins at an index; the index itself where none begins."""
    end = at
    if _is_digits(words[at]):
        end = at + 1
    else:
        while end < len(words) and (
            words[end].lower in _UNITS
            or words[end].lower in _SCALES
            or (words[end].text == "-" and end > at and _is_tens(words, end))
        ):
            end += 1
        if end > at and words[at].lower in _SCALES:
            return at  # "a hundred", "hundreds": written too freely
        return end
    while end < len(words) and words[end].lower in _SCALES:
        end += 1
    return end


def _is_tens(words: Sequence[Word], hyphen: int) -> bool:
    before, after = (
        words[hyphen - 1].lower,
        words[hyphen + 1].lower if hyphen + 1 < len(words) else "",
    )
    return before in _TENS and after in _ONES[:9]


def _counts(words: Sequence[Word], at: int, end: int) -> bool:
    """Tell whether the number ``words[at:end]`` counts what follows."""
    number = words[at]
    if at and not _may_precede(words, at):
        return False
    if end < len(words) and words[end].text in ("-", "–", "/", "%", "°", ":"):
        return False
    if end - at == 1:
        if number.lower in ("one", "1", "0", "zero") or number.text.startswith("0"):
            return False
        if re.fullmatch(r"1[0-9]\d\d|20\d\d|21\d\d", number.text):
            return False
    return _thing(words, end)


def _measures(words: Sequence[Word], at: int) -> bool:
    return at < len(words) and (
        words[at].text in word_list("units")
        or words[at].lower in ("miles", "feet", "metres", "acres")
    )


def _thing(words: Sequence[Word], at: int) -> bool:
    """Tell whether a plural noun stands at an index, or after one or two adjectives."""
    for index in range(at, min(at + 3, len(words))):
        word = words[index]
        follows = words[index + 1] if index + 1 < len(words) else None
        if follows is not None and follows.text in ("-", "'", "’", "'s", "’s", "/"):
            return False
        if index == at and word.text in word_list("units"):
            return True
        if word.text != word.lower:
            return False
        plural = word.may_be(("NNS",)) and not word.may_be(("NN", "IN"))
        if plural or word.lower in _EITHER_NUMBER:
            compound = follows is not None and follows.is_only(("NN",))
            return not compound
        if not word.is_only(
            ("JJ", "JJR", "JJS", "NN", "VBN", "NNS", "VB", "VBP", "RB")
        ) or word.may_be(("NNP",)):
            return False
    return False


def _may_precede(words: Sequence[Word], at: int) -> bool:
    before = words[at - 1]
    if before.text in ("-", "–", "—", "/", "$", "£", "€", "¥", "#", ":", "."):
        return False
    if before.lower in ("top", "no", "no.", "number", "nos.", "age", "aged", "one"):
        return False
    if before.lower in _BEFORE:
        return not (before.lower in ("and", "to", "or", "between", "from") and _in_range(words, at))
    if before.lower in _ARTICLES:
        return True
    if before.text[:1].isupper() and at > 1:
        return False
    return not before.may_be(("NN", "NNP", "NNS", "CD", "POS")) or (
        before.may_be(("VBD", "VBZ")) and not before.may_be(("NN", "NNS", "NNP"))
    )


def _in_range(words: Sequence[Word], at: int) -> bool:
    """Tell whether another number stands two words away: one half of a range is not enough."""
    return (at >= 2 and words[at - 2].may_be(("CD",))) or (
        at + 2 < len(words)
        and words[at + 1].lower in ("and", "to", "or")
        and words[at + 2].may_be(("CD",))
    )


def _exaggerated(number: Sequence[Word]) -> Replacement | None:
    first, last = number[0], number[-1]
    if last.lower in _SCALES and not _is_digits(last):
        scale = _SCALES[last.lower]
        if len(number) == 1:
            return None
        before = number[-2].lower
        if before in _SCALES:
            return None
        return Replacement(last.start, last.end, scale)
    if len(number) == 1 and _is_digits(first):
        after = _digits(first.text)
        return None if after is None else Replacement(first.start, first.end, after)
    if any(word.lower in _SCALES for word in number):
        return None  # "two hundred five"
    return Replacement(last.end, last.end, " thousand")


def _digits(text: str) -> str | None:
    """A number in digits times a thousand, with separators; none where it would be unheard of.

    >>> _digits("5"), _digits("1,500"), _digits("2.5")
    ('5,000', '1,500,000', '2,500')
    """
    match = _DIGITS.fullmatch(text)
    if match is None:
        return None
    whole = int(match[1].replace(",", ""))
    part = (match[2] or ".").lstrip(".")
    if len(part) > 3 or whole >= 10**9 or (whole == 0):
        return None
    thousandths = int((part + "000")[:3])
    return f"{whole * FACTOR + thousandths:,}"
