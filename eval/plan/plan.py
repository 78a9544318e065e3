"""What to run, before anything is run: pure Python, so that tests assert on the work planned.

A request is a token sequence and the positions whose surprisal some prediction reads. Equal
sequences are run once, a sequence is cut after the last position that is read (what follows cannot
change what a causal model says before it, but for its length: :mod:`eval.models.limits`), and what
the sequences of an item begin with alike may be run once for all of them
(:mod:`eval.plan.beginnings`).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from coherencegym.eval.models.limits import UNLIMITED, Limits
from coherencegym.eval.plan.batches import Batch, Budget, make_batches
from coherencegym.eval.plan.beginnings import Sharing, alike
from coherencegym.eval.text.sequence import TokenSequence

#: What a batch may take, by device type. A CPU gains nothing from more.
BUDGETS = {"cpu": Budget(tokens=1024, head_rows=320, cached=1024, forward=48)}
BUDGET_ELSEWHERE = Budget(tokens=8192, head_rows=2048, cached=32768, forward=512)


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a model needs memory for, in numbers a token.

    Attributes:
        layers, width, inner: of its blocks; ``inner`` is the wider middle of the feed-forward part.
        vocabulary: numbers in a row of logits.
        item_bytes: of one number of its activations.
    """

    layers: int
    width: int
    inner: int
    vocabulary: int
    item_bytes: int

    @property
    def token_bytes(self) -> int:
        """Of what one block holds of a token at once: its input, three projections, the middle."""
        return self.item_bytes * (6 * self.width + 4 * self.inner)

    @property
    def row_bytes(self) -> int:
        """Of a row of logits, with its copy in float32."""
        return self.vocabulary * (self.item_bytes + 4)

    @property
    def cached_bytes(self) -> int:
        """Of the keys and values of a token, held twice while they are handed on."""
        return 2 * 2 * self.layers * self.width * self.item_bytes


def budget_for(free: int, sizes: Sizes) -> Budget:
    """What a batch may take of some free memory: powers of two, so that runs are alike.

    Half of the memory is left for what cannot be foreseen; the rest goes to activations, logits
    and shared beginnings in equal parts.

    Args:
        free: bytes.
        sizes: of the model.
    """
    part = free // 6

    def fits(each: int, least: int, most: int) -> int:
        count = part // max(1, each)
        return max(least, min(most, 1 << max(0, count.bit_length() - 1)))

    return Budget(
        tokens=fits(sizes.token_bytes, 256, 1 << 17),
        head_rows=fits(sizes.row_bytes, 64, 1 << 15),
        cached=fits(sizes.cached_bytes, 256, 1 << 19),
        forward=BUDGET_ELSEWHERE.forward,
    )


def default_budget(
    device: str, batch_tokens: int | None = None, budget: Budget | None = None
) -> Budget:
    """What a batch may take on a device of this type.

    Args:
        device: such as ``cpu`` or ``cuda``.
        batch_tokens: most tokens in a forward pass, if somebody wants another number.
        budget: from the free memory, where it is known.
    """
    budget = budget or BUDGETS.get(device, BUDGET_ELSEWHERE)
    if batch_tokens is None:
        return budget
    scale = batch_tokens / budget.tokens
    return replace(
        budget,
        tokens=batch_tokens,
        head_rows=max(1, int(budget.head_rows * scale)),
        cached=int(budget.cached * scale),
    )


@dataclass(frozen=True, slots=True)
class Request:
    """Token ids, and the positions in them (increasing, none 0) that are to be read.

    Requests of one ``family``, the conditions of an item, may share what they begin with. The last
    token is ``behind`` the text where it is no part of it: what would follow. ``word_starts`` are
    positions too: those where the surprisal of any beginning of a word is read.
    """

    ids: tuple[int, ...]
    positions: tuple[int, ...]
    family: int = -1
    behind: bool = False
    word_starts: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        """Tokens of the text."""
        return len(self.ids) - self.behind

    def sequence(self, limits: Limits) -> TokenSequence:
        """What goes through the model: the text up to what is read of it, where a model allows."""
        if limits.side(self.length):
            # Its positions are those of its whole length.
            return TokenSequence(self.ids, self.positions, not self.behind, self.word_starts)
        last = max(self.positions[-1:] + self.word_starts[-1:])
        return TokenSequence(self.ids[: last + 1], self.positions, word_starts=self.word_starts)


@dataclass(frozen=True)
class Plan:
    """The sequences, the batches that hold each of them once, and which one serves which request.

    ``owner[i]`` is the index of the sequence of request ``i``; None where it asks for no position.
    ``families`` are the sequences by the item that asked for them first; ``limits`` are the
    model's.
    """

    sequences: tuple[TokenSequence, ...]
    families: tuple[tuple[int, ...], ...]
    owner: tuple[int | None, ...]
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
        """Whether any batch shares a beginning."""
        return any(batch.shares for batch in self.batches)

    @cached_property
    def begins_alike(self) -> bool:
        """Whether the sequences of any family begin alike, so that there is something to share."""
        return any(alike(self.sequences, family, "packed") for family in self.families)

    def batched(self, budget: Budget, *, sharing: Sharing, done: Set[int] = frozenset()) -> Plan:
        """The same sequences in other batches, without those that are done."""
        families = (
            tuple(index for index in family if index not in done) for family in self.families
        )
        left = (family for family in families if family)
        batches = make_batches(self.sequences, left, budget, sharing=sharing, limits=self.limits)
        return replace(self, batches=batches)


def make_plan(
    requests: Sequence[Request],
    budget: Budget | None = None,
    *,
    sharing: Sharing = "none",
    limits: Limits = UNLIMITED,
) -> Plan:
    """Plan the sequences for some requests.

    Args:
        requests: what is to be scored.
        budget: what a batch may take; None: no batches are made yet (:meth:`Plan.batched`).
        sharing: whether and how what the requests of a family begin with alike is run once.
        limits: of the model.
    """
    sequences: list[TokenSequence] = []
    by_ids: dict[tuple[int, ...], int] = {}
    owner: list[int | None] = []
    families: dict[int, list[int]] = {}
    for number, request in enumerate(requests):
        if not request.positions:
            owner.append(None)
            continue
        sequence = request.sequence(limits)
        index = by_ids.setdefault(sequence.ids, len(sequences))
        if index == len(sequences):
            sequences.append(sequence)
            # A request without a family is one by itself.
            key = request.family if request.family >= 0 else -1 - number
            families.setdefault(key, []).append(index)
        else:
            sequences[index] = sequences[index].united(sequence)
        owner.append(index)
    plan = Plan(tuple(sequences), tuple(map(tuple, families.values())), tuple(owner), (), limits)
    return plan if budget is None else plan.batched(budget, sharing=sharing)


__all__ = [
    "BUDGETS",
    "BUDGET_ELSEWHERE",
    "Batch",
    "Budget",
    "Plan",
    "Request",
    "Sharing",
    "TokenSequence",
    "default_budget",
    "make_plan",
]
