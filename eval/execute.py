"""Run a plan: sharing where the model can, smaller batches where memory ends, nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from eval.activation import fused_activations
from eval.backends import padded, shared
from eval.backends.logits import Forward
from eval.batches import Batch, Budget, Run
from eval.errors import EvaluationError
from eval.numeric import METRICS, measured_error
from eval.plan import Plan
from eval.probe import Probe, is_out_of_memory, probe

if TYPE_CHECKING:
    import numpy as np

#: Called after each batch with the tokens done and the tokens of the whole plan, padding included.
Progress = Callable[[int, int], None]


#: Where a store keeps the errors: no text has such a token.
_ERRORS = ((-1,), tuple(range(len(METRICS))))


class Store(Protocol):
    """Where surprisals of earlier runs are kept; see :mod:`eval.cache`."""

    def get_many(
        self, requests: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
    ) -> list[np.ndarray | None]:
        """Surprisals (bits) of (ids, positions); None where one of them is not known."""

    def put(self, results: Sequence[tuple[tuple[int, ...], tuple[int, ...], np.ndarray]]) -> None:
        """Keep the surprisals (bits) of (ids, positions)."""


@dataclass
class Execution:
    """What was run, and what came of it.

    Attributes:
        bits: surprisals (bits, float64) at the positions of each run of the plan.
        plan: in the batches in which it was run, those of earlier runs left out.
        stored: runs that were known before.
        probe: whether beginnings may be shared; None where nothing was to be shared.
        halved: how often a batch was too big for the memory.
        ran: the runs that were not known before, in their order.
        errors: by metric (``mean``, ``sum``, ``token``), by how much (bits) two values of a region
            may differ in this number format; empty where the promised accuracy holds.
    """

    bits: list[np.ndarray]
    plan: Plan
    stored: int = 0
    probe: Probe | None = None
    halved: int = 0
    ran: list[int] = field(default_factory=list)
    errors: dict[str, float] = field(default_factory=dict)


def execute(
    model: Any,
    plan: Plan,
    budget: Budget,
    *,
    share: bool = True,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Execution:
    """Run a plan through a model.

    Args:
        model: a causal language model in evaluation mode.
        plan: what to run.
        budget: what a batch may take to begin with.
        share: whether beginnings may be shared if the model can.
        store: where surprisals are looked up, and kept after every batch.
        progress: called after each batch.

    Raises:
        EvaluationError: the memory does not suffice for one sequence.
    """
    import numpy as np

    bits: list[np.ndarray | None] = [None] * len(plan.runs)
    if store is not None:
        bits = store.get_many([(run.ids, run.positions) for run in plan.runs])
    done = {index for index, values in enumerate(bits) if values is not None}
    if done or share != plan.shares:
        plan = plan.batched(budget, share=share, done=done)
    execution = Execution([np.empty(0)] * len(plan.runs), plan, len(done))
    for index in done:
        values = bits[index]
        assert values is not None
        execution.bits[index] = values
    if not plan.runs:
        return execution
    forward = Forward(model)
    with fused_activations(model):
        if plan.shares:
            execution.probe = _probe(forward, plan)
            if not execution.probe.passed:
                execution.plan = plan.batched(budget, share=False, done=done)
        _run_all(forward, execution, budget, done, store, progress)
        if not forward.is_exact:
            execution.errors = _errors(forward, execution, store)
    return execution


def _errors(forward: Forward, execution: Execution, store: Store | None) -> dict[str, float]:
    """The largest errors that this run, and those that it goes on from, have shown."""
    import numpy as np

    errors = measured_error(forward, execution.plan.runs, execution.bits, execution.ran)
    if store is not None:
        (before,) = store.get_many([_ERRORS])
        if before is not None:
            errors = np.maximum(errors, before)
        store.put([(*_ERRORS, errors)])
    return dict(zip(METRICS, errors.tolist(), strict=True))


def _probe(forward: Forward, plan: Plan) -> Probe:
    try:
        return probe(forward, plan)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        error.__traceback__ = None
    _free(forward)
    return Probe(False, reason="the memory does not suffice for a trial")


def _run_all(
    forward: Forward,
    execution: Execution,
    budget: Budget,
    done: set[int],
    store: Store | None,
    progress: Progress | None,
) -> None:
    share = execution.plan.shares
    tokens = 0
    queue = list(reversed(execution.plan.batches))
    while queue:
        batch = queue.pop()
        try:
            results = run_batch(forward, execution.plan.runs, batch)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            # The traceback holds the tensors that were in the way.
            error.__traceback__ = None
            smaller = budget.halved()
            if len(batch.runs) == 1 or smaller is None:
                length = batch.length
                raise EvaluationError(
                    f"out of memory for one text of {length:,} tokens; try --dtype bfloat16, "
                    "another --device, or --device-map auto"
                ) from None
            budget = smaller
            execution.halved += 1
            _free(forward)
            rest = execution.plan.batched(budget, share=share, done=done)
            queue = list(reversed(rest.batches))
            continue
        for index, values in zip(batch.runs, results, strict=True):
            execution.bits[index] = values
        done.update(batch.runs)
        execution.ran += batch.runs
        if store is not None:
            members = (execution.plan.runs[index] for index in batch.runs)
            store.put([(m.ids, m.positions, v) for m, v in zip(members, results, strict=True)])
        tokens += batch.padded_tokens
        if progress is not None:
            progress(tokens, tokens + sum(left.padded_tokens for left in queue))


def run_batch(forward: Forward, runs: Sequence[Run], batch: Batch) -> list[np.ndarray]:
    """Run a batch by the backend that it asks for."""
    run = shared.run if batch.prefix else padded.run
    return run(forward, runs, batch)


def _free(forward: Forward) -> None:
    import gc

    import torch

    gc.collect()
    if forward.device.type == "cuda":
        torch.cuda.empty_cache()
