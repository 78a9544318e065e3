"""Trials of what a model may read together, on the plan's own sequences, scored both ways.

Some models go on from a cache as if it were the text; some cannot, and some do so without a word
and wrongly (Mamba, FalconMamba and Jamba when the rest has more than one token). A window or a
length that no config tells of (:mod:`eval.models.limits`) would show in a text beside a longer one.
So every run finds out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coherencegym.eval.forward import packed, padded, shared
from coherencegym.eval.forward.logits import Forward
from coherencegym.eval.plan.batches import Batch
from coherencegym.eval.plan.plan import Plan
from coherencegym.eval.text.sequence import Sharing, TokenSequence

if TYPE_CHECKING:
    import numpy as np

#: Bits by which surprisals may differ in float32.
TOLERANCE = 1e-3
#: Elsewhere: so many times what batching alone makes of the same sequences.
_TIMES_NOISE = 3.0
#: Elsewhere what a longer neighbour may make of a text: rounding makes less, other positions more.
_GROSS = 0.5

#: What is said where a way of sharing fails.
_FAILS = {
    "packed": "it takes no attention mask of pairs ({})",
    "cache": "its cache cannot be handed on ({})",
}


@dataclass(frozen=True, slots=True)
class Trial:
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


def try_sharing(forward: Forward, plan: Plan, sharing: Sharing) -> Trial:
    """Run a batch or two of a plan with beginnings shared, and a few of their sequences without.

    Those sequences are run alone. All their tokens behind the shared beginning are compared, and
    what is read in it.

    Args:
        forward: the model.
        plan: one that shares.
        sharing: the way that is tried, in which the plan shares.
    """
    import numpy as np

    batches, compared = to_try(plan)
    sequences = list(plan.sequences)
    for index, prefix in compared.items():
        behind = tuple(range(prefix + 1, len(sequences[index].ids)))
        sequences[index] = sequences[index].united(TokenSequence(sequences[index].ids, behind))
    expected = {index: padded.alone(forward, sequences, index) for index in compared}
    backend = packed.run if sharing == "packed" else shared.run
    try:
        found = [backend(forward, sequences, plan.batches[number]) for number in batches]
    except shared.NoCacheError:
        return Trial(False, reason="it leaves no cache that can be handed on")
    except (TypeError, ValueError, IndexError, AttributeError, NotImplementedError) as error:
        return Trial(False, reason=_FAILS[sharing].format(_first_line(error)))
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise
        return Trial(False, reason=_FAILS[sharing].format(_first_line(error)))
    together = _by_index([plan.batches[number] for number in batches], found)
    tolerance = TOLERANCE
    if not forward.is_exact:
        most = max(len(each.indices) for each in plan.batches)
        tolerance = max(tolerance, _TIMES_NOISE * _noise(forward, sequences, expected, most))
    difference = max(float(np.abs(together[i] - expected[i]).max()) for i in compared)
    if not difference <= tolerance:
        return _refused(difference, tolerance)
    results = {
        number: [
            _read(plan.sequences[i], sequences[i], together[i])
            for i in plan.batches[number].indices
        ]
        for number in batches
    }
    return Trial(True, difference, tolerance, results=results)


@dataclass(frozen=True, slots=True)
class _Tried:
    """A group that shares a beginning of ``prefix`` tokens, in batch ``number``: what may be tried.

    ``shortest``, ``longest`` and ``last`` are places in the plan of the sequences that are
    compared: in a packed row the last one stands farthest from its beginning.
    """

    number: int
    prefix: int
    shortest: int
    longest: int
    last: int
    length: int
    unequal: int
    row: int

    @property
    def goes_on(self) -> bool:
        """Two tokens or more follow the beginning: one alone is what caches are made for."""
        return self.length - self.prefix >= 2


def to_try(plan: Plan) -> tuple[list[int], dict[int, int]]:
    """What to try of a plan that shares beginnings.

    The longest beginning (with two more tokens, where there are any), the most unequal lengths, the
    longest row, the longest text, and what comes closest to each of the model's limits, on both
    sides. Of each group its shortest, longest and last sequence are compared.

    Returns:
        The places of batches in the plan; and the sequences to compare, each with how many tokens
        it shares.
    """
    groups = list(_groups(plan))
    first = max(groups, key=lambda group: (group.goes_on, group.prefix, group.unequal))
    others = [group for group in groups if group is not first] or [first]
    chosen = [
        first,
        # Another one where it can be, as one group may be right by chance.
        max(others, key=lambda group: (group.unequal, group.goes_on, group.prefix)),
        max(groups, key=lambda group: group.row),
        max(groups, key=lambda group: group.length),
    ]
    for boundary in plan.limits.boundaries:
        within = [group for group in groups if group.length <= boundary]
        beyond = [group for group in groups if group.length > boundary]
        chosen += sorted(within, key=lambda group: group.length)[-1:]
        chosen += sorted(beyond, key=lambda group: group.length)[:1]
    compared = {
        index: group.prefix
        for group in chosen
        for index in (group.shortest, group.longest, group.last)
    }
    return sorted({group.number for group in chosen}), compared


def _groups(plan: Plan) -> Iterator[_Tried]:
    """The groups of a plan that share a beginning."""
    for number, batch in enumerate(plan.batches):
        if not batch.shares:
            continue
        for group, prefix in zip(batch.groups, batch.shared, strict=True):
            lengths = {index: plan.sequences[index].length for index in group}
            shortest, longest = (
                min(group, key=lengths.__getitem__),
                max(group, key=lengths.__getitem__),
            )
            yield _Tried(
                number,
                prefix,
                shortest,
                longest,
                group[-1],
                lengths[longest],
                lengths[longest] - lengths[shortest],
                prefix + sum(length - prefix for length in lengths.values()),
            )


def beside_longer(forward: Forward, plan: Plan) -> Trial | None:
    """Run batches without sharing in which a text is padded the most, and such texts alone.

    The most is meant in tokens, and as a share of the text.

    Returns:
        What came of it; None where no text stands beside a longer one.
    """
    import numpy as np

    padded_runs = [
        (number, index, batch.length, plan.sequences[index].length)
        for number, batch in enumerate(plan.batches)
        if not batch.shares
        for index in batch.indices
        if plan.sequences[index].length < batch.length
    ]
    if not padded_runs:
        return None
    chosen = {
        max(padded_runs, key=lambda entry: entry[2] - entry[3])[:2],
        max(padded_runs, key=lambda entry: entry[2] / entry[3])[:2],
    }
    numbers = sorted({number for number, _ in chosen})
    batches = {number: plan.batches[number] for number in numbers}
    results = {number: padded.run(forward, plan.sequences, batches[number]) for number in numbers}
    difference = max(
        float(np.abs(results[number][batches[number].indices.index(index)] - alone).max())
        for number, index in sorted(chosen)
        for alone in [padded.alone(forward, plan.sequences, index)]
    )
    tolerance = TOLERANCE if forward.is_exact else _GROSS
    if not difference <= tolerance:
        return _refused(difference, tolerance)
    return Trial(True, difference, tolerance, results=results)


def _refused(difference: float, tolerance: float) -> Trial:
    reason = f"it differs by {difference:.2g} bits where {tolerance:.2g} are allowed"
    return Trial(False, difference, tolerance, reason)


def _by_index(
    batches: Sequence[Batch], results: Sequence[Sequence[np.ndarray]]
) -> dict[int, np.ndarray]:
    """What came of each sequence of some batches."""
    return {
        index: values
        for batch, own in zip(batches, results, strict=True)
        for index, values in zip(batch.indices, own, strict=True)
    }


def _read(sequence: TokenSequence, tried: TokenSequence, bits: np.ndarray) -> np.ndarray:
    """The surprisals that are read of a sequence, from those of a trial that read more of it."""
    if sequence == tried:
        return bits
    place = {read: number for number, read in enumerate(tried.reads())}
    return bits[[place[read] for read in sequence.reads()]]


def _noise(
    forward: Forward, sequences: Sequence[TokenSequence], alone: Mapping[int, np.ndarray], most: int
) -> float:
    """The largest difference (bits) between a sequence alone and in a batch as large as real ones.

    Args:
        forward: the model.
        sequences: all sequences.
        alone: what came of those to try by themselves.
        most: sequences in the largest batch of the plan.
    """
    import numpy as np

    largest = 0.0
    sides: dict[int, list[int]] = {}
    for index in alone:
        sides.setdefault(forward.limits.side(sequences[index].length), []).append(index)
    for indices in sides.values():
        members = [*indices] * max(1, most // len(indices))
        longest = max(sequences[index].length for index in members)
        batch = Batch(tuple((index,) for index in members), 0, longest, 0)
        filled = padded.run(forward, sequences, batch)
        pairs = zip(indices, filled, strict=False)
        largest = max(largest, *(float(np.abs(alone[i] - bits).max()) for i, bits in pairs))
    return largest


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
