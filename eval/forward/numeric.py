"""Exactness of a run's numbers: some texts in float32 beside the format that they were run in.

In half precision every layer rounds, and how a text is batched changes the rounding. Some texts are
run a second time with the same weights in float32; what a task makes of both shows by how much its
own numbers may be off (:mod:`eval.tasks.score.closeness`). That a text gives the same number alone
and in a batch would say nothing: on a CPU bfloat16 repeats itself to the bit and is off all the
same.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from coherencegym.eval.forward.distributed import ALONE, World
from coherencegym.eval.forward.logits import Forward
from coherencegym.eval.forward.passes import MODEL_ERRORS, CannotShareError
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import numpy as np

#: Surprisals (bits) of sequences, by their places in a plan.
Bits = Mapping[int, "np.ndarray"]
#: Token ids, which no text has, at the end of what is kept of a second reading: in float32, and of
#: a text by itself in the format of the run.
IN_FLOAT32, BY_ITSELF = -1, -2
#: Errors of what cannot be done in float32: layers of its own that know one number format, weights
#: that are elsewhere, no memory.
_FAILURES = (*MODEL_ERRORS, CannotShareError, MemoryError)


def unless_finite(dtype: object) -> str:
    """Advice where a model of this number format gives a number that is not finite."""
    if str(dtype).removeprefix("torch.") in ("float32", "float64"):
        return "expected another revision or copy of the model, as it is in float32 already"
    return "try --dtype float32"


class Store(Protocol):
    """Surprisals of earlier runs; see :mod:`eval.forward.cache`."""

    def get_many(self, sequences: Sequence[TokenSequence]) -> list[np.ndarray | None]:
        """The reads of each sequence, in bits; None where some of them are not known."""

    def were_there(self, sequences: Sequence[TokenSequence]) -> list[bool]:
        """Tell whether each sequence is of an earlier run, and not of this one."""

    def put(self, results: Sequence[tuple[TokenSequence, np.ndarray]]) -> None:
        """Keep what was read of sequences, in bits."""


def drawn_by_name(names: Iterable[tuple[int, str]], size: int) -> set[int]:
    """Choose some numbers by the digests of their names: for these always the same, in any order.

    The choice has nothing to do with what they are names of, as the statistics want it.
    """
    digests = (
        (hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest(), number)
        for number, name in names
    )
    return {number for _, number in heapq.nsmallest(size, digests)}


def second_reading(
    sequences: Sequence[TokenSequence],
    indices: Sequence[int],
    read: Callable[[Sequence[int]], Bits | None],
    mark: int,
    store: Store | None,
    world: World = ALONE,
) -> Bits | None:
    """Read some sequences a second time, each once in all processes and runs.

    Args:
        sequences: those of a plan.
        indices: the places of those that are read.
        read: reads some of them, all that fit into the memory; None where it cannot at all.
        mark: tells in the store what is read in this way from what is not.
        store, world: those of the run.

    Returns:
        What was read, in every process; None where one of them could not.
    """
    keys = [replace(sequences[index], ids=(*sequences[index].ids, mark)) for index in indices]
    counts = [key.count for key in keys]
    known = world.pooled([None] * len(keys) if store is None else store.get_many(keys), counts)
    missing = [place for place, bits in enumerate(known) if bits is None]
    own = {indices[place]: place for place in missing[world.rank :: world.size]}
    found = read(list(own)) if own else {}
    if world.agree([found is not None]) != [True] or found is None:
        return None
    for index, bits in found.items():
        known[own[index]] = bits
    if store is not None and found:
        store.put([(keys[own[index]], bits) for index, bits in found.items()])
    pairs = zip(indices, world.pooled(known, counts), strict=True)
    return {index: bits for index, bits in pairs if bits is not None}


def exactly(forward: Forward, work: Callable[[], Bits]) -> Bits | None:
    """Do some work of a half-precision model in float32; None where that cannot be had."""
    import numpy as np

    try:
        with forward.in_float32():
            found = work()
    except _FAILURES:
        return None
    return found if all(bool(np.isfinite(each).all()) for each in found.values()) else None
