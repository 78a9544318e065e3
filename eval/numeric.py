"""How exact the numbers of a run are: what the number format makes of the same sequence twice.

In half precision a sequence that is run alone and one that is run in a batch differ by more than
rounding in the last place. Some sequences are run both ways; a difference between two conditions
that is smaller than what this shows is too close to call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from eval.backends import padded
from eval.backends.logits import Forward
from eval.batches import Batch
from eval.sequence import Run

if TYPE_CHECKING:
    import numpy as np

#: Sequences that are run a second time.
_SAMPLE = 8
#: The order in which the errors stand where they are stored.
METRICS = ("mean", "sum", "token")


def measured_error(
    forward: Forward, runs: Sequence[Run], bits: Sequence[np.ndarray], ran: Sequence[int]
) -> np.ndarray:
    """By how much (bits) two values of one region may differ, as far as a sample shows.

    Twice the largest difference between a sequence alone and in its batch, as a comparison has two
    sides: of the mean over its positions, of their sum, and of one token.

    Args:
        forward: the model.
        runs: all runs of a plan.
        bits: their surprisals at their positions.
        ran: indices of those that were run now, from which a sample is taken.

    Returns:
        Shape (3,), in the order of :data:`METRICS`.
    """
    import numpy as np

    step = max(1, len(ran) // _SAMPLE)
    errors = np.zeros(len(METRICS))
    for index in sorted(ran)[::step][:_SAMPLE]:
        run = runs[index]
        batch = Batch(((index,),), 0, run.length, len(run.positions))
        difference = padded.run(forward, runs, batch)[0] - bits[index]
        values = [abs(difference.mean()), abs(difference.sum()), np.abs(difference).max()]
        errors = np.maximum(errors, values)
    return 2 * errors


def error_of(errors: Mapping[str, float], metric: str) -> float:
    """The error (bits) of a metric's values; 0 where none was measured."""
    return errors.get(metric, errors.get("token", 0.0))
