"""Whether tokens stand where their tokenizer says, and which of a run's characters each has.

Starts never decrease, and every character that is not white space is in a token: what a check of
all texts at once shows not to be so is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coherencegym.eval.text.align import align
from coherencegym.eval.text.tokens import TextError, Tokens, describe, joined
from coherencegym.eval.text.whitespace import solid


def checked(tokenizer: Any, texts: Sequence[str], encoded: Sequence[Tokens]) -> list[Tokens]:
    """The tokens of texts that no normalizer changed, if they stand where they can.

    Raises:
        TextError: they do not, in one of the texts.
    """
    if not texts:
        return []
    # All texts are looked at as one, with a line break between two.
    sizes = np.array([len(text) for text in texts])
    bases = np.concatenate(([0], np.cumsum(sizes + 1)[:-1]))
    counts = [len(tokens.ids) for tokens in encoded]
    base, size = np.repeat(bases, counts), np.repeat(sizes, counts)
    whole = joined(encoded)
    row = Tokens(whole.ids, whole.starts + base, whole.ends + base)
    if _shared(row).any():
        encoded = [
            split_runs(tokenizer, text, text, tokens)
            for text, tokens in zip(texts, encoded, strict=True)
        ]
        split = joined(encoded)
        row = Tokens(whole.ids, split.starts + base, split.ends + base)

    def refuse(place: int, what: str) -> TextError:
        text = texts[int(np.searchsorted(bases, place, side="right")) - 1]
        return TextError(
            text,
            f"{describe(tokenizer)} {what}; expected tokens in the order of the text, and every "
            "character that is not white space in one",
        )

    outside = (whole.starts < 0) | (whole.ends < whole.starts) | (whole.ends > size)
    if outside.any():
        token = int(np.argmax(outside))
        raise refuse(
            int(base[token]),
            f"puts a token at {whole.starts[token]} to {whole.ends[token]} of "
            f"{size[token]} characters",
        )
    back = np.diff(row.starts) < 0
    if back.any():
        token = int(np.argmax(back))
        raise refuse(int(base[token]), f"puts a token before the one that precedes it ({token})")
    length = int(bases[-1] + sizes[-1])
    opened = np.bincount(row.starts, minlength=length + 1)
    closed = np.bincount(row.ends, minlength=length + 1)
    missed = (np.cumsum(opened - closed)[:length] <= 0) & solid("\n".join(texts))
    if missed.any():
        place = int(np.argmax(missed))
        character = "\n".join(texts)[place]
        raise refuse(place, f"has no token for {character!r}")
    return list(encoded)


def split_runs(tokenizer: Any, text: str, string: str, tokens: Tokens) -> Tokens:
    """Tokens that share several characters, each with its own.

    Unigram with byte fallback gives every byte token the whole run of unknown characters.

    Args:
        tokenizer: the tokenizer.
        text: the text, for errors.
        string: the text, or what it was rewritten to: the tokens' places are in this.
        tokens: its tokens.

    Raises:
        TextError: tokens that share their characters do not spell them.
    """
    shared = _shared(tokens)
    if not shared.any():
        return tokens
    starts, ends = tokens.starts.copy(), tokens.ends.copy()
    # shared[i]: tokens i and i + 1 have the same characters.
    first = 0
    while first < len(shared):
        if not shared[first]:
            first += 1
            continue
        last = first
        while last < len(shared) and shared[last] and starts[last + 1] == tokens.starts[first]:
            last += 1
        begin, end = int(tokens.starts[first]), int(tokens.ends[first])
        names = tokenizer.convert_ids_to_tokens(tokens.ids[first : last + 1].tolist())
        spans = align(names, string[begin:end])
        if spans is None:
            raise TextError(
                text,
                f"{describe(tokenizer)} gives {last - first + 1} tokens the same characters, "
                f"{string[begin:end][:40]!r}, and they do not spell them; expected tokens that can "
                "be told apart",
            )
        starts[first : last + 1], ends[first : last + 1] = spans[0] + begin, spans[1] + begin
        first = last + 1
    return Tokens(tokens.ids, starts, ends)


def _shared(tokens: Tokens) -> np.ndarray:
    """Whether each token but the last has the same characters, two or more, as the next."""
    starts, ends = tokens.starts, tokens.ends
    shared: np.ndarray = (
        (starts[1:] == starts[:-1]) & (ends[1:] == ends[:-1]) & (ends[:-1] - starts[:-1] > 1)
    )
    return shared
