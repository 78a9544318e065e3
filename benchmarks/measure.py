"""Processor time, memory, and what the machine can do."""

from __future__ import annotations

import ctypes
import gc
import importlib.metadata
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: What is said of the versions in the output.
PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "minicons", "lm_eval")
_STATUS = Path("/proc/self/status")


@dataclass
class Cost:
    """What a stretch of a program took.

    Attributes:
        seconds: of processor time on a CPU (all threads); of wall time on a GPU.
        peak_bytes: most memory above what was held before; None where it cannot be known.
    """

    seconds: float = 0.0
    peak_bytes: int | None = None
    details: dict[str, float] = field(default_factory=dict)


def base_memory(device: str) -> int | None:
    """Bytes that this process holds now; from here on the peak is counted anew.

    On Linux the resident set, with the kernel's own peak (``VmHWM``), which is set back: no peak
    between two samples is missed. On a GPU what torch has allocated on it.
    """
    gc.collect()
    if device != "cpu":
        import torch

        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        return int(torch.cuda.memory_allocated())
    if not _STATUS.exists():
        return None
    # What loading has freed goes back to the system, so that it is not taken again unseen.
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak_memory(device: str) -> int | None:
    """Most bytes that this process has held since :func:`base_memory`."""
    if device != "cpu":
        import torch

        return int(torch.cuda.max_memory_allocated())
    return _status("VmHWM") if _STATUS.exists() else None


def _status(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{_STATUS}: no {name}")


@contextmanager
def timed(device: str) -> Iterator[Cost]:
    """Time a stretch; the cost is complete when it is left."""
    cost = Cost()
    clock = time.process_time if device == "cpu" else time.perf_counter
    _wait(device)
    start = clock()
    yield cost
    _wait(device)
    cost.seconds = clock() - start


def _wait(device: str) -> None:
    if device != "cpu":
        import torch

        torch.cuda.synchronize()


def multiply_rate(device: str, dtype: str, tries: int = 30) -> float:
    """Operations a second (of processor time on a CPU) in the best of many matrix products.

    512 x 768 by 768 x 3072 on a CPU, as in GPT-2's feed-forward; 8192 cubed on a GPU.
    """
    import torch

    m, k, n = (512, 768, 3072) if device == "cpu" else (8192, 8192, 8192)
    a = torch.randn(m, k, dtype=getattr(torch, dtype), device=device)
    b = torch.randn(k, n, dtype=getattr(torch, dtype), device=device)
    out = torch.empty(m, n, dtype=getattr(torch, dtype), device=device)
    best = float("inf")
    for _ in range(tries):
        with timed(device) as cost:
            for _ in range(4):
                torch.mm(a, b, out=out)
        best = min(best, cost.seconds / 4)
    return 2 * m * k * n / best


def copy_rate(device: str) -> float:
    """Bytes a second, read and written, in the best copy of 256 MiB."""
    import torch

    source = torch.empty(1 << 28, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    best = float("inf")
    for _ in range(10):
        with timed(device) as cost:
            target.copy_(source)
        best = min(best, cost.seconds)
    return 2 * float(source.numel()) / best


def machine(device: str) -> dict[str, Any]:
    """The processor, its cores, the GPU if one is used, and versions."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    about: dict[str, Any] = {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": versions,
    }
    if device != "cpu":
        import torch

        about["gpu"] = torch.cuda.get_device_name()
    return about


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
