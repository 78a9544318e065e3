"""Run a plan: sharing where the model can, smaller batches where memory ends, nothing twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, ProcessError
from coherencegym.eval.forward.passes import (
    CannotShareError,
    Forward,
    Started,
    run_alone,
    run_batch,
    run_each_alone,
    start_batch,
)
from coherencegym.eval.forward.trial import (
    Bits,
    Store,
    Trial,
    Trials,
    answers_alike,
    beside_longer,
    exactly,
    try_sharing,
)
from coherencegym.eval.forward.wrapped import float32_head, fused_activations
from coherencegym.eval.models.machine import ALONE, World, in_memory_of, out_of_memory
from coherencegym.eval.plan.plan import Batch, Budget, Plan
from coherencegym.eval.text.sequence import Sharing, TokenSequence

if TYPE_CHECKING:
    import numpy as np

#: A token id, which no text has, at the end of what is kept of a reading in float32.
_IN_FLOAT32 = -1
#: Called before the first batch with 0 and the tokens to read, and after each batch with the tokens
#: done and the tokens of the whole plan, padding included.
BatchProgress = Callable[[int, int], None]


class NotFiniteError(Exception):
    """A surprisal is not finite; ``index`` is that of its sequence in the plan."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


@dataclass
class Execution:
    """Sequences that were run, and what came of them.

    Attributes:
        bits: surprisals (bits, float64) in the order of ``reads`` of each sequence.
        plan: sequences and batches as they were run, those of earlier runs left out.
        cached: sequences that the store had.
        sharing: the trial of sharing beginnings; None where nothing was to be shared.
        beside: the trial of texts of unequal length in one batch; None where none did.
        halved: times that a batch was too big for the memory.
        ran: the sequences that were not known before, in their order.
        again: the same of some sequences, by their places, read a second time in float32 as
            :mod:`eval.forward.trial` says; empty where the promised accuracy holds, and where
            that cannot be had.
    """

    bits: list[np.ndarray]
    plan: Plan
    cached: int = 0
    sharing: Trial | None = None
    beside: Trial | None = None
    halved: int = 0
    ran: list[int] = field(default_factory=list)
    again: Bits = field(default_factory=dict)

    def keep(
        self, indices: Sequence[int], results: Sequence[np.ndarray], store: Store | None
    ) -> None:
        """Put what came of some sequences where it belongs."""
        import numpy as np

        for index, values in zip(indices, results, strict=True):
            if not np.isfinite(values).all():
                raise NotFiniteError(index)
            self.bits[index] = values
        self.ran += indices
        if store is not None:
            members = (self.plan.sequences[index] for index in indices)
            store.put(list(zip(members, results, strict=True)))


def execute(
    model: Any,
    plan: Plan,
    budget: Budget,
    *,
    share: bool = True,
    store: Store | None = None,
    progress: BatchProgress | None = None,
    world: World = ALONE,
    beginnings: Sequence[int] = (),
    padding: int | None = None,
    twice: Sequence[int] = (),
    trials: Trials | None = None,
) -> Execution:
    """Run a plan through a model.

    Args:
        model: a causal or masked language model in evaluation mode.
        plan: sequences to run; batches are made here, for the way in which the model can share.
        budget: most that a batch may take to begin with.
        share: share beginnings if the model can.
        store: surprisals are looked up there, and kept after every batch.
        progress: called before the first batch and after each.
        world: the processes among which the batches are divided; each returns all results.
        beginnings: ids of the tokens that begin a word, where their surprisal is read.
        padding: the id behind shorter texts, for a model that sees all of a row and so is told
            is text; None: the model is causal.
        twice: places of sequences that are read a second time, if the model is in half precision.
        trials: verdicts of earlier plans, and of this one; None: all is tried.
    """
    execution, done = begin(plan, store, world, progress)
    if not plan.sequences:
        return execution
    # Tried in this order: packed rows are the faster, a cache is what more models go by.
    ways: tuple[Sharing, ...] = ("packed", "cache") if share else ()
    forward = Forward(model, beginnings, plan.limits, padding)
    with fused_activations(model), float32_head(model):
        verdicts = trials or Trials()
        run = _Run(forward, execution, budget, done, store, progress, world, verdicts)
        run.choose(ways)
        try:
            run.run_all()
        except EvaluationError as error:
            raise ProcessError(str(error)) if world.size > 1 else error from None
        run.exchange()
        if not forward.is_exact:
            run.read_again(twice)
    return execution


