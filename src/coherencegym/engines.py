"""One function over many blocks: in this process, or in several of them.

:mod:`joblib` runs the blocks. Their results come in the order of the blocks, so that nothing
depends on how many workers there are.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from coherencegym.errors import EvaluationError

_T = TypeVar("_T")

#: Blocks that are handed out for each worker: it never waits for the next one, and no more are
#: held than these.
AHEAD = 2


@dataclass(frozen=True, slots=True)
class Engine:
    """Runs a function over blocks.

    ``workers`` is the number of blocks that are run at a time; 1: in this process.
    """

    workers: int = 1

    def run(self, function: Callable[..., _T], blocks: Iterable[tuple[Any, ...]]) -> Iterator[_T]:
        """Yield what the function returns for each block (its arguments), in their order.

        ``blocks`` are asked for no earlier than needed. What the function raises is raised here.
        """
        left = iter(blocks)
        first = list(islice(left, 2))
        blocks = chain(first, left)
        if self.workers > 1 and len(first) > 1:
            yield from _in_processes(self.workers, function, blocks)
        else:
            yield from (function(*block) for block in blocks)


def _in_processes(
    workers: int, function: Callable[..., _T], blocks: Iterable[tuple[Any, ...]]
) -> Iterator[_T]:
    from concurrent.futures.process import BrokenProcessPool

    from joblib import Parallel, delayed, parallel_config

    # Processes stay for the next blocks, unless variables or the places of modules have changed:
    # the argument that they are begun with, though nothing uses it, is then another one.
    begun = {"initializer": list, "initargs": ([*sys.path, *map(str, os.environ.items())],)}
    with parallel_config("loky", n_jobs=workers, inner_max_num_threads=1, max_nbytes=None, **begun):
        run = Parallel(return_as="generator", pre_dispatch=AHEAD * workers, batch_size=1)
    results = run(delayed(function)(*block) for block in blocks)
    try:
        for result in results:  # noqa: UP028  (closed below, where it may say nothing)
            yield result
    except BrokenProcessPool:
        raise EvaluationError(
            f"one of {workers} processes was ended before its work was done; expected enough "
            "memory for all of them: try fewer (--num-proc)"
        ) from None
    finally:
        with warnings.catch_warnings(action="ignore"):  # that blocks are left
            results.close()


#: The engine where nobody says otherwise.
ALONE_IN_PROCESS = Engine()
