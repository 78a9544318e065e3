"""A plan of what to run, before anything is run: pure Python, so that tests assert on the work.

A request is a whole text and the positions whose surprisal some prediction reads. Equal sequences
are run once, a sequence is cut after the last position that is read (what follows cannot change
what a causal model says before it, but for its length: :mod:`eval.models.config`), and what the
sequences of an item begin with alike may be run once for all of them. Where tokens are masked, each
that is read is a request of its own, and rows that look alike to the model are run once, whatever
is asked of them.

Sequences of one item, or some of them, often begin with the same tokens, which a :class:`Batch` may
run once. Packed, the beginning and the rest of each sequence stand in one row. From a cache, the
beginnings are run first, all cut to one length so that nothing in them is padding, and then the
rest of every sequence on the keys and values that they left. Without shared beginnings a batch is
simply padded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from coherencegym.eval.models.config import UNLIMITED, Limits
from coherencegym.eval.models.machine import input_device
from coherencegym.eval.text.sequence import Sharing, TokenSequence, alike, shared_length


@dataclass(frozen=True, slots=True)
class Budget:
    """Most that a batch may take.

    Attributes:
        tokens: those of one forward pass, padding included.
        head_rows: rows of logits in one forward pass.
        cached: tokens whose keys and values are held for sharing.
    """

    tokens: int
    head_rows: int
    cached: int

    def halved(self) -> Budget | None:
        """Half of it, for a model that ran out of memory; None where one token is left."""
        return self.scaled(self.tokens // 2) if self.tokens > 1 else None

    def scaled(self, tokens: int) -> Budget:
        """A budget of so many tokens, in the same proportions."""
        scale = tokens / self.tokens
        rows = max(1, int(self.head_rows * scale))
        return replace(self, tokens=tokens, head_rows=rows, cached=int(self.cached * scale))


@dataclass(frozen=True, slots=True)
class Batch:
    """Sequences that go through the model together.

    Attributes:
        groups: indices of sequences; those of a group begin with the same ``prefix`` tokens.
        prefix: tokens that are shared from a cache, in every group; 0: none.
        length: tokens that the model reads of the longest sequence, the prefix included; of packed
            rows the tokens of the longest row.
        head_rows: rows of logits, of all forward passes.
        prefixes: tokens that are shared in each packed row; empty: rows are not packed.
    """

    groups: tuple[tuple[int, ...], ...]
    prefix: int
    length: int
    head_rows: int
    prefixes: tuple[int, ...] = ()

    @property
    def shares(self) -> bool:
        """Beginnings are shared; else each sequence is a group."""
        return bool(self.prefix or self.prefixes)

    @property
    def shared(self) -> tuple[int, ...]:
        """Tokens that the sequences of each group share."""
        return self.prefixes or (self.prefix,) * len(self.groups)

    @property
    def passes(self) -> int:
        """Number of forward passes."""
        return 2 if self.prefix else 1

    @property
    def saved_tokens(self) -> int:
        """Tokens that are not read as they are shared."""
        pairs = zip(self.groups, self.shared, strict=True)
        return sum((len(group) - 1) * shared for group, shared in pairs)

    @property
    def indices(self) -> tuple[int, ...]:
        """Indices of all its sequences, group by group."""
        return tuple(index for group in self.groups for index in group)

    @property
    def padded_tokens(self) -> int:
        """Tokens that the model reads, padding included."""
        if self.prefixes:
            return len(self.groups) * self.length
        rows = sum(map(len, self.groups))
        return len(self.groups) * self.prefix + rows * (self.length - self.prefix)


@dataclass(frozen=True, slots=True)
class _Group:
    # Sequences that share a beginning: its length, and that of the longest, or of a packed row.
    indices: tuple[int, ...]
    prefix: int
    length: int
    head_rows: int
    packed: bool = False

    @property
    def rows(self) -> int:
        return 1 if self.packed else len(self.indices)

    @property
    def cut(self) -> int:
        # A forward pass before that can read so many tokens.
        return 0 if self.packed else self.prefix


def make_batches(
    sequences: Sequence[TokenSequence],
    families: Iterable[Sequence[int]],
    budget: Budget,
    *,
    sharing: Sharing,
    limits: Limits = UNLIMITED,
) -> tuple[Batch, ...]:
    """Put sequences into batches, the longest first: what does not fit into memory shows at once.

    ``families`` are the indices of the sequences to batch; those of one family may share a
    beginning. All sequences of a batch are on one side of every length beyond which the model
    reads otherwise; one that alone takes more than the budget is a batch of its own, as is one that
    is to be read alone (:attr:`Limits.chosen`).
    """
    batcher = _Batcher(sequences, budget, limits)
    kinds: dict[tuple[int, bool], list[_Group]] = {}
    batches: list[Batch] = []
    for family in families:
        sides: dict[int, list[int]] = {}
        for index in family:
            if 0 < limits.chosen < (length := sequences[index].length):
                batches.append(Batch(((index,),), 0, length, len(sequences[index].places)))
                continue
            sides.setdefault(limits.side(sequences[index].length), []).append(index)
        for side, members in sides.items():
            # From a cache a text goes on as it began: in the positions of a short one.
            way = "none" if side and sharing == "cache" else sharing
            for group in batcher.groups(members, way):
                kinds.setdefault((side, not group.prefix), []).append(group)
    batches += [batch for kind in sorted(kinds) for batch in batcher.partition(kinds[kind])]
    return tuple(sorted(batches, key=lambda batch: -batch.length))


def head_rows(sequences: Sequence[TokenSequence], group: Sequence[int], prefix: int) -> int:
    """Rows of logits that a group takes: those within the prefix are the same for all of it."""
    places = [sequences[index].places for index in group]
    if len(places) == 1:
        return len(places[0])
    cuts = [bisect_right(own, prefix) for own in places]
    within = {place for own, cut in zip(places, cuts, strict=True) for place in own[:cut]}
    return len(within) + sum(len(own) - cut for own, cut in zip(places, cuts, strict=True))


@dataclass(frozen=True, slots=True)
class _Batcher:
    sequences: Sequence[TokenSequence]
    budget: Budget
    limits: Limits

    def groups(self, family: Sequence[int], sharing: Sharing) -> Iterator[_Group]:
        # Each fits into a batch if it is more than a sequence.
        parts = alike(self.sequences, family, sharing)
        apart = set(family).difference(*parts)
        for index in family:
            if index in apart:
                rows = head_rows(self.sequences, (index,), 0)
                yield _Group((index,), 0, self.sequences[index].length, rows)
        for part in parts:
            yield from self._fitting(part, sharing)

    def _fitting(self, group: Sequence[int], sharing: Sharing) -> Iterator[_Group]:
        prefix = shared_length(self.sequences, group)
        lengths = [self.sequences[index].length for index in group]
        rows = head_rows(self.sequences, group, prefix)
        packed = sharing == "packed"
        length = prefix + sum(own - prefix for own in lengths) if packed else max(lengths)
        whole = _Group(tuple(group), prefix, length, rows, packed)
        hidden = packed and 0 < self.limits.own < length
        if not hidden and self._fits(1, whole.rows, whole.cut, length, rows):
            yield whole
            return
        half = len(group) // 2
        for part in (group[:half], group[half:]):
            yield from self.groups(part, sharing)

    def _fits(self, groups: int, rows: int, prefix: int, length: int, head: int) -> bool:
        budget = self.budget
        if head > budget.head_rows or rows * (length - prefix) > budget.tokens:
            return False
        return not prefix or (groups * prefix <= budget.tokens and rows * length <= budget.cached)

    def partition(self, groups: list[_Group]) -> Iterator[Batch]:
        # Filled up one after another, the alike side by side.
        members: list[_Group] = []
        rows = head = length = prefix = 0
        for group in sorted(groups, key=lambda group: (group.length, group.prefix)):
            cut = min(prefix, group.cut) if members else group.cut
            longest = max(length, group.length)
            more = (rows + group.rows, cut, longest, head + group.head_rows)
            if members and not self._fits(len(members) + 1, *more):
                yield self._batch(members)
                members, more = [], (group.rows, group.cut, group.length, group.head_rows)
            members.append(group)
            rows, prefix, length, head = more
        if members:
            yield self._batch(members)

    def _batch(self, members: Sequence[_Group]) -> Batch:
        packed = members[0].packed
        prefix = min(group.cut for group in members)
        shared = [group.prefix if packed else prefix for group in members]
        groups = tuple(group.indices for group in members)
        pairs = zip(groups, shared, strict=True)
        rows = sum(head_rows(self.sequences, group, own) for group, own in pairs)
        length = max(group.length for group in members)
        return Batch(groups, prefix, length, rows, tuple(shared) if packed else ())


_Work = TypeVar("_Work")


def one_ahead(makes: Iterable[Callable[[], _Work]], *, ahead: bool = True) -> Iterator[_Work]:
    """Make values in their order, each in a thread while the one before it is worked with.

    There is never more than one that nobody has asked for yet. An error is raised where its value
    would come.

    Args:
        makes: the maker of each of them.
        ahead: else each is made when it is asked for, which is as fast where the work with it takes
            the same processors.
    """
    if not ahead:
        for make in makes:
            yield make()
        return
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as thread:
        coming: Future[_Work] | None = None
        try:
            for make in makes:
                last, coming = coming, thread.submit(make)
                if last is not None:
                    yield last.result()
            if coming is not None:
                yield coming.result()
        finally:
            thread.shutdown(cancel_futures=True)


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
    requests: Sequence[TokenSequence],
    budget: Budget | None = None,
    *,
    sharing: Sharing = "none",
    limits: Limits = UNLIMITED,
) -> Plan:
    """Plan whole texts, of which some ask for nothing; without a budget no batches are made yet.

    Those of a family may share (``sharing``) what they begin with alike.
    """
    sequences: list[TokenSequence] = []
    by_key: dict[tuple[int, ...] | bytes, int] = {}
    sequence_of_request: list[int | None] = []
    families: dict[int, list[int]] = {}
    for number, request in enumerate(requests):
        if not request.count:
            sequence_of_request.append(None)
            continue
        sequence = request.cut(limits)
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


#: Budgets by device type, and that of all others. A CPU gains nothing from more.
_BUDGETS = {"cpu": Budget(tokens=1024, head_rows=320, cached=1024)}
_ELSEWHERE = Budget(tokens=8192, head_rows=2048, cached=32768)
#: Names that configs have for the width of the middle of a feed-forward block.
_INNER = ("intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size")


def default_budget(device: str) -> Budget:
    """The budget on a device of this type, such as ``cpu`` or ``cuda``."""
    return _BUDGETS.get(device, _ELSEWHERE)


def budget_of(model: Any, batch_tokens: int | None = None, *, states: bool = False) -> Budget:
    """The budget on the device of a model: on a GPU, or the first of several, by its free memory.

    ``batch_tokens`` is another number for most tokens in a forward pass, if somebody wants one;
    with ``states`` the hidden states of all layers are held.
    """
    device, config = input_device(model), getattr(model, "config", None)
    budget = default_budget(device.type)
    if device.type == "cuda" and config is not None:
        import torch

        free, _ = torch.cuda.mem_get_info(device)
        # What torch holds of an earlier table and does not use is free as well.
        free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        item_bytes = model.get_input_embeddings().weight.element_size()
        budget = budget_for(free, config, item_bytes, states=states)
    return budget if batch_tokens is None else budget.scaled(batch_tokens)


def budget_for(free: int, config: Any, item_bytes: int, *, states: bool = False) -> Budget:
    """The budget for some free memory (bytes): powers of two, so that runs are alike.

    Half of the memory is left for what cannot be foreseen; the rest goes to activations, logits
    and shared beginnings in equal parts.

    Args:
        free: bytes.
        config: that of the model.
        item_bytes: size of the numbers of its activations.
        states: a token holds its states after all layers as well.
    """
    text = config.get_text_config()
    layers = int(getattr(text, "num_hidden_layers", 0) or 1)
    width = int(getattr(text, "hidden_size", 0) or 1024)
    vocabulary = int(getattr(text, "vocab_size", 0) or 1)
    named = (getattr(text, name, None) for name in _INNER)
    inner = next((value for value in named if isinstance(value, int)), 4 * width)

    def fits(each: int, least: int, most: int) -> int:
        count = free // 6 // max(1, each)
        return max(least, min(most, 1 << max(0, count.bit_length() - 1)))

    # Of a token in one block its input, three projections and the middle.
    token = item_bytes * (6 * width + 4 * inner + (layers + 1) * width * states)
    return replace(
        _ELSEWHERE,
        tokens=fits(token, 256, 1 << 17),
        # With a copy in float32.
        head_rows=fits(vocabulary * (item_bytes + 4), 64, 1 << 15),
        # Keys and values are held twice while they are handed on.
        cached=fits(2 * 2 * layers * width * item_bytes, 256, 1 << 19),
    )