def begin(
    plan: Plan,
    store: Store | None,
    world: World = ALONE,
    progress: BatchProgress | None = None,
) -> tuple[Execution, set[int]]:
    """Begin to run a plan: with what is known of earlier runs, and the sequences that are."""
    import numpy as np

    bits = [None] * len(plan.sequences) if store is None else store.get_many(plan.sequences)
    # What one process knows all get to know, or the plans would differ.
    known = world.pooled(bits, [sequence.count for sequence in plan.sequences])
    done = {index for index, values in enumerate(known) if values is not None}
    execution = Execution([np.empty(0)] * len(plan.sequences), plan, len(done))
    for index, values in enumerate(known):
        if values is not None:
            execution.bits[index] = values
    if progress is not None:
        progress(0, sum(each.length for n, each in enumerate(plan.sequences) if n not in done))
    return execution, done


def all_known(
    plan: Plan, store: Store | None, world: World = ALONE, twice: Sequence[int] = ()
) -> Execution | None:
    """A plan of which earlier runs know everything; None where it takes a model.

    The arguments are those of :func:`execute`.
    """
    execution, done = begin(plan, store, world)
    if len(done) < len(plan.sequences):
        return None
    _, again = _known_again(plan, store, world, twice)
    execution.again = {index: bits for index, bits in again.items() if bits is not None}
    if len(execution.again) < len(again):
        return None
    return execution


def _known_again(
    plan: Plan, store: Store | None, world: World, twice: Sequence[int]
) -> tuple[dict[int, TokenSequence], dict[int, np.ndarray | None]]:
    # Under which sequences readings in float32 are kept, and those that are known.
    keys = {
        index: replace(sequence, ids=(*sequence.ids, _IN_FLOAT32))
        for index in twice
        for sequence in [plan.sequences[index]]
    }
    own = [*keys.values()]
    known = [None] * len(own) if store is None else store.get_many(own)
    pooled = world.pooled(known, [key.count for key in own])
    return keys, dict(zip(keys, pooled, strict=True))


