"""Padded batches, for any causal language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coherencegym.eval.forward.logits import Forward, Reading
from coherencegym.eval.plan.batches import Batch
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import numpy as np


def run(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> list[np.ndarray]:
    """Run a batch without sharing anything.

    Args:
        forward: the model.
        sequences: all sequences of the plan.
        batch: which of them.

    Returns:
        For each sequence of the batch, in order, what is read of it (bits, float64).
    """
    import torch

    members = [sequences[index] for index in batch.indices]
    # Padding is a token id like any other: it is told apart by position, never by id.
    ids = torch.zeros(len(members), batch.length, dtype=torch.long)
    reading = Reading(len(members), batch.length)
    asked = []
    for row, member in enumerate(members):
        ids[row, : member.length] = torch.tensor(member.ids[: member.length])
        asked.append([reading.want(row, place, token) for place, token in member.reads()])
    device = forward.device
    with torch.inference_mode():
        logits, _ = forward.rows(ids.to(device), reading.read.to(device))
        bits = forward.answers(reading, logits)
    return [bits[places] for places in asked]


def alone(forward: Forward, sequences: Sequence[TokenSequence], index: int) -> np.ndarray:
    """The surprisals (bits, float64) of one sequence that goes through the model by itself."""
    sequence = sequences[index]
    batch = Batch(((index,),), 0, sequence.length, len(sequence.places))
    return run(forward, sequences, batch)[0]
