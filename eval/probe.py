"""Whether a model may share beginnings: tried on the plan's own sequences, scored both ways.

Some models go on from a cache as if it were the text; some cannot, and some do so without a word
and wrongly (Mamba, FalconMamba and Jamba when the rest has more than one token). Nothing in a
model's config says which, so every run finds out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval.backends import packed, padded, shared
from eval.backends.logits import Forward
from eval.batches import Batch, Run
from eval.plan import Plan, Sharing

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
    """

    passed: bool
    difference: float | None = None
    tolerance: float = TOLERANCE
    reason: str = ""


def probe(forward: Forward, plan: Plan, sharing: Sharing) -> Probe:
    """Score a few sequences of a plan with beginnings shared and without.

    They are those of the longest shared beginnings and of the most unequal lengths, with at least
    two tokens after the beginning where there are such; all of these tokens are compared.

    Args:
        forward: the model.
        plan: one that shares.
        sharing: the way that is tried, in which the plan shares.
    """
    import numpy as np

    runs, batch = trial(plan, sharing)
    longest = max(run.length for run in runs)
    apart = Batch(tuple((index,) for index in batch.runs), 0, longest, batch.head_rows)
    expected = np.concatenate(padded.run(forward, runs, apart))
    backend = packed.run if sharing == "packed" else shared.run
    try:
        found = np.concatenate(backend(forward, runs, batch))
    except shared.NoCacheError:
        return Probe(False, reason="it leaves no cache that can be handed on")
    except (TypeError, ValueError, IndexError, AttributeError, NotImplementedError) as error:
        return Probe(False, reason=_FAILS[sharing].format(_first_line(error)))
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise
        return Probe(False, reason=_FAILS[sharing].format(_first_line(error)))
    tolerance = TOLERANCE
    if not forward.is_exact:
        most = max(len(each.runs) for each in plan.batches)
        tolerance = max(tolerance, _TIMES_NOISE * _noise(forward, runs, batch.runs, most))
    difference = float(np.abs(found - expected).max())
    if difference <= tolerance:
        return Probe(True, difference, tolerance)
    return Probe(
        False,
        difference,
        tolerance,
        f"it differs by {difference:.2g} bits where {tolerance:.2g} are allowed",
    )


def trial(plan: Plan, sharing: Sharing) -> tuple[list[Run], Batch]:
    """The sequences to try: of each group the shortest and the longest, read after the beginning.

    Returns:
        New runs, and one batch of all of them.
    """
    groups = [
        pair
        for batch in plan.batches
        if batch.shares
        for pair in zip(batch.shared, batch.groups, strict=True)
    ]

    def lengths(group: Sequence[int]) -> list[int]:
        return sorted(plan.runs[index].length for index in group)

    def rank(entry: tuple[int, tuple[int, ...]]) -> tuple[bool, int, int]:
        prefix, group = entry
        long_enough = lengths(group)[-1] - prefix >= 2
        return (long_enough, prefix, lengths(group)[-1] - lengths(group)[0])

    ranked = sorted(groups, key=rank, reverse=True)
    chosen = ranked[:2]
    spread = max(ranked, key=lambda entry: lengths(entry[1])[-1] - lengths(entry[1])[0])
    ends = {length for _, group in chosen for length in lengths(group)}
    if len(ends) == 1 and spread not in chosen:
        chosen.append(spread)
    cut = min(prefix for prefix, _ in chosen)
    runs: list[Run] = []
    members: list[tuple[int, ...]] = []
    for _, group in chosen:
        ordered = sorted(group, key=lambda index: plan.runs[index].length)
        ids = [plan.runs[index].ids for index in (ordered[0], ordered[-1])]
        members.append((len(runs), len(runs) + 1))
        runs += [Run(each, tuple(range(cut + 1, len(each)))) for each in ids]
    rows = sum(len(run.positions) for run in runs)
    if sharing == "cache":
        return runs, Batch(tuple(members), cut, max(run.length for run in runs), rows)
    prefixes = tuple(
        min(prefix, *(runs[i].length - 1 for i in pair))
        for (prefix, _), pair in zip(chosen, members, strict=True)
    )
    lengths_of_rows = [
        prefix + sum(runs[index].length - prefix for index in pair)
        for prefix, pair in zip(prefixes, members, strict=True)
    ]
    return runs, Batch(tuple(members), 0, max(lengths_of_rows), rows, prefixes)


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
