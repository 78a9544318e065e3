"""Spans of passages, in characters, to ranges of tokens, from one encoding of the whole text.

A token belongs to the place of its first character that is not white space, one of white space only
to the next such place (:mod:`eval.text.encode`). White space at the edges of a span counts for
nothing, so that a tokenizer that makes a token of a final space gives no other span.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coherencegym.errors import EvaluationError
from coherencegym.eval.text.passage import Passage
from coherencegym.eval.text.places import Tokens, solid
from coherencegym.eval.text.reading import TokenReader
from coherencegym.eval.text.special import Added

#: First token of a span and the one behind its last.
TokenRange = tuple[int, int]


@dataclass(frozen=True, slots=True)
class EncodedPassage:
    """A passage as a model sees it.

    Attributes:
        ids: token ids, those around the text included.
        token_ranges: the tokens of each span; None for a span that has none.
    """

    ids: tuple[int, ...]
    token_ranges: tuple[TokenRange | None, ...]


def encode_passages(
    tokenizer: Any, passages: Sequence[Passage], added: Added, first: int = 0
) -> list[EncodedPassage]:
    """Passages as a model sees them.

    Args:
        tokenizer: a tokenizer of transformers.
        passages: texts with spans.
        added: tokens that stand around every text; they belong to no span.
        first: tokens of a sequence, counted with those of ``added``, that belong to no span either.
    """
    for passage in passages:
        for start, end in passage.spans:
            if not 0 <= start <= end <= len(passage.text):
                raise EvaluationError(
                    f"text {passage.text[:40]!r}: span {start} to {end} of {len(passage.text)} "
                    "characters; expected a start and an end in the text"
                )
    texts = list(dict.fromkeys(passage.text for passage in passages))
    tokens = dict(zip(texts, TokenReader(tokenizer).read(texts), strict=True))
    before = len(added.before)
    encoded = []
    for passage in passages:
        own = tokens[passage.text]
        found = _token_ranges(passage, own)
        moved = [(max(a + before, first), b + before) for a, b in found]
        ids = (*added.before, *own.ids.tolist(), *added.after)
        encoded.append(EncodedPassage(ids, tuple((a, b) if a < b else None for a, b in moved)))
    return encoded


def _token_ranges(passage: Passage, tokens: Tokens) -> list[TokenRange]:
    if not len(tokens.ids):
        return [(0, 0)] * len(passage.spans)
    size = len(passage.text)
    is_solid = solid(passage.text)
    solids = np.flatnonzero(is_solid)
    # The next place that is no white space; behind the last one the place itself.
    places = np.minimum(tokens.starts, size - 1)
    after = np.searchsorted(solids, places)
    owners = np.where(after < len(solids), np.append(solids, 0)[after], places)
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
