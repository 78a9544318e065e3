"""Passages: texts of which the vectors of spans are wanted, encoded for a model.

A token belongs to the place of its first character that is not white space, one of white space only
to the next such place (:mod:`eval.text.encode`). White space at the edges of a span counts for
nothing, so that a tokenizer that makes a token of a final space gives no other span.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.config import context_length
from coherencegym.eval.plan.options import POOLS, Pool
from coherencegym.eval.text import special
from coherencegym.eval.text.places import Tokens, nearest_solid, solid
from coherencegym.eval.text.reading import TokenReader
from coherencegym.eval.text.sequence import TokenSequence
from coherencegym.eval.text.special import Added, added_by, start_of_text


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that is read once, and the spans of it whose vectors are wanted.

    Attributes:
        text: the whole text.
        spans: start and end (characters) of each span. They may overlap and be in any order.
    """

    text: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def whole(cls, text: str) -> Passage:
        """A text of which the vector of all of it is wanted."""
        return cls(text, ((0, len(text)),))


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
