"""Vectors of many texts on disk: a file for each layer, and an index of what is in it.

A store is a folder for one model, number format and choice of layers. ``layer-03.f16`` has rows of
``width`` numbers, little-endian, and nothing else. The index (:mod:`eval.forward.store`) has a row
for each text: where the batch that it was read in lies in the files, where in the batch its vectors
begin, and checksums of the batch's part of every file. Neither texts nor token ids are in it.

A batch is written behind all others in the files, under a lock, and then to the index: a process
that is killed at any moment loses at most the batch that it was writing, and several may write at
once. What the index promises is checked before it is used: what does not add up is computed again.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import struct
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.cache import VARIABLE, cache_folder
from coherencegym.eval.forward.store import (
    RowStore,
    StoreListing,
    checksum,
    delete_store,
    digest_name,
    listed,
)

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.plan.passages import PooledSequence

#: Number formats on disk.
StoredType = Literal["float16", "float32"]
#: Number of the format, and of how vectors are computed: another number is another folder.
STORE_FORMAT = 2
#: The index, among the files of a store.
INDEX = "index.sqlite"
_LOCK = "lock"
_LITTLE_ENDIAN = {"float16": "<f2", "float32": "<f4"}
_OURS = re.compile(rf"{re.escape(INDEX)}.*|{_LOCK}|layer-[0-9]+\.f(16|32)")
#: The first row of a batch, the number of its rows, and the place of a text's own among them.
_PLACE = struct.Struct("<QII")
_CHECKSUM = len(checksum())


def store_name(description: Mapping[str, Any]) -> str:
    """The name of the folder for what vectors depend on."""
    return digest_name({"format": STORE_FORMAT, **description})


def states_folder(chosen: Path | None = None) -> Path:
    """The folder of stores: beside the surprisals' cache, or in the folder that was chosen."""
    folder = cache_folder(chosen)
    named = chosen is not None or os.environ.get(VARIABLE)
    return folder / "states" if named else folder.with_name("states")


def list_stores(folder: Path) -> Iterator[StoreListing]:
    """The stores of a folder; what is not one of them is left alone."""
    for own in sorted(folder.iterdir()) if folder.is_dir() else []:
        if re.fullmatch("[0-9a-f]{32}", own.name) and own.is_dir() and not own.is_symlink():
            files = [one for one in own.iterdir() if _OURS.fullmatch(one.name) and one.is_file()]
            if files:
                yield listed(own / INDEX, files, STORE_FORMAT)


def delete_vectors(store: StoreListing) -> bool:
    """Delete a store, unless a run is using it; False where one does."""
    is_deleted = delete_store(store)
    # Something of somebody else's may be in the folder, or it is in use.
    with suppress(OSError):
        store.path.parent.rmdir()
    return is_deleted


@dataclass(frozen=True, slots=True)
class _Block:
    # Its first row in the files, its number of rows, a checksum for each layer.
    row: int
    rows: int
    checksums: bytes


def _unpack(layers: int, blocks: dict[_Block, _Block], value: bytes) -> tuple[_Block, int] | None:
    # The batch of a text, and the position of its own vectors in it; one value for equal batches.
    if len(value) != _PLACE.size + _CHECKSUM * layers:
        return None
    row, rows, place = _PLACE.unpack_from(value)
    block = _Block(row, rows, value[_PLACE.size :])
    return blocks.setdefault(block, block), place


