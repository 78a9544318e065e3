"""Words and the tokens that begin them, and surprisals of words.

Where tokens begin with the space before a word, whether a word has ended is part of the probability
of what follows it. The correction (Pimentel and Meister 2024, "How to compute the probability of a
word", EMNLP; Oh and Schuler 2024, "Leading whitespaces of language models' subword vocabulary pose
a confound for calculating word probabilities", EMNLP) gives it back. With c(i) the surprisal of
*some* beginning of a word, or the end of the text, at place i:

    a token that begins a word:  its surprisal - c(its place)
    a token that ends a word:    its surprisal + c(the place behind it)

Within a region this cancels but for the region's two ends. The first word of a text has no space
before it, and is corrected at its end only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coherencegym.errors import EvaluationError
from coherencegym.eval.text.places import Tokens, nearest_solid

#: A mark of beginnings -> what the tokens begin with that stand for any white space.
_MARKS = {
    # Bytes as characters: space, line feed, tab, carriage return.
    "Ġ": ("Ġ", "Ċ", "ĉ", "č"),
    "▁": ("▁", "\n", "\t", "\r", "<0x0A>", "<0x09>", "<0x0D>"),
}


@dataclass(frozen=True)
class WordBeginnings:
    """The tokens that begin a word or end the text, increasing.

    ``end`` is a token to put behind a text so that its end has a place.
    """

    ids: tuple[int, ...]
    end: int

    def needed(self, ids: Sequence[int], positions: Sequence[int]) -> tuple[int, ...]:
        """The places, increasing, whose c(i) corrects the surprisals at some positions."""
        begins = set(self.ids)
        needed = {p for p in positions if ids[p] in begins}
        needed |= {p + 1 for p in positions if p + 1 == len(ids) or ids[p + 1] in begins}
        return tuple(sorted(needed))

    def corrected(
        self, ids: Sequence[int], bits: np.ndarray, starts: Mapping[int, float]
    ) -> np.ndarray:
        """Surprisals (bits, shape (T,), NaN where none was read) by word, from those by token.

        ``starts`` are c(i) in bits, by place.
        """
        begins = set(self.ids)
        result = bits.copy()
        for place, token in enumerate(ids):
            if token in begins and place in starts:
                result[place] -= starts[place]
            if (place + 1 == len(ids) or ids[place + 1] in begins) and place + 1 in starts:
                result[place] += starts[place + 1]
        return result


def word_beginnings(tokenizer: Any, vocabulary: int) -> WordBeginnings:
    """The tokens of a tokenizer that begin a word, or end the text.

    ``vocabulary`` is how many tokens the model knows; later ones are left out.
    """
    tokens = tokenizer.convert_ids_to_tokens(
        tokenizer("a b", add_special_tokens=False)["input_ids"]
    )
    # The space is with the word behind it, or a token of its own before it.
    mark = tokens[1][:1] if len(tokens) > 1 else ""
    if mark not in _MARKS:
        raise EvaluationError(
            f"--word-correction: the tokenizer writes 'a b' as {tokens}; expected one whose tokens "
            "begin with the space before a word (Ġ or ▁)"
        )
    size = min(vocabulary, len(tokenizer))
    names = tokenizer.convert_ids_to_tokens(list(range(size)))
    special = {i for i in tokenizer.all_special_ids if i < size}
    ids = {i for i, name in enumerate(names) if name is not None and name.startswith(_MARKS[mark])}
    end = tokenizer.eos_token_id
    return WordBeginnings(tuple(sorted(ids | special)), int(end) if end is not None else 0)


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
    after, before = nearest_solid(text)
    after, before = np.append(after, len(text)), np.append(-1, before)
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
