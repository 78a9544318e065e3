"""Surprisals cached from one run to the next, so that nothing is asked of a model twice.

One store (:mod:`eval.forward.store`) for each model, number format and way of running; a row for
each token sequence (:mod:`eval.forward.cache_row`). Neither texts nor token ids are in it, only
their hashes and numbers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.eval.forward.store import RowStore, digest_name

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.forward.cache_row import Known
    from coherencegym.eval.text.sequence import TokenSequence

#: Number of the format, and of how surprisals are computed: another number is another file. A
#: change of this program that changes a surprisal by more than the promised accuracy raises it.
CACHE_FORMAT = 5
#: Names the folder in place of the user's folder for caches.
VARIABLE = "COHERENCEGYM_CACHE"
#: End of the names of databases.
SUFFIX = ".surprisals.sqlite"


def cache_folder(chosen: Path | None = None) -> Path:
    """The folder of surprisals: as chosen, as the environment says, or the user's own folder."""
    if chosen is not None:
        return chosen
    if named := os.environ.get(VARIABLE):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("coherencegym", appauthor=False)) / "surprisals"


def file_name(description: Mapping[str, Any]) -> str:
    """The name of the database for a model and a way of running it."""
    return digest_name(_whole(description)) + SUFFIX


def _whole(description: Mapping[str, Any]) -> dict[str, Any]:
    return {"format": CACHE_FORMAT, **description}


class Cache(RowStore["Known"]):
    """The surprisals of one model, run in one way.

    Args:
        folder: that of the databases; made where it is missing.
        description: all that surprisals depend on but the token ids, as JSON can hold it.
        name: the model's in a listing.
    """

    def __init__(self, folder: Path, description: Mapping[str, Any], name: str = "") -> None:
        from coherencegym.eval.forward.cache_row import unpack

        super().__init__(folder / file_name(description), _whole(description), unpack, name)

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_many(self, sequences: Sequence[TokenSequence]) -> list[np.ndarray | None]:
        """The reads of each sequence (bits, float64); None unless all of them are known."""
        from coherencegym.eval.forward.cache_row import row_key

        keys = [row_key(sequence) for sequence in sequences]
        known = self.find(list(dict.fromkeys(keys)))
        return [
            known[key].select(sequence) if key in known else None
            for key, sequence in zip(keys, sequences, strict=True)
        ]

    def were_there(self, sequences: Sequence[TokenSequence]) -> list[bool]:
        """Tell whether the token ids of each sequence were here when the cache was opened."""
        from coherencegym.eval.forward.cache_row import row_key

        keys = [row_key(sequence) for sequence in sequences]
        earlier = set(self.find_earlier(keys))
        return [key in earlier for key in keys]

    def put(self, results: Sequence[tuple[TokenSequence, np.ndarray]]) -> None:
        """Keep what was read of sequences (bits), all of it or none.

        What is known of the same token ids at other positions stays. A text of which a number is
        not finite is left out.
        """
        import numpy as np

        from coherencegym.eval.forward.cache_row import merged_bits, row_key

        kept = [
            (row_key(sequence), sequence, np.asarray(bits, np.float64))
            for sequence, bits in results
            if np.isfinite(bits).all()
        ]
        keys = list(dict.fromkeys(key for key, *_ in kept))

        def merged(known: dict[bytes, Known]) -> dict[bytes, bytes]:
            for key, sequence, bits in kept:
                known[key] = merged_bits(known.get(key), sequence, bits)
            return {key: known[key].value() for key in keys}

        if kept:
            self.update(keys, merged)