class VectorStore:
    """The vectors of texts, by layer.

    Args:
        folder: the store's own, made where it is missing; None: one that goes when the store does.
        layers: numbers of the layers, in order.
        width: dimensions.
        dtype: the number format on disk.
        about: all that vectors depend on but the texts, as JSON can hold it.
        name: the model's in a listing.

    Attributes:
        folder: its own.
        dtype: the number format on disk.
        damaged: batches that did not add up, and are computed again.

    Raises:
        EvaluationError: the folder cannot be made or read.
    """

    def __init__(
        self,
        folder: Path | None,
        layers: Sequence[int],
        width: int,
        dtype: StoredType,
        about: Mapping[str, Any],
        name: str = "",
    ) -> None:
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="coherencegym-states-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.folder = folder
        self.damaged = 0
        self.dtype = dtype
        self._layers, self._width = tuple(layers), width
        self._end = 0
        self._known: dict[bytes, tuple[_Block, int]] = {}
        self._sound: dict[_Block, bool] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._problem(error) from None
        description = {"format": STORE_FORMAT, **about}
        unpack = partial(_unpack, len(self._layers), {})
        self._index = RowStore(folder / INDEX, description, unpack, name)
        # As long as it is open, nobody deletes the store.
        weakref.finalize(self, self._index.close)
        self._refuse_unless_indexed()

    @property
    def row_bytes(self) -> int:
        """Bytes of one row of one layer."""
        return self._width * int(self.dtype[-2:]) // 8

    def refuse_unless_fits(self, sequences: Iterable[PooledSequence]) -> None:
        """Refuse to begin what the disk has no room for.

        Raises:
            EvaluationError: it has none.
        """
        rows = sum(len(each.token_ranges) for each in sequences)
        need = rows * self.row_bytes * len(self._layers)
        free = shutil.disk_usage(self.folder).free
        if need > free:
            raise EvaluationError(
                f"{self.folder}: the vectors take {need / 1e9:.1f} GB and {free / 1e9:.1f} GB are "
                "free; expected fewer layers, --dtype float16 on disk, or another folder"
            )

    def rows_of(self, sequences: Sequence[PooledSequence]) -> list[int | None]:
        """The first row of each sequence's vectors; None where they are not known."""
        unknown = dict.fromkeys(one.key for one in sequences if one.key not in self._known)
        self._known.update(self._index.find(list(unknown)))
        found: list[int | None] = []
        for sequence in sequences:
            block, place = self._known.get(sequence.key, (None, 0))
            is_there = block is not None and self._is_sound(block)
            found.append(block.row + place if block is not None and is_there else None)
        return found

    def put(self, sequences: Sequence[PooledSequence], vectors: Sequence[np.ndarray]) -> None:
        """Keep the vectors of some sequences, all of them or none.

        Args:
            sequences: token ids with spans.
            vectors: those of each layer, shape (spans of all sequences, width).

        Raises:
            EvaluationError: they cannot be written.
        """
        parts = [layer.astype(_LITTLE_ENDIAN[self.dtype]).tobytes() for layer in vectors]
        try:
            row = self._append(parts)
        except OSError as error:
            raise self._problem(error) from None
        block = _Block(row, len(vectors[0]), b"".join(map(checksum, parts)))
        places = accumulate((len(each.token_ranges) for each in sequences), initial=0)
        own = {each.key: (block, place) for each, place in zip(sequences, places, strict=False)}
        packed = {
            key: _PLACE.pack(row, block.rows, place) + block.checksums
            for key, (_, place) in own.items()
        }
        self._index.update((), lambda _: packed)
        self._refuse_unless_indexed()
        self._sound[block] = True
        self._known.update(own)

    def read(self, number: int, rows: np.ndarray) -> np.ndarray:
        """Vectors of a layer, float32, shape (N, width); those of row -1 are NaN.

        Args:
            number: the layer's.
            rows: shape (N,).

        Raises:
            EvaluationError: the file is not there any more.
        """
        import numpy as np

        vectors = np.full((len(rows), self._width), np.nan, np.float32)
        wanted = rows >= 0
        if not wanted.any():
            return vectors
        try:
            path = self._file(number)
            # Behind the last whole row is what a write left that was cut short: the next one's.
            whole = (path.stat().st_size // self.row_bytes, self._width)
            data = np.memmap(path, _LITTLE_ENDIAN[self.dtype], mode="r", shape=whole)
            vectors[wanted] = data[rows[wanted]]
        except (OSError, ValueError, IndexError) as error:
            raise self._problem(error) from None
        return vectors

    def _file(self, number: int) -> Path:
        return self.folder / f"layer-{number:02d}.f{self.dtype[-2:]}"

    def _problem(self, error: Exception) -> EvaluationError:
        said = getattr(error, "strerror", None) or str(error)
        return EvaluationError(
            f"{self.folder}: {said}; expected a folder that can be written and stays, and room in "
            "it"
        )

    def _refuse_unless_indexed(self) -> None:
        if self._index.is_lost:
            raise self._problem(OSError(self._index.notes[-1]))

    def _append(self, parts: Sequence[bytes]) -> int:
        from filelock import FileLock

        paths = list(map(self._file, self._layers))
        with FileLock(self.folder / _LOCK):
            # Of a store that has been read no file may be missing.
            sizes = (path.stat().st_size if self._end or path.exists() else 0 for path in paths)
            # What a write left that was cut short stays, and nothing reads it.
            row = max(-(-size // self.row_bytes) for size in sizes)
            if row < self._end:
                raise OSError(errno.ESTALE, "it was deleted or changed while it was in use")
            for path, part in zip(paths, parts, strict=True):
                with path.open("r+b" if path.exists() else "x+b") as file:
                    file.seek(row * self.row_bytes)
                    file.write(part)
        self._end = row + len(parts[0]) // self.row_bytes
        return row

    def _is_sound(self, block: _Block) -> bool:
        if block not in self._sound:
            found = b"".join(checksum(self._part(number, block)) for number in self._layers)
            self._sound[block] = sound = found == block.checksums
            self.damaged += not sound
            if sound:
                self._end = max(self._end, block.row + block.rows)
        return self._sound[block]

    def _part(self, number: int, block: _Block) -> bytes:
        try:
            with self._file(number).open("rb") as file:
                file.seek(block.row * self.row_bytes)
                return file.read(block.rows * self.row_bytes)
        except OSError:
            return b""
