"""Token sequences that go through a model once, what is read of them, and how they begin alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeVar

from coherencegym.eval.text.masking import MaskedRow

#: Ways to share beginnings: not at all, from a cache, or in one row.
Sharing = Literal["none", "cache", "packed"]
#: Fewest tokens that sharing a beginning has to save.
WORTH_SHARING = 8
#: Share of a group's tokens that sharing from a cache has to save: two passes and the cache handed
#: on cost more than a tenth of them (measured on shuffled texts, GPT-2's shape, a CPU).
_WORTH_A_CACHE = 0.2
#: Token ids; all of one call in the same type, as only then they can be put in order.
_Ids = TypeVar("_Ids", list[int], tuple[int, ...])


def common_start(sequences: Sequence[_Ids]) -> int:
    """Number of tokens that all of some sequences begin with."""
    # The least and the greatest in order differ where any two differ.
    first, last = min(sequences), max(sequences)
    pairs = enumerate(zip(first, last, strict=False))
    return next((place for place, (one, other) in pairs if one != other), len(first))


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """Token ids that go through the model once.

    The model reads ``ids[:length]``; what is read of position p comes from its row ``p - 1``. The
    last token need not be read, unless the text is read ``whole`` as its length counts
    (:mod:`eval.models.limits`). Of a text that is masked the one place that is ``masked`` for it
    is read, and nothing else; sequences that are alike then are those that look alike to the model.

    Attributes:
        positions: those of the tokens whose surprisal is read, increasing.
        word_starts: those where the surprisal of any token that begins a word is read
            (:mod:`eval.text.words`), increasing.
        masked: the part that is hidden and read (:mod:`eval.text.masking`); None: nothing is.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    whole: bool = False
    word_starts: tuple[int, ...] = ()
    masked: MaskedRow | None = None

    @property
    def seen(self) -> tuple[int, ...]:
        """Token ids as the model sees them."""
        return self.ids if self.masked is None else self.masked.seen(self.ids)

    @property
    def key(self) -> tuple[int, ...] | bytes:
        """The ids, or a digest of a masked row: alike in sequences that can be run as one.

        The digest is the sha256 of the ids as they are seen, and of the place that is read.
        """
        if self.masked is None:
            return self.ids
        import numpy as np

        numbers = np.array((*self.seen, -1 - self.masked.place), "<i8")
        return hashlib.sha256(numbers.tobytes()).digest()

    @property
    def asked(self) -> tuple[int, ...]:
        """Numbers that tell reads of tokens apart: positions; of a masked row the tokens' ids."""
        return self.positions if self.masked is None else self.masked.targets

    @property
    def length(self) -> int:
        """Tokens that the model reads."""
        return len(self.ids) if self.whole else len(self.ids) - 1

    @property
    def count(self) -> int:
        """Surprisals that are read."""
        return len(self.asked) + len(self.word_starts)

    @property
    def places(self) -> Sequence[int]:
        """All positions of which something is read, increasing, each once."""
        if self.masked is not None:
            return (self.masked.place + 1,)
        if not self.word_starts:
            return self.positions
        return sorted({*self.positions, *self.word_starts})

    def united(self, other: TokenSequence) -> TokenSequence:
        """The sequence with what is read of another one of the same tokens as well."""
        if self.masked is not None and other.masked is not None:
            targets = {*self.masked.targets, *other.masked.targets}
            return replace(self, masked=replace(self.masked, targets=tuple(sorted(targets))))
        if (self.positions, self.word_starts) == (other.positions, other.word_starts):
            return self
        return replace(
            self,
            positions=tuple(sorted({*self.positions, *other.positions})),
            word_starts=tuple(sorted({*self.word_starts, *other.word_starts})),
        )

    def parts(self, size: int) -> list[TokenSequence]:
        """The sequence as often as it takes to read at most ``size`` places at a time."""
        places = [self.places[start : start + size] for start in range(0, len(self.places), size)]
        return [
            replace(
                self,
                positions=tuple(place for place in self.positions if place in own),
                word_starts=tuple(place for place in self.word_starts if place in own),
            )
            for own in map(set, places)
        ]

    def reads(self) -> Iterator[tuple[int, int | None]]:
        """Rows, and the token whose surprisal is read there; None for any that begins a word.

        They come in the order of the surprisals: those of tokens, then those of words.
        """
        if self.masked is not None:
            yield from ((self.masked.place, token) for token in self.masked.targets)
        for position in self.positions:
            yield position - 1, self.ids[position]
        for position in self.word_starts:
            yield position - 1, None


def shared_length(sequences: Sequence[TokenSequence], family: Sequence[int]) -> int:
    """Tokens that all sequences of a family begin with, of those that the model reads.

    At least one token of each sequence is left: a row of logits belongs to a token that is read.
    """
    members = [sequences[index] for index in family]
    most = min(member.length for member in members) - 1
    return max(0, min(most, common_start([member.ids for member in members])))


def alike(
    sequences: Sequence[TokenSequence], family: Sequence[int], sharing: Sharing
) -> list[tuple[int, ...]]:
    """The parts of a family whose shared beginnings save the most tokens, where it is worth it.

    Conditions may begin alike in several ways, as the shuffles of a text that begin with the same
    sentence: all of the family in one part shares what all begin with, several parts more of it.
    """
    if sharing == "none":
        return []
    # In this order those that go on alike are neighbours, and what some of them share is the least
    # that two neighbours among them do.
    ordered = sorted(family, key=lambda index: sequences[index].ids)
    shared = [shared_length(sequences, pair) for pair in pairwise(ordered)]
    _, parts = _best_parts(shared, 0, len(ordered))
    place = {index: number for number, index in enumerate(family)}
    found = [tuple(sorted(ordered[a:b], key=place.__getitem__)) for a, b in parts]
    if sharing == "cache":
        found = [part for part in found if _share_saved(sequences, part) >= _WORTH_A_CACHE]
    return found


def _share_saved(sequences: Sequence[TokenSequence], group: Sequence[int]) -> float:
    tokens = sum(sequences[index].length for index in group)
    return (len(group) - 1) * shared_length(sequences, group) / tokens


def _best_parts(shared: Sequence[int], start: int, end: int) -> tuple[int, list[tuple[int, int]]]:
    # Tokens saved, and the parts as (start, end); ``shared`` are the tokens that each of all
    # sequences, in their order, has in common with the one behind it.
    if end - start < 2:
        return 0, []
    least = min(shared[start : end - 1])
    cuts = [place + 1 for place in range(start, end - 1) if shared[place] == least]
    found = [_best_parts(shared, a, b) for a, b in pairwise([start, *cuts, end])]
    together, apart = (end - start - 1) * least, sum(saved for saved, _ in found)
    if apart > together:
        return apart, [part for _, parts in found for part in parts]
    return (together, [(start, end)]) if together >= WORTH_SHARING else (0, [])
