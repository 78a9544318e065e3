"""How exact the numbers of a run are: the same texts in float32, and what the format made of them.

In half precision every layer rounds, and how a text is batched changes the rounding. Some texts are
run a second time with the same weights in float32; a difference between two conditions that is
smaller than what this shows is too close to call. That a text gives the same number alone and in a
batch would say nothing: on a CPU bfloat16 repeats itself to the bit and is off all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherencegym.eval.forward import padded
from coherencegym.eval.forward.logits import Forward
from coherencegym.eval.forward.widened import in_float32
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import numpy as np

#: Sequences that are run a second time.
_SAMPLE = 16
#: The order in which the errors stand where they are stored.
METRICS = ("mean", "sum", "token")


@dataclass(frozen=True)
class NumericError:
    """By how much (bits) two values of one region may differ by rounding, as far as a sample shows.

    Attributes:
        bits: shape (3,), in the order of :data:`METRICS`.
        widened: it was measured against float32; else, where a model cannot compute in it, against
            the same texts alone, which shows less than there is.
    """

    bits: np.ndarray
    widened: bool = True


def measured_error(
    forward: Forward,
    sequences: Sequence[TokenSequence],
    bits: Sequence[np.ndarray],
    ran: Sequence[int],
) -> NumericError:
    """Measure the error of half precision on a sample.

    Twice the largest difference between a sequence in float32 and as it was run, as a comparison
    has two sides: of the mean over what is read, of their sum, and of one token.

    Args:
        forward: the model.
        sequences: all sequences of a plan.
        bits: what was read of them.
        ran: indices of those that were run now, from which a sample is taken.
    """
    import numpy as np

    step = max(1, len(ran) // _SAMPLE)
    sample = sorted(ran)[::step][:_SAMPLE]
    try:
        with in_float32(forward.model):
            again = [padded.alone(forward, sequences, index) for index in sample]
        widened = all(bool(np.isfinite(values).all()) for values in again)
    except (RuntimeError, MemoryError, TypeError, ValueError, AttributeError):
        # Layers of its own that know one number format, weights that are elsewhere, or no memory.
        widened = False
    if not widened:
        again = [padded.alone(forward, sequences, index) for index in sample]
    errors = np.zeros(len(METRICS))
    for index, values in zip(sample, again, strict=True):
        difference = values - bits[index]
        found = [abs(difference.mean()), abs(difference.sum()), np.abs(difference).max()]
        errors = np.maximum(errors, found)
    return NumericError(2 * errors, widened)


def error_of(errors: Mapping[str, float], metric: str) -> float:
    """The error (bits) of a metric's values; 0 where none was measured."""
    return errors.get(metric, errors.get("token", 0.0))
