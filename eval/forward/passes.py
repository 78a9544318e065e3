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
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherencegym.errors import first_line
from coherencegym.eval.forward.logits import Forward, Questions, fetched
from coherencegym.eval.forward.masks import masks
from coherencegym.eval.forward.memory import is_out_of_memory
from coherencegym.eval.models.placement import send
from coherencegym.eval.plan.plan import Batch
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import numpy as np
    import torch


class CannotShareError(Exception):
    """A model cannot share beginnings in the way that a batch asks for; the message says why."""


#: Errors of models that are handed a mask or a cache which they cannot take.
MODEL_ERRORS = (TypeError, ValueError, IndexError, AttributeError, AssertionError, RuntimeError)


@dataclass(frozen=True)
class Started:
    """A batch that a device is at work on, or done with.

    Attributes:
        answers: those of its forward passes, still on the device.
        asked: the places of what is read of each sequence, in the answers one behind the other.
    """

    answers: Sequence[torch.Tensor]
    asked: Sequence[np.ndarray]

    def finish(self) -> list[np.ndarray]:
        """Wait for the batch; of each of its sequences, in order, what is read (bits, float64)."""
        bits = fetched(*self.answers)
        return [bits[places] for places in self.asked]


def start_batch(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> Started:
    """Let a batch go through a model in the way that it asks for, and do not wait for it.

    Args:
        forward: the model.
        sequences: all sequences of the plan.
        batch: some of them.
    """
    import torch

    if not batch.shares:
        with torch.inference_mode():
            return _padded(forward, sequences, batch)
    start, fails = (
        (_packed, "it takes no attention mask of pairs")
        if batch.prefixes
        else (_from_cache, "its cache cannot be handed on")
    )
    try:
        with torch.inference_mode():
            return start(forward, sequences, batch)
    except MODEL_ERRORS as error:
        if is_out_of_memory(error):
            raise
        said = f"{type(error).__name__}: {first_line(error)}"[:120]
        raise CannotShareError(f"{fails} ({said})") from error


def run_batch(
    forward: Forward, sequences: Sequence[TokenSequence], batch: Batch
) -> list[np.ndarray]:
    """Run a batch: of each of its sequences, in order, what is read (bits, float64)."""
    return start_batch(forward, sequences, batch).finish()


def run_alone(forward: Forward, sequences: Sequence[TokenSequence], index: int) -> np.ndarray:
    """Run one sequence by itself: its surprisals (bits, float64)."""
    sequence = sequences[index]
    batch = Batch(((index,),), 0, sequence.length, len(sequence.places))
    return run_batch(forward, sequences, batch)[0]


def run_each_alone(forward: Forward, sequences: Sequence[TokenSequence]) -> list[np.ndarray]:
    """Run each sequence by itself."""
    return [run_alone(forward, sequences, index) for index in range(len(sequences))]


def _padded(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> Started:
    members = [sequences[index] for index in batch.indices]
    questions = Questions(len(members), batch.length)
    asked = [questions.want(row, *member.reads().T) for row, member in enumerate(members)]
    ids, more = _rests(members, 0, batch.length, forward.padding or 0), {}
    # Attention without a mask is the faster, and rows of one text need none.
    if forward.is_told and any(one.length < batch.length for one in members):
        more["attention_mask"] = send(_texts(members, batch.length), forward.device)
    answers, _ = forward.read(ids, questions, **more)
    return Started([answers], asked)


def _from_cache(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> Started:
    import numpy as np
    import torch

    cut = batch.prefix
    beginnings = torch.tensor([sequences[group[0]].ids[:cut] for group in batch.groups])
    members = [sequences[index] for index in batch.indices]
    group_of_row = [number for number, group in enumerate(batch.groups) for _ in group]
    # A row of the beginning may predict several tokens: the first ones of what follows it. What
    # all sequences of a group read within it is read once.
    within = Questions(len(batch.groups), cut)
    behind = Questions(len(members), batch.length - cut)
    asked = []
    for row, (group, member) in enumerate(zip(group_of_row, members, strict=True)):
        places, tokens = member.reads().T
        is_behind = places >= cut
        own = np.empty(len(places), dtype=np.int64)
        own[~is_behind] = within.want(group, places[~is_behind], tokens[~is_behind])
        own[is_behind] = behind.want(row, places[is_behind] - cut, tokens[is_behind])
        asked.append((own, is_behind))
    # A forward pass without a row is untried ground for many models.
    within.need_some_row()
    first, cache = forward.read(beginnings, within, keep_cache=True)
    if not hasattr(cache, "reorder_cache"):
        raise CannotShareError("it leaves no cache that can be handed on")
    cache.reorder_cache(send(group_of_row, forward.device))
    second, _ = forward.read(_rests(members, cut, batch.length), behind, cache=cache)
    return Started([first, second], [own + within.count * behind for own, behind in asked])


def _rests(
    members: Sequence[TokenSequence], cut: int, length: int, padding: int = 0
) -> torch.Tensor:
    # From ``cut`` on, one sequence a row, padded to ``length``.
    import numpy as np
    import torch

    # Padding is a token id like any other: it is told apart by position, never by id.
    ids = np.full((len(members), length - cut), padding, dtype=np.int64)
    for row, member in enumerate(members):
        ids[row, : member.length - cut] = member.seen[cut : member.length]
    return torch.from_numpy(ids)


def _texts(members: Sequence[TokenSequence], length: int) -> torch.Tensor:
    # 1 where a text stands in its row and 0 behind it, shape (B, ``length``).
    import torch

    lengths = torch.tensor([member.length for member in members])
    return (torch.arange(length) < lengths[:, None]).long()


def _packed(forward: Forward, sequences: Sequence[TokenSequence], batch: Batch) -> Started:
    import numpy as np
    import torch

    count, length = len(batch.groups), batch.length
    # Of each token: its id, its position in its own text, and which text that is: 0 is what all of
    # a row begin with. Every token of padding is one by itself, and is seen by no other.
    ids, positions, texts = laid = np.zeros((3, count, length), dtype=np.int64)
    texts[:] = -1 - np.arange(length)
    questions = Questions(count, length)
    asked = []
    for row, (group, prefix) in enumerate(zip(batch.groups, batch.prefixes, strict=True)):
        ids[row, :prefix] = sequences[group[0]].ids[:prefix]
        positions[row, :prefix] = np.arange(prefix)
        texts[row, :prefix] = 0
        start = prefix
        for number, member in enumerate((sequences[index] for index in group), start=1):
            size = member.length - prefix
            own = slice(start, start + size)
            ids[row, own] = member.ids[prefix : member.length]
            positions[row, own] = np.arange(prefix, member.length)
            texts[row, own] = number
            places, tokens = member.reads().T
            moved = places + (start - prefix) * (places >= prefix)
            asked.append(questions.want(row, moved, tokens))
            start += size
    on_device = send(torch.from_numpy(laid), forward.device)
    positions_there, texts_there = on_device[1], on_device[2]
    answers, _ = forward.read(
        on_device[0],
        questions,
        attention_mask=masks(forward, positions_there, texts_there, int(positions.max()) + 1),
        position_ids=positions_there,
    )
    return Started([answers], asked)
