"""Tokens with their places in a text, and what is said where they have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from coherencegym.errors import EvaluationError


class TextError(EvaluationError):
    """A text whose tokens cannot be placed; ``text`` is the text, ``reason`` says why."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"text {text[:40]!r}: {reason}")
        self.text = text
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """T tokens: their ids, and their starts and ends in the text (characters); each shape (T,)."""

    ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    def __getitem__(self, chosen: slice) -> Tokens:
        return Tokens(self.ids[chosen], self.starts[chosen], self.ends[chosen])

    def shifted(self, by: int) -> Tokens:
        """The same tokens so many characters further on."""
        return Tokens(self.ids, self.starts + by, self.ends + by)

    def cross(self, place: int) -> bool:
        """Whether a token reaches over a place (characters)."""
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
    cuts = [0, *accumulate(map(len, ids))]
    return [whole[a:b] for a, b in pairwise(cuts)]


def joined(pieces: Sequence[Tokens]) -> Tokens:
    """The tokens of some pieces, or of some texts, one after the other; their places stay."""
    if len(pieces) == 1:
        return pieces[0]
    return Tokens(
        np.concatenate([piece.ids for piece in pieces]),
        np.concatenate([piece.starts for piece in pieces]),
        np.concatenate([piece.ends for piece in pieces]),
    )


def describe(tokenizer: Any) -> str:
    """A tokenizer in an error: its class, and where it is from if it says."""
    source = getattr(tokenizer, "name_or_path", "")
    return f"the tokenizer ({type(tokenizer).__name__}{f' of {source}' if source else ''})"


def special_ids(tokenizer: Any) -> set[int]:
    """Ids of special tokens, those included that no attribute such as ``eos_token`` names."""
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return set(tokenizer.all_special_ids) | {i for i, token in added.items() if token.special}
