"""Surprisals cached from one run to the next, so that nothing is asked of a model twice.

One database (:mod:`eval.forward.store`) for each model, number format and way of running; a row for
each token sequence, under the hash of its tokens. Neither texts nor token ids are in it.

The value of a row is pairs of a place and its bits: positions of tokens in ascending order, then of
beginnings of words, which count down from -1. Of a masked row one place is read, and in place of
positions there are the ids of the tokens that were asked for. Whatever does not add up is no row.

One for each model and number format; a row for each text and layer, with the vectors of the text's
spans, little-endian. Neither texts nor token ids are in it. What does not add up is computed again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.store import RowStore, digest_name

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.plan.requests import PooledSequence
    from coherencegym.eval.text.sequence import TokenSequence

#: Number formats on disk.
StoredType = Literal["float16", "float32"]
#: Number of the format, and of how vectors are computed: another number is another file.
VECTORS_FORMAT = 3
#: End of the names of databases.
VECTORS_SUFFIX = ".vectors.sqlite"
#: Rows that are in memory at once.
_CHUNK = 500


class VectorStore:
    """The vectors of texts, by layer.

    Args:
        folder: that of the databases, made where it is missing; None: one that goes when the store
            does.
        width: dimensions.
        dtype: the number format on disk.
        about: all that vectors depend on but the texts and the layer, as JSON can hold it.

    Attributes:
        folder: that of the database.
        dtype: the number format on disk.
    """

    def __init__(
        self,
        folder: Path | None,
        width: int,
        dtype: StoredType,
        about: Mapping[str, Any],
    ) -> None:
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="coherencegym-states-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.folder = folder
        self.dtype = dtype
        self._width, self._type = width, {"float16": "<f2", "float32": "<f4"}[dtype]
        description = {"format": VECTORS_FORMAT, **about}
        path = folder / (digest_name(description) + VECTORS_SUFFIX)
        self._rows = RowStore(path, description, partial(_unpack_vectors, self._type, width))
        weakref.finalize(self, self._rows.close)
        self._refuse_if_lost()

    @property
    def damaged(self) -> int:
        """Rows that did not add up, and are computed again."""
        return self._rows.corrupt

    def refuse_unless_fits(self, sequences: Iterable[PooledSequence], layers: int) -> None:
        """Refuse to begin what the disk has no room for."""
        spans = sum(len(each.token_ranges) for each in sequences)
        need = spans * self._width * int(self.dtype[-2:]) // 8 * layers
        free = shutil.disk_usage(self.folder).free
        if need > free:
            raise EvaluationError(
                f"{self.folder}: the vectors take {need / 1e9:.1f} GB and {free / 1e9:.1f} GB are "
                "free; expected fewer layers, --dtype float16 on disk, or another folder"
            )

    def missing(
        self, sequences: Sequence[PooledSequence], layers: Sequence[int]
    ) -> list[PooledSequence]:
        """The sequences whose vectors are not all known."""
        size = max(1, _CHUNK // len(layers))
        unknown = []
        for start in range(0, len(sequences), size):
            keys = {
                sequence: [_key(name, number) for number in layers]
                for sequence in sequences[start : start + size]
                for name in [sequence.key]
            }
            found = self._rows.find([key for own in keys.values() for key in own])
            for sequence, own in keys.items():
                spans = {len(found.get(key, ())) for key in own}
                if spans != {len(sequence.token_ranges)}:
                    unknown.append(sequence)
        return unknown

    def put(
        self,
        sequences: Sequence[PooledSequence],
        layers: Sequence[int],
        vectors: Sequence[np.ndarray],
    ) -> None:
        """Keep the vectors of some sequences, all of them or none.

        Args:
            sequences: token ids with spans.
            layers: numbers of the layers.
            vectors: those of each layer, shape (spans of all sequences, width).
        """
        cuts = pairwise([0, *accumulate(len(each.token_ranges) for each in sequences)])
        rows = {
            _key(name, number): layer[a:b].astype(self._type).tobytes()
            for name, (a, b) in zip((each.key for each in sequences), cuts, strict=True)
            for number, layer in zip(layers, vectors, strict=True)
        }
        self._rows.update((), lambda _: rows)
        self._refuse_if_lost()

    def read(self, sequences: Sequence[bytes], layer: int) -> Iterator[np.ndarray]:
        """The vectors of a layer, some at a time, in the order of sequences (by their keys).

        Each part has the shape (spans, width).
        """
        import numpy as np

        for start in range(0, len(sequences), _CHUNK):
            keys = [_key(sequence, layer) for sequence in sequences[start : start + _CHUNK]]
            found = self._rows.find(keys)
            self._refuse_if_lost()
            if len(found) < len(set(keys)):
                raise self._problem("it was damaged or deleted while it was in use")
            yield np.concatenate([found[key] for key in keys])

    def _refuse_if_lost(self) -> None:
        if self._rows.is_lost:
            raise self._problem(self._rows.notes[-1])

    def _problem(self, said: str) -> EvaluationError:
        return EvaluationError(
            f"{self.folder}: {said}; expected a folder that can be written and stays, and room in "
            "it"
        )


def _key(sequence: bytes, layer: int) -> bytes:
    return sequence + layer.to_bytes(4, "little")


def _unpack_vectors(stored_type: str, width: int, value: bytes) -> np.ndarray | None:
    import numpy as np

    if len(value) % (np.dtype(stored_type).itemsize * width):
        return None
    return np.frombuffer(value, stored_type).reshape(-1, width)


#: Number of the format, and of how surprisals are computed: another number is another file. A
#: change of this program that changes a surprisal by more than the promised accuracy raises it.
CACHE_FORMAT = 6
#: Names the folder in place of the user's folder for caches.
VARIABLE = "COHERENCEGYM_CACHE"
#: End of the names of databases.
SUFFIX = ".surprisals.sqlite"
_PAIRS = [("place", "<i4"), ("bits", "<f8")]


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


class Cache(RowStore["np.ndarray"]):
    """The surprisals of one model, run in one way.

    Args:
        folder: that of the databases; made where it is missing.
        description: all that surprisals depend on but the token ids, as JSON can hold it. The
            model's name is no part of it: the same model may have other names elsewhere.
    """

    def __init__(self, folder: Path, description: Mapping[str, Any]) -> None:
        about = {"format": CACHE_FORMAT, **description}
        super().__init__(folder / file_name(description), about, _unpack)

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_many(self, sequences: Sequence[TokenSequence]) -> list[np.ndarray | None]:
        """The reads of each sequence (bits, float64); None unless all of them are known."""
        keys = list(map(row_key, sequences))
        known = self.find(list(dict.fromkeys(keys)))
        return [
            _reads(known[key], sequence) if key in known else None
            for key, sequence in zip(keys, sequences, strict=True)
        ]

    def put(self, results: Sequence[tuple[TokenSequence, np.ndarray]]) -> None:
        """Keep what was read of sequences (bits), all of it or none.

        What is known of the same token ids at other positions stays. A text of which a number is
        not finite is left out.
        """
        import numpy as np

        kept: dict[bytes, dict[int, float]] = {}
        for sequence, bits in results:
            if np.isfinite(bits).all():
                pairs = zip(_places(sequence).tolist(), bits.tolist(), strict=True)
                kept.setdefault(row_key(sequence), {}).update(pairs)

        def merged(known: dict[bytes, np.ndarray]) -> dict[bytes, bytes]:
            return {
                key: _packed({**dict(known[key].tolist() if key in known else ()), **own})
                for key, own in kept.items()
            }

        if kept:
            self.update(list(kept), merged)


def row_key(sequence: TokenSequence) -> bytes:
    """The name of a sequence's row: the sha256 of its token ids (int64), or a masked row's own."""
    import numpy as np

    key = sequence.key
    return (
        key if isinstance(key, bytes) else hashlib.sha256(np.array(key, "<i8").tobytes()).digest()
    )


def _places(sequence: TokenSequence) -> np.ndarray:
    import numpy as np

    return np.array([*sequence.asked, *(-1 - place for place in sequence.word_starts)], "<i4")


def _reads(row: np.ndarray, sequence: TokenSequence) -> np.ndarray | None:
    import numpy as np

    wanted = _places(sequence)
    if np.array_equal(row["place"], wanted):
        bits: np.ndarray = row["bits"].copy()
        return bits
    known = dict(row.tolist())
    if not all(place in known for place in wanted.tolist()):
        return None
    return np.array([known[place] for place in wanted.tolist()])


def _packed(known: Mapping[int, float]) -> bytes:
    import numpy as np

    ordered = sorted(known.items(), key=lambda pair: (pair[0] < 0, abs(pair[0])))
    return np.array(ordered, _PAIRS).tobytes()


def _unpack(value: bytes) -> np.ndarray | None:
    import numpy as np

    if len(value) % np.dtype(_PAIRS).itemsize:
        return None
    row = np.frombuffer(value, _PAIRS)
    # Nothing that is not finite is ever written.
    return row if np.isfinite(row["bits"]).all() else None
