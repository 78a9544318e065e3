"""Several processes on one plan, one for each GPU, as ``accelerate launch`` starts them.

All of them make the same plan and run every so many of its batches; numbers are then added up, a
batch that a process has not run counting as 0. The batches are those of a single process, and so
are the results.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherencegym.errors import EvaluationError, ProcessError, first_line

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class World:
    """The processes of a run.

    Attributes:
        rank: the number of this one.
        size: count of all.
        local_rank: the number of this one on its machine, and of its GPU.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0

    @property
    def is_first(self) -> bool:
        """True for the process that reports."""
        return self.rank == 0

    def total(self, values: np.ndarray) -> np.ndarray:
        """The sum over all processes, element by element; float64, of one shape in all of them."""
        return self._reduce(values, "SUM")

    def greatest(self, values: np.ndarray) -> np.ndarray:
        """The greatest of all processes, element by element."""
        return self._reduce(values, "MAX")

    def agree(self, flags: Sequence[bool]) -> list[bool]:
        """The conjunction of each flag over all processes."""
        import numpy as np

        least = self._reduce(np.array(flags, dtype=np.float64), "MIN")
        return [bool(flag) for flag in least]

    def pooled(
        self, values: Sequence[np.ndarray | None], counts: Sequence[int]
    ) -> list[np.ndarray | None]:
        """The arrays that any process has, each as the first that has it has it; else None.

        Machines keep what they have computed each for itself: after one was lost, every other
        knows other arrays. ``counts`` are their lengths, float64.
        """
        if self.size == 1:
            return list(values)
        import numpy as np

        own = np.array([each is not None for each in values], dtype=np.float64)
        # The first process has the greatest number; 0: nobody has it.
        first = self.greatest(own * (self.size - self.rank))
        sent = np.flatnonzero((self.total(own) < self.size) & (first > 0)).tolist()
        pooled = list(values)
        if not sent:
            return pooled
        ends = np.cumsum([counts[index] for index in sent])
        flat = np.zeros(int(ends[-1]))
        for index, end in zip(sent, ends, strict=True):
            found = values[index]
            if found is not None and first[index] == self.size - self.rank:
                flat[end - counts[index] : end] = found
        for index, array in zip(sent, np.split(self.total(flat), ends[:-1]), strict=True):
            pooled[index] = array
        return pooled

    def _reduce(self, values: np.ndarray, operation: str) -> np.ndarray:
        if self.size == 1:
            return values
        import numpy as np
        import torch
        import torch.distributed as processes

        shared = torch.from_numpy(np.array(values, dtype=np.float64))
        try:
            processes.all_reduce(shared, op=getattr(processes.ReduceOp, operation))
        except RuntimeError as error:  # as the torch library says that a connection was closed
            raise ProcessError(
                f"process {self.rank} of {self.size} has lost another one "
                f"({first_line(error)[-120:]}); expected all of them to the end: start them again, "
                "and what is cached is not computed again"
            ) from None
        reduced: np.ndarray = shared.numpy()
        return reduced


#: One process, which needs nobody.
ALONE = World()


def world() -> World:
    """The processes that the launcher has started, from the environment."""
    defaults = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    try:
        found = World(*(int(os.environ.get(name, text)) for name, text in defaults.items()))
        if 0 <= found.rank < found.size and found.local_rank >= 0:
            return found
    except ValueError:
        pass
    said = ", ".join(f"{name}={os.environ.get(name)}" for name in defaults)
    raise EvaluationError(
        f"the environment says {said}; expected what accelerate launch or torchrun sets"
    )


def own_device(choice: str, processes: World) -> str:
    """The device of this process, where several were asked to take a GPU: each its own."""
    if processes.size == 1 or choice not in ("auto", "cuda"):
        return choice
    import torch

    return f"cuda:{processes.local_rank}" if torch.cuda.is_available() else choice


@contextmanager
def join_processes(processes: World) -> Iterator[None]:
    """Join the others of a run, and leave them at the end."""
    if processes.size == 1:
        yield
        return
    import torch.distributed

    # Only a few numbers are exchanged, so that what every machine has is good enough.
    torch.distributed.init_process_group("gloo", rank=processes.rank, world_size=processes.size)
    try:
        yield
    finally:
        torch.distributed.destroy_process_group()
