"""Run a plan in vLLM, which batches by itself and shares beginnings through its prefix cache.

The sequences are those of the plan, and so are families: what a sequence begins with like an
earlier one of its family is taken from there, and vLLM goes on from its cache behind it. That cache
also has what other texts left, so it may reach beyond the first token that is wanted, whose
log-probability is then not computed: such a text is read once more, from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherencegym.eval.backends.backend import RunContext
from coherencegym.eval.backends.vllm_engine import Engine, Prompt
from coherencegym.eval.forward.execute import Execution, begin
from coherencegym.eval.forward.numeric import BY_ITSELF, Bits, Store, second_reading
from coherencegym.eval.plan.plan import Plan
from coherencegym.eval.text.sequence import common_start

if TYPE_CHECKING:
    import numpy as np

#: Tokens of a block of vLLM's cache, as a rule: fewer are never found there.
_BLOCK = 16
#: Tokens that are handed to vLLM at a time, before what came of them is kept.
_CHUNK = 1 << 18


@dataclass(frozen=True)
class _Asked:
    """A sequence, by its place in the plan, and what is to be computed of it.

    Attributes:
        positions: those that no earlier sequence of its family has.
        known: the sequence that has each of the others.
        cached: it begins with enough of what an earlier one of its family does.
    """

    index: int
    positions: tuple[int, ...]
    known: Mapping[int, int]
    cached: bool


def read_prompts(engine: Engine, plan: Plan, context: RunContext) -> Execution:
    """Run a plan.

    What is read a second time is read one text at a time, without the cache.
    """
    store = context.store
    execution, done = begin(plan, store, progress=context.progress)
    execution.widened = not plan.sequences
    tokens, total = 0, sum(s.length for i, s in enumerate(plan.sequences) if i not in done)
    for asked in _chunks(plan, done, context.options.share):
        _run(engine, plan, asked, execution, store)
        tokens += sum(plan.sequences[each.index].length for each in asked)
        if context.progress is not None:
            context.progress(tokens, total)

    def by_itself(indices: Sequence[int]) -> Bits:
        asked = [_Asked(index, plan.sequences[index].positions, {}, False) for index in indices]
        return dict(pair for one in asked for pair in _answers(engine, plan, [one], cached=False))

    execution.again = (
        second_reading(plan.sequences, context.twice, by_itself, BY_ITSELF, store) or {}
    )
    return execution


def _chunks(plan: Plan, done: set[int], share: bool) -> Iterator[list[_Asked]]:
    chunk: list[_Asked] = []
    tokens = 0
    for family in plan.families:
        own = list(_asked(plan, family, done, share))
        chunk += own
        tokens += sum(plan.sequences[each.index].length for each in own)
        if tokens >= _CHUNK:
            yield chunk
            chunk, tokens = [], 0
    if chunk:
        yield chunk


def _asked(plan: Plan, family: Sequence[int], done: set[int], share: bool) -> Iterator[_Asked]:
    sequences = plan.sequences
    for place, index in enumerate(family):
        if index in done:
            continue
        own = sequences[index]
        earlier = family[:place] if share else ()
        alike = {other: common_start([own.ids, sequences[other].ids]) for other in earlier}
        known = {
            position: other
            for other, shared in alike.items()
            for position in sequences[other].positions
            if position < shared
        }
        positions = tuple(position for position in own.positions if position not in known)
        longest = max(alike.values(), default=0)
        cached = bool(positions) and min(longest, positions[0] - 1) >= _BLOCK
        yield _Asked(index, positions, known, cached)


def _run(
    engine: Engine, plan: Plan, asked: Sequence[_Asked], execution: Execution, store: Store | None
) -> None:
    import numpy as np

    found: dict[int, np.ndarray] = {}
    wanted = [each for each in asked if each.positions]
    # What leaves a beginning in the cache comes before what goes on from it.
    left = [each for each in wanted if not each.cached]
    for cached, some in ((False, left), (True, [each for each in wanted if each.cached])):
        found.update(_answers(engine, plan, some, cached=cached))
    again = [each for each in wanted if each.index not in found]
    found.update(_answers(engine, plan, again, cached=False))
    read: dict[int, np.ndarray] = {}
    for each in asked:
        own = dict(zip(each.positions, found.get(each.index, ()), strict=True))
        for position, other in each.known.items():
            place = plan.sequences[other].positions.index(position)
            own.setdefault(position, read.get(other, execution.bits[other])[place])
        read[each.index] = np.array([own[p] for p in plan.sequences[each.index].positions])
    execution.keep(list(read), list(read.values()), store)


def _answers(
    engine: Engine, plan: Plan, asked: Sequence[_Asked], *, cached: bool
) -> Iterable[tuple[int, np.ndarray]]:
    # By the sequence's place in the plan; only those whose positions were all computed.
    prompts = [Prompt(plan.sequences[each.index].ids, each.positions) for each in asked]
    pairs = zip(asked, engine.ask(prompts, cached=cached), strict=True)
    return [(each.index, bits) for each, bits in pairs if bits is not None]
