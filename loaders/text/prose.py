"""Tests that some sentences are prose: no list, table, leftover markup or fragment."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

#: Words that a sentence has at least and at most.
SHORTEST, LONGEST = 3, 100

#: Letters among the characters that are no white space. Wikipedia's paragraphs have 94 % in the
#: median, and 999 of 1,000 have more than 79 %.
_FEWEST_LETTERS = 0.75

_MARKUP = re.compile(r"==|\{\{|\}\}|\[\[|\]\]|\||'''|</?[a-zA-Z]\w*[^<>\n]{0,200}>|&[a-z]{2,6};")
_ITEM = re.compile(r"[^\S\n]*(?:[*•‣◦▪·]|[-–—][^\S\n]|\(?\d{1,3}[.)][^\S\n]|\(?[a-z]\)[^\S\n])")
FINAL = re.compile(r"[.!?…。！？।՞؟۔។][\"'”’»)\]]*$")
_WORD = re.compile(r"\w+(?:[-.,'’]\w+)*")
#: Scripts that put no space between words; there the number of words is not counted.
_NO_SPACES = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")


def text_drop(text: str) -> str | None:
    """Say why a text with its line breaks is no prose; none where it may be.

    A list is at least two lines one after another that begin as items do; a line with a tab inside
    is a row of a table.
    """
    if _MARKUP.search(text):
        return "leftover markup"
    items = [_ITEM.match(line) is not None for line in text.split("\n") if line.strip()]
    if any(one and two for one, two in pairwise(items)):
        return "list"
    if any("\t" in line.strip() for line in text.split("\n")):
        return "table"
    return None


def sentences_drop(sentences: Sequence[str]) -> str | None:
    """Say why these sentences are no prose; none where they are.

    The first reason that applies, in this order: markup, letters, words, final marks.
    """
    if any(_MARKUP.search(sentence) for sentence in sentences):
        return "leftover markup"
    characters = [character for character in "".join(sentences) if not character.isspace()]
    letters = sum(map(_is_letter, characters))
    if letters < _FEWEST_LETTERS * len(characters):
        return "too few letters"
    for sentence in sentences:
        words = len(_WORD.findall(sentence))
        if words < SHORTEST and not _NO_SPACES.search(sentence):
            return f"a sentence of fewer than {SHORTEST} words"
        if words > LONGEST:
            return f"a sentence of more than {LONGEST} words"
    if not all(map(FINAL.search, sentences)):
        return "a sentence without its end"
    return None


def _is_letter(character: str) -> bool:
    """Letters, and the marks that scripts such as Devanagari write vowels with."""
    return unicodedata.category(character)[0] in "LM"
