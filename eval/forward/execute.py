"""Run a plan: sharing where the model can, smaller batches where memory ends, nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol

from coherencegym.errors import EvaluationError, ProcessError
from coherencegym.eval.forward import packed, padded, shared
from coherencegym.eval.forward.activation import fused_activations
from coherencegym.eval.forward.distributed import ALONE, World
from coherencegym.eval.forward.head import float32_head, reused_logits
from coherencegym.eval.forward.logits import Forward
from coherencegym.eval.forward.numeric import METRICS, measured_error
from coherencegym.eval.forward.trial import Trial, beside_longer, is_out_of_memory, try_sharing
from coherencegym.eval.plan.batches import Batch, Budget
from coherencegym.eval.plan.plan import Plan
from coherencegym.eval.text.sequence import Sharing, TokenSequence

if TYPE_CHECKING:
    import numpy as np

#: Called after each batch with the tokens done and the tokens of the whole plan, padding included.
Progress = Callable[[int, int], None]


#: Where a store keeps the errors, and whether one was not measured against float32: no text has
#: such a token.
_ERRORS = TokenSequence((-1,), tuple(range(len(METRICS) + 1)))


class Store(Protocol):
    """Where surprisals of earlier runs are kept; see :mod:`eval.forward.cache`."""

    def get_many(self, sequences: Sequence[TokenSequence]) -> list[np.ndarray | None]:
        """What is read of each sequence, in bits; None where some of it is not known."""

    def put(self, results: Sequence[tuple[TokenSequence, np.ndarray]]) -> None:
        """Keep what was read of sequences, in bits."""


class NotFiniteError(Exception):
    """A surprisal is not finite; ``index`` is that of its sequence in the plan."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


@dataclass
class Execution:
    """What was run, and what came of it.

    Attributes:
        bits: surprisals (bits, float64) in the order of ``reads`` of each sequence.
        plan: in the batches in which it was run, those of earlier runs left out.
        stored: sequences that were known before.
        sharing: whether beginnings may be shared; None where nothing was to be shared.
        beside: whether texts of unequal length may stand in one batch; None where none did.
        halved: how often a batch was too big for the memory.
        ran: the sequences that were not known before, in their order.
        errors: by metric (``mean``, ``sum``, ``token``), by how much (bits) two values of a region
            may differ in this number format; empty where the promised accuracy holds.
        widened: the errors were all measured against float32.
    """

    bits: list[np.ndarray]
    plan: Plan
    stored: int = 0
    sharing: Trial | None = None
    beside: Trial | None = None
    halved: int = 0
    ran: list[int] = field(default_factory=list)
    errors: dict[str, float] = field(default_factory=dict)
    widened: bool = True


def execute(
    model: Any,
    plan: Plan,
    budget: Budget,
    *,
    share: bool = True,
    store: Store | None = None,
    progress: Progress | None = None,
    world: World = ALONE,
    beginnings: Sequence[int] = (),
) -> Execution:
    """Run a plan through a model.

    Args:
        model: a causal language model in evaluation mode.
        plan: what to run; its batches are made here, for the way in which the model can share.
        budget: what a batch may take to begin with.
        share: whether beginnings may be shared if the model can.
        store: where surprisals are looked up, and kept after every batch.
        progress: called after each batch.
        world: the processes among which the batches are divided; each returns all results.
        beginnings: ids of the tokens that begin a word, where their surprisal is read.

    Raises:
        EvaluationError: the memory does not suffice for one sequence.
        NotFiniteError: a surprisal is not finite; nothing of its batch is kept.
    """
    import numpy as np

    bits: list[np.ndarray | None] = [None] * len(plan.sequences)
    if store is not None:
        bits = store.get_many(plan.sequences)
    # Known to every process, or the plans would differ.
    known = world.agree([values is not None for values in bits])
    done = {index for index, is_known in enumerate(known) if is_known}
    # Tried in this order: packed rows are the faster, a cache is what more models go by.
    ways: tuple[Sharing, ...] = ("packed", "cache") if share else ()
    execution = Execution([np.empty(0)] * len(plan.sequences), plan, len(done))
    for index in done:
        values = bits[index]
        assert values is not None
        execution.bits[index] = values
    if not plan.sequences:
        return execution
    forward = Forward(model, beginnings)
    with fused_activations(model), float32_head(model), reused_logits(model):
        chosen, budget = _choose(forward, execution, budget, ways, done, world)
        try:
            _run_all(forward, execution, budget, chosen, store, progress, world)
        except EvaluationError as error:
            raise ProcessError(str(error)) if world.size > 1 else error from None
        if world.size > 1:
            _exchange(execution, done, world)
        if not forward.is_exact:
            execution.errors, execution.widened = _errors(forward, execution, store, world)
    return execution


