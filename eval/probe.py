"""Whether a model may share beginnings: tried on the plan's own sequences, scored both ways.

Some models go on from a cache as if it were the text; some cannot, and some do so without a word
and wrongly (Mamba, FalconMamba and Jamba when the rest has more than one token). Nothing in a
model's config says which, so every run finds out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eval.backends import packed, padded, shared
from eval.backends.logits import Forward
from eval.batches import Batch, Budget, make_batches
from eval.plan import Plan, Sharing
from eval.sequence import Run

if TYPE_CHECKING:
    import numpy as np

#: Bits by which surprisals may differ in float32.
TOLERANCE = 1e-3
#: Elsewhere: so many times what batching alone makes of the same sequences.
_TIMES_NOISE = 3.0

#: What is said where a way of sharing fails.
_FAILS = {
    "packed": "it takes no attention mask of pairs ({})",
    "cache": "its cache cannot be handed on ({})",
}


@dataclass(frozen=True, slots=True)
class Probe:
    """What came of the trial.

    Attributes:
        passed: beginnings may be shared.
        difference: the largest difference (bits) between both ways; None where the model cannot
            share at all.
        tolerance: what it may be, in bits.
        reason: why not, for people; empty where they may.
        results: where they may, what came of each batch that was tried, by its place in the plan:
            it need not be run again.
    """

    passed: bool
    difference: float | None = None
    tolerance: float = TOLERANCE
    reason: str = ""
    results: Mapping[int, list[np.ndarray]] = field(default_factory=dict, repr=False)


def probe(forward: Forward, plan: Plan, budget: Budget, sharing: Sharing) -> Probe:
    """Run a batch or two of a plan with beginnings shared, and a few of their sequences without.

    Of those sequences all tokens behind the shared beginning are compared, and what is read in it.

    Args:
        forward: the model.
        plan: one that shares.
        budget: what a batch may take.
        sharing: the way that is tried, in which the plan shares.
    """
    import numpy as np

    batches, compared = trial(plan)
    runs = list(plan.runs)
    for index, prefix in compared.items():
        behind = range(prefix + 1, len(runs[index].ids))
        runs[index] = Run(runs[index].ids, tuple(sorted({*runs[index].positions, *behind})))
    apart = make_batches(runs, [(index,) for index in compared], budget, sharing="none")
    expected = _by_run(apart, [padded.run(forward, runs, batch) for batch in apart])
    backend = packed.run if sharing == "packed" else shared.run
    try:
        found = [backend(forward, runs, plan.batches[number]) for number in batches]
    except shared.NoCacheError:
        return Probe(False, reason="it leaves no cache that can be handed on")
    except (TypeError, ValueError, IndexError, AttributeError, NotImplementedError) as error:
        return Probe(False, reason=_FAILS[sharing].format(_first_line(error)))
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise
        return Probe(False, reason=_FAILS[sharing].format(_first_line(error)))
    together = _by_run([plan.batches[number] for number in batches], found)
    tolerance = TOLERANCE
    if not forward.is_exact:
        most = max(len(each.runs) for each in plan.batches)
        tolerance = max(tolerance, _TIMES_NOISE * _noise(forward, runs, list(compared), most))
    difference = max(float(np.abs(together[i] - expected[i]).max()) for i in compared)
    if not difference <= tolerance:
        return Probe(
            False,
            difference,
            tolerance,
            f"it differs by {difference:.2g} bits where {tolerance:.2g} are allowed",
        )
    results = {
        number: [_read(plan.runs[i], runs[i], together[i]) for i in plan.batches[number].runs]
        for number in batches
    }
    return Probe(True, difference, tolerance, results=results)


def trial(plan: Plan) -> tuple[list[int], dict[int, int]]:
    """What to try: where the longest beginning is shared, and where the most unequal lengths are.

    Preferred are beginnings of at least two more tokens. Of a group that shares one, its shortest
    and its longest run are compared.

    Returns:
        The places of batches in the plan; and the runs to compare, each with how many tokens it
        shares.
    """
    groups = [
        (number, prefix, sorted(group, key=lambda index: plan.runs[index].length))
        for number, batch in enumerate(plan.batches)
        if batch.shares
        for group, prefix in zip(batch.groups, batch.shared, strict=True)
    ]

    def unequal(entry: tuple[int, int, list[int]]) -> int:
        *_, group = entry
        return plan.runs[group[-1]].length - plan.runs[group[0]].length

    def longest(entry: tuple[int, int, list[int]]) -> tuple[bool, int, int]:
        _, prefix, group = entry
        return (plan.runs[group[-1]].length - prefix >= 2, prefix, unequal(entry))

    first, *others = sorted(groups, key=longest, reverse=True)
    second = max(others, key=unequal, default=first)
    if others and unequal(second) <= unequal(first):
        second = others[0]
    chosen = (first, second)
    compared = {index: prefix for _, prefix, group in chosen for index in (group[0], group[-1])}
    return sorted({number for number, *_ in chosen}), compared


def _by_run(
    batches: Sequence[Batch], results: Sequence[Sequence[np.ndarray]]
) -> dict[int, np.ndarray]:
    """What came of each run of some batches."""
    return {
        index: values
        for batch, own in zip(batches, results, strict=True)
        for index, values in zip(batch.runs, own, strict=True)
    }


def _read(run: Run, tried: Run, bits: np.ndarray) -> np.ndarray:
    """The surprisals at a run's own positions, from those of a trial that read more of it."""
    if run.positions == tried.positions:
        return bits
    place = {position: number for number, position in enumerate(tried.positions)}
    return bits[[place[position] for position in run.positions]]


def _noise(forward: Forward, runs: Sequence[Run], indices: Sequence[int], most: int) -> float:
    """The largest difference (bits) between a sequence alone and in a batch as large as real ones.

    Args:
        forward: the model.
        runs: the sequences to try.
        indices: all of them.
        most: sequences in the largest batch of the plan.
    """
    import numpy as np

    def together(members: Sequence[int]) -> list[np.ndarray]:
        longest = max(runs[index].length for index in members)
        batch = Batch(tuple((index,) for index in members), 0, longest, 0)
        return padded.run(forward, runs, batch)

    filled = together([*indices] * max(1, most // len(indices)))[: len(indices)]
    alone = [together([index])[0] for index in indices]
    return float(np.abs(np.concatenate(alone) - np.concatenate(filled)).max())


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device or the machine had no memory left."""
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in text or "can't allocate memory" in text
    )


def _first_line(error: BaseException) -> str:
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text}"[:120]
