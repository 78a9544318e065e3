"""Work that a device or the machine may have too little memory for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from coherencegym.errors import EvaluationError

_Result = TypeVar("_Result")


def in_memory_of(device: Any, work: Callable[[], _Result]) -> _Result | None:
    """The result of some work on a torch device; None where its memory did not suffice.

    It is then free again.
    """
    try:
        return work()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        # The traceback holds the tensors that were in the way.
        error.__traceback__ = None
    import gc

    import torch

    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return None


def out_of_memory(tokens: int) -> EvaluationError:
    """The error where one text of so many tokens is too much."""
    return EvaluationError(
        f"out of memory for one text of {tokens:,} tokens; try --dtype bfloat16, another --device, "
        "or --device-map auto"
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether a device or the machine had no memory left."""
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in text or "can't allocate memory" in text
    )


def give_back_memory() -> None:
    """Give the system the memory that is free, also that of Python."""
    import gc

    # Freed tuples and numbers that Python keeps for later lie all about, each in a piece that it
    # keeps then; a collection lets go of them.
    gc.collect()
    give_back_pieces()


def give_back_pieces() -> None:
    """Give the system the memory that is free in C libraries, which keep it for themselves."""
    import ctypes

    import pyarrow

    pyarrow.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError):  # only the GNU library has a name for that
        ctypes.CDLL(None).malloc_trim(0)
