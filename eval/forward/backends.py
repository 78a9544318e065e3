"""The ways in which a batch goes through a model: padded, from a cache, or packed.

Padded batches are for any language model; one that sees all of a row is told what is text. Shared
beginnings are what the conditions of an item begin with alike and goes through the model once, in
one of two ways; whether a model takes them is for :mod:`eval.forward.trial` to find out.

*From a cache*: the beginnings of several items are cut to one length, so that nothing in them is
padding: then no mask and no positions are needed, and models with sliding windows or relative
positions go on from the cache as from the text itself.

*Packed*: the beginning of an item once, and behind it the rest of each text, in one row. Every rest
has the positions that it has in its own text, and sees the beginning and itself and nothing else,
as far as the model's windows reach. So a batch is one forward pass over rows of like length, which
keeps the multiplier busy where keys and values handed on make small batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coherencegym.eval.forward.logits import Forward, Questions
from coherencegym.eval.plan.batches import Batch
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import numpy as np
    import torch


class NoCacheError(Exception):
    """The model leaves nothing behind that its next pass could go on from."""


def run_batch(
    forward: Forward, sequences: Sequence[TokenSequence], batch: Batch
) -> list[np.ndarray]:
    """Run a batch in the way that it asks for.

    Args:
        forward: the model.
        sequences: all sequences of the plan.
        batch: some of them.

    Returns:
        For each sequence of the batch, in order, what is read of it (bits, float64).

    Raises:
        NoCacheError: the batch goes on from a cache, and the model has none.
    """
    import torch

    run = _packed if batch.prefixes else _from_cache if batch.prefix else _padded
    with torch.inference_mode():
        return run(forward, sequences, batch)


def run_alone(forward: Forward, sequences: Sequence[TokenSequence], index: int) -> np.ndarray:
    """Run one sequence by itself: its surprisals (bits, float64)."""
    sequence = sequences[index]
    batch = Batch(((index,),), 0, sequence.length, len(sequence.places))
    return run_batch(forward, sequences, batch)[0]


def _padded(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> list[np.ndarray]:
    members = [sequences[index] for index in batch.indices]
    questions = Questions(len(members), batch.length)
    asked = [
        [questions.want(row, place, token) for place, token in member.reads()]
        for row, member in enumerate(members)
    ]
    ids, more = _rests(members, 0, batch.length, forward.padding or 0), {}
    # Attention without a mask is the faster, and rows of one text need none.
    if forward.is_told and any(one.length < batch.length for one in members):
        more["attention_mask"] = _texts(members, batch.length).to(forward.device)
    bits, _ = forward.read(ids, questions, **more)
    return [bits[places] for places in asked]


def _from_cache(
    forward: Forward, sequences: Sequence[TokenSequence], batch: Batch
) -> list[np.ndarray]:
    import numpy as np
    import torch

    cut = batch.prefix
    beginnings = torch.tensor([sequences[group[0]].ids[:cut] for group in batch.groups])
    members = [sequences[index] for index in batch.indices]
    owners = [number for number, group in enumerate(batch.groups) for _ in group]
    # A row of the beginning may predict several tokens: the first ones of what follows it. What
    # all sequences of a group read within it is read once.
    within = Questions(len(batch.groups), cut)
    behind = Questions(len(members), batch.length - cut)
    asked = [
        [
            (True, within.want(owner, place, token))
            if place < cut
            else (False, behind.want(row, place - cut, token))
            for place, token in member.reads()
        ]
        for row, (owner, member) in enumerate(zip(owners, members, strict=True))
    ]
    # A forward pass without a row is untried ground for many models.
    within.need_some_row()
    first, cache = forward.read(beginnings, within, keep_cache=True)
    if not hasattr(cache, "reorder_cache"):
        raise NoCacheError
    cache.reorder_cache(torch.tensor(owners, device=forward.device))
    second, _ = forward.read(_rests(members, cut, batch.length), behind, cache=cache)
    return [
        np.array([(first if is_within else second)[number] for is_within, number in places])
        for places in asked
    ]


def _rests(
    members: Sequence[TokenSequence], cut: int, length: int, padding: int = 0
) -> torch.Tensor:
    """Token ids from ``cut`` on, one sequence a row, padded to ``length``."""
    import torch

    # Padding is a token id like any other: it is told apart by position, never by id.
    ids = torch.full((len(members), length - cut), padding, dtype=torch.long)
    for row, member in enumerate(members):
        ids[row, : member.length - cut] = torch.tensor(member.seen[cut : member.length])
    return ids


def _texts(members: Sequence[TokenSequence], length: int) -> torch.Tensor:
    """1 where a text stands in its row and 0 behind it, shape (B, ``length``)."""
    import torch

    lengths = torch.tensor([member.length for member in members])
    return (torch.arange(length) < lengths[:, None]).long()


def _packed(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> list[np.ndarray]:
    import numpy as np
    import torch

    count, length = len(batch.groups), batch.length
    ids = np.zeros((count, length), dtype=np.int64)
    positions = np.zeros((count, length), dtype=np.int64)
    # Padding sees itself: a row without anything to see would be no number, and spread.
    seen = np.tile(np.eye(length, dtype=bool), (count, 1, 1))
    questions = Questions(count, length)
    asked = []
    for row, (group, prefix) in enumerate(zip(batch.groups, batch.prefixes, strict=True)):
        ids[row, :prefix] = sequences[group[0]].ids[:prefix]
        positions[row, :prefix] = np.arange(prefix)
        seen[row, :prefix, :prefix] = np.tri(prefix, dtype=bool)
        start = prefix
        for member in (sequences[index] for index in group):
            size = member.length - prefix
            own = slice(start, start + size)
            ids[row, own] = member.ids[prefix : member.length]
            positions[row, own] = np.arange(prefix, member.length)
            seen[row, own, :prefix] = True
            seen[row, own, own] = np.tri(size, dtype=bool)
            moved = start - prefix
            asked.append(
                [
                    questions.want(row, place if place < prefix else place + moved, token)
                    for place, token in member.reads()
                ]
            )
            start += size
    bits, _ = forward.read(
        torch.from_numpy(ids),
        questions,
        attention_mask=_masks(forward, seen, positions),
        position_ids=torch.from_numpy(positions).to(forward.device),
    )
    return [bits[places] for places in asked]


def _masks(
    forward: Forward, seen: np.ndarray, positions: np.ndarray
) -> torch.Tensor | dict[str, torch.Tensor]:
    """Masks to be added to attention: 0 where a token is seen, shape (B, 1, T, T), on the device.

    A mask of pairs is taken as it is, so that a layer's window has to be in it: one mask for each
    kind of layers that the model's config names, or one for all.

    Args:
        forward: the model.
        seen: shape (B, T, T), bool; tokens that see each other, windows left out.
        positions: shape (B, T), of each token in its own text.
    """
    import torch

    device, dtype, limits = forward.device, forward.dtype, forward.limits

    def mask(visible: np.ndarray) -> torch.Tensor:
        hidden = torch.from_numpy(~visible)[:, None].to(device)
        return torch.zeros(hidden.shape, dtype=dtype, device=device).masked_fill_(
            hidden, torch.finfo(dtype).min
        )

    reached = int(positions.max()) + 1
    windows: dict[str, np.ndarray] = {}
    if 0 < limits.sliding < reached:
        distance = positions[:, :, None] - positions[:, None, :]
        windows["sliding_attention"] = seen & (distance < limits.sliding)
    if 0 < limits.chunk < reached:
        chunk = positions // limits.chunk
        windows["chunked_attention"] = seen & (chunk[:, :, None] == chunk[:, None, :])
    if not windows:
        return mask(seen)
    if not limits.layers:
        # One mask serves all layers, and so all have the window.
        return mask(next(iter(windows.values())))
    full = mask(seen)
    return {kind: mask(windows[kind]) if kind in windows else full for kind in limits.layers}
