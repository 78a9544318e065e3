"""Token sequences that go through a model once, and what is read of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

#: Marks a position at which not a token's surprisal is read but that of any beginning of a word
#: (:mod:`eval.text.words`): ``MASS | position``, greater than every plain position.
MASS = 1 << 31
#: Token ids; all of one call in the same type, as only then they can be put in order.
_Ids = TypeVar("_Ids", list[int], tuple[int, ...])


def place_of(read: int) -> int:
    """The position of what is read, marked or not."""
    return read & (MASS - 1)


def places_of(reads: Sequence[int]) -> Sequence[int]:
    """The positions of what is read (increasing, marked ones last), increasing, each once."""
    if not reads or reads[-1] < MASS:
        return reads
    return sorted({place_of(read) for read in reads})


def common_start(sequences: Sequence[_Ids]) -> int:
    """How many tokens all of some sequences begin with."""
    # The least and the greatest in order differ where any two differ.
    first, last = min(sequences), max(sequences)
    pairs = enumerate(zip(first, last, strict=False))
    return next((place for place, (one, other) in pairs if one != other), len(first))


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """A sequence that goes through the model once.

    The model reads ``ids[:length]``; the surprisal of ``ids[p]`` is read from its row ``p - 1``.
    ``positions`` are increasing; they may be marked (:data:`MASS`). The last token need not be
    read, unless the text is read ``whole`` as its length counts (:mod:`eval.models.limits`).
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    whole: bool = False

    @property
    def length(self) -> int:
        """How many tokens the model reads."""
        return len(self.ids) if self.whole else len(self.ids) - 1


def token_at(sequence: TokenSequence, read: int) -> int:
    """The token whose surprisal is read, or :data:`MASS` for any beginning of a word."""
    return MASS if read & MASS else sequence.ids[read]
