"""Surprisals of texts under a language model: what every task but training stands on.

The surprisal of a token is -log2 p(token | everything before it), in bits (Hale 2001); under a
masked language model -log2 p(token | the rest of the text, with the token masked), whose sum over a
text is its pseudo-log-likelihood (:mod:`eval.text.masks`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic

from coherencegym.errors import EvaluationError
from coherencegym.eval.backends import backend_of
from coherencegym.eval.backends.backend import RunContext
from coherencegym.eval.forward.execute import BatchProgress, Execution, NotFiniteError
from coherencegym.eval.forward.trial import Bits, Store, Trials, unless_finite
from coherencegym.eval.kinds.formula import WHOLE, RegionRef
from coherencegym.eval.models.config import context_length, limits_of, refuse_unless_in_vocabulary
from coherencegym.eval.models.machine import ALONE, World
from coherencegym.eval.plan.cached_plans import CachedPlans
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.plan import Plan
from coherencegym.eval.plan.requests import AnyAsked, Prepared, Rendering, prepare, region_places
from coherencegym.eval.text.encode import Encoding
from coherencegym.eval.text.sequence import TokenSequence
from coherencegym.eval.text.special import start_of_text
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
    """

    encoding: Encoding
    bits: np.ndarray

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
class Answer(Generic[AnyAsked]):
    """The reads of an item, or of other texts that were asked about.

    Attributes:
        item: what was asked.
        conditions: bits by name; a condition whose separator cannot be rendered is absent, and none
            is there if one is too long.
        too_long, truncated: see :class:`eval.plan.requests.Fitted`.
    """

    item: AnyAsked
    conditions: Mapping[str, ScoredCondition]
    too_long: bool = False
    truncated: int = 0


@dataclass(frozen=True)
class Surprisals(Generic[AnyAsked]):
    """The reads of all that was asked.

    Attributes:
        items: the answers, in the order of what was asked.
        rendering: the way in which texts were given to the model.
        execution: the run.
    """

    items: tuple[Answer[AnyAsked], ...]
    rendering: Rendering
    execution: Execution = field(repr=False)

    @property
    def plan(self) -> Plan:
        """The plan that was run."""
        return self.execution.plan


def plan_queries(
    model: Any,
    tokenizer: Any,
    queries: Sequence[AnyAsked],
    options: Options = DEFAULT_OPTIONS,
    *,
    uses_separator: bool | None = None,
    plans: CachedPlans | None = None,
) -> Prepared[AnyAsked]:
    """Encode and plan queries; the other arguments are those of :func:`surprisals`.

    Args:
        plans: those that were made for models with the same tokenizer; the plan of these very
            ``queries`` is taken from there, or kept there.
    """
    backend = backend_of(model)
    backend.refuse_unless_it_gives(options)
    config = getattr(model, "config", None)
    options = options.settled(backend.scorer_of(model))
    size = backend.vocabulary(model)

    def make() -> Prepared[AnyAsked]:
        words = word_beginnings(tokenizer, size) if options.word_correction else None
        about: Any = {"uses_separator": uses_separator, "words": words}
        prepared = prepare(tokenizer, config, queries, options, **about)
        # Requests for one text have the same tokens and stand together.
        texts = (ids for ids, _ in groupby(prepared.requests, key=lambda request: request.ids))
        refuse_unless_in_vocabulary(size, tokenizer, texts)
        return prepared

    if plans is None or plans.tokenizer is None:
        return make()
    # All that is read of the model beside its tokenizer.
    start = start_of_text(tokenizer, config, options.bos)
    way = plans.tokenizer, size, limits_of(config), context_length(config), start
    return plans.once(
        *(queries, (*way, options, uses_separator)), make, lambda made: made.plan.tokens
    )