@dataclass
class _Run:
    """A plan on its way through a model.

    Attributes:
        forward, store, progress, world, trials: those of :func:`execute`.
        execution: the results so far.
        budget: most that a batch may take.
        done: sequences that were known before.
        sharing: the way in which beginnings are shared.
        tokens, of_tokens: those of its texts that are done, and of all.
    """

    forward: Forward
    execution: Execution
    budget: Budget
    done: Set[int]
    store: Store | None
    progress: BatchProgress | None
    world: World
    trials: Trials
    sharing: Sharing = "none"
    tokens: int = 0
    of_tokens: int = 0

    def choose(self, ways: Sequence[Sharing]) -> None:
        # For the first way of sharing that the model is able to; each text alone where even padding
        # is too much for it.
        self._choose_sharing(ways)
        execution = self.execution
        execution.beside = self._tried(
            "beside", lambda: beside_longer(self.forward, execution.plan)
        )
        if execution.beside is not None and not execution.beside.passed:
            # What was tried belongs to other batches.
            execution.sharing = execution.sharing and replace(execution.sharing, results={})
            self.sharing, self.budget = "none", Budget(tokens=1, head_rows=1, cached=0)
            execution.plan = execution.plan.batched(self.budget, sharing="none", done=self.done)
        self._refuse_unless_it_answers_alike()

    def _refuse_unless_it_answers_alike(self) -> None:
        execution, forward = self.execution, self.forward
        tried = (execution.sharing, execution.beside)
        shown = max((each.longest for each in tried if each and each.passed), default=0)
        found = self._tried("alike", partial(answers_alike, forward, execution.plan, shown))
        if found is not None and not found.passed:
            raise EvaluationError(f"model {type(forward.model).__name__!r} {found.reason}")

    def _choose_sharing(self, ways: Sequence[Sharing]) -> None:
        execution, plan = self.execution, self.execution.plan

        @cache
        def batched(way: Sharing, budget: Budget) -> Plan:
            return plan.batched(budget, sharing=way, done=self.done)

        first = self.budget
        if plan.limits.own:
            # Rows that have to fit into a window may share little: what saves more comes first.
            ways = sorted(ways, key=lambda way: batched(way, first).tokens_once)
        for way in ways:
            execution.plan = batched(way, self.budget)
            if not execution.plan.shares and not plan.begins_alike:
                # Every way gives these batches.
                return
            while execution.plan.shares:
                found = self._tried(way, partial(try_sharing, self.forward, execution.plan, way))
                if found is not None:
                    execution.sharing = found
                    break
                execution.sharing = Trial(False, reason="the memory does not suffice for a trial")
                # A batch of one token would share nothing.
                self._halve()
                execution.plan = batched(way, self.budget)
            if execution.sharing is not None and execution.sharing.passed:
                self.sharing = way
                return
        # A trial takes more than a run; the batches find out by themselves what fits.
        self.budget = first
        execution.plan = batched("none", self.budget)

    def _tried(self, name: str, trial: Callable[[], Trial | None]) -> Trial | None:
        # None where one of the processes had too little memory.
        about = self.forward, self.world.size, name, self.execution.plan
        known = self.trials.known(*about)
        if self.world.agree([known is not None]) == [False]:
            known = None
        found = known or in_memory_of(self.forward.device, trial)
        enough, passed = self.world.agree([found is not None, found is not None and found.passed])
        if not enough or found is None:
            return None
        if found.passed and not passed:
            found = Trial(False, reason="it does not pass the trial in every process")
        if known is None:
            self.trials.keep(*about, found)
        return found

    def _halve(self) -> bool:
        smaller = self.budget.halved()
        self.budget = smaller or self.budget
        self.execution.halved += smaller is not None
        return smaller is not None

    def run_all(self) -> None:
        # Where a surprisal is not finite, nothing of its batch is kept.
        execution, world = self.execution, self.world
        batches = execution.plan.batches
        # What the trial has run is known to every process; the first one answers for it.
        trials = (execution.sharing, execution.beside)
        tried = {k: v for trial in trials if trial is not None for k, v in trial.results.items()}
        own = [batch for number, batch in enumerate(batches) if number not in tried]
        # The longest come first, so that every process gets as much of each length.
        queue = list(reversed(own[world.rank :: world.size]))
        known = tried if world.rank == 0 else {}
        self.of_tokens = sum(map(self._length, [*(batches[number] for number in known), *queue]))
        for number, bits in known.items():
            self._keep(batches[number], bits)
        # A CPU works on one thing at a time; elsewhere the next batch is made ready, and waits in
        # line, while the device is at work on this one.
        ahead = 0 if self.forward.device.type == "cpu" else 1
        started: deque[tuple[Batch, Started]] = deque()
        while queue or started:
            batch = queue.pop() if queue else None
            if batch is not None:
                try:
                    begun = self._start(batch)
                except CannotShareError as error:
                    # The trial had no batch like this one.
                    self.sharing, execution.sharing = "none", Trial(False, reason=str(error))
                    queue = self._again(batch, queue)
                    continue
                if begun is not None:
                    started.append((batch, begun))
                    batch = None
            while len(started) > (ahead if queue and batch is None else 0):
                ready, begun = started.popleft()
                results = in_memory_of(self.forward.device, begun.finish)
                if results is None:
                    queue = self._smaller(ready, queue)
                else:
                    self._keep(ready, results)
            if batch is not None:
                queue = self._smaller(batch, queue)

    def _start(self, batch: Batch) -> Started | None:
        sequences = self.execution.plan.sequences
        work = partial(start_batch, self.forward, sequences, batch)
        return in_memory_of(self.forward.device, work)

    def _smaller(self, batch: Batch, queue: Sequence[Batch]) -> list[Batch]:
        if len(batch.indices) == 1:
            self._keep(batch, [self._in_parts(batch)])
            return list(queue)
        if not self._halve():
            raise out_of_memory(batch.length)
        return self._again(batch, queue)

    def _again(self, batch: Batch, queue: Sequence[Batch]) -> list[Batch]:
        # In batches for what is known now.
        plan = self.execution.plan
        left = {index for each in (batch, *queue) for index in each.indices}
        others = set(range(len(plan.sequences))) - left
        rest = plan.batched(self.budget, sharing=self.sharing, done=others)
        return list(reversed(rest.batches))

    def _in_parts(self, batch: Batch) -> np.ndarray:
        # A text whose logits do not fit at once is read in as few passes as do.
        import numpy as np

        (index,) = batch.indices
        sequence = self.execution.plan.sequences[index]
        self.execution.halved += 1
        size = len(sequence.places)
        while size > 1:
            size = -(-size // 2)
            parts = sequence.parts(size)
            work = partial(run_each_alone, self.forward, parts)
            if (found := in_memory_of(self.forward.device, work)) is not None:
                reads = [tuple(read) for part in parts for read in part.reads().tolist()]
                bits = dict(zip(reads, np.concatenate(found).tolist(), strict=True))
                return np.array([bits[tuple(read)] for read in sequence.reads().tolist()])
        raise out_of_memory(batch.length)

    def _keep(self, batch: Batch, results: Sequence[np.ndarray]) -> None:
        self.execution.keep(batch.indices, results, self.store)
        self.tokens += self._length(batch)
        if self.progress is not None:
            self.progress(self.tokens, self.of_tokens)

    def _length(self, batch: Batch) -> int:
        return sum(self.execution.plan.sequences[index].length for index in batch.indices)

    def exchange(self) -> None:
        import numpy as np

        if self.world.size == 1:
            return
        execution = self.execution
        passed = execution.sharing is None or execution.sharing.passed
        if self.world.agree([passed]) != [passed]:
            execution.sharing = Trial(False, reason="in another process it failed at it")
        sequences = execution.plan.sequences
        ends = np.cumsum([sequence.count for sequence in sequences])
        flat = np.zeros(int(ends[-1]))
        for index in execution.ran:
            flat[ends[index] - sequences[index].count : ends[index]] = execution.bits[index]
        for index, values in enumerate(np.split(self.world.total(flat), ends[:-1])):
            if index not in self.done:
                execution.bits[index] = values
        execution.halved = int(self.world.greatest(np.array([float(execution.halved)]))[0])

    def read_again(self, indices: Sequence[int]) -> None:
        # In float32, each once in all processes and runs.
        execution, store, world = self.execution, self.store, self.world
        keys, known = _known_again(execution.plan, store, world, indices)
        missing = [index for index, bits in known.items() if bits is None]
        own = missing[world.rank :: world.size]
        found = exactly(self.forward, lambda: self._bits(own)) if own else {}
        if world.agree([found is not None]) != [True] or found is None:
            return
        known |= found
        if store is not None and found:
            store.put([(keys[index], bits) for index, bits in found.items()])
        counts = [key.count for key in keys.values()]
        pooled = zip(keys, world.pooled([*known.values()], counts), strict=True)
        execution.again = {index: bits for index, bits in pooled if bits is not None}

    def _bits(self, indices: Sequence[int]) -> Bits:
        # Without those too large.
        plan, device = self.execution.plan, self.forward.device
        found: dict[int, np.ndarray] = {}
        others = set(range(len(plan.sequences))).difference(indices)
        with suppress(CannotShareError):
            for batch in plan.batched(self.budget, sharing=self.sharing, done=others).batches:
                work = partial(run_batch, self.forward, plan.sequences, batch)
                if (bits := in_memory_of(device, work)) is not None:
                    found.update(zip(batch.indices, bits, strict=True))
        # What had to be read in parts, as memory ended, does not fit here either.
        for index in (one for one in indices if one not in found):
            alone = in_memory_of(device, partial(run_alone, self.forward, plan.sequences, index))
            if alone is not None:
                found[index] = alone
        return found
