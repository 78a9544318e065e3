"""A plan of what to run, before anything is run: pure Python, so that tests assert on the work.

A request is a token sequence and the positions whose surprisal some prediction reads. Equal
sequences are run once, a sequence is cut after the last position that is read (what follows cannot
change what a causal model says before it, but for its length: :mod:`eval.models.limits`), and what
the sequences of an item begin with alike may be run once for all of them
(:mod:`eval.text.sequence`). Where tokens are masked, each that is read is a request of its own, and
rows that look alike to the model are run once, whatever is asked of them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from coherencegym.eval.models.limits import UNLIMITED, Limits
from coherencegym.eval.plan.batches import Batch, Budget, make_batches
from coherencegym.eval.text.masking import MaskedRow
from coherencegym.eval.text.sequence import Sharing, TokenSequence, alike


@dataclass(frozen=True, slots=True)
class Request:
    """Token ids, and the positions in them (increasing, none 0) that are to be read.

    Requests of one ``family``, the conditions of an item, may share what they begin with. The last
    token is ``behind`` the text where it is no part of it: what would follow. ``word_starts`` are
    positions too: those where the surprisal of any beginning of a word is read. A ``masked`` row
    reads one position, with it and perhaps others hidden from the model.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    family: int = -1
    behind: bool = False
    word_starts: tuple[int, ...] = ()
    masked: MaskedRow | None = None

    @property
    def length(self) -> int:
        """Tokens of the text."""
        return len(self.ids) - self.behind

    def sequence(self, limits: Limits) -> TokenSequence:
        """The text up to what is read of it, where a model allows: what goes through the model."""
        if self.masked is not None:
            return TokenSequence(self.ids, (), whole=True, masked=self.masked)
        if limits.side(self.length):
            # Its positions are those of its whole length.
            return TokenSequence(self.ids, self.positions, not self.behind, self.word_starts)
        last = max(self.positions[-1:] + self.word_starts[-1:])
        return TokenSequence(self.ids[: last + 1], self.positions, word_starts=self.word_starts)


@dataclass(frozen=True)
class Plan:
    """Sequences, by the item that asked for them first, and batches that hold each of them once.

    ``sequence_of_request[i]`` is the index of the sequence of request ``i``; None where it asks for
    no position.
    """

    sequences: tuple[TokenSequence, ...]
    families: tuple[tuple[int, ...], ...]
    sequence_of_request: tuple[int | None, ...]
    batches: tuple[Batch, ...]
    limits: Limits = UNLIMITED

    @cached_property
    def tokens(self) -> int:
        """Tokens of all sequences, as if nothing were shared or padded."""
        return sum(sequence.length for sequence in self.sequences)

    @cached_property
    def tokens_once(self) -> int:
        """Tokens that the model reads, padding left out: shared beginnings count once."""
        own = sum(self.sequences[index].length for batch in self.batches for index in batch.indices)
        return own - sum(batch.saved_tokens for batch in self.batches)

    @cached_property
    def padded_tokens(self) -> int:
        """Tokens that the model reads, padding included."""
        return sum(batch.padded_tokens for batch in self.batches)

    @cached_property
    def head_rows(self) -> int:
        """Positions at which the output head is computed."""
        return sum(batch.head_rows for batch in self.batches)

    @property
    def shares(self) -> bool:
        """Some batch shares a beginning."""
        return any(batch.shares for batch in self.batches)

    @cached_property
    def begins_alike(self) -> bool:
        """The sequences of some family begin alike, so that there is something to share."""
        return any(alike(self.sequences, family, "packed") for family in self.families)

    def batched(self, budget: Budget, *, sharing: Sharing, done: Set[int] = frozenset()) -> Plan:
        """The same sequences in other batches, without those that are done."""
        left = ([index for index in family if index not in done] for family in self.families)
        batches = make_batches(self.sequences, left, budget, sharing=sharing, limits=self.limits)
        return replace(self, batches=batches)


def make_plan(
    requests: Sequence[Request],
    budget: Budget | None = None,
    *,
    sharing: Sharing = "none",
    limits: Limits = UNLIMITED,
) -> Plan:
    """Plan the sequences for some requests; without a budget no batches are made yet.

    The requests of a family may share (``sharing``) what they begin with alike.
    """
    sequences: list[TokenSequence] = []
    by_key: dict[tuple[int, ...] | bytes, int] = {}
    sequence_of_request: list[int | None] = []
    families: dict[int, list[int]] = {}
    for number, request in enumerate(requests):
        if not request.positions:
            sequence_of_request.append(None)
            continue
        sequence = request.sequence(limits)
        index = by_key.setdefault(sequence.key, len(sequences))
        if index == len(sequences):
            sequences.append(sequence)
            # A request without a family is one by itself.
            key = request.family if request.family >= 0 else -1 - number
            families.setdefault(key, []).append(index)
        else:
            sequences[index] = sequences[index].united(sequence)
        sequence_of_request.append(index)
    by_family = tuple(map(tuple, families.values()))
    plan = Plan(tuple(sequences), by_family, tuple(sequence_of_request), (), limits)
    return plan if budget is None else plan.batched(budget, sharing=sharing)