def _choose(
    forward: Forward,
    execution: Execution,
    budget: Budget,
    ways: Sequence[Sharing],
    done: Set[int],
    world: World,
) -> tuple[Sharing, Budget]:
    """The first way of sharing that the model is able to, and what a batch may take then.

    Plans the batches for it, each text alone where even padding is too much for the model.
    """
    way, budget = _choose_sharing(forward, execution, budget, ways, done, world)
    execution.beside = _tried(lambda: beside_longer(forward, execution.plan), forward, world)
    if execution.beside is not None and not execution.beside.passed:
        # What was tried belongs to other batches.
        execution.sharing = execution.sharing and replace(execution.sharing, results={})
        way, budget = "none", Budget(tokens=1, head_rows=1, cached=0)
        execution.plan = execution.plan.batched(budget, sharing=way, done=done)
    return way, budget


def _choose_sharing(
    forward: Forward,
    execution: Execution,
    budget: Budget,
    ways: Sequence[Sharing],
    done: Set[int],
    world: World,
) -> tuple[Sharing, Budget]:
    plan = execution.plan

    @cache
    def batched(way: Sharing, budget: Budget) -> Plan:
        return plan.batched(budget, sharing=way, done=done)

    if forward.limits.own:
        # Rows that have to fit into a window may share little: the way that saves more comes first.
        first = budget
        ways = sorted(ways, key=lambda way: batched(way, first).tokens_once)
    for way in ways:
        execution.plan = batched(way, budget)
        if not execution.plan.shares and not plan.begins_alike:
            # Every way gives these batches.
            return "none", budget
        while execution.plan.shares:
            found = _tried(partial(try_sharing, forward, execution.plan, way), forward, world)
            if found is not None:
                execution.sharing = found
                break
            execution.sharing = Trial(False, reason="the memory does not suffice for a trial")
            smaller = budget.halved()
            assert smaller is not None, "a batch of one token shares nothing"
            budget = smaller
            execution.halved += 1
            execution.plan = batched(way, budget)
        if execution.sharing is not None and execution.sharing.passed:
            return way, budget
    execution.plan = batched("none", budget)
    return "none", budget


def _exchange(execution: Execution, done: Set[int], world: World) -> None:
    """Give every process the results of all of them."""
    import numpy as np

    sequences = execution.plan.sequences
    ends = np.cumsum([sequence.count for sequence in sequences])
    flat = np.zeros(int(ends[-1]))
    for index in execution.ran:
        flat[ends[index] - sequences[index].count : ends[index]] = execution.bits[index]
    flat = world.total(flat)
    for index, values in enumerate(np.split(flat, ends[:-1])):
        if index not in done:
            execution.bits[index] = values
    execution.halved = int(world.greatest(np.array([float(execution.halved)]))[0])


