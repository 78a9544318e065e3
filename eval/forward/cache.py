"""Surprisals cached from one run to the next, so that nothing is asked of a model twice.

One database (:mod:`eval.forward.store`) for each model, number format and way of running; a row for
each token sequence, under the hash of its tokens. Neither texts nor token ids are in it.

The value of a row is two counts (uint32): of positions at which a token's surprisal is known, and
of those at which that of any beginning of a word is; then the positions of both, each in ascending
order (uint32), and their bits (float64), little-endian. Of a masked row one place is read, and in
place of positions there are the ids of the tokens that were asked for. Whatever does not add up is
no row.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.eval.forward.store import RowStore, digest_name

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.text.sequence import TokenSequence

#: Number of the format, and of how surprisals are computed: another number is another file. A
#: change of this program that changes a surprisal by more than the promised accuracy raises it.
CACHE_FORMAT = 5
#: Names the folder in place of the user's folder for caches.
VARIABLE = "COHERENCEGYM_CACHE"
#: End of the names of databases.
SUFFIX = ".surprisals.sqlite"


def cache_folder(chosen: Path | None = None) -> Path:
    """The folder of databases: as chosen, as the environment says, or the user's own folder."""
    if chosen is not None:
        return chosen
    if named := os.environ.get(VARIABLE):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("coherencegym", appauthor=False)) / "surprisals"


def file_name(description: Mapping[str, Any]) -> str:
    """The name of the database for a model and a way of running it."""
    return digest_name({"format": CACHE_FORMAT, **description}) + SUFFIX


class Cache(RowStore["_Known"]):
    """The surprisals of one model, run in one way.

    Args:
        folder: that of the databases; made where it is missing.
        description: all that surprisals depend on but the token ids, as JSON can hold it.
        name: the model's in a listing.
    """

    def __init__(self, folder: Path, description: Mapping[str, Any], name: str = "") -> None:
        about = {"format": CACHE_FORMAT, **description}
        super().__init__(folder / file_name(description), about, _unpack, name)

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_many(self, sequences: Sequence[TokenSequence]) -> list[np.ndarray | None]:
        """The reads of each sequence (bits, float64); None unless all of them are known."""
        keys = list(map(row_key, sequences))
        known = self.find(list(dict.fromkeys(keys)))
        return [
            known[key].select(sequence) if key in known else None
            for key, sequence in zip(keys, sequences, strict=True)
        ]

    def were_there(self, sequences: Sequence[TokenSequence]) -> list[bool]:
        """Tell whether the token ids of each sequence were here when the cache was opened."""
        keys = list(map(row_key, sequences))
        earlier = set(self.find_earlier(keys))
        return [key in earlier for key in keys]

    def put(self, results: Sequence[tuple[TokenSequence, np.ndarray]]) -> None:
        """Keep what was read of sequences (bits), all of it or none.

        What is known of the same token ids at other positions stays. A text of which a number is
        not finite is left out.
        """
        import numpy as np

        kept = [
            (row_key(sequence), sequence, np.asarray(bits, np.float64))
            for sequence, bits in results
            if np.isfinite(bits).all()
        ]
        keys = list(dict.fromkeys(key for key, *_ in kept))

        def merged(known: dict[bytes, _Known]) -> dict[bytes, bytes]:
            for key, sequence, bits in kept:
                known[key] = _merged(known.get(key), sequence, bits)
            return {key: known[key].head + known[key].bits.tobytes() for key in keys}

        if kept:
            self.update(keys, merged)


def key_of(ids: Sequence[int]) -> bytes:
    """The name of a text: the sha256 of its token ids (int64)."""
    import numpy as np

    return hashlib.sha256(np.array(ids, "<i8").tobytes()).digest()


def row_key(sequence: TokenSequence) -> bytes:
    """The name of a sequence's row: that of its text, or a masked row's own."""
    key = sequence.key
    return key if isinstance(key, bytes) else key_of(key)


@dataclass(frozen=True, slots=True)
class _Known:
    # The counts and positions of a row as they are stored, and as many bits (float64).
    head: bytes
    bits: np.ndarray

    def select(self, sequence: TokenSequence) -> np.ndarray | None:
        import numpy as np

        wanted = _head(sequence.asked, sequence.word_starts)
        if wanted == self.head:
            return self.bits.copy()
        bits, places = self.by_place(), _places(wanted)
        if not all(place in bits for place in places):
            return None
        return np.array([bits[place] for place in places])

    def by_place(self) -> dict[tuple[bool, int], float]:
        return dict(zip(_places(self.head), self.bits.tolist(), strict=True))


def _head(positions: Sequence[int], word_starts: Sequence[int]) -> bytes:
    import numpy as np

    numbers = [len(positions), len(word_starts), *positions, *word_starts]
    return np.array(numbers, "<u4").tobytes()


def _places(head: bytes) -> list[tuple[bool, int]]:
    # True where any beginning of a word is read, and the position.
    import numpy as np

    tokens, _, *positions = np.frombuffer(head, "<u4").tolist()
    return [(number >= tokens, position) for number, position in enumerate(positions)]


def _merged(before: _Known | None, sequence: TokenSequence, bits: np.ndarray) -> _Known:
    # New surprisals, and those of before at other positions.
    import numpy as np

    known = before.by_place() if before is not None else {}
    places = _places(_head(sequence.asked, sequence.word_starts))
    known.update(zip(places, bits.tolist(), strict=True))
    ordered = sorted(known)
    tokens, starts = (
        [place for is_start, place in ordered if is_start is of] for of in (False, True)
    )
    return _Known(_head(tokens, starts), np.array([known[place] for place in ordered], "<f8"))


def _unpack(value: bytes) -> _Known | None:
    import numpy as np

    if len(value) < 8:
        return None
    count = sum(np.frombuffer(value, "<u4", 2).tolist())
    end = 8 + 4 * count
    if len(value) != end + 8 * count:
        return None
    bits = np.frombuffer(value, "<f8", count, end)
    # Nothing that is not finite is ever written.
    return _Known(value[:end], bits) if np.isfinite(bits).all() else None
