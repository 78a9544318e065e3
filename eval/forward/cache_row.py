"""A row of the cache: under the hash of a text's tokens, the surprisals known.

The value is two counts (uint32): of positions at which a token's surprisal is known, and of those
at which that of any beginning of a word is; then the positions of both, each in ascending order
(uint32), and their bits (float64), little-endian. Of a masked row one place is read, and in place
of positions there are the ids of the tokens that were asked for. Whatever does not add up is no
row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coherencegym.eval.text.sequence import TokenSequence

_COUNTS, _POSITION, _BITS = 8, 4, 8

#: True where any beginning of a word is read, and the position.
_Place = tuple[bool, int]


@dataclass(frozen=True, slots=True)
class Known:
    """Surprisals known of a text: positions as they are stored, and as many bits (float64)."""

    positions: bytes
    word_starts: bytes
    bits: np.ndarray

    def select(self, sequence: TokenSequence) -> np.ndarray | None:
        """The reads of a sequence, in bits; None unless all of them are known."""
        own = (_numbers("<u4", sequence.asked), _numbers("<u4", sequence.word_starts))
        if own == (self.positions, self.word_starts):
            return self.bits.copy()
        bits, wanted = self.by_place(), _places(sequence.asked, sequence.word_starts)
        if not all(place in bits for place in wanted):
            return None
        return np.array([bits[place] for place in wanted])

    def by_place(self) -> dict[_Place, float]:
        """The bits by their place."""
        stored = (
            np.frombuffer(part, "<u4").tolist() for part in (self.positions, self.word_starts)
        )
        return dict(zip(_places(*stored), self.bits.tolist(), strict=True))

    def value(self) -> bytes:
        """The bytes of the row."""
        parts = (self.positions, self.word_starts)
        counts = _numbers("<u4", [len(part) // _POSITION for part in parts])
        return b"".join((counts, *parts, self.bits.astype("<f8").tobytes()))


def merged_bits(before: Known | None, sequence: TokenSequence, bits: np.ndarray) -> Known:
    """New surprisals, and those of before at other positions.

    Raises:
        ValueError: there are not as many bits as are read of the sequence.
    """
    found = before.by_place() if before is not None else {}
    places = _places(sequence.asked, sequence.word_starts)
    found.update(zip(places, bits.tolist(), strict=True))
    ordered = sorted(found)
    return Known(
        _numbers("<u4", [position for is_start, position in ordered if not is_start]),
        _numbers("<u4", [position for is_start, position in ordered if is_start]),
        np.array([found[place] for place in ordered]),
    )


def unpack(value: bytes) -> Known | None:
    """The surprisals of a row; None where it does not add up."""
    if len(value) < _COUNTS:
        return None
    positions, starts = np.frombuffer(value, "<u4", 2).tolist()
    middle = _COUNTS + positions * _POSITION
    end = middle + starts * _POSITION
    count = positions + starts
    if len(value) != end + count * _BITS:
        return None
    bits = np.frombuffer(value, "<f8", count, end)
    # Nothing that is not finite is ever written.
    return (
        Known(value[_COUNTS:middle], value[middle:end], bits) if np.isfinite(bits).all() else None
    )


def key_of(ids: Sequence[int]) -> bytes:
    """The name of a text: the sha256 of its token ids (int64)."""
    return hashlib.sha256(_numbers("<i8", ids)).digest()


def row_key(sequence: TokenSequence) -> bytes:
    """The name of a sequence's row: that of its text, or a masked row's own."""
    key = sequence.key
    return key if isinstance(key, bytes) else key_of(key)


def _places(positions: Sequence[int], word_starts: Sequence[int]) -> list[_Place]:
    return [*((False, place) for place in positions), *((True, place) for place in word_starts)]


def _numbers(kind: str, values: Sequence[int]) -> bytes:
    return np.array(values, kind).tobytes()
