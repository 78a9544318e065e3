"""Shared beginnings in one row: the beginning of an item once, and behind it the rest of each text.

Every rest has the positions that it has in its own text, and sees the beginning and itself and
nothing else. So a batch is one forward pass over rows of like length, which keeps the multiplier
busy where keys and values handed on (:mod:`eval.backends.shared`) make small batches. It takes a
model that goes by the positions and the attention mask that it is given; whether one does is for
:mod:`eval.probe` to find out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.backends.logits import Forward, Reading
from eval.batches import Batch
from eval.sequence import Run, place_of, token_at

if TYPE_CHECKING:
    import numpy as np


def run(forward: Forward, runs: Sequence[Run], batch: Batch) -> list[np.ndarray]:
    """Run a batch of packed rows.

    Returns:
        For each run of the batch, in its order, the surprisals (bits, float64) at its positions.
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
        ids[row, :prefix] = runs[group[0]].ids[:prefix]
        positions[row, :prefix] = np.arange(prefix)
        seen[row, :prefix, :prefix] = np.tri(prefix, dtype=bool)
        start = prefix
        for index in group:
            member = runs[index]
            size = member.length - prefix
            end = start + size
            ids[row, start:end] = member.ids[prefix:-1]
            positions[row, start:end] = np.arange(prefix, member.length)
            seen[row, start:end, :prefix] = True
            seen[row, start:end, start:end] = np.tri(size, dtype=bool)
            asked.append([])
            for read in member.positions:
                place = place_of(read) - 1
                column = place if place < prefix else start + place - prefix
                asked[-1].append(reading.want(row, column, token_at(member, read)))
            start = end
    device, dtype = forward.device, forward.dtype
    mask = torch.zeros(count, 1, length, length, dtype=dtype)
    mask.masked_fill_(~torch.from_numpy(seen)[:, None], torch.finfo(dtype).min)
    with torch.inference_mode():
        logits, _ = forward.rows(
            torch.from_numpy(ids).to(device),
            reading.read.to(device),
            attention_mask=mask.to(device),
            position_ids=torch.from_numpy(positions).to(device),
        )
        bits = forward.answers(reading, logits)
    return [bits[places] for places in asked]
