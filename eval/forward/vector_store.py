"""Vectors of many texts on disk: a file for each layer, and a journal of what is in it.

A store is a folder for one model, number format and choice of layers. ``layer-03.f16`` has rows of
``width`` numbers, little-endian, and nothing else. A line of ``rows.jsonl`` says of a batch where
its rows begin, the keys of its texts with how many rows each has, and a checksum of its part of
every file; the line itself has one too. Neither texts nor token ids are in it.

A batch is written first to the files of the layers, then to the journal, under a lock: a process
that is killed at any moment loses at most the batch that it was writing, and several may write at
once. What a line promises is checked before it is used: what does not add up is computed again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.cache import VARIABLE, cache_folder

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.plan.passages import PooledSequence

#: Number formats on disk.
StoredType = Literal["float16", "float32"]
#: Number of the format, and of how vectors are computed: another number is another folder.
STORE_FORMAT = 1
#: File of what a store says of itself, for a listing; the store was last used when it was written.
ABOUT = "about.json"
_JOURNAL, _LOCK = "rows.jsonl", "lock"
#: Beginning of the name of a file that a run holds locked as long as it uses a store.
_IN_USE = "in-use-"
_LITTLE_ENDIAN = {"float16": "<f2", "float32": "<f4"}


def store_name(description: Mapping[str, Any]) -> str:
    """The name of the folder for what vectors depend on."""
    text = json.dumps({"format": STORE_FORMAT, **description}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def states_folder(chosen: Path | None = None) -> Path:
    """The folder of stores: beside the surprisals' cache, or in the folder that was chosen."""
    folder = cache_folder(chosen)
    named = chosen is not None or os.environ.get(VARIABLE)
    return folder / "states" if named else folder.with_name("states")


@dataclass(frozen=True, slots=True)
class StoreListing:
    """A store as a listing has it.

    Attributes:
        folder: its own.
        about: facts that it says of itself; empty if they cannot be read.
        texts: number of texts.
        size: bytes of all files.
        used: seconds since 1970 when a run opened it last.
    """

    folder: Path
    about: Mapping[str, Any]
    texts: int
    size: int
    used: float


def list_stores(folder: Path) -> Iterator[StoreListing]:
    """The stores of a folder; what is not one of them is left alone."""
    for own in sorted(folder.iterdir()) if folder.is_dir() else []:
        if re.fullmatch("[0-9a-f]{32}", own.name) and own.is_dir() and not own.is_symlink():
            stats = [path.stat() for path in _files(own)]
            if stats:
                about, texts = _about(own)
                used = max(one.st_mtime for one in stats)
                yield StoreListing(own, about, texts, sum(one.st_size for one in stats), used)


def delete_store(folder: Path) -> bool:
    """Delete a store, unless a run is using it; False where one does."""
    if _clear_killed(folder):
        return False
    for path in _files(folder):
        path.unlink(missing_ok=True)
    # Something of somebody else's may be in it.
    with suppress(OSError):
        folder.rmdir()
    return True


def _clear_killed(folder: Path) -> bool:
    """Delete the files by which killed runs held a store; True where a living one does."""
    from filelock import FileLock, Timeout

    held = False
    for path in folder.glob(f"{_IN_USE}*"):
        try:
            with FileLock(path, timeout=0):
                path.unlink(missing_ok=True)
        except Timeout:
            held = True
    return held


def _files(folder: Path) -> list[Path]:
    ours = re.compile(rf"about\.json.*|rows\.jsonl|lock|layer-[0-9]+\.f(16|32)|{_IN_USE}.*")
    return [path for path in folder.iterdir() if ours.fullmatch(path.name) and path.is_file()]


def _about(folder: Path) -> tuple[Mapping[str, Any], int]:
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        journal = (folder / _JOURNAL).read_bytes() if (folder / _JOURNAL).exists() else b""
    except (OSError, ValueError):
        return {}, 0
    if not isinstance(about, dict) or not isinstance(about.get("layers"), list):
        return {}, 0
    blocks = (_Block.read(line, len(about["layers"])) for line in journal.splitlines(keepends=True))
    return about, sum(len(block.texts) for block in blocks if block is not None)


def _let_go(lock: Any, path: Path) -> None:
    with suppress(OSError):
        lock.release()
        path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Block:
    """A batch in the files: its first row, the rows of each text by key, checksums by layer."""

    row: int
    texts: tuple[tuple[bytes, int], ...]
    checksums: tuple[str, ...]

    @property
    def rows(self) -> int:
        return sum(count for _, count in self.texts)

    def line(self) -> bytes:
        texts = [[key.hex(), count] for key, count in self.texts]
        return _signed(json.dumps([self.row, texts, self.checksums]).encode())

    @classmethod
    def read(cls, line: bytes, layers: int) -> _Block | None:
        """The block of a line with its end; None where it does not add up."""
        text = line.rpartition(b"\t")[0]
        if _signed(text) != line:
            return None
        row, texts, checksums = json.loads(text)
        if len(checksums) != layers:
            return None
        return cls(row, tuple((bytes.fromhex(k), n) for k, n in texts), tuple(checksums))


def _signed(text: bytes) -> bytes:
    return text + b"\t" + _checksum(text).encode() + b"\n"


