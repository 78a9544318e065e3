"""Shared beginnings: what the conditions of an item begin with alike goes through the model once.

The beginnings of several items are cut to one length, so that nothing in them is padding: then no
mask and no positions are needed, and models with sliding windows or relative positions go on from
the cache as from the text itself. Whether a model does is for :mod:`eval.forward.trial` to find
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coherencegym.eval.forward.logits import Forward, Reading
from coherencegym.eval.plan.batches import Batch
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import numpy as np


class NoCacheError(Exception):
    """The model leaves nothing behind that its next pass could go on from."""


def run(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> list[np.ndarray]:
    """Run a batch whose groups share beginnings.

    Returns:
        For each sequence of the batch, in order, what is read of it (bits, float64).

    Raises:
        NoCacheError: the model has no cache that can be handed on.
    """
    import numpy as np
    import torch

    cut = batch.prefix
    device = forward.device
    beginnings = torch.tensor([sequences[group[0]].ids[:cut] for group in batch.groups])
    members = [sequences[index] for index in batch.indices]
    owners = [number for number, group in enumerate(batch.groups) for _ in group]
    rest = torch.zeros(len(members), batch.length - cut, dtype=torch.long)
    # A row of the beginning may predict several tokens: the first ones of what follows it. What
    # all sequences of a group read within it is read once.
    within = Reading(len(batch.groups), cut)
    behind = Reading(len(members), batch.length - cut)
    asked: list[list[tuple[bool, int]]] = []
    for row, (owner, member) in enumerate(zip(owners, members, strict=True)):
        rest[row, : member.length - cut] = torch.tensor(member.ids[cut : member.length])
        asked.append([])
        for place, token in member.reads():
            is_within = place < cut
            number = (
                within.want(owner, place, token)
                if is_within
                else behind.want(row, place - cut, token)
            )
            asked[-1].append((is_within, number))
    # A forward pass without a row is untried ground for many models.
    within.need_some_row()
    with torch.inference_mode():
        logits, output = forward.rows(
            beginnings.to(device), within.read.to(device), keep_cache=True
        )
        cache: Any = getattr(output, "past_key_values", None)
        if not hasattr(cache, "reorder_cache"):
            raise NoCacheError
        first = forward.answers(within, logits)
        del logits, output
        cache.reorder_cache(torch.tensor(owners, device=device))
        logits, _ = forward.rows(rest.to(device), behind.read.to(device), cache=cache)
        second = forward.answers(behind, logits)
    return [
        np.array([first[number] if is_within else second[number] for is_within, number in places])
        for places in asked
    ]
