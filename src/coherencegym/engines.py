"""One function over many blocks: in this process, in several of them, or on a Ray cluster.

:mod:`joblib` runs the blocks. Their results come in the order of the blocks, so that nothing
depends on how many workers there are.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from coherencegym.errors import EvaluationError, first_line

_T = TypeVar("_T")

#: The engines by name: one or more processes of this machine, or a Ray cluster.
LOCAL, RAY = "local", "ray"
ENGINES = (LOCAL, RAY)
#: Blocks that are handed out for each worker: it never waits for the next one, and no more are
#: held than these.
AHEAD = 2
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
_PASSED = ("HF_ENDPOINT", "HF_HUB_OFFLINE", "NO_PROXY")
#: Settings of a worker on a cluster: the machines share the workers. None asks for a core of its
#: own: where its machine is lost, it could not begin again on the others.
_REMOTE = {"scheduling_strategy": "SPREAD", "max_restarts": 5, "max_task_retries": 5}


@dataclass(frozen=True, slots=True)
class Engine:
    """Runs a function over blocks.

    Attributes:
        workers: the number of blocks that are run at a time; 1: in this process.
        cluster: joblib's pool of workers on the Ray cluster that this process has; none: of here.
    """

    workers: int = 1
    cluster: Any = None

    @property
    def for_arrays(self) -> Engine:
        """The engine for functions over large arrays, which processes do not send each other."""
        return self if self.cluster else Engine()

    def run(self, function: Callable[..., _T], blocks: Iterable[tuple[Any, ...]]) -> Iterator[_T]:
        """Yield what the function returns for each block (its arguments), in their order.

        ``blocks`` are asked for no earlier than needed. What the function raises is raised here.
        """
        left = iter(blocks)
        first = list(islice(left, 2))
        blocks = chain(first, left)
        if self.cluster:
            yield from _on_cluster(self.cluster, function, blocks)
        elif self.workers > 1 and len(first) > 1:
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


def _on_cluster(
    cluster: Any, function: Callable[..., _T], blocks: Iterable[tuple[Any, ...]]
) -> Iterator[_T]:
    import ray
    from joblib import delayed

    _send_by_value(ray.cloudpickle)
    try:
        # A list, as Ray's backend has no generators.
        yield from cluster(delayed(_remote)(program(), function, block) for block in blocks)
    except ray.exceptions.RayError as error:
        raise EvaluationError(
            f"the cluster lost a block ({type(error).__name__}: {first_line(error)[:160]}); "
            "expected the same version of this package, and enough memory, on all machines"
        ) from None


def _remote(expected: str, function: Callable[..., _T], block: tuple[Any, ...]) -> _T:
    if program() != expected:
        raise EvaluationError(
            f"{socket.gethostname()}, a machine of the cluster, has another version of this "
            "package; expected the same on all of them"
        )
    return function(*block)


#: The engine where nobody says otherwise.
ALONE_IN_PROCESS = Engine()


@cache
def program() -> str:
    """The digest of all files of this package that decide what it makes."""
    digest = hashlib.sha256()
    for folder, _, names in sorted(os.walk(Path(__file__).parent, followlinks=True)):
        for name in sorted(names):
            if name.endswith((".py", ".txt", ".tsv", ".json")):
                digest.update(name.encode())
                digest.update((Path(folder) / name).read_bytes())
    return digest.hexdigest()


def _send_by_value(cloudpickle: Any) -> None:
    # Such as the files of suites of one's own. What is installed is imported on each machine.
    installed = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or installed[0]
        ours = name.partition(".")[0] in ("coherencegym", "__main__", "__mp_main__")
        if not ours and not file.startswith(installed) and module.__name__ == name:
            cloudpickle.register_pickle_by_value(module)


@contextmanager
def started(name: str = LOCAL, processes: int | None = None, address: str = "") -> Iterator[Engine]:
    """An engine, by its name in :data:`ENGINES`, for as long as it is needed.

    Args:
        name: the engine.
        processes: their number; on a cluster the most blocks that are run at a time (none: as
            many as it has cores).
        address: ``HOST:PORT`` of a Ray cluster; empty: the one that the environment names
            (``RAY_ADDRESS``), else one on this machine alone.
    """
    if name != RAY:
        if address:
            raise EvaluationError(
                f"--address {address}: the {name} engine has none; add --engine ray"
            )
        yield Engine(processes or 1)
        return
    for variable, value in _QUIET.items():
        os.environ.setdefault(variable, value)
    try:
        import ray
    except ImportError:
        raise EvaluationError(
            "--engine ray: Ray is not installed; expected pip install 'coherencegym[cluster]'"
        ) from None
    if ray.is_initialized():
        raise EvaluationError(
            "Ray is in use in this process already; expected one engine at a time"
        )
    address = address or os.environ.get("RAY_ADDRESS", "") or "local"
    if address != "local":
        _check_reachable(address)
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    how: dict[str, Any] = {"log_to_driver": False, "logging_level": "FATAL"}
    how |= {"include_dashboard": False, "num_cpus": processes} if address == "local" else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(address, runtime_env={"env_vars": passed}, **how)
    except Exception as error:  # ConnectionError, RuntimeError, ValueError, an OSError: no base
        ray.shutdown()
        here = "this machine" if address == "local" else address
        raise _unreachable(here, first_line(error)) from None
    try:
        from joblib import Parallel, parallel_config
        from ray.util.joblib import register_ray

        cores = int(ray.cluster_resources().get("CPU", 1))
        workers = min(cores, processes or cores)
        register_ray()
        with parallel_config(RAY, n_jobs=workers, ray_remote_args=_REMOTE):
            pool = Parallel(pre_dispatch=AHEAD * workers, batch_size=1)
        with pool:
            yield Engine(workers, cluster=pool)
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    # Ray would try an address where nothing listens for minutes.
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdecimal():
        raise EvaluationError(
            f"--address {address}: expected HOST:PORT of the head of a Ray cluster, such as "
            "10.0.0.1:6379, as `ray start --head` prints it"
        )
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _unreachable(address, reason) from None


def _unreachable(address: str, reason: str) -> EvaluationError:
    return EvaluationError(
        f"--engine ray: no Ray cluster at {address} ({reason[:160]}); expected one begun with "
        "`ray start --head` there, and `ray start --address=...` on this machine"
    )
