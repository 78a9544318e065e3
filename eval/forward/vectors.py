"""Vectors of texts that are kept from one run to the next, by layer.

A row belongs to a text and a layer: the vectors of the text's spans, little-endian
(:mod:`eval.forward.cache`).
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.cache import _CHUNK, RowStore, digest_name

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.plan.passages import PooledSequence


#: Number formats on disk.
StoredType = Literal["float16", "float32"]


#: Number of the format, and of how vectors are computed: another number is another file.
VECTORS_FORMAT = 3


#: End of the names of databases.
VECTORS_SUFFIX = ".vectors.sqlite"


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
