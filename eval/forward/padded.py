"""Padded batches, for any causal language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coherencegym.eval.forward.logits import Forward, Reading
from coherencegym.eval.plan.batches import Batch
from coherencegym.eval.text.sequence import Run, place_of, token_at

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
    import torch

    members = [runs[index] for index in batch.runs]
    # Padding is a token id like any other: it is told apart by position, never by id.
    ids = torch.zeros(len(members), batch.length, dtype=torch.long)
    reading = Reading(len(members), batch.length)
    asked = []
    for row, member in enumerate(members):
        ids[row, : member.length] = torch.tensor(member.ids[: member.length])
        asked.append(
            [reading.want(row, place_of(p) - 1, token_at(member, p)) for p in member.positions]
        )
    device = forward.device
    with torch.inference_mode():
        logits, _ = forward.rows(ids.to(device), reading.read.to(device))
        bits = forward.answers(reading, logits)
    return [bits[places] for places in asked]


def alone(forward: Forward, runs: Sequence[Run], index: int) -> np.ndarray:
    """The surprisals (bits, float64) of one run that goes through the model by itself."""
    run_ = runs[index]
    return run(forward, runs, Batch(((index,),), 0, run_.length, len(run_.positions)))[0]
