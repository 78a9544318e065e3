"""Surprisals of texts under a causal language model: what every task but training stands on.

The surprisal of a token is -log2 p(token | everything before it), in bits (Hale 2001).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.distributed import ALONE, World
from coherencegym.eval.forward.execute import (
    BatchProgress,
    Execution,
    NotFiniteError,
    Store,
    execute,
)
from coherencegym.eval.kinds.formula import WHOLE, RegionRef
from coherencegym.eval.models.limits import limits_of
from coherencegym.eval.models.load import vocabulary_size
from coherencegym.eval.models.placement import input_device
from coherencegym.eval.models.refusals import refuse_unless_in_vocabulary
from coherencegym.eval.plan.memory import default_budget, free_budget
from coherencegym.eval.plan.options import DEFAULT, DEFAULT_OPTIONS, Options, Rules
from coherencegym.eval.plan.plan import Plan, Request, make_plan
from coherencegym.eval.plan.requests import Prepared, Query, prepare, region_places
from coherencegym.eval.text.chat import Chat
from coherencegym.eval.text.encode import Encoding
from coherencegym.eval.text.special import Added, Separator, Start
from coherencegym.eval.text.words import WordBeginnings, word_beginnings

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class ScoredCondition:
    """A condition's tokens with their surprisals.

    Attributes:
        encoding: token ids, regions and offsets, T tokens.
        bits: surprisals, shape (T,), float64; NaN where no prediction reads the token, and where
            it has none (a first token with nothing before it).
        by_token: the same before they were corrected for words; None where they are not.
    """

    encoding: Encoding
    bits: np.ndarray
    by_token: np.ndarray | None = None

    def uncorrected(self) -> ScoredCondition:
        """The condition as it is by token, without a correction for words."""
        return self if self.by_token is None else ScoredCondition(self.encoding, self.by_token)

    def region_bits(self, region: RegionRef) -> np.ndarray:
        """Surprisals (bits) of a region's tokens, or of all tokens of the text for ``"*"``.

        A token without surprisal is left out, never counted as 0.
        """
        import numpy as np

        found = region_places(self.encoding, region)
        # Most regions are one stretch, and a stretch is read without looking up each place.
        values: np.ndarray = self.bits[
            found if not isinstance(found, range) else slice(found.start, found.stop)
        ]
        values = values[~np.isnan(values)]
        return values

    def leaves_out_first(self, region: RegionRef) -> bool:
        """Tell whether the region has the first token of a text that has nothing before it."""
        import numpy as np

        return 0 in region_places(self.encoding, region) and bool(np.isnan(self.bits[0]))


@dataclass(frozen=True)
class Answer:
    """The reads of one query.

    Attributes:
        conditions: bits by name; a condition whose separator cannot be rendered is absent, and none
            is there for a query that is too long.
        too_long: a condition is longer than the model's context.
        truncated: tokens that every condition lost on the left, where that was allowed.
        shortened: a condition lost tokens at the ends of the regions that give some.
    """

    conditions: Mapping[str, ScoredCondition]
    too_long: bool = False
    truncated: int = 0
    shortened: bool = False


class _Read(Protocol):
    @property
    def conditions(self) -> Mapping[str, ScoredCondition]: ...


#: The answer to a query, or what a task makes of it.
_Item = TypeVar("_Item", bound=_Read)


@dataclass(frozen=True)
class Surprisals(Generic[_Item]):
    """The reads of all queries.

    Attributes:
        items: the reads of each query, in their order.
        start, separator: the ways in which texts were rendered; see :mod:`eval.text.special`.
        context: most tokens that the model can read, or None.
        execution: the run.
        rules: the mode.
        added: the tokens that the tokenizer put around every text by itself, where ``rules`` let
            it; ``start`` is then none.
    """

    items: tuple[_Item, ...]
    start: Start
    separator: Separator | None
    context: int | None
    execution: Execution = field(repr=False)
    rules: Rules = DEFAULT
    added: Added | None = None

    @property
    def plan(self) -> Plan:
        """The plan that was run."""
        return self.execution.plan

    @property
    def spanning_tokens(self) -> int:
        """Tokens that reach from one region into another, over all conditions."""
        return sum(
            condition.encoding.spanning
            for item in self.items
            for condition in item.conditions.values()
        )


@dataclass(frozen=True)
class Planned:
    """Queries before a model is asked: their tokens, what goes through it, beginnings of words."""

    prepared: Prepared
    plan: Plan
    words: WordBeginnings | None


def plan_queries(
    model: Any,
    tokenizer: Any,
    queries: Sequence[Query],
    options: Options = DEFAULT_OPTIONS,
    *,
    uses_separator: bool | None = None,
    chat: Chat | None = None,
) -> Planned:
    """Encode and plan queries; the arguments are those of :func:`surprisals`.

    Raises:
        EvaluationError: an option contradicts the mode, or the tokens of a text cannot be placed in
            it or are not in the model's vocabulary.
    """
    config = getattr(model, "config", None)
    size = vocabulary_size(model)
    words = word_beginnings(tokenizer, size) if options.word_correction else None
    prepared = prepare(
        tokenizer, config, queries, options, uses_separator=uses_separator, words=words, chat=chat
    )
    refuse_unless_in_vocabulary(size, tokenizer, (each.ids for each in prepared.requests))
    return Planned(prepared, make_plan(prepared.requests, limits=limits_of(config)), words)


def surprisals(
    model: Any,
    tokenizer: Any,
    queries: Sequence[Query],
    options: Options = DEFAULT_OPTIONS,
    *,
    uses_separator: bool | None = None,
    store: Store | None = None,
    progress: BatchProgress | None = None,
    world: World = ALONE,
    chat: Chat | None = None,
    planned: Planned | None = None,
) -> Surprisals[Answer]:
    """Surprisals (bits) of the tokens of conditions, where they are wanted.

    Args:
        model: a causal language model of transformers, in evaluation mode.
        tokenizer: its tokenizer.
        queries: conditions, and the regions that are read of each.
        options: ways to read and run them.
        uses_separator: take ``[SEP]`` in a text for a separator; None: where it occurs.
        store, progress, world: those of :func:`eval.forward.execute.execute`.
        chat: the tokens before each text, and those in place of ``[SEP]``; there is then no other
            start of text.
        planned: the result of :func:`plan_queries` for the same; None: it is made now.

    Raises:
        EvaluationError: an option contradicts the mode, the tokens of a text cannot be placed in it
            or are not in the model's vocabulary, or a surprisal is not finite.
    """
    if planned is None:
        planned = plan_queries(
            model, tokenizer, queries, options, uses_separator=uses_separator, chat=chat
        )
    prepared, plan, words = planned.prepared, planned.plan, planned.words
    try:
        execution = execute(
            model,
            plan,
            default_budget(input_device(model).type, options.batch_tokens, free_budget(model)),
            share=options.share,
            store=store,
            progress=progress,
            world=world,
            beginnings=words.ids if words else (),
        )
    except NotFiniteError as error:
        number, name = prepared.owners[plan.owner.index(error.index)]
        raise EvaluationError(
            f"{queries[number].name}: condition {name!r} has a surprisal that is not finite; "
            "try --dtype float32"
        ) from None
    conditions: list[dict[str, ScoredCondition]] = [{} for _ in queries]
    for (number, name), request, index in zip(
        prepared.owners, prepared.requests, plan.owner, strict=True
    ):
        encoding = prepared.fitted[number].encodings[name]
        scored = _scored_condition(encoding, request, execution, index, words)
        regions = queries[number].reads.get(name, frozenset())
        if options.rules.first_token_is_zero and regions & {WHOLE, *encoding.regions[:1]}:
            scored.bits[:1] = 0.0
        conditions[number][name] = scored
    return Surprisals(
        tuple(
            Answer(own, one.too_long, one.cut, one.shortened)
            for own, one in zip(conditions, prepared.fitted, strict=True)
        ),
        prepared.start,
        prepared.separator,
        prepared.context,
        execution,
        options.rules,
        prepared.added,
    )


def _scored_condition(
    encoding: Encoding,
    request: Request,
    execution: Execution,
    index: int | None,
    words: WordBeginnings | None,
) -> ScoredCondition:
    import numpy as np

    values = np.full(len(encoding.ids), math.nan)
    if index is None:
        return ScoredCondition(encoding, values)
    sequence, bits = execution.plan.sequences[index], execution.bits[index].tolist()
    # The sequence may serve others too, which read more of it.
    asked = set(request.positions)
    for position, own in zip(sequence.positions, bits, strict=False):
        if position in asked:
            values[position] = own
    if words is None:
        return ScoredCondition(encoding, values)
    starts = dict(zip(sequence.word_starts, bits[len(sequence.positions) :], strict=True))
    corrected = words.corrected(encoding.ids, values, starts)
    return ScoredCondition(encoding, corrected, by_token=values)


__all__ = ["Answer", "Query", "ScoredCondition", "Surprisals", "surprisals"]