def surprisals(
    model: Any,
    tokenizer: Any,
    queries: Sequence[AnyAsked] | Prepared[AnyAsked],
    options: Options = DEFAULT_OPTIONS,
    *,
    uses_separator: bool | None = None,
    store: Store | None = None,
    progress: BatchProgress | None = None,
    world: World = ALONE,
    twice: bool = False,
    trials: Trials | None = None,
) -> Surprisals[AnyAsked]:
    """Surprisals (bits) of the tokens of conditions, where they are wanted.

    Args:
        model: a causal or masked language model of transformers, in evaluation mode, or one that
            another backend has loaded (:mod:`eval.backends`).
        tokenizer: its tokenizer.
        queries: conditions, and the regions that are read of each; or what :func:`plan_queries`
            made of them for the same model and options.
        options: ways to read and run them.
        uses_separator: take ``[SEP]`` in a text for a separator; None: where it occurs.
        store, progress, world, trials: those of :func:`eval.forward.execute.execute`.
        twice: a model in half precision reads everything a second time, in float32
            (:mod:`eval.forward.trial`): these bits are in the ``execution``.
    """
    backend = backend_of(model)
    options = options.settled(backend.scorer_of(model))
    if isinstance(queries, Prepared):
        prepared = queries
    else:
        given = model, tokenizer, queries, options
        prepared = plan_queries(*given, uses_separator=uses_separator)
    plan, words = prepared.plan, prepared.words
    again = range(len(plan.sequences)) if twice else ()
    try:
        beginnings = words.ids if words else ()
        context = RunContext(options, store, progress, world, beginnings, again, trials)
        execution = backend.run(model, plan, context)
    except NotFiniteError as error:
        number, name = prepared.query_conditions[plan.sequence_of_request.index(error.index)]
        item_id = prepared.queries[number].item_id
        raise EvaluationError(
            f"{item_id}: condition {name!r} has a surprisal that is not finite; "
            f"{unless_finite(getattr(model, 'dtype', None))}"
        ) from None
    answers = answers_of(prepared, dict(enumerate(execution.bits)))
    return Surprisals(answers, prepared.rendering, execution)


def answers_of(prepared: Prepared[AnyAsked], bits: Bits) -> tuple[Answer[AnyAsked], ...]:
    """The answers, with the conditions all of whose sequences have bits."""
    conditions: list[dict[str, ScoredCondition]] = [{} for _ in prepared.queries]
    plan, rules = prepared.plan, prepared.rendering.rules
    asked = zip(prepared.query_conditions, prepared.requests, plan.sequence_of_request, strict=True)
    for (number, name), own in groupby(asked, key=lambda each: each[0]):
        encoding = prepared.fitted[number].encodings[name]
        read = [(request, index) for _, request, index in own if index is not None]
        if not all(index in bits for _, index in read):
            continue
        scored = _scored_condition(encoding, read, plan, bits, prepared.words)
        if rules.first_token_is_zero:
            regions = prepared.queries[number].reads.get(name, frozenset())
            if regions & {WHOLE, *encoding.regions[:1]}:
                scored.bits[:1] = 0.0
        conditions[number][name] = scored
    return tuple(
        Answer(query, own, fitted.too_long, fitted.truncated)
        for query, own, fitted in zip(prepared.queries, conditions, prepared.fitted, strict=True)
    )


def _scored_condition(
    encoding: Encoding,
    read: Sequence[tuple[TokenSequence, int]],
    plan: Plan,
    bits: Bits,
    words: WordBeginnings | None,
) -> ScoredCondition:
    import numpy as np

    values = np.full(len(encoding.ids), math.nan)
    starts: dict[int, float] = {}
    for request, index in read:
        sequence, own = plan.sequences[index], bits[index]
        places = request.positions if request.masked is None else request.masked.hidden[:1]
        if request.asked == sequence.asked:
            values[[*places]] = own[: len(places)]
        else:
            # The sequence serves others too, which read more of it.
            found = dict(zip(sequence.asked, own.tolist(), strict=False))
            values[[*places]] = [found[asked] for asked in request.asked]
        starts |= zip(sequence.word_starts, own[len(sequence.asked) :].tolist(), strict=True)
    if words is None or not read:
        return ScoredCondition(encoding, values)
    return ScoredCondition(encoding, words.corrected(encoding.ids, values, starts))
