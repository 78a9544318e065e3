"""Padded batches, for any causal language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.backends.logits import Forward, surprisals
from eval.batches import Batch, Run

if TYPE_CHECKING:
    import numpy as np


def run(forward: Forward, runs: Sequence[Run], batch: Batch) -> list[np.ndarray]:
    """Run a batch without sharing anything.

    Args:
        forward: the model.
        runs: all runs of the plan.
        batch: which of them.

    Returns:
        For each run of the batch, in its order, the surprisals (bits, float64) at its positions.
    """
    import numpy as np
    import torch

    members = [runs[index] for index in batch.runs]
    # Padding is a token id like any other: it is told apart by position, never by id.
    ids = torch.zeros(len(members), batch.length, dtype=torch.long)
    read = torch.zeros(len(members), batch.length, dtype=torch.bool)
    for row, member in enumerate(members):
        ids[row, : member.length] = torch.tensor(member.ids[:-1])
        read[row, [position - 1 for position in member.positions]] = True
    targets = torch.tensor([member.ids[p] for member in members for p in member.positions])
    device = forward.device
    with torch.inference_mode():
        logits, _ = forward.rows(ids.to(device), read.to(device))
        bits = surprisals(logits, targets).cpu().numpy()
    return np.split(bits, np.cumsum([len(member.positions) for member in members])[:-1])
