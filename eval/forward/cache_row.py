"""A row of the cache: under the hash of a text's tokens, the surprisals known, and a checksum.

The value is the number of positions (uint32), the positions in ascending order (uint32) and their
bits (float64), little-endian. Whatever does not add up is no row.
"""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_COUNT, _POSITION, _BITS = 4, 4, 8


@dataclass(frozen=True, slots=True)
class Known:
    """Surprisals known of a text: positions as they are stored, and as many bits (float64)."""

    positions: bytes
    bits: np.ndarray

    def select(self, positions: Sequence[int]) -> np.ndarray | None:
        """The bits at these positions; None unless all are known."""
        if _numbers("I", positions) == self.positions:
            return self.bits.copy()
        bits = self.by_position()
        if not all(position in bits for position in positions):
            return None
        return np.array([bits[position] for position in positions])

    def by_position(self) -> dict[int, float]:
        """The bits by their position."""
        positions = np.frombuffer(self.positions, "<u4").tolist()
        return dict(zip(positions, self.bits.tolist(), strict=True))


def key_of(ids: Sequence[int]) -> bytes:
    """The name of a text: the sha256 of its token ids (int64)."""
    return hashlib.sha256(_numbers("q", ids)).digest()


def checksum(key: bytes, value: bytes) -> bytes:
    """What a row is held to: 16 bytes of blake2b."""
    return hashlib.blake2b(key + value, digest_size=16).digest()


def pack(before: Known | None, positions: Sequence[int], bits: np.ndarray) -> bytes:
    """The value of a row: new surprisals, and those of before at other positions.

    Raises:
        ValueError: there are not as many bits as positions.
    """
    merged = before.by_position() if before is not None else {}
    merged.update(zip(positions, bits.tolist(), strict=True))
    ordered = sorted(merged.items())
    return (
        _numbers("I", [len(ordered)])
        + _numbers("I", [position for position, _ in ordered])
        + _numbers("d", [value for _, value in ordered])
    )


def unpack(key: object, value: object, expected: object) -> Known | None:
    """What a row holds; None where it does not add up."""
    if not isinstance(key, bytes) or not isinstance(value, bytes):
        return None
    if checksum(key, value) != expected or len(value) < _COUNT:
        return None
    count = int.from_bytes(value[:_COUNT], "little")
    start = _COUNT + count * _POSITION
    if len(value) != start + count * _BITS:
        return None
    return Known(value[_COUNT:start], np.frombuffer(value, "<f8", count, start))


def _numbers(kind: str, values: Sequence[float]) -> bytes:
    numbers = array(kind, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
