"""Passages: texts that a model reads once, and the spans of them that vectors are asked of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Ways to make one vector of a span's tokens: their mean, the last of them, or the first token of
#: the whole sequence, which an encoder's tokenizer puts there.
Pool = Literal["mean", "last", "cls"]
POOLS: tuple[Pool, ...] = ("mean", "last", "cls")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that is read once, and the spans of it whose vectors are wanted.

    Attributes:
        text: the whole text.
        spans: start and end (characters) of each span. They may overlap and be in any order.
    """

    text: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def whole(cls, text: str) -> Passage:
        """A text of which the vector of all of it is wanted."""
        return cls(text, ((0, len(text)),))
