"""Shared beginnings in one row: the beginning of an item once, and behind it the rest of each text.

Every rest has the positions that it has in its own text, and sees the beginning and itself and
nothing else, as far as the model's windows reach. So a batch is one forward pass over rows of like
length, which keeps the multiplier busy where keys and values handed on
(:mod:`eval.forward.shared`) make small batches. It takes a model that goes by the positions and
the attention mask that it is given; whether one does is for :mod:`eval.forward.trial` to find out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coherencegym.eval.forward.logits import Forward, Reading
from coherencegym.eval.plan.batches import Batch
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import numpy as np
    import torch


def run(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> list[np.ndarray]:
    """Run a batch of packed rows.

    Returns:
        For each sequence of the batch, in order, what is read of it (bits, float64).
    """
    import numpy as np
    import torch

    count, length = len(batch.groups), batch.length
    ids = np.zeros((count, length), dtype=np.int64)
    positions = np.zeros((count, length), dtype=np.int64)
    # Padding sees itself: a row without anything to see would be no number, and spread.
    seen = np.tile(np.eye(length, dtype=bool), (count, 1, 1))
    reading = Reading(count, length)
    asked: list[list[int]] = []
    for row, (group, prefix) in enumerate(zip(batch.groups, batch.prefixes, strict=True)):
        ids[row, :prefix] = sequences[group[0]].ids[:prefix]
        positions[row, :prefix] = np.arange(prefix)
        seen[row, :prefix, :prefix] = np.tri(prefix, dtype=bool)
        start = prefix
        for index in group:
            member = sequences[index]
            size = member.length - prefix
            end = start + size
            ids[row, start:end] = member.ids[prefix : member.length]
            positions[row, start:end] = np.arange(prefix, member.length)
            seen[row, start:end, :prefix] = True
            seen[row, start:end, start:end] = np.tri(size, dtype=bool)
            asked.append([])
            for place, token in member.reads():
                column = place if place < prefix else start + place - prefix
                asked[-1].append(reading.want(row, column, token))
            start = end
    device = forward.device
    with torch.inference_mode():
        logits, _ = forward.rows(
            torch.from_numpy(ids).to(device),
            reading.read.to(device),
            attention_mask=_masks(forward, seen, positions),
            position_ids=torch.from_numpy(positions).to(device),
        )
        bits = forward.answers(reading, logits)
    return [bits[places] for places in asked]


def _masks(
    forward: Forward, seen: np.ndarray, positions: np.ndarray
) -> torch.Tensor | dict[str, torch.Tensor]:
    """What is added to attention: 0 where a token is seen, shape (B, 1, T, T), on the device.

    A mask of pairs is taken as it is, so that a layer's window has to be in it: one mask for each
    kind of layers that the model's config names, or one for all.

    Args:
        forward: the model.
        seen: shape (B, T, T), bool: which tokens see which, windows left out.
        positions: shape (B, T): of each token in its own text.
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
