"""Tokens that begin a word, and those that go on with one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from coherencegym.eval.text.places import Tokens, solid


def begin_words(text: str, tokens: Tokens, words: Sequence[int | None] | None = None) -> np.ndarray:
    """Say which tokens begin a word; shape (T,), bool.

    A word has no white space within it, and is no longer than what the tokenizer's pre-tokenizer
    cuts off. White space before a word is part of it where it has a token.

    Args:
        text: the text that was encoded.
        tokens: T tokens with their places.
        words: the number of each token's word as a fast tokenizer counts them; None: letters and
            digits in a row are a word, and every other character is one.
    """
    is_solid = solid(text)
    places = np.arange(len(text))
    after = np.append(np.where(is_solid, places, len(text)), len(text))
    after = np.minimum.accumulate(after[::-1])[::-1]
    before = np.maximum.accumulate(np.append(-1, np.where(is_solid, places, -1)))
    begins = np.ones(len(tokens.ids), dtype=bool)
    # The last character of the word so far that is no white space; -1: there is none.
    last = -1
    firsts, lasts = after[tokens.starts].tolist(), before[tokens.ends].tolist()
    for token, (start, first, final) in enumerate(
        zip(tokens.starts.tolist(), firsts, lasts, strict=True)
    ):
        if token:
            apart = last >= 0 and first > last + 1
            if words is not None:
                apart = apart or words[token] != words[token - 1]
            elif last >= 0 and first == last + 1 < len(text):
                apart = not (_is_of_word(text[last]) and _is_of_word(text[first]))
            begins[token] = apart
        last = -1 if begins[token] else last
        if final >= start:
            last = final
    return begins


def _is_of_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")
