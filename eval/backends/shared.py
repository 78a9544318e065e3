"""Shared beginnings: what the conditions of an item begin with alike goes through the model once.

The beginnings of several items are cut to one length, so that nothing in them is padding: then no
mask and no positions are needed, and models with sliding windows or relative positions go on from
the cache as from the text itself. Whether a model does is for :mod:`eval.probe` to find out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eval.backends.logits import Forward, surprisals
from eval.batches import Batch, Run

if TYPE_CHECKING:
    import numpy as np


class NoCacheError(Exception):
    """The model leaves nothing behind that its next pass could go on from."""


def run(forward: Forward, runs: Sequence[Run], batch: Batch) -> list[np.ndarray]:
    """Run a batch whose groups share beginnings.

    Returns:
        For each run of the batch, in its order, the surprisals (bits, float64) at its positions.

    Raises:
        NoCacheError: the model has no cache that can be handed on.
    """
    import numpy as np
    import torch

    cut = batch.prefix
    device = forward.device
    beginnings = torch.tensor([runs[group[0]].ids[:cut] for group in batch.groups])
    read = torch.zeros(len(batch.groups), cut, dtype=torch.bool)
    members = [runs[index] for index in batch.runs]
    # A row of the beginning may predict several tokens: the first ones of what follows it. What
    # all runs of a group read within it is read once.
    wanted: dict[tuple[int, int, int], int] = {}
    rest = torch.zeros(len(members), batch.length - cut, dtype=torch.long)
    read_rest = torch.zeros_like(rest, dtype=torch.bool)
    owners = [number for number, group in enumerate(batch.groups) for _ in group]
    for row, (owner, member) in enumerate(zip(owners, members, strict=True)):
        rest[row, : member.length - cut] = torch.tensor(member.ids[cut:-1])
        for position in member.positions:
            if position <= cut:
                read[owner, position - 1] = True
                wanted.setdefault((owner, position - 1, member.ids[position]), len(wanted))
            else:
                read_rest[row, position - 1 - cut] = True
    if not wanted:
        # A forward pass without a row is untried ground for many models.
        read[0, -1] = True
    places = (read.flatten().cumsum(0) - 1).reshape(read.shape)
    rows = torch.tensor([int(places[owner, row]) for owner, row, _ in wanted], dtype=torch.long)
    tokens = torch.tensor([token for *_, token in wanted], dtype=torch.long)
    targets = torch.tensor(
        [m.ids[p] for m in members for p in m.positions if p > cut], dtype=torch.long
    )
    with torch.inference_mode():
        logits, output = forward.rows(beginnings.to(device), read.to(device), keep_cache=True)
        cache: Any = getattr(output, "past_key_values", None)
        if not hasattr(cache, "reorder_cache"):
            raise NoCacheError
        first = surprisals(logits[rows.to(logits.device)], tokens).cpu().numpy()
        del logits, output
        cache.reorder_cache(torch.tensor(owners, device=device))
        logits, _ = forward.rows(rest.to(device), read_rest.to(device), cache=cache)
        second = surprisals(logits, targets).cpu().numpy()
    found = []
    start = 0
    for owner, member in zip(owners, members, strict=True):
        within = [p for p in member.positions if p <= cut]
        places_within = [wanted[owner, p - 1, member.ids[p]] for p in within]
        end = start + len(member.positions) - len(within)
        found.append(np.concatenate([first[places_within], second[start:end]]))
        start = end
    return found
