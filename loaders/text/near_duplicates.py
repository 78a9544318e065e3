"""Near-duplicates in a stream of texts by MinHash: linear in time, 1.5 kB a text.

Two texts are alike as the sets of their 5-word shingles are (Broder 1997, *On the resemblance and
containment of documents*): the share of shingles that both have among those that either has. The
smallest of a text's shingles under a random order is that of another with just this probability.
Of :data:`BANDS` x :data:`ROWS` such orders, two texts are taken for near-duplicates where all of
those of one band agree (Leskovec, Rajaraman and Ullman 2020, *Mining of Massive Datasets*, section
3.4): with likelihood 0.001 at a similarity of 0.3, 0.05 at 0.5, 0.56 at 0.7, 0.92 at 0.8, and
0.9997 at 0.9. The orders are fixed, so the same texts always give the same answer.

Where a stream is read in shards by several processes, each gives the keys of its texts
(:func:`band_keys`), which take most of the time, and one process adds them in the order of the
stream.
"""

from __future__ import annotations

import re
import zlib
from functools import cache
from typing import Any

import numpy as np

SHINGLE = 5
BANDS, ROWS = 14, 8

_WORD = re.compile(r"\w+")


class NearDuplicates:
    """Remembers texts, as hashes, and tells whether one like a new text was among them."""

    def __init__(self) -> None:
        self._keys: set[int] = set()

    def add(self, text: str) -> bool:
        """Tell whether a near-duplicate of the text was added before; the text is added if not.

        White space, punctuation and capitals do not matter. A text of fewer than five words is one
        shingle.
        """
        return self.add_keys(band_keys(text))

    def add_keys(self, keys: Any) -> bool:
        """The same of a text by its :func:`band_keys`."""
        own = keys.tolist()
        is_known = not self._keys.isdisjoint(own)
        if not is_known:
            self._keys.update(own)
        return is_known


def band_keys(text: str) -> Any:
    """One number for each band, shape (BANDS,), uint64: texts with one in common are alike."""
    multipliers, offsets = _orders()
    words = _WORD.findall(text.lower())
    last = max(1, len(words) - SHINGLE + 1)
    shingles = {" ".join(words[start : start + SHINGLE]) for start in range(last)}
    hashes = np.fromiter(
        (zlib.crc32(shingle.encode("utf-8", "replace")) for shingle in shingles), np.uint64
    )
    orders = _mixed(hashes[:, None] * multipliers + offsets)
    smallest = orders.min(axis=0).reshape(BANDS, ROWS)
    keys = np.arange(1, BANDS + 1, dtype=np.uint64)
    for row in range(ROWS):
        keys = _mixed(keys ^ smallest[:, row])
    return keys | np.uint64(1)


@cache
def _orders() -> tuple[Any, Any]:
    # SplitMix64 (Steele, Lea and Flood 2014) of the order's number: odd multipliers.
    orders = np.arange(1, BANDS * ROWS + 1, dtype=np.uint64)
    return _mixed(orders) | np.uint64(1), _mixed(orders + np.uint64(len(orders)))


def _mixed(numbers: Any) -> Any:
    # One to one, modulo 2^64 (SplitMix64).
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
