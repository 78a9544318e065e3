"""Near-duplicates in a stream of texts, or over its shards, by MinHash: linear in time, 150 bytes a
text.

Two texts are alike as the sets of their 5-word shingles are (Broder 1997, *On the resemblance and
containment of documents*): the share of shingles that both have among those that either has. The
smallest of a text's shingles under a random order is that of another with just this probability.
Of :data:`BANDS` x :data:`ROWS` such orders, two texts are taken for near-duplicates where all of
those of one band agree (Leskovec, Rajaraman and Ullman 2020, *Mining of Massive Datasets*, section
3.4): with likelihood 0.001 at a similarity of 0.3, 0.05 at 0.5, 0.56 at 0.7, 0.92 at 0.8, and
0.9997 at 0.9. The orders are fixed, so the same texts always give the same answer.

A stream that is read in shards, by processes that do not see each other's, gives the same answer:
each shard gives the keys of its texts (:func:`band_keys`), and :func:`first_of_their_kind` finds
which texts the stream would have kept.
"""

from __future__ import annotations

import re
import zlib
from functools import cache
from typing import Any

import numpy as np

from coherencegym.engines import ALONE_IN_PROCESS, Engine

SHINGLE = 5
BANDS, ROWS = 14, 8

_WORD = re.compile(r"\w+")
#: Keys that are looked through for equal ones at a time.
_MOST_KEYS = 1 << 22
#: Slots of the table to begin with, and the share of them that is filled before it grows.
_SLOTS, _FULLEST = 1 << 12, 0.7


class NearDuplicates:
    """Remembers texts, as hashes, and tells whether one like a new text was among them."""

    def __init__(self) -> None:
        self._table = np.zeros(_SLOTS, dtype=np.uint64)
        self._filled = 0

    def add(self, text: str) -> bool:
        """Tell whether a near-duplicate of the text was added before; the text is added if not.

        White space, punctuation and capitals do not matter. A text of fewer than five words is one
        shingle.
        """
        keys = band_keys(text)
        if self._has_any(keys):
            return True
        if self._filled + len(keys) > _FULLEST * len(self._table):
            self._grow()
        self._filled += self._put(keys)
        return False

    def _has_any(self, keys: Any) -> bool:
        slots = self._slots(keys)
        while keys.size:
            held = self._table[slots]
            if (held == keys).any():
                return True
            going_on = held != 0
            keys, slots = keys[going_on], self._next(slots[going_on])
        return False

    def _put(self, keys: Any) -> int:
        number, slots = len(keys), self._slots(keys)
        while keys.size:
            empty = self._table[slots] == 0
            self._table[slots[empty]] = keys[empty]  # of two keys for one slot, one is left over
            left = self._table[slots] != keys
            keys, slots = keys[left], self._next(slots[left])
        return number

    def _grow(self) -> None:
        keys = self._table[self._table != 0]
        self._table = np.zeros(2 * len(self._table), dtype=np.uint64)
        self._put(keys)

    def _slots(self, keys: Any) -> Any:
        return (keys >> np.uint64(1)) & np.uint64(len(self._table) - 1)

    def _next(self, slots: Any) -> Any:
        return (slots + np.uint64(1)) & np.uint64(len(self._table) - 1)


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
    return keys | np.uint64(1)  # never 0, which is an empty slot


@cache
def _orders() -> tuple[Any, Any]:
    # SplitMix64 (Steele, Lea and Flood 2014) of the order's number: odd multipliers.
    orders = np.arange(1, BANDS * ROWS + 1, dtype=np.uint64)
    return _mixed(orders) | np.uint64(1), _mixed(orders + np.uint64(len(orders)))


def first_of_their_kind(keys: Any, engine: Engine = ALONE_IN_PROCESS) -> Any:
    """Tell of each text whether :class:`NearDuplicates` would have kept it: bool, shape (texts,).

    Args:
        keys: uint64, texts x BANDS, in the order of the stream.
        engine: looks for equal keys, in blocks of the numbers that they may be.
    """
    texts = np.repeat(np.arange(len(keys)), keys.shape[1])
    flat = keys.ravel()
    blocks = -(-max(1, len(flat)) // _MOST_KEYS)
    block_of = (flat >> np.uint64(1)) % np.uint64(blocks)
    chosen = [block_of == block for block in range(blocks)]
    found = engine.for_arrays.run(equal_keys, [(flat[one], texts[one]) for one in chosen])
    kept, group = np.ones(len(keys), dtype=bool), 0
    pairs = []
    for members, sizes in found:
        numbers = np.repeat(np.arange(group, group + len(sizes)), sizes)
        pairs.append(np.stack([members, numbers]))
        group += len(sizes)
    members, numbers = np.concatenate(pairs, axis=1)
    if not len(members):
        return kept
    order = np.argsort(members, kind="stable")
    members, numbers = members[order], numbers[order]
    # Of the few texts that have a key in common with another, one after another: one that was
    # dropped itself drops no other.
    has_one = np.zeros(group, dtype=bool)
    ones, starts = np.unique(members, return_index=True)
    for text, own in zip(ones.tolist(), np.split(numbers, starts[1:]), strict=True):
        kept[text] = not has_one[own].any()
        if kept[text]:
            has_one[own] = True
    return kept


def equal_keys(keys: Any, texts: Any) -> tuple[Any, Any]:
    """The texts that have a key in common with another, key by key, and how many have each."""
    order = np.argsort(keys, kind="stable")
    keys, texts = keys[order], texts[order]
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]]) if len(keys) else order
    sizes = np.diff(np.r_[starts, len(keys)])
    return texts[np.repeat(sizes > 1, sizes)], sizes[sizes > 1]


def _mixed(numbers: Any) -> Any:
    # One to one, modulo 2^64 (SplitMix64).
    numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