def _errors(
    forward: Forward, execution: Execution, store: Store | None, world: World
) -> tuple[dict[str, float], bool]:
    """The largest errors that this run, and those that it goes on from, have shown.

    Returns:
        By metric, in bits; and whether all were measured against float32.
    """
    import numpy as np

    measured = measured_error(forward, execution.plan.sequences, execution.bits, execution.ran)
    errors = world.greatest(np.append(measured.bits, float(not measured.widened)))
    if store is not None:
        (before,) = store.get_many([_ERRORS])
        if before is not None:
            errors = np.maximum(errors, before)
        errors = world.greatest(errors)
        store.put([(_ERRORS, errors)])
    *bits, not_widened = errors.tolist()
    return dict(zip(METRICS, bits, strict=True)), not not_widened


def _tried(trial: Callable[[], Trial | None], forward: Forward, world: World) -> Trial | None:
    """What came of a trial in all processes; None where one of them had too little memory."""
    found = _in_memory(trial, forward)
    enough, passed = world.agree([found is not None, found is not None and found.passed])
    if not enough or found is None:
        return None
    if found.passed and not passed:
        return Trial(False, reason="it does not pass the trial in every process")
    return found


def _in_memory(trial: Callable[[], Trial | None], forward: Forward) -> Trial | None:
    try:
        return trial()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        error.__traceback__ = None
    _free(forward)
    return None


def _run_all(
    forward: Forward,
    execution: Execution,
    budget: Budget,
    sharing: Sharing,
    store: Store | None,
    progress: Progress | None,
    world: World,
) -> None:
    # What the trial has run is known to every process; the first one answers for it.
    trials = (execution.sharing, execution.beside)
    tried = {k: v for trial in trials if trial is not None for k, v in trial.results.items()}
    batches = execution.plan.batches
    own = [batch for number, batch in enumerate(batches) if number not in tried]
    # The longest come first, so that every process gets as much of each length.
    queue = list(reversed(own[world.rank :: world.size]))
    left = {index for batch in queue for index in batch.indices}
    tokens = 0

    def keep(batch: Batch, results: Sequence[np.ndarray]) -> None:
        nonlocal tokens
        _keep(execution, batch, results, store)
        left.difference_update(batch.indices)
        tokens += batch.padded_tokens
        if progress is not None:
            progress(tokens, tokens + sum(each.padded_tokens for each in queue))

    for number in tried if world.rank == 0 else ():
        keep(batches[number], tried[number])
    while queue:
        batch = queue.pop()
        try:
            results = run_batch(forward, execution.plan.sequences, batch)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            # The traceback holds the tensors that were in the way.
            error.__traceback__ = None
            smaller = budget.halved()
            if len(batch.indices) == 1 or smaller is None:
                length = batch.length
                raise EvaluationError(
                    f"out of memory for one text of {length:,} tokens; try --dtype bfloat16, "
                    "another --device, or --device-map auto"
                ) from None
            budget = smaller
            execution.halved += 1
            _free(forward)
            others = {index for index in range(len(execution.plan.sequences)) if index not in left}
            rest = execution.plan.batched(budget, sharing=sharing, done=others)
            queue = list(reversed(rest.batches))
            continue
        keep(batch, results)


def _keep(
    execution: Execution, batch: Batch, results: Sequence[np.ndarray], store: Store | None
) -> None:
    """Put what came of a batch where it belongs.

    Raises:
        NotFiniteError: a surprisal is not finite; nothing of the batch is kept.
    """
    import numpy as np

    for index, values in zip(batch.indices, results, strict=True):
        if not np.isfinite(values).all():
            raise NotFiniteError(index)
        execution.bits[index] = values
    execution.ran += batch.indices
    if store is not None:
        members = (execution.plan.sequences[index] for index in batch.indices)
        store.put(list(zip(members, results, strict=True)))


def run_batch(
    forward: Forward, sequences: Sequence[TokenSequence], batch: Batch
) -> list[np.ndarray]:
    """Run a batch by the backend that it asks for."""
    if batch.prefixes:
        return packed.run(forward, sequences, batch)
    run = shared.run if batch.prefix else padded.run
    return run(forward, sequences, batch)


def _free(forward: Forward) -> None:
    import gc

    import torch

    gc.collect()
    if forward.device.type == "cuda":
        torch.cuda.empty_cache()
