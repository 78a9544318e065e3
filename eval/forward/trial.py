"""Trials of what a model may read together, on the plan's own sequences, scored both ways.

Some models go on from a cache as if it were the text; some cannot, and some do so without a word
and wrongly (Mamba, FalconMamba and Jamba when the rest has more than one token). A window or a
length that no config tells of (:mod:`eval.models.limits`) would show in a text beside a longer one.
So every run finds out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coherencegym.errors import first_line
from coherencegym.eval.forward.backends import NoCacheError, run_alone, run_batch
from coherencegym.eval.forward.logits import Forward
from coherencegym.eval.forward.memory import is_out_of_memory
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

#: Messages where a way of sharing fails.
_FAILS = {
    "packed": "it takes no attention mask of pairs ({})",
    "cache": "its cache cannot be handed on ({})",
}


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial.

    Attributes:
        passed: beginnings may be shared.
        difference: the largest difference (bits) between both ways; None where the model cannot
            share at all.
        tolerance: most that it may be, in bits.
        reason: a line for people where they may not, else empty.
        results: surprisals of each batch that was tried, by its place in the plan, where they may:
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
    numbers, compared = to_try(plan)
    sequences = list(plan.sequences)
    for index, prefix in compared.items():
        behind = tuple(range(prefix + 1, len(sequences[index].ids)))
        sequences[index] = sequences[index].united(TokenSequence(sequences[index].ids, behind))
    alone = {index: run_alone(forward, sequences, index) for index in compared}
    together: dict[int, np.ndarray] = {}
    try:
        for number in numbers:
            batch = plan.batches[number]
            together.update(zip(batch.indices, run_batch(forward, sequences, batch), strict=True))
    except NoCacheError:
        return Trial(False, reason="it leaves no cache that can be handed on")
    except (TypeError, ValueError, IndexError, AttributeError, RuntimeError) as error:
        if is_out_of_memory(error):
            raise
        return Trial(False, reason=_FAILS[sharing].format(_said(error)))
    tolerance = TOLERANCE
    if not forward.is_exact:
        most = max(len(batch.indices) for batch in plan.batches)
        tolerance = max(tolerance, _TIMES_NOISE * _noise(forward, sequences, alone, most))
    results = {
        number: [
            _read(plan.sequences[index], sequences[index], together[index])
            for index in plan.batches[number].indices
        ]
        for number in numbers
    }
    return _judged(((together[index], alone[index]) for index in compared), tolerance, results)


def _judged(
    pairs: Iterable[tuple[np.ndarray, np.ndarray]],
    tolerance: float,
    results: Mapping[int, list[np.ndarray]],
) -> Trial:
    """The result of a trial with surprisals read one way and the other."""
    import numpy as np

    difference = max(float(np.abs(one - other).max()) for one, other in pairs)
    # No number is no pass either.
    if difference <= tolerance:
        return Trial(True, difference, tolerance, results=results)
    reason = f"it differs by {difference:.2g} bits where {tolerance:.2g} are allowed"
    return Trial(False, difference, tolerance, reason)


@dataclass(frozen=True, slots=True)
class _Group:
    """A group that shares a beginning of ``prefix`` tokens, in batch ``number``: what may be tried.

    ``lengths`` are by the places in the plan of its sequences, in their order.
    """

    number: int
    prefix: int
    lengths: Mapping[int, int]

    @property
    def length(self) -> int:
        return max(self.lengths.values())

    @property
    def unequal(self) -> int:
        return self.length - min(self.lengths.values())

    @property
    def row(self) -> int:
        return self.prefix + sum(length - self.prefix for length in self.lengths.values())

    @property
    def goes_on(self) -> bool:
        """Two tokens or more follow the beginning: one alone is what caches are made for."""
        return self.length - self.prefix >= 2

    @property
    def compared(self) -> tuple[int, int, int]:
        """The shortest, the longest and the last, which stands farthest off in a packed row."""
        by_length = self.lengths.__getitem__
        *_, last = self.lengths
        return min(self.lengths, key=by_length), max(self.lengths, key=by_length), last


def to_try(plan: Plan) -> tuple[list[int], dict[int, int]]:
    """Choose what to try of a plan that shares beginnings.

    The longest beginning (with two more tokens, where there are any), the most unequal lengths, the
    longest row, the longest text, and what comes closest to each of the model's limits, on both
    sides. Of each group its shortest, longest and last sequence are compared.

    Returns:
        The places of batches in the plan; and the sequences to compare, each with how many tokens
        it shares.
    """
    groups = _groups(plan)
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
        by_length = sorted(groups, key=lambda group: group.length)
        chosen += [group for group in by_length if group.length <= boundary][-1:]
        chosen += [group for group in by_length if group.length > boundary][:1]
    compared = {index: group.prefix for group in chosen for index in group.compared}
    return sorted({group.number for group in chosen}), compared


def _groups(plan: Plan) -> list[_Group]:
    return [
        _Group(number, prefix, {index: plan.sequences[index].length for index in group})
        for number, batch in enumerate(plan.batches)
        if batch.shares
        for group, prefix in zip(batch.groups, batch.shared, strict=True)
    ]


def beside_longer(forward: Forward, plan: Plan) -> Trial | None:
    """Run batches without sharing in which a text is padded the most, and such texts alone.

    The most is meant in tokens, and as a share of the text.

    Returns:
        What came of it; None where no text stands beside a longer one.
    """
    padded = [
        (number, index, batch.length, plan.sequences[index].length)
        for number, batch in enumerate(plan.batches)
        if not batch.shares
        for index in batch.indices
        if plan.sequences[index].length < batch.length
    ]
    if not padded:
        return None
    chosen = {
        max(padded, key=lambda entry: entry[2] - entry[3])[:2],
        max(padded, key=lambda entry: entry[2] / entry[3])[:2],
    }
    results = {
        number: run_batch(forward, plan.sequences, plan.batches[number])
        for number in sorted({number for number, _ in chosen})
    }
    pairs = (
        (
            results[number][plan.batches[number].indices.index(index)],
            run_alone(forward, plan.sequences, index),
        )
        for number, index in sorted(chosen)
    )
    return _judged(pairs, TOLERANCE if forward.is_exact else _GROSS, results)


def _read(sequence: TokenSequence, tried: TokenSequence, bits: np.ndarray) -> np.ndarray:
    """The surprisals that are read of a sequence, from those of a trial that read more of it."""
    if sequence == tried:
        return bits
    place = {read: number for number, read in enumerate(tried.reads())}
    return bits[[place[read] for read in sequence.reads()]]


def _noise(
    forward: Forward, sequences: Sequence[TokenSequence], alone: Mapping[int, np.ndarray], most: int
) -> float:
    """The largest difference (bits) between a sequence alone and in a batch of ``most`` or so."""
    import numpy as np

    largest = 0.0
    sides: dict[int, list[int]] = {}
    for index in alone:
        sides.setdefault(forward.limits.side(sequences[index].length), []).append(index)
    for indices in sides.values():
        members = [*indices] * max(1, most // len(indices))
        longest = max(sequences[index].length for index in members)
        batch = Batch(tuple((index,) for index in members), 0, longest, 0)
        pairs = zip(indices, run_batch(forward, sequences, batch), strict=False)
        largest = max(largest, *(float(np.abs(alone[i] - bits).max()) for i, bits in pairs))
    return largest


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {first_line(error)}"[:120]
