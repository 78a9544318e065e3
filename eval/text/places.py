"""Tokens and their places in a text: those that a tokenizer says, checked, or found from tokens.

Starts never decrease, and every character that is not white space is in a token: what a check of
all texts at once shows not to be so is refused. Where there are no offsets, and where byte tokens
were all given those of a whole run of characters, tokens are read (:mod:`eval.text.alignment`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from coherencegym.errors import EvaluationError
from coherencegym.eval.text.alignment import align_tokens

#: White space among the characters up to U+3000; one more stands for all beyond: none of those is.
_IS_SPACE = np.array([*(chr(code).isspace() for code in range(0x3001)), False])


class TextError(EvaluationError):
    """A text whose tokens cannot be placed; ``text`` is the text, ``reason`` says why."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"text {text[:40]!r}: {reason}")
        self.text = text
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """T tokens: their ids, and their starts and ends in the text (characters); each shape (T,).

    ``begins``, where it is known, says which begin a word: shape (T,), bool.
    """

    ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    begins: np.ndarray | None = None

    def __getitem__(self, chosen: slice) -> Tokens:
        begins = None if self.begins is None else self.begins[chosen]
        return Tokens(self.ids[chosen], self.starts[chosen], self.ends[chosen], begins)

    def shifted(self, by: int) -> Tokens:
        """The same tokens so many characters further on."""
        return Tokens(self.ids, self.starts + by, self.ends + by, self.begins)

    def cross(self, place: int) -> bool:
        """A token reaches over a place (characters)."""
        return bool(((self.starts < place) & (self.ends > place)).any())

    def from_place(self, place: int) -> int:
        """The index of the first token that starts at or after a place (characters)."""
        return int(np.searchsorted(self.starts, place))


def from_lists(
    ids: Sequence[Sequence[int]], spans: Sequence[Sequence[tuple[int, int]]]
) -> list[Tokens]:
    """Tokens of each text from lists of ids and of starts and ends, as libraries give them."""
    flat = np.fromiter(chain.from_iterable(ids), dtype=np.int64)
    edges = np.fromiter(chain.from_iterable(chain.from_iterable(spans)), dtype=np.int64)
    whole = Tokens(flat, edges[0::2], edges[1::2])
    return [whole[a:b] for a, b in pairwise([0, *accumulate(map(len, ids))])]


def joined(pieces: Sequence[Tokens]) -> Tokens:
    """The tokens of some pieces, or of some texts, one after the other; their places stay."""
    if len(pieces) == 1:
        return pieces[0]
    begins = [piece.begins for piece in pieces if piece.begins is not None]
    return Tokens(
        np.concatenate([piece.ids for piece in pieces]),
        np.concatenate([piece.starts for piece in pieces]),
        np.concatenate([piece.ends for piece in pieces]),
        np.concatenate(begins) if len(begins) == len(pieces) else None,
    )


def describe(tokenizer: Any) -> str:
    """A tokenizer in an error: its class, and where it is from if it says."""
    source = getattr(tokenizer, "name_or_path", "")
    return f"the tokenizer ({type(tokenizer).__name__}{f' of {source}' if source else ''})"


def solid(text: str) -> np.ndarray:
    """Characters that are no white space, as ``str.isspace`` says; shape (N,), bool."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    found: np.ndarray = ~_IS_SPACE[np.minimum(codes, len(_IS_SPACE) - 1)]
    return found


def nearest_solid(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Of each character the next and the last place that is no white space, itself included.

    Where there is none, these are the length of the text and -1.
    """
    is_solid, places = solid(text), np.arange(len(text))
    after = np.minimum.accumulate(np.where(is_solid, places, len(text))[::-1])[::-1]
    return after, np.maximum.accumulate(np.where(is_solid, places, -1))


def checked(tokenizer: Any, texts: Sequence[str], encoded: Sequence[Tokens]) -> list[Tokens]:
    """The tokens of texts that no normalizer changed, if they stand where they can."""
    if not texts:
        return []
    # All texts are looked at as one, with a line break between two.
    sizes = np.array([len(text) for text in texts])
    bases = np.concatenate(([0], np.cumsum(sizes + 1)[:-1]))
    counts = [len(tokens.ids) for tokens in encoded]
    base, size = np.repeat(bases, counts), np.repeat(sizes, counts)
    whole = joined(encoded)
    if _shared(Tokens(whole.ids, whole.starts + base, whole.ends + base)).any():
        encoded = [
            split_runs(tokenizer, text, text, tokens)
            for text, tokens in zip(texts, encoded, strict=True)
        ]

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
        span = f"{whole.starts[token]} to {whole.ends[token]} of {size[token]} characters"
        raise refuse(int(base[token]), f"puts a token at {span}")
    split = joined(encoded)
    starts, ends = split.starts + base, split.ends + base
    back = np.diff(starts) < 0
    if back.any():
        token = int(np.argmax(back))
        raise refuse(int(base[token]), f"puts a token before the one that precedes it ({token})")
    text = "\n".join(texts)
    opened = np.bincount(starts, minlength=len(text) + 1)
    closed = np.bincount(ends, minlength=len(text) + 1)
    missed = (np.cumsum(opened - closed)[: len(text)] <= 0) & solid(text)
    if missed.any():
        place = int(np.argmax(missed))
        raise refuse(place, f"has no token for {text[place]!r}")
    return list(encoded)


def split_runs(tokenizer: Any, text: str, string: str, tokens: Tokens) -> Tokens:
    """Tokens that share several characters, each with its own.

    Unigram with byte fallback gives every byte token the whole run of unknown characters. Places
    are in ``string``: the text, or what it was rewritten to.
    """
    shared = _shared(tokens)
    if not shared.any():
        return tokens
    starts, ends = tokens.starts.copy(), tokens.ends.copy()
    # Runs of tokens that each share their characters with the next.
    edges = np.flatnonzero(np.diff(np.concatenate(([False], shared, [False])).astype(int)))
    for first, last in edges.reshape(-1, 2).tolist():
        begin, end = int(tokens.starts[first]), int(tokens.ends[first])
        names = tokenizer.convert_ids_to_tokens(tokens.ids[first : last + 1].tolist())
        spans = align_tokens(names, string[begin:end])
        if spans is None:
            raise TextError(
                text,
                f"{describe(tokenizer)} gives {last - first + 1} tokens the same characters, "
                f"{string[begin:end][:40]!r}, and they do not spell them; expected tokens that can "
                "be told apart",
            )
        starts[first : last + 1], ends[first : last + 1] = spans[0] + begin, spans[1] + begin
    return Tokens(tokens.ids, starts, ends)


def _shared(tokens: Tokens) -> np.ndarray:
    # Of each token but the last: it has the characters, two or more, of the next.
    starts, ends = tokens.starts, tokens.ends
    shared: np.ndarray = (
        (starts[1:] == starts[:-1]) & (ends[1:] == ends[:-1]) & (ends[:-1] - starts[:-1] > 1)
    )
    return shared
