"""Engines by their names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from coherencegym.engines.engine import LOCAL, RAY, Engine, EngineError, local_engine


@contextmanager
def started(name: str = LOCAL, processes: int | None = None, address: str = "") -> Iterator[Engine]:
    """An engine, by its name in :data:`ENGINES`, for as long as it is needed.

    Args:
        name: the engine.
        processes: their number; on a cluster the most blocks that are run at a time (none: as
            many as it has cores).
        address: ``HOST:PORT`` of a Ray cluster; empty: the one that the environment names
            (``RAY_ADDRESS``), else one on this machine alone.

    Raises:
        EngineError: Ray is not installed, or the cluster cannot be reached.
    """
    if name != RAY:
        if address:
            raise EngineError(f"--address {address}: the {name} engine has none; add --engine ray")
        yield local_engine(processes)
        return
    from coherencegym.engines.ray_cluster import cluster  # Ray takes a second to import

    with cluster(address, processes) as engine:
        yield engine
