"""Token sequences that go through a model once, and what is read of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

#: Token ids; all of one call in the same type, as only then they can be put in order.
_Ids = TypeVar("_Ids", list[int], tuple[int, ...])


def common_start(sequences: Sequence[_Ids]) -> int:
    """How many tokens all of some sequences begin with."""
    # The least and the greatest in order differ where any two differ.
    first, last = min(sequences), max(sequences)
    pairs = enumerate(zip(first, last, strict=False))
    return next((place for place, (one, other) in pairs if one != other), len(first))


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """A sequence that goes through the model once.

    The model reads ``ids[:length]``; what is read of position p comes from its row ``p - 1``. The
    last token need not be read, unless the text is read ``whole`` as its length counts
    (:mod:`eval.models.limits`).

    Attributes:
        ids: token ids.
        positions: where the token's surprisal is read, increasing.
        whole: the model reads the last token too.
        word_starts: where the surprisal of any token that begins a word is read
            (:mod:`eval.text.words`), increasing.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    whole: bool = False
    word_starts: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        """How many tokens the model reads."""
        return len(self.ids) if self.whole else len(self.ids) - 1

    @property
    def count(self) -> int:
        """How many surprisals are read."""
        return len(self.positions) + len(self.word_starts)

    @property
    def places(self) -> Sequence[int]:
        """All positions of which something is read, increasing, each once."""
        if not self.word_starts:
            return self.positions
        return sorted({*self.positions, *self.word_starts})

    def united(self, other: TokenSequence) -> TokenSequence:
        """The sequence with what is read of another one of the same tokens as well."""
        if (self.positions, self.word_starts) == (other.positions, other.word_starts):
            return self
        return replace(
            self,
            positions=tuple(sorted({*self.positions, *other.positions})),
            word_starts=tuple(sorted({*self.word_starts, *other.word_starts})),
        )

    def reads(self) -> Iterator[tuple[int, int | None]]:
        """What is read, in the order of its surprisals: those of tokens, then those of words.

        Yields:
            The row, and the token whose surprisal is read there; None for any that begins a word.
        """
        for position in self.positions:
            yield position - 1, self.ids[position]
        for position in self.word_starts:
            yield position - 1, None
