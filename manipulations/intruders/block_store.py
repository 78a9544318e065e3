"""Blocks of a retrieval that are done, kept in a folder, so that a run that was cut off goes on."""

from __future__ import annotations

import contextlib
import os
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class BlockFolder:
    """A folder with one file for each block.

    The folder's name stands for everything that the blocks depend on; who makes it sees to that.
    A file that cannot be read, or that has another shape, counts as not there.

    Attributes:
        folder: made when the first block is kept.
        k: neighbours of each row.
    """

    folder: Path
    k: int

    def load(self, block: int) -> tuple[Any, Any] | None:
        """The indices and similarities of a block, or nothing."""
        import numpy as np

        try:
            with np.load(self._path(block), allow_pickle=False) as kept:
                indices, similarities = kept["indices"], kept["similarities"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        right = indices.shape == similarities.shape and indices.ndim == 2
        if not right or indices.shape[1] != self.k or indices.dtype != np.int32:
            return None
        return indices, similarities

    def save(self, block: int, indices: Any, similarities: Any) -> None:
        """Keep a block; written beside and renamed, so that there is never half of one."""
        import numpy as np

        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(block)
        beside = path.with_suffix(f".{os.getpid()}.tmp")
        with beside.open("wb") as file:
            np.savez(file, indices=indices, similarities=similarities)
        beside.replace(path)

    def clear(self) -> None:
        """Forget all blocks: what they were kept for is done."""
        with contextlib.suppress(OSError):
            shutil.rmtree(self.folder)

    def _path(self, block: int) -> Path:
        return self.folder / f"block-{block:06d}.npz"
