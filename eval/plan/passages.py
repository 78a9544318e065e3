"""Passages to token sequences that are read once each, and the rows that their spans get."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.limits import context_length
from coherencegym.eval.text.passage import POOLS, Passage, Pool
from coherencegym.eval.text.sequence import TokenSequence
from coherencegym.eval.text.spans import EncodedPassage, TokenRange, encode_passages
from coherencegym.eval.text.special import Added, added_by, start_of_text


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
        places: sequence of each span, over all passages in order, and its span in that; None
            where it is left out.
        left_out: number of the span -> ``too_long`` or ``no_token``.
        context: most tokens that the model can read, or None.
    """

    sequences: tuple[PooledSequence, ...]
    places: tuple[tuple[int, int] | None, ...]
    left_out: dict[int, str]
    context: int | None

    @property
    def tokens(self) -> int:
        """Tokens that are read."""
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
    added = _around(tokenizer, config, causal)
    if pool == "cls":
        _refuse_without_cls(tokenizer, added, causal)
    context = context_length(config)
    distinct = {passage: number for number, passage in enumerate(dict.fromkeys(passages))}
    encoded = encode_passages(tokenizer, list(distinct), added, first=int(causal))
    sequences: dict[PooledSequence, int] = {}
    places: list[tuple[int, int] | None] = []
    left_out: dict[int, str] = {}
    for passage in passages:
        own = encoded[distinct[passage]]
        too_long = context is not None and len(own.ids) > context
        wanted = {} if too_long else _pooled(own, pool)
        if wanted:
            pooled = PooledSequence(own.ids, tuple(dict.fromkeys(wanted.values())))
            index = sequences.setdefault(pooled, len(sequences))
        for number in range(len(passage.spans)):
            if number in wanted:
                places.append((index, pooled.token_ranges.index(wanted[number])))
            else:
                left_out[len(places)] = "too_long" if too_long else "no_token"
                places.append(None)
    return PreparedPassages(tuple(sequences), tuple(places), left_out, context)


def _around(tokenizer: Any, config: Any, causal: bool) -> Added:
    if not causal:
        return added_by(tokenizer)
    start = start_of_text(tokenizer, config)
    return Added(() if start.token_id is None else (start.token_id,), ())


def _refuse_without_cls(tokenizer: Any, added: Added, causal: bool) -> None:
    own = tokenizer.cls_token_id
    problem = None
    if causal:
        problem = "the first token of this model sees nothing of the text"
    elif own is None or added.before[:1] != (own,):
        problem = "the tokenizer puts no such token in front"
    if problem is not None:
        raise EvaluationError(f"pool cls: {problem}; expected mean or last")


def _pooled(encoded: EncodedPassage, pool: Pool) -> dict[int, TokenRange]:
    # Number of each span that has a token -> the tokens whose mean is its vector.
    found = {n: own for n, own in enumerate(encoded.token_ranges) if own is not None}
    if pool == "cls":
        return dict.fromkeys(found, (0, 1))
    return {n: (b - 1, b) for n, (_, b) in found.items()} if pool == "last" else found
