"""Ray as the engine: blocks are tasks, large arrays stand once in its object store.

A task that is lost with its machine or process is run again by Ray; what a block raises by itself
is raised here as it would be on one machine. The object store belongs to the process that began the
run: arrays that it shares outlive every other machine. No more blocks are handed out than a few for
each core, so that neither the store nor this process fills up.
"""

from __future__ import annotations

import inspect
import os
import pickle
import socket
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import packages_distributions
from itertools import islice
from typing import Any, TypeVar

from coherencegym.engines.content import modules_of, program
from coherencegym.engines.engine import AHEAD, Done, EngineError, Task, timed
from coherencegym.errors import first_line

_T = TypeVar("_T")

#: Times that a block is run again that was lost with its machine.
RETRIES = 5
#: Seconds to wait for the head of a cluster to answer; Ray itself would wait for minutes.
_PATIENCE = 5.0
#: Variables by which Ray is told, where the user does not say otherwise, to print nothing of its
#: own on standard output, and to tell nobody of its use.
_QUIET = {
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
#: Variables of this process that blocks are run with: where the Hub is. Never a token.
_PASSED = ("HF_ENDPOINT", "HF_HUB_OFFLINE", "NO_PROXY", "OMP_NUM_THREADS")


@contextmanager
def cluster(address: str = "", workers: int | None = None) -> Iterator[RayCluster]:
    """Connect to a cluster, or begin one on this machine: see :func:`engines.start.started`.

    Raises:
        EngineError: Ray is not installed, or the cluster cannot be reached.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise EngineError(
            "--engine ray: Ray is not installed; expected pip install 'coherencegym[cluster]'"
        ) from None
    if ray.is_initialized():
        raise EngineError("Ray is in use in this process already; expected one engine at a time")
    address = address or os.environ.get("RAY_ADDRESS", "")
    if address not in ("", "local"):
        _check_reachable(address)
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    how: dict[str, Any] = {"log_to_driver": False, "logging_level": "FATAL"}
    how |= {"include_dashboard": False, "num_cpus": workers} if address in ("", "local") else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(address or "local", runtime_env={"env_vars": passed}, **how)
    except Exception as error:  # ConnectionError, RuntimeError, ValueError, an OSError: no base
        ray.shutdown()
        raise _unreachable(address or "this machine", first_line(error)) from None
    try:
        cores = int(ray.cluster_resources().get("CPU", 1))
        yield RayCluster(min(cores, workers or cores), workers is not None)
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    # Ray would try an address where nothing listens for minutes.
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdecimal():
        raise EngineError(
            f"--address {address}: expected HOST:PORT of the head of a Ray cluster, such as "
            "10.0.0.1:6379, as `ray start --head` prints it"
        )
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _unreachable(address, reason) from None


def _unreachable(address: str, reason: str) -> EngineError:
    return EngineError(
        f"--engine ray: no Ray cluster at {address} ({reason[:160]}); expected one begun with "
        "`ray start --head` there, and `ray start --address=...` on this machine"
    )


@dataclass
class RayCluster:
    """A Ray cluster that this process is connected to.

    Attributes:
        workers: blocks that are run at a time.
        exactly: never hand out more than these, even if the cluster has more cores.
    """

    workers: int
    exactly: bool = False
    _by_value: set[str] = field(default_factory=set)

    @property
    def threads(self) -> int:
        """One: a block has a core."""
        return 1

    @property
    def keeps(self) -> bool:
        """All blocks."""
        return True

    @property
    def for_arrays(self) -> RayCluster:
        """This one."""
        return self

    def share(self, value: _T) -> _T:
        """Put a value into the object store."""
        import ray

        reference: Any = ray.put(value)
        return reference  # type: ignore[no-any-return]

    def run(
        self, function: Callable[..., Any], tasks: Iterable[Task], *, memory: int = 0
    ) -> Iterator[Done]:
        """Yield the blocks in the order in which they are done; what is lost is run again.

        Raises:
            EngineError: a block was lost again and again, or the cluster is gone.
        """
        import ray

        self._send_by_value(function)
        work = ray.remote(_work).options(num_cpus=1, max_retries=RETRIES, memory=memory or None)
        what = ray.put(ray.cloudpickle.dumps(function))
        running: dict[Any, tuple[int, int]] = {}
        left = iter(tasks)

        def submit(task: Task) -> None:
            packed, places, shared = _packed(task[1])
            reference = work.remote(program(), what, packed, places, *shared)
            running[reference] = task[0], len(packed)

        number = -1
        try:
            ahead = self.workers if self.exactly else AHEAD * self.workers
            for task in islice(left, ahead):
                submit(task)
            while running:
                (reference, *_), _ = ray.wait(list(running), num_returns=1)
                number, sent = running.pop(reference)
                packed, seconds = ray.get(reference)
                del reference
                for task in islice(left, 1):
                    submit(task)
                yield Done(number, pickle.loads(packed), seconds, sent + len(packed))
        except ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, ImportError) and (cause.name or "").startswith("coherencegym"):
                raise _other_program(first_line(cause)) from None
            raise cause from None
        except ray.exceptions.RayError as error:
            raise EngineError(
                f"the cluster lost block {number} {RETRIES + 1} times "
                f"({type(error).__name__}: {first_line(error)[:120]}); what is done is kept: run "
                "the same command again, with more memory a core if that was the reason"
            ) from None
        finally:
            with suppress(Exception):  # where the cluster is gone, so are the blocks
                for reference in running:
                    ray.cancel(reference, force=True)

    def _send_by_value(self, function: Callable[..., Any]) -> None:
        # Such as the files of suites of one's own. What is installed is imported on each machine.
        import ray

        installed = {*packages_distributions(), *sys.stdlib_module_names, "coherencegym"}
        for name in modules_of(function) - self._by_value:
            module = sys.modules.get(name)
            if module is not None and name.partition(".")[0] not in {*installed, "__main__"}:
                ray.cloudpickle.register_pickle_by_value(inspect.getmodule(module))
                self._by_value.add(name)


def _packed(arguments: tuple[Any, ...]) -> tuple[bytes, tuple[int, ...], list[Any]]:
    import ray

    places = tuple(n for n, each in enumerate(arguments) if isinstance(each, ray.ObjectRef))
    own = [None if n in places else each for n, each in enumerate(arguments)]
    return ray.cloudpickle.dumps(own), places, [arguments[n] for n in places]


def _other_program(reason: str) -> EngineError:
    return EngineError(
        f"a machine of the cluster has another version of this package, or none ({reason[:160]}); "
        "expected the same on all of them"
    )


def _work(
    expected: str, what: bytes, packed: bytes, places: tuple[int, ...], *shared: Any
) -> tuple[bytes, float]:
    if program() != expected:
        raise _other_program(socket.gethostname())
    # It comes from the process that began the run, by Ray's own ways.
    arguments = pickle.loads(packed)
    for place, value in zip(places, shared, strict=True):
        arguments[place] = value
    result, seconds = timed(pickle.loads(what), *arguments)
    return pickle.dumps(result, protocol=5), seconds
