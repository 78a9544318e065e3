"""Exactness of a run's numbers: the same texts in float32, and what the format made of them.

In half precision every layer rounds, and how a text is batched changes the rounding. Some texts are
run a second time with the same weights in float32; a difference between two conditions that is
smaller than what this shows is too close to call. That a text gives the same number alone and in a
batch would say nothing: on a CPU bfloat16 repeats itself to the bit and is off all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from coherencegym.eval.forward.backends import run_alone
from coherencegym.eval.forward.logits import Forward
from coherencegym.eval.forward.memory import in_memory_of
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import numpy as np

#: Surprisals (bits) of sequences, by their places in a plan.
Bits = Mapping[int, "np.ndarray"]
#: Sequences that are run a second time.
_SAMPLE = 16
#: Names of the errors, in the order in which they are stored.
ERRORS = ("mean", "sum", "token")


def unless_finite(dtype: object) -> str:
    """Advice where a model of this number format gives a number that is not finite."""
    if str(dtype).removeprefix("torch.") in ("float32", "float64"):
        return "expected another revision or copy of the model, as it is in float32 already"
    return "try --dtype float32"


def measured_error(
    forward: Forward,
    sequences: Sequence[TokenSequence],
    bits: Sequence[np.ndarray],
    ran: Sequence[int],
) -> tuple[np.ndarray, bool]:
    """Measure the error of half precision on a sample.

    Args:
        forward: the model.
        sequences: all sequences of a plan.
        bits: their surprisals as they were run.
        ran: indices of those that were run now, from which a sample is taken.

    Returns:
        Twice the largest difference (bits) between a sequence in float32 and as it was run, as a
        comparison has two sides, in the order of :data:`ERRORS`: of the mean over what is read, of
        their sum, and of one token. And whether it was measured against float32; else, where a
        model cannot compute in it, against the same texts alone, which shows less than there is.
    """
    import numpy as np

    step = max(1, len(ran) // _SAMPLE)
    sample = sorted(ran)[::step][:_SAMPLE]

    def alone() -> Bits:
        # What had to be read in parts, as memory ended, does not fit here either.
        work = {index: partial(run_alone, forward, sequences, index) for index in sample}
        found = {index: in_memory_of(forward.device, own) for index, own in work.items()}
        return {index: values for index, values in found.items() if values is not None}

    exact = exactly(forward, alone)
    # None of them may fit in float32.
    widened = exact is not None and bool(exact or not sample)
    errors = np.zeros(len(ERRORS))
    for index, values in (exact if exact and widened else alone()).items():
        difference = values - bits[index]
        found = [abs(difference.mean()), abs(difference.sum()), np.abs(difference).max()]
        errors = np.maximum(errors, found)
    return 2 * errors, widened


def exactly(forward: Forward, work: Callable[[], Bits]) -> Bits | None:
    """Do some work of a half-precision model in float32; None where that cannot be had."""
    import numpy as np

    try:
        with forward.in_float32():
            found = work()
    except (RuntimeError, MemoryError, TypeError, ValueError, AttributeError):
        # Layers of its own that know one number format, weights that are elsewhere, or no memory.
        return None
    return found if all(bool(np.isfinite(each).all()) for each in found.values()) else None


def error_of(errors: Mapping[str, float], metric: str) -> float:
    """The error (bits) of a metric's values; 0 where none was measured."""
    return errors.get(metric, errors.get("token", 0.0))
