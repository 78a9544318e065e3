"""How often the host waits for the device, counted without a device.

What makes the host wait is known: numbers that are brought back (``item``, ``cpu``), an operator
whose result is as long as what is in it (``nonzero``, a mask as an index, ``unique``), and a copy
from the host that is not told to go by itself. All are seen as they are called, on a CPU too. On a
GPU torch warns of each wait (:func:`warned_of`), of those as well that nobody thought of.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

#: Operators whose result is as long as what is in it, and the one behind ``item``.
_OPERATORS = frozenset(
    {
        *("aten::nonzero", "aten::masked_select", "aten::_unique2", "aten::unique_dim"),
        *("aten::unique_consecutive", "aten::_local_scalar_dense", "aten::equal"),
        *("aten::repeat_interleave", "aten::bincount"),
    }
)
#: Operators that count what is in an index that is a mask.
_INDEXED = frozenset({"aten::index", "aten::index_put", "aten::index_put_"})


class _Operators(TorchDispatchMode):  # type: ignore[misc]
    def __init__(self, causes: Counter[str]) -> None:
        super().__init__()
        self.causes = causes

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = function._schema.name
        if name in _OPERATORS:
            self.causes[name] += 1
        elif name in _INDEXED and any(
            index is not None and index.dtype in (torch.bool, torch.uint8) for index in args[1]
        ):
            self.causes[f"{name} by a mask"] += 1
        return function(*args, **(kwargs or {}))


class _Copies(TorchFunctionMode):  # type: ignore[misc]
    def __init__(self, causes: Counter[str], within: str) -> None:
        super().__init__()
        self.causes, self.within = causes, within

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, given = getattr(func, "__name__", ""), kwargs or {}
        if name == "cpu":
            self.causes["cpu"] += 1
        elif name in ("to", "tensor") and self.within in sys._getframe(1).f_code.co_filename:
            device = given.get("device") or next(
                (each for each in args[1:] if isinstance(each, torch.device)), None
            )
            if device is not None and not given.get("non_blocking"):
                self.causes[f"{name} a device"] += 1
        return func(*args, **given)


@contextmanager
def host_waits(within: str = "coherencegym") -> Iterator[Counter[str]]:
    """Count the waits of a stretch of a program, by their cause.

    On a CPU a copy to where something already is cannot be told from one to a device, so that
    copies from the host count only in files whose path has ``within``.
    """
    causes: Counter[str] = Counter()
    with ExitStack() as stack:
        stack.enter_context(_Operators(causes))
        stack.enter_context(_Copies(causes, within))
        yield causes


@contextmanager
def warned_of() -> Iterator[Counter[str]]:
    """Count the waits of a stretch of a program on a GPU, by the line that waited."""
    causes: Counter[str] = Counter()
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield causes
        finally:
            torch.cuda.set_sync_debug_mode(before)
            for each in caught:
                if "synchroniz" in str(each.message):
                    causes[f"{each.filename}:{each.lineno}"] += 1
