"""From conditions to token sequences and the positions to read, before any model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

from coherencegym.eval.kinds.items import SEPARATOR, Condition
from coherencegym.eval.kinds.predictions import WHOLE, RegionRef
from coherencegym.eval.models.load import context_length
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.plan import Request
from coherencegym.eval.text.encode import Encoding, encode
from coherencegym.eval.text.fit import Fitted, fit
from coherencegym.eval.text.regions import SPECIAL
from coherencegym.eval.text.special import (
    Added,
    Separator,
    Start,
    added_by,
    separator,
    start_of_text,
)
from coherencegym.eval.text.words import WordBeginnings


@dataclass(frozen=True, slots=True)
class Query:
    """Conditions that are read together, and what is read of them.

    They may share what they begin with, and one that is too long leaves out all of them.

    Attributes:
        name: what errors call them: an item's id.
        conditions: texts with their regions, which are valid.
        reads: by condition, the regions whose surprisals are wanted; ``"*"`` is the whole text.
    """

    name: str
    conditions: Sequence[Condition]
    reads: Mapping[str, Set[RegionRef]]


@dataclass(frozen=True)
class Prepared:
    """What is to be asked of a model.

    Attributes:
        fitted: for each query its encodings.
        owners: for each request the number of its query and the name of its condition.
        requests: token sequences with the positions to read.
        start, separator, added: how texts are rendered; see :mod:`eval.text.special`.
        context: most tokens that the model can read, or None.
    """

    fitted: Sequence[Fitted]
    owners: Sequence[tuple[int, str]]
    requests: Sequence[Request]
    start: Start
    separator: Separator | None
    added: Added | None
    context: int | None


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

    Args:
        tokenizer: the tokenizer.
        config: the model's config, or None.
        queries, options, uses_separator: as for :func:`eval.surprisal.surprisals`.
        words: the tokens that begin a word, if surprisals are to be corrected.

    Raises:
        EvaluationError: an option contradicts the mode, or the tokens of a text cannot be placed in
            it.
    """
    options.check()
    rules = options.rules
    added = added_by(tokenizer) if rules.tokenizer_adds else None
    start = start_of_text(tokenizer, config, "never" if rules.tokenizer_adds else options.bos)
    flat = [condition for query in queries for condition in query.conditions]
    if uses_separator is None:
        uses_separator = any(SEPARATOR in condition.content for condition in flat)
    rendering = None
    if uses_separator and not rules.separator_is_text:
        rendering = separator(tokenizer, options.separator, options.separator_space)
    context = context_length(config)
    names = [query.name for query in queries for _ in query.conditions]
    encodings = iter(encode(tokenizer, flat, start, rendering, added, names))
    fitted = [
        fit(
            {each.condition_name: next(encodings) for each in query.conditions},
            context,
            options.truncate,
        )
        for query in queries
    ]
    owners: list[tuple[int, str]] = []
    requests: list[Request] = []
    for number, (query, one) in enumerate(zip(queries, fitted, strict=True)):
        for name, encoding in one.encodings.items():
            owners.append((number, name))
            read = query.reads.get(name, frozenset())
            requests.append(_request(encoding, number, read, options.every_token, words))
    return Prepared(fitted, owners, requests, start, rendering, added, context)


def _request(
    encoding: Encoding,
    family: int,
    regions: Set[RegionRef],
    every_token: bool,
    words: WordBeginnings | None,
) -> Request:
    """What is to be read of one condition."""
    positions = tuple(range(1, len(encoding.ids))) if every_token else _positions(encoding, regions)
    if words is None or not positions:
        return Request(encoding.ids, positions, family)
    starts = words.needed(encoding.ids, positions)
    # What follows the last token is read as well.
    ids = (*encoding.ids, words.end)
    return Request(ids, positions, family, behind=True, word_starts=starts)


def places(encoding: Encoding, region: RegionRef) -> Sequence[int]:
    """Indices of a region's tokens, increasing; for ``"*"`` of all tokens of the text."""
    if region != WHOLE:
        return encoding.of_region.get(region, range(0))
    return _together([own for number, own in encoding.of_region.items() if number != SPECIAL])


def _together(stretches: Sequence[Sequence[int]]) -> Sequence[int]:
    """Indices of several regions, increasing."""
    return stretches[0] if len(stretches) == 1 else sorted(chain.from_iterable(stretches))


def _positions(encoding: Encoding, regions: Set[RegionRef]) -> tuple[int, ...]:
    """The positions to score: position 0 has nothing before it and so no surprisal."""
    if not regions:
        return ()
    chosen = [WHOLE] if WHOLE in regions else regions
    read = _together([places(encoding, region) for region in chosen])
    return tuple(read[1:] if read and read[0] == 0 else read)
