"""Requests: token sequences of conditions and the positions to read, before a model is asked.

A token belongs to the place of its first character that is not white space, one of white space only
to the next such place (:mod:`eval.text.encode`). White space at the edges of a span counts for
nothing, so that a tokenizer that makes a token of a final space gives no other span.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.formula import WHOLE, RegionRef
from coherencegym.eval.kinds.items import SEPARATOR, Condition
from coherencegym.eval.models.config import context_length, limits_of
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.plan import Plan, make_plan
from coherencegym.eval.text import special
from coherencegym.eval.text.encode import SPECIAL, Encoding, encode
from coherencegym.eval.text.places import Tokens, WordBeginnings, nearest_solid, solid
from coherencegym.eval.text.reading import TokenReader
from coherencegym.eval.text.sequence import (
    POOLS,
    TURN,
    Masks,
    Passage,
    Pool,
    TokenSequence,
    common_start,
    count_names,
    mask_of,
)
from coherencegym.eval.text.special import Added, added_by, start_of_text

#: First token of a span and the one behind its last.
TokenRange = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PooledSequence:
    """Token ids that go through the model once, and the spans whose mean vectors are read."""

    ids: tuple[int, ...]
    token_ranges: tuple[TokenRange, ...]

    @property
    def sequence(self) -> TokenSequence:
        """The ids as batches are made of them."""
        return TokenSequence(self.ids, (), whole=True)

    @property
    def key(self) -> bytes:
        """The sha256 of all of it."""
        flat = [len(self.ids), *self.ids, *(edge for own in self.token_ranges for edge in own)]
        return hashlib.sha256(np.array(flat, "<i8").tobytes()).digest()


@dataclass(frozen=True)
class PreparedPassages:
    """Sequences that are read for some passages, and where each span is in them.

    Attributes:
        sequences: each once.
        rows: place of each span, over all passages in order, among the spans of all sequences; -1
            where it is left out.
        left_out: number of the span -> ``too_long`` or ``no_token``.
        context: most tokens that the model can read, or None.
    """

    sequences: tuple[PooledSequence, ...] = field(repr=False)
    rows: np.ndarray = field(repr=False)
    left_out: dict[int, str]
    context: int | None

    @property
    def tokens(self) -> int:
        """Tokens that are read, those put around a text included."""
        return sum(len(one.ids) for one in self.sequences)


def prepare_passages(
    tokenizer: Any, config: Any, passages: Sequence[Passage], pool: Pool = "mean", *, causal: bool
) -> PreparedPassages:
    """Encode passages and say what is to be read of them.

    A causal model reads the start-of-text token and the text; what stands in its first place is in
    no vector, as many models put an activation there that is hundreds of times larger than all
    others (an attention sink). Any other model reads what its tokenizer puts around a text.

    Args:
        tokenizer, config: the model's; ``config`` may be None.
        passages: texts with spans.
        pool: ``cls`` gives all spans of a text the same vector.
        causal: a token of the model sees nothing behind it.
    """
    if pool not in POOLS:
        raise EvaluationError(f"pool {pool!r}: expected one of {', '.join(POOLS)}")
    if causal:
        start = start_of_text(tokenizer, config)
        added = Added(() if start.token_id is None else (start.token_id,), ())
    else:
        added = added_by(tokenizer)
    if pool == "cls" and (causal or not special.begins_with_cls(tokenizer)):
        problem = (
            "the first token of this model sees nothing of the text"
            if causal
            else "the tokenizer puts no such token in front"
        )
        raise EvaluationError(f"pool cls: {problem}; expected mean or last")
    context = context_length(config)
    pooled = {
        passage: _pooled(passage, tokens, added, pool, int(causal))
        for passage, tokens in _encoded(tokenizer, passages).items()
    }
    # The first row of each sequence.
    firsts: dict[PooledSequence, int] = {}
    rows: list[int] = []
    left_out: dict[int, str] = {}
    end = 0
    for passage in passages:
        own, wanted = pooled[passage]
        too_long = context is not None and len(own.ids) > context
        if own.token_ranges and not too_long and own not in firsts:
            firsts[own] = end
            end += len(own.token_ranges)
        for place in wanted:
            if place is None or too_long:
                left_out[len(rows)] = "too_long" if too_long else "no_token"
                rows.append(-1)
            else:
                rows.append(firsts[own] + place)
    return PreparedPassages(tuple(firsts), np.array(rows, dtype=np.int64), left_out, context)


def _encoded(tokenizer: Any, passages: Sequence[Passage]) -> dict[Passage, Tokens]:
    distinct = list(dict.fromkeys(passages))
    for passage in distinct:
        for start, end in passage.spans:
            if not 0 <= start <= end <= len(passage.text):
                raise EvaluationError(
                    f"text {passage.text[:40]!r}: span {start} to {end} of {len(passage.text)} "
                    "characters; expected a start and an end in the text"
                )
    texts = list(dict.fromkeys(passage.text for passage in distinct))
    tokens = dict(zip(texts, TokenReader(tokenizer).read(texts), strict=True))
    return {passage: tokens[passage.text] for passage in distinct}


def _pooled(
    passage: Passage, tokens: Tokens, added: Added, pool: Pool, first: int
) -> tuple[PooledSequence, list[int | None]]:
    # What is read, and the place of each span in it; None for one that has no token. ``first``
    # tokens of the sequence are in no span.
    before = len(added.before)
    ranges: list[TokenRange | None] = []
    for start, end in _token_ranges(passage, tokens):
        a, b = max(start + before, first), end + before
        found = (0, 1) if pool == "cls" else (b - 1, b) if pool == "last" else (a, b)
        ranges.append(found if a < b else None)
    distinct = tuple(dict.fromkeys(own for own in ranges if own is not None))
    ids = (*added.before, *tokens.ids.tolist(), *added.after)
    places = [None if own is None else distinct.index(own) for own in ranges]
    return PooledSequence(ids, distinct), places


def _token_ranges(passage: Passage, tokens: Tokens) -> list[TokenRange]:
    if not len(tokens.ids):
        return [(0, 0)] * len(passage.spans)
    size = len(passage.text)
    solids = np.flatnonzero(solid(passage.text))
    # The next place that is no white space; behind the last one the place itself.
    places = np.minimum(tokens.starts, size - 1)
    after = nearest_solid(passage.text)[0][places]
    owners = np.where(after < size, after, places)
    found = []
    for start, end in passage.spans:
        low, high = np.searchsorted(solids, (start, end)).tolist()
        if low == high:
            found.append((0, 0))
            continue
        edges = (solids[low], solids[high - 1] + 1)
        a, b = np.searchsorted(owners, edges).tolist()
        found.append((a, b))
    return found


@dataclass(frozen=True, slots=True)
class Query:
    """Conditions that are read together, and what is read of them.

    They may share what they begin with, and one that is too long leaves out all of them.

    Attributes:
        name: an item's id, for errors.
        reads: the regions of each condition whose surprisals are wanted; ``"*"``: the whole text.
    """

    name: str
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
class Prepared:
    """Requests of a model, and where they are from.

    Attributes:
        fitted: the encodings of each query.
        query_conditions: the number of the query and the name of the condition of each request.
        requests: whole texts with the positions to read; where tokens are masked, one for each
            position of a condition, one behind the other.
        plan: that of the requests; no batches are made yet.
        context: most tokens that the model can read, or None.
        names: those of special tokens in the texts (:mod:`eval.text.sequence`).
        words: the tokens that begin a word, where surprisals are corrected.
    """

    fitted: Sequence[Fitted]
    query_conditions: Sequence[tuple[int, str]]
    requests: Sequence[TokenSequence]
    start: special.Start
    separator: special.Separator | None
    added: special.Added | None
    plan: Plan
    context: int | None
    names: Counter[str]
    words: WordBeginnings | None


def prepare(
    tokenizer: Any,
    config: Any,
    queries: Sequence[Query],
    options: Options = DEFAULT_OPTIONS,
    *,
    uses_separator: bool | None = None,
    words: WordBeginnings | None = None,
) -> Prepared:
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
    rendering = None
    if uses_separator and not options.rules.separator_is_text:
        rendering = special.separator(tokenizer, options.separator)
    found = count_names(tokenizer, (c.content for c in flat), separated=rendering is not None)
    if is_declared:
        del found[TURN]
    context = context_length(config)
    names = [query.name for query in queries for _ in query.conditions]
    how = added, names, masks is not None, options.special_tokens
    encodings = iter(encode(tokenizer, flat, start, rendering, *how))
    fitted, query_conditions, requests = [], [], []
    for number, query in enumerate(queries):
        own = {each.condition_name: next(encodings) for each in query.conditions}
        fitted.append(fit(own, context, options.truncate))
        for name, encoding in fitted[-1].encodings.items():
            positions = _positions(
                encoding, query.reads.get(name, set()), options.every_token, masks
            )
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
    about = start, rendering, added, plan, context, found, words
    return Prepared(fitted, query_conditions, requests, *about)


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
