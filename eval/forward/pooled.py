"""Hidden states of sequences, pooled to vectors, in batches.

A batch changes the last digits of a vector, as kernels of other shapes sum in another order; where
it changes more, texts are read alone. Rounded to half precision, a vector may fall on the next
number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from coherencegym.eval.forward.memory import in_memory_of, out_of_memory
from coherencegym.eval.models.in_memory import Body
from coherencegym.eval.models.limits import UNLIMITED, Limits
from coherencegym.eval.plan.plan import Batch, Budget, make_batches
from coherencegym.eval.plan.requests import PooledSequence

if TYPE_CHECKING:
    import numpy as np

#: Most that a text beside a longer one may differ from the text alone, as a part of the largest
#: number of its vectors: in float32, and where rounding alone makes more.
_TOLERANCE, _GROSS = 1e-4, 5e-2


def read_pooled(
    body: Body,
    sequences: Sequence[PooledSequence],
    layers: Sequence[int],
    budget: Budget,
    *,
    padding: int = 0,
    limits: Limits = UNLIMITED,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[list[PooledSequence], list[np.ndarray]]]:
    """Read sequences, the longest first, and give them with their vectors batch by batch.

    These are an array for each layer that is wanted, of shape (spans of all of them, width).

    Args:
        body: the model.
        sequences: token ids with the spans whose means are wanted.
        layers: numbers of layers.
        budget: most that a batch may take to begin with; half of it where the memory ends.
        padding: the id that fills up a row; it is read, if at all, behind the text.
        limits: those of the model.
        progress: called after each batch with the tokens read and the tokens of all batches.
    """
    plain = [each.sequence for each in sequences]

    def batched(indices: Sequence[int]) -> list[Batch]:
        found = make_batches(plain, [[n] for n in indices], budget, sharing="none", limits=limits)
        return list(reversed(found))

    queue = batched(range(len(sequences)))
    if not _reads_alike(body, sequences, queue, padding):
        budget = budget.scaled(1)
        queue = batched(range(len(sequences)))
    done = 0
    while queue:
        batch = queue.pop()
        members = [sequences[index] for index in batch.indices]
        work = partial(_pooled_states, body, members, layers, padding)
        vectors = in_memory_of(body.device, work)
        if vectors is None:
            smaller = budget.halved()
            if len(members) == 1 or smaller is None:
                raise out_of_memory(batch.length)
            budget = smaller
            queue = batched([index for each in (batch, *queue) for index in each.indices])
            continue
        done += batch.padded_tokens
        if progress is not None:
            progress(done, done + sum(each.padded_tokens for each in queue))
        yield members, vectors


def _reads_alike(
    body: Body, sequences: Sequence[PooledSequence], batches: Sequence[Batch], padding: int
) -> bool:
    # The text that is padded the most has the vectors that it has alone.
    padded = [
        (batch.length / len(sequences[index].ids), -batch.padded_tokens, number, index)
        for number, batch in enumerate(batches)
        for index in batch.indices
        if len(sequences[index].ids) < batch.length
    ]
    if not padded:
        return True
    *_, number, index = max(padded)
    indices = batches[number].indices
    longest = max(indices, key=lambda other: len(sequences[other].ids))
    last = [body.layers]

    def read(*members: int) -> np.ndarray:
        own = [sequences[member] for member in members]
        return _pooled_states(body, own, last, padding)[0][: len(sequences[index].token_ranges)]

    # The longest beside it pads it as much as all of the batch.
    both = in_memory_of(body.device, lambda: (read(index, longest), read(index)))
    if both is None:
        return True
    together, alone = both
    scale = max(1.0, float(abs(alone).max()))
    tolerance = _TOLERANCE if body.is_exact else _GROSS
    # No number is for whoever looks at all of them.
    return not float(abs(together - alone).max()) > tolerance * scale


def _pooled_states(
    body: Body, members: Sequence[PooledSequence], layers: Sequence[int], padding: int
) -> list[np.ndarray]:
    # (spans of all sequences, width) for each layer, of float32, or of float64 where the model's
    # states are.
    import torch

    length = max(len(member.ids) for member in members)
    ids = torch.full((len(members), length), padding)
    mask = None if body.causal else torch.zeros((len(members), length), dtype=torch.long)
    places, sizes = [], []
    for row, member in enumerate(members):
        ids[row, : len(member.ids)] = torch.tensor(member.ids)
        if mask is not None:
            mask[row, : len(member.ids)] = 1
        for start, end in member.token_ranges:
            places.append(torch.arange(row * length + start, row * length + end))
            sizes.append(end - start)
    index, lengths = torch.cat(places), torch.tensor(sizes)
    vectors = []
    with torch.inference_mode():
        states = body.hidden_states(ids, mask)
        for number in layers:
            layer = states[number].reshape(-1, body.width)
            own = layer.index_select(0, index.to(layer.device))
            own = own if own.dtype == torch.float64 else own.float()
            if len(index) > len(lengths):
                own = torch.segment_reduce(own, "mean", lengths=lengths.to(layer.device))
            vectors.append(own.cpu().numpy())
    return vectors
