"""Blocks of a run that are done, kept on disk until all is: a run that was cut off goes on."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from coherencegym.engines.engine import Engine

#: Names the folder in place of the user's folder for caches.
_VARIABLE = "COHERENCEGYM_CACHE"


class Codec(Protocol):
    """The way in which results become files and come back as plain data; nothing is ever run."""

    @property
    def suffix(self) -> str:
        """The end of the files' names."""
        ...

    def encode(self, result: Any) -> bytes:
        """The content of a file; ``ValueError`` where this result has none."""
        ...

    def decode(self, content: bytes) -> Any:
        """The result; ``ValueError`` where the content is not a whole one."""
        ...


@dataclass(frozen=True)
class Arrays:
    """Arrays by position, in numpy's own format.

    Attributes:
        types: the dtype of each.
        width: columns that each has, and as many rows as the others; none: any shape.
    """

    types: tuple[str, ...]
    width: int | None = None
    suffix: str = ".npz"

    def encode(self, result: Any) -> bytes:
        """The arrays as a file."""
        import numpy as np

        file = io.BytesIO()
        np.savez(file, *result)
        return file.getvalue()

    def decode(self, content: bytes) -> Any:
        """The arrays; ``ValueError`` where there are others."""
        import numpy as np

        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as kept:
                arrays = tuple(kept[f"arr_{number}"] for number in range(len(self.types)))
        except (OSError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(str(error)) from None
        if tuple(array.dtype.name for array in arrays) != self.types:
            raise ValueError("arrays of other types")
        if self.width is not None and (
            len({array.shape for array in arrays}) > 1 or arrays[0].shape[1:] != (self.width,)
        ):
            raise ValueError("arrays of another shape")
        return arrays


@dataclass(frozen=True)
class Values:
    """Values of a type that pydantic knows, our dataclasses among them, as JSON."""

    schema: Any
    suffix: str = ".json.gz"

    def encode(self, result: Any) -> bytes:
        """The value as compressed JSON; ``ValueError`` where JSON would not give it back."""
        from pydantic import TypeAdapter

        made = TypeAdapter(self.schema).dump_json(result, warnings="error")
        return gzip.compress(made, compresslevel=1, mtime=0)

    def decode(self, content: bytes) -> Any:
        """The value, held to the type."""
        from pydantic import TypeAdapter

        try:
            return TypeAdapter(self.schema).validate_json(gzip.decompress(content), strict=True)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(str(error)) from None


@dataclass(frozen=True)
class BlockFolder:
    """Blocks that are done, one file each.

    The folder's name stands for everything that the blocks depend on; who makes it sees to that.
    A file that cannot be read, or holds anything else, counts as not there.

    Attributes:
        folder: made when the first block is kept.
        codec: the way in which a result is a file.
    """

    folder: Path
    codec: Codec

    def load(self, block: int) -> Any:
        """The result of a block, or None."""
        try:
            return self.codec.decode(self._path(block).read_bytes())
        except (OSError, ValueError):
            return None

    def save(self, block: int, result: Any) -> None:
        """Keep a block; written beside and renamed, so that there is never half of one."""
        try:
            content = self.codec.encode(result)
        except ValueError:
            return  # what has no file is made again
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(block)
        beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        beside.write_bytes(content)
        beside.replace(path)

    def clear(self) -> None:
        """Forget all blocks: what they were kept for is done."""
        with contextlib.suppress(OSError):
            shutil.rmtree(self.folder)

    def _path(self, block: int) -> Path:
        return self.folder / f"block-{block:06d}{self.codec.suffix}"


@dataclass
class WorkFolder:
    """The blocks that a run keeps while it lasts."""

    _folders: list[BlockFolder] = field(default_factory=list)

    def blocks(self, kind: str, digest: str, codec: Codec) -> BlockFolder:
        """The folder of the blocks of one kind of work that depends on what has this digest."""
        import platformdirs

        named = os.environ.get(_VARIABLE)
        top = (
            Path(named) if named else platformdirs.user_cache_path("coherencegym", appauthor=False)
        )
        self._folders.append(BlockFolder(top / kind / digest, codec))
        return self._folders[-1]

    def done(self) -> None:
        """Forget all blocks: the run is complete."""
        for folder in self._folders:
            folder.clear()


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a run over blocks so far, and to come.

    Attributes:
        blocks: all that there are.
        kept: those that an earlier run had done.
        run: those that this one has done.
        seconds: core time for these.
        sent: bytes, for these.
    """

    blocks: int
    kept: int = 0
    run: int = 0
    seconds: float = 0.0
    sent: int = 0

    def __str__(self) -> str:
        """The line that progress shows."""
        text = f"{self.kept + self.run:,} of {self.blocks:,} blocks"
        if self.run:
            left = (self.blocks - self.kept - self.run) * self.seconds / self.run
            text += f", {core_time(left)} to go"
        return text + (f", {self.sent / 1e6:,.0f} MB sent" if self.sent else "")


def core_time(seconds: float) -> str:
    """A time of one core in words.

    >>> core_time(48), core_time(4800), core_time(480000)
    ('48 core seconds', '80 core minutes', '133.3 core hours')
    """
    if seconds < 300:
        return f"{seconds:.0f} core seconds"
    return (
        f"{seconds / 60:.0f} core minutes" if seconds < 3e4 else f"{seconds / 3600:,.1f} core hours"
    )


def run_blocks(
    engine: Engine,
    function: Callable[..., Any],
    blocks: Sequence[tuple[Any, ...]],
    *,
    keep: BlockFolder | None = None,
    memory: int = 0,
    progress: Callable[[Cost], None] = lambda cost: None,
) -> list[Any]:
    """The results of a function over blocks (their arguments), in the order of the blocks.

    What ``keep`` has is not run again, and what is run is kept there. ``progress`` is told after
    each block.
    """
    results: list[Any] = [None] * len(blocks)
    left = []
    for number, arguments in enumerate(blocks):
        results[number] = keep.load(number) if keep is not None else None
        if results[number] is None:
            left.append((number, arguments))
    cost = Cost(len(blocks), len(blocks) - len(left))
    progress(cost)
    for done in engine.run(function, left, memory=memory):
        if keep is not None:
            keep.save(done.number, done.result)
        results[done.number] = done.result
        cost = after(cost, done.seconds, done.sent)
        progress(cost)
    return results


def after(cost: Cost, seconds: float, sent: int, run: int = 1) -> Cost:
    """The cost after more blocks."""
    return replace(cost, run=cost.run + run, seconds=cost.seconds + seconds, sent=cost.sent + sent)
