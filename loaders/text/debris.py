"""Debris of extraction in the sentences of a page: gaps where a template or a list stood.

Where a converter drops a template with the words that it holds, its sentence goes on around a gap
(``It covers an area of and is connected by a -long causeway.``), and where a page has a table, a
list or a caption, its pieces stand as sentences. Rules of form alone, for edited prose: chat is
written as it comes, and TeX has signs of its own, so that sentences with any are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from coherencegym.loaders.text.prose import FINAL

_TEX = re.compile(r"[\\$^_{}]")
_NO_LETTER_BEFORE = r"(?<![\w'’-])"
#: Nouns of measure: what follows their ``of`` is a number with its unit, from a template.
_MEASURES = (
    "area length distance weight depth elevation height altitude population width temperature "
    "temperatures speed capacity radius diameter span thickness footprint range total volume mass"
)
_AFTER_MEASURE = "|".join(rf"(?<=\b{noun} of)" for noun in _MEASURES.split())
#: Words that end a sentence which has been cut, and hardly a whole one.
_PREPOSITIONS = "of|from|with|by|at|into|between|during|against|than"
_PARTICLES = "de|del|della|di|da|du|do|dos|von|van|der|den|zu|la|le|el|al|ad|ibn|bin|bint|ben|y"

_LOST_NOUN = "a preposition without its noun"
#: Reason -> what shows it; the first that is found is the reason.
_RULES = {
    "leftover markup": re.compile(
        r"==|\{\||\[\[|\]\]|(?:^|\s)\|\s|'''|&[a-z]{2,6};|<\s?[/!]|"
        r"<\s?(?:br|ref|section|nowiki|onlyinclude|noinclude|small|su[bp]|div|span|table)\b|"
        r"\b(?:colspan|rowspan|style|align|class|width|bgcolor)\s?=",
        re.IGNORECASE,
    ),
    "empty brackets or quotation marks": re.compile(
        r"\((?:\s*[,;:])*\s*\)|\[\s*\]|(?<![^\s(,])\"\s?\"(?![\w(])|“\s*”"
    ),
    "doubled punctuation": re.compile(
        r"[,;:]\s?[,;:]|[,;:]\s?\.(?![\w.])|(?<!\.)(?<!\. )\.\s?\.(?!\s?\.)(?!\d)|\(\s?[,;:]|"
        r"[,;:]\s?\)"
    ),
    "a determiner without its noun": re.compile(
        rf"{_NO_LETTER_BEFORE}(?:(?:the|its|their|our|your)\s?(?:[.,;:)](?!\w)|$)|"
        r"a(?:\s?[.:;]?$|, (?=[a-z]{2}))|"
        r"(?:the (?:in the|was|at|or)|(?:the|an) (?:and|but|of|with|were|is|are|has|had|from))"
        r"\b(?!-))"
    ),
    _LOST_NOUN: re.compile(
        rf"{_NO_LETTER_BEFORE}(?<!in )(?:{_PREPOSITIONS})\s?[.;:]?$|"
        rf" of(?:{_AFTER_MEASURE})(?: (?:and|or|is|was|in|by|with|from|at|of|on|to)\b(?!-)|"
        r"\s?[,;)])|\b(?:of of|between and|from to)\b(?!-)"
    ),
    "a hyphen without its number": re.compile(r"\b(?:an?|the|its|of) -[a-z]"),
    "a sentence that begins in the middle": re.compile(
        rf"(?!(?:{_PARTICLES})\b)[a-z]+(?=[ ,;])|[,;:!?)\]%•|*]|\.(?![\w.])"
    ),
    "a bracket that is not closed": re.compile(r"[^()]*(?:\([^()]*\)[^()]*)*\([^()]*$"),
}
#: A clause that may well end with its preposition: ``where it comes from``, ``hard to deal with``.
_STRANDING = re.compile(
    r"\b(?:where|what|whatever|who|whom|which|that|whose|how)\b|\bto \w+(?: \w+){0,3}\W*$"
)
_AT_BEGINNING = ("a sentence that begins in the middle", "a bracket that is not closed")


def sentence_debris(sentence: str) -> str | None:
    """Name the sign that a sentence lost something, or never was one; none where nothing shows."""
    if _TEX.search(sentence):
        return None
    for reason, rule in _RULES.items():
        found = rule.match(sentence) if reason in _AT_BEGINNING else rule.search(sentence)
        if not found:
            continue
        if found.end() == len(sentence) and reason == _LOST_NOUN and _STRANDING.search(sentence):
            continue
        return reason
    return None if FINAL.search(sentence) else "a sentence without its end"


def debris(sentences: Iterable[str]) -> str | None:
    """The first of :func:`sentence_debris` in the sentences of a document; none without any."""
    return next(filter(None, map(sentence_debris, sentences)), None)
