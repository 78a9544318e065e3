"""One function over many blocks: what every engine does, and the two that need one machine alone.

Results come as they are done, in any order, each with the number of its block; whoever asks for
them puts them in their places, so that nothing depends on the engine or on how many workers it has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeVar

from coherencegym.errors import EvaluationError

_T = TypeVar("_T")

#: The engines by name: one or more processes of this machine, or a Ray cluster.
LOCAL, RAY = "local", "ray"
ENGINES = (LOCAL, RAY)
#: Blocks that are handed out at a time, for each worker: it never waits for the next one, and no
#: more are held than these.
AHEAD = 2

#: The number of a block, and the arguments that the function gets of it.
Task = tuple[int, tuple[Any, ...]]


class EngineError(EvaluationError):
    """An engine cannot run: one line that says why and what to do."""


@dataclass(frozen=True, slots=True)
class Done:
    """A block that is done.

    Attributes:
        number: the block's.
        result: the value that the function returned.
        seconds: processor time that a worker took for it.
        sent: bytes that went to the worker for this block alone, and back.
    """

    number: int
    result: Any
    seconds: float
    sent: int = 0


class Engine(Protocol):
    """Runs a function over blocks."""

    @property
    def workers(self) -> int:
        """The number of blocks that are run at a time."""
        ...

    @property
    def threads(self) -> int:
        """The number of threads that the function may take by itself."""
        ...

    @property
    def keeps(self) -> bool:
        """True where a run is long enough for all of its blocks to be kept until it is done."""
        ...

    @property
    def for_arrays(self) -> Engine:
        """The engine for functions over large arrays, which have threads of their own."""
        ...

    def share(self, value: _T) -> _T:
        """Send a large value about once; what comes back stands for it among arguments."""
        ...

    def run(
        self, function: Callable[..., Any], tasks: Iterable[Task], *, memory: int = 0
    ) -> Iterator[Done]:
        """Yield the blocks in the order in which they are done.

        ``tasks`` are asked for no earlier than needed. ``memory`` is what a block takes at most,
        bytes: an engine of several machines runs no more of them on one than fit. What the function
        raises is raised here.

        Raises:
            EngineError: the engine lost a block again and again.
        """
        ...


class _Here:
    # What all engines of one machine have alike.
    __slots__ = ()

    @property
    def keeps(self) -> bool:
        # Only what a search finds is kept.
        return False

    def share(self, value: _T) -> _T:
        return value


@dataclass(frozen=True, slots=True)
class InProcess(_Here):
    """This process alone.

    Attributes:
        threads: those that a function may take by itself.
    """

    threads: int = 1

    @property
    def workers(self) -> int:
        """One."""
        return 1

    @property
    def for_arrays(self) -> InProcess:
        """This one."""
        return self

    def run(
        self, function: Callable[..., Any], tasks: Iterable[Task], *, memory: int = 0
    ) -> Iterator[Done]:
        """Yield the blocks in their order."""
        for number, arguments in tasks:
            result, seconds = timed(function, *arguments)
            yield Done(number, result, seconds)


#: The engine where nobody says otherwise.
ALONE_IN_PROCESS = InProcess()


@dataclass(frozen=True, slots=True)
class Processes(_Here):
    """Several processes of this machine.

    Arrays are not sent about between them: functions over arrays run in this process, with as many
    threads.
    """

    workers: int

    @property
    def threads(self) -> int:
        """One for each process."""
        return 1

    @property
    def for_arrays(self) -> InProcess:
        """This process, with as many threads."""
        return InProcess(self.workers)

    def run(
        self, function: Callable[..., Any], tasks: Iterable[Task], *, memory: int = 0
    ) -> Iterator[Done]:
        """Yield the blocks in the order in which they are done; none is begun for one block."""
        from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

        left = iter(tasks)
        first = list(islice(left, 2))
        if len(first) < 2:
            yield from InProcess().run(function, first)
            return
        running: dict[Future[tuple[Any, float]], int] = {}
        with ProcessPoolExecutor(self.workers) as pool:

            def submit(task: Task) -> None:
                running[pool.submit(timed, function, *task[1])] = task[0]

            try:
                for task in (*first, *islice(left, AHEAD * self.workers - 2)):
                    submit(task)
                while running:
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        number = running.pop(future)
                        result, seconds = future.result()
                        for task in islice(left, 1):
                            submit(task)
                        yield Done(number, result, seconds)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Call a function: the value that it returns, and the processor time it took, seconds."""
    start = time.process_time()
    result = function(*arguments)
    return result, time.process_time() - start


def local_engine(processes: int | None = None) -> Engine:
    """The engine of this machine with so many processes; none: this one."""
    return Processes(processes) if processes and processes > 1 else ALONE_IN_PROCESS
