"""Agreement of two ways of running the same texts, to the precision of the run.

In float32 they do where no surprisal differs by more than :data:`TOLERANCE`. In half precision
every way of running rounds otherwise, whether a beginning is shared or not. So the question is
asked in float32, with the same weights, at the same tolerance: a cache that is gone on from wrongly
shows there however much half precision rounds. Measured on a CPU over 25 seeds of eight
architectures in bfloat16 and float16 (GPT-2, Llama, OPT, GPT-NeoX, Cohere, Granite, windows of
Mistral and Gemma 2; packed and from a cache; 12 to 24 texts), half of the texts were off float32 by
1.00 times as much with sharing as without (the median over 800 trials). A beginning that is shared
is kept in the format in which attention reads it anyway, so that no part of it needs more
precision.

In half precision every layer rounds, and how a text is batched changes the rounding. Some texts are
run a second time with the same weights in float32; what a task makes of both shows by how much its
own numbers may be off (:mod:`eval.tasks.score.scoring`). That a text gives the same number alone
and in a batch would say nothing: on a CPU bfloat16 repeats itself to the bit and is off all the
same.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from coherencegym.eval.forward.logits import Forward
from coherencegym.eval.forward.passes import MODEL_ERRORS, CannotShareError
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import numpy as np

#: Surprisals (bits) of sequences, by their places in a plan.
Bits = Mapping[int, "np.ndarray"]
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


def exactly(forward: Forward, work: Callable[[], Bits]) -> Bits | None:
    """Do some work of a half-precision model in float32; None where that cannot be had."""
    import numpy as np

    try:
        with forward.in_float32():
            found = work()
    except _FAILURES:
        return None
    return found if all(bool(np.isfinite(each).all()) for each in found.values()) else None


#: Bits by which surprisals may differ in float32: what is promised of every run.
TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial.

    Attributes:
        passed: texts may be run in the way that was tried.
        difference: the largest difference (bits) between both ways, in float32 wherever that could
            be had; None where it could not, and where the model cannot go that way at all.
        tolerance: most that it may be, in bits.
        reason: a line for people where they may not, else empty.
        results: surprisals of each batch that was tried, by its place in the plan, where they may:
            it need not be run again.
        longest: tokens of the longest text, or row of one text, that was run in both ways.
    """

    passed: bool
    difference: float | None = None
    tolerance: float = TOLERANCE
    reason: str = ""
    results: Mapping[int, list[np.ndarray]] = field(default_factory=dict, repr=False)
    longest: int = 0


def alike_within(
    pairs: Iterable[tuple[np.ndarray, np.ndarray]], tolerance: float = TOLERANCE
) -> Trial:
    """The result of a trial with surprisals read one way and the other."""
    import numpy as np

    difference = max((float(np.abs(one - other).max()) for one, other in pairs), default=0.0)
    # No number is no pass either.
    if difference <= tolerance:
        return Trial(True, difference, tolerance)
    reason = f"a surprisal changes by {difference:.2g} bits, where {tolerance:.2g} are allowed"
    return Trial(False, difference, tolerance, reason)
