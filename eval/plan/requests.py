"""Requests: token sequences of conditions and the positions to read, before a model is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Generic, Protocol, TypeVar

from coherencegym.eval.kinds.formula import WHOLE, RegionRef
from coherencegym.eval.kinds.items import SEPARATOR, Condition
from coherencegym.eval.models.config import context_length, limits_of
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options, Rules
from coherencegym.eval.plan.plan import Plan, make_plan
from coherencegym.eval.text import special
from coherencegym.eval.text.encode import SPECIAL, Encoding, encode
from coherencegym.eval.text.masks import Masks, mask_of
from coherencegym.eval.text.sequence import TURN, TokenSequence, common_start, count_names
from coherencegym.eval.text.words import WordBeginnings


class Askable(Protocol):
    """Conditions that are read together, and what is read of them: an item, or a :class:`Query`.

    They may share what they begin with, and one that is too long leaves out all of them.
    """

    @property
    def item_id(self) -> str:
        """The name in errors."""

    @property
    def conditions(self) -> Sequence[Condition]:
        """The texts."""

    @property
    def reads(self) -> Mapping[str, Set[RegionRef]]:
        """The regions of each condition whose surprisals are wanted; ``"*"``: the whole text."""


#: A kind of them: items, or queries.
AnyAsked = TypeVar("AnyAsked", bound=Askable)


@dataclass(frozen=True, slots=True)
class Query:
    """Texts that are asked about and are no item."""

    item_id: str
    conditions: Sequence[Condition]
    reads: Mapping[str, Set[RegionRef]]


@dataclass(frozen=True)
class Fitted:
    """An item's conditions that can be scored.

    Attributes:
        encodings: those of its conditions; none if it is too long, and none of a condition whose
            separator cannot be rendered.
        too_long: a condition is longer than the context, and could not be cut.
        truncated: tokens that every condition lost on the left, where that was allowed.
    """

    encodings: Mapping[str, Encoding]
    too_long: bool = False
    truncated: int = 0


@dataclass(frozen=True)
class Rendering:
    """The way in which texts were given to a model.

    Attributes:
        rules: the mode.
        start, separator: see :mod:`eval.text.special`.
        added: the tokens that the tokenizer put around every text by itself, where ``rules`` let
            it; ``start`` is then none.
        context: most tokens that the model can read, or None.
        names: those of special tokens in the texts (:mod:`eval.text.sequence`).
    """

    rules: Rules
    start: special.Start
    separator: special.Separator | None = None
    added: special.Added | None = None
    context: int | None = None
    names: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Prepared(Generic[AnyAsked]):
    """Requests of a model, and where they are from.

    Attributes:
        queries: the items, or other texts, that were asked about.
        fitted: the encodings of each query.
        query_conditions: the number of the query and the name of the condition of each request.
        requests: whole texts with the positions to read; where tokens are masked, one for each
            position of a condition, one behind the other.
        plan: that of the requests; no batches are made yet.
        words: the tokens that begin a word, where surprisals are corrected.
    """

    queries: Sequence[AnyAsked]
    fitted: Sequence[Fitted]
    query_conditions: Sequence[tuple[int, str]]
    requests: Sequence[TokenSequence]
    rendering: Rendering
    plan: Plan
    words: WordBeginnings | None


def prepare(
    tokenizer: Any,
    config: Any,
    queries: Sequence[AnyAsked],
    options: Options = DEFAULT_OPTIONS,
    *,
    uses_separator: bool | None = None,
    words: WordBeginnings | None = None,
) -> Prepared[AnyAsked]:
    """Encode conditions and say what is to be read of them.

    ``config`` is the model's, or None; ``words`` are the tokens that begin a word, if surprisals
    are to be corrected. The rest is as for :func:`eval.surprisal.surprisals`.
    """
    options.check()
    masks = None
    if options.is_masked:
        masks = Masks(mask_of(tokenizer), options.masking, int(options.scorer == "mntp"))
    added, bos = None, options.bos
    if options.rules.tokenizer_adds:
        added, bos = special.added_by(tokenizer), "never"
    if masks is not None:
        added, bos = _around(tokenizer, config, masks), "never"
    start = special.start_of_text(tokenizer, config, bos)
    flat = [condition for query in queries for condition in query.conditions]
    is_declared = uses_separator is not None
    if uses_separator is None and not options.special_tokens:
        uses_separator = any(SEPARATOR in condition.content for condition in flat)
    separator = None
    if uses_separator and not options.rules.separator_is_text:
        separator = special.separator(tokenizer, options.separator)
    names = count_names(tokenizer, (c.content for c in flat), separated=separator is not None)
    if is_declared:
        del names[TURN]
    context = context_length(config)
    item_ids = [query.item_id for query in queries for _ in query.conditions]
    how = added, item_ids, masks is not None, options.special_tokens
    encodings = iter(encode(tokenizer, flat, start, separator, *how))
    fitted, query_conditions, requests = [], [], []
    for number, query in enumerate(queries):
        own = {each.condition_name: next(encodings) for each in query.conditions}
        fitted.append(fit(own, context, options.truncate))
        reads = query.reads
        for name, encoding in fitted[-1].encodings.items():
            positions = _positions(encoding, reads.get(name, set()), options.every_token, masks)
            if masks is not None and positions:
                rows = (masks.row(encoding.ids, encoding.words, place) for place in positions)
                asked = [TokenSequence(encoding.ids, (), True, masked=row) for row in rows]
            elif words is None or not positions:
                asked = [TokenSequence(encoding.ids, positions, True, family=number)]
            else:
                starts = words.needed(encoding.ids, positions)
                # What follows the last token is read as well.
                ids = (*encoding.ids, words.end)
                asked = [TokenSequence(ids, positions, word_starts=starts, family=number)]
            query_conditions += [(number, name)] * len(asked)
            requests += asked
    plan = make_plan(requests, limits=limits_of(config))
    rendering = Rendering(options.rules, start, separator, added, context, names)
    return Prepared(queries, fitted, query_conditions, requests, rendering, plan, words)


def fit(encodings: Mapping[str, Encoding | None], context: int | None, truncate: bool) -> Fitted:
    """Fit conditions, of which None cannot be rendered, into a context (tokens; None: no limit).

    With ``truncate`` what is identical in all conditions is cut on the left.
    """
    known = {name: encoding for name, encoding in encodings.items() if encoding is not None}
    longest = max((len(encoding.ids) for encoding in known.values()), default=0)
    excess = longest - context if context is not None else 0
    if excess <= 0:
        return Fitted(known)
    # Every condition loses the same tokens, so that they go on from the same context. A start-of-
    # text token stays; without one a shared token does, so that the same goes unscored in each.
    room = common_start([encoding.ids for encoding in known.values()]) - 1
    if not truncate or excess > room:
        return Fitted({}, too_long=True)
    return Fitted({name: each.cut(excess) for name, each in known.items()}, truncated=excess)


def _around(tokenizer: Any, config: Any, masks: Masks) -> special.Added:
    # A model that predicts a token one place before it needs one in front.
    added = replace(special.added_by(tokenizer), counts=False)
    if masks.ahead and not added.before:
        start = special.start_of_text(tokenizer, config)
        return replace(added, before=() if start.token_id is None else (start.token_id,))
    return added


def region_places(encoding: Encoding, region: RegionRef) -> Sequence[int]:
    """Indices of a region's tokens, increasing; for ``"*"`` of all tokens of the text."""
    if region != WHOLE:
        return encoding.of_region.get(region, range(0))
    return _together([own for number, own in encoding.of_region.items() if number != SPECIAL])


def _together(positions: Sequence[Sequence[int]]) -> Sequence[int]:
    return positions[0] if len(positions) == 1 else sorted(chain.from_iterable(positions))


def _positions(
    encoding: Encoding, regions: Set[RegionRef], every_token: bool, masks: Masks | None
) -> tuple[int, ...]:
    # Without those that nothing before them predicts (position 0); where a text is masked, without
    # what stands around it.
    first = 1 if masks is None else masks.ahead
    if every_token:
        text = encoding.places_of_text if masks is not None else range(len(encoding.ids))
        return tuple(place for place in text if place >= first)
    if not regions:
        return ()
    chosen = [WHOLE] if WHOLE in regions else regions
    read = _together([region_places(encoding, region) for region in chosen])
    return tuple(read[1:] if read and read[0] < first else read)