def _checksum(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class VectorStore:
    """The vectors of texts, by layer.

    Args:
        folder: the store's own, made where it is missing; None: one that goes when the store does.
        layers: numbers of the layers, in order.
        width: dimensions.
        dtype: the number format on disk.
        about: facts that it says of itself, as JSON can hold them.

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
    ) -> None:
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="coherencegym-states-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.folder = folder
        self.damaged = 0
        self.dtype = dtype
        self._layers, self._width = tuple(layers), width
        self._end = self._rows = 0
        self._known: dict[bytes, tuple[int, _Block]] = {}
        self._sound: dict[int, bool] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            beside = folder / f"{ABOUT}.{id(self)}"
            beside.write_text(json.dumps(about, sort_keys=True), encoding="utf-8")
            beside.replace(folder / ABOUT)
            with self._lock():
                self._read_journal()
                _clear_killed(folder)
                self._hold()
        except OSError as error:
            raise self._problem(error) from None

    @property
    def row_bytes(self) -> int:
        """Bytes of one row of one layer."""
        return self._width * int(self.dtype[-2:]) // 8

    def refuse_unless_fits(self, sequences: Iterable[PooledSequence]) -> None:
        """Refuse to begin what the disk has no room for.

        Raises:
            EvaluationError: it has none.
        """
        rows = sum(len(each.stretches) for each in sequences)
        need = rows * self.row_bytes * len(self._layers)
        free = shutil.disk_usage(self.folder).free
        if need > free:
            raise EvaluationError(
                f"{self.folder}: the vectors take {need / 1e9:.1f} GB and {free / 1e9:.1f} GB are "
                "free; expected fewer layers, --dtype float16 on disk, or another folder"
            )

    def rows_of(self, sequences: Sequence[PooledSequence]) -> list[int | None]:
        """The first row of each sequence's vectors; None where they are not known."""
        found: list[int | None] = []
        for sequence in sequences:
            row, block = self._known.get(sequence.key, (0, None))
            sound = block is not None and self._is_sound(block)
            found.append(row if sound else None)
        return found

    def put(self, sequences: Sequence[PooledSequence], vectors: Sequence[np.ndarray]) -> None:
        """Keep the vectors of some sequences, all of them or none.

        Args:
            sequences: token ids with stretches.
            vectors: those of each layer, shape (stretches of all sequences, width).

        Raises:
            EvaluationError: they cannot be written.
        """
        parts = [layer.astype(_LITTLE_ENDIAN[self.dtype]).tobytes() for layer in vectors]
        texts = tuple((each.key, len(each.stretches)) for each in sequences)
        try:
            with self._lock():
                self._read_journal()
                block = _Block(self._rows, texts, tuple(map(_checksum, parts)))
                for number, part in zip(self._layers, parts, strict=True):
                    _write(self._file(number), block.row * self.row_bytes, part)
                line = block.line()
                # Behind the last good line: what a killed process left there goes.
                _write(self.folder / _JOURNAL, self._end, line)
                self._end += len(line)
        except OSError as error:
            raise self._problem(error) from None
        self._sound[block.row] = True
        self._add(block)

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

    def _lock(self) -> Any:
        from filelock import FileLock

        return FileLock(self.folder / _LOCK)

    def _hold(self) -> None:
        """Say that the store is in use, as long as this object or its process lives."""
        from filelock import FileLock

        path = self.folder / f"{_IN_USE}{os.getpid()}-{id(self):x}"
        lock = FileLock(path)
        lock.acquire()
        weakref.finalize(self, _let_go, lock, path)

    def _problem(self, error: Exception) -> EvaluationError:
        said = getattr(error, "strerror", None) or str(error)
        return EvaluationError(
            f"{self.folder}: {said}; expected a folder that can be written and stays, and room in "
            "it"
        )

    def _read_journal(self) -> None:
        """Read the lines that are new; the rest behind a line that does not add up is nothing."""
        path = self.folder / _JOURNAL
        if not path.exists() and not self._end:
            return
        with path.open("rb") as file:
            if file.seek(0, os.SEEK_END) < self._end:
                raise OSError(errno.ESTALE, "it was deleted or changed while it was in use")
            file.seek(self._end)
            for line in file:
                block = _Block.read(line, len(self._layers))
                if block is None:
                    break
                self._end += len(line)
                self._add(block)

    def _add(self, block: _Block) -> None:
        row = block.row
        for key, count in block.texts:
            self._known[key] = row, block
            row += count
        self._rows = max(self._rows, row)

    def _is_sound(self, block: _Block) -> bool:
        """Tell whether all files have what the block's line says; looked at once."""
        if block.row not in self._sound:
            self._sound[block.row] = sound = all(
                _checksum(self._part(number, block)) == expected
                for number, expected in zip(self._layers, block.checksums, strict=True)
            )
            self.damaged += not sound
        return self._sound[block.row]

    def _part(self, number: int, block: _Block) -> bytes:
        try:
            with self._file(number).open("rb") as file:
                file.seek(block.row * self.row_bytes)
                return file.read(block.rows * self.row_bytes)
        except OSError:
            return b""


def _write(path: Path, place: int, data: bytes) -> None:
    """Write bytes at a place of a file, and nothing behind them."""
    with path.open("r+b" if path.exists() else "x+b") as file:
        file.truncate(place)
        file.seek(place)
        file.write(data)
