"""From items to token sequences and the positions to read, before any model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from coherencegym.eval.kinds.compat import DEFAULT, Rules, refuse_options, with_joined_regions
from coherencegym.eval.kinds.items import SEPARATOR, Item, validate_item
from coherencegym.eval.kinds.predictions import WHOLE, RegionRef, read_by
from coherencegym.eval.models.load import context_length
from coherencegym.eval.plan.plan import Request
from coherencegym.eval.text.encode import Encoding, encode
from coherencegym.eval.text.fit import Fitted, fit
from coherencegym.eval.text.regions import SPECIAL
from coherencegym.eval.text.special import (
    Added,
    BosChoice,
    Separator,
    SpaceChoice,
    Start,
    added_by,
    separator,
    start_of_text,
)
from coherencegym.eval.text.words import WordBeginnings


@dataclass(frozen=True)
class Prepared:
    """What is to be asked of a model.

    Attributes:
        items: the items, as the rules have them.
        fitted: for each item its encodings.
        wanted: for each item, by condition, the regions that predictions read.
        owners: for each request the number of its item and the name of its condition.
        requests: token sequences with the positions to read.
        start, separator, added: how texts are rendered; see :mod:`eval.text.special`.
        context: most tokens that the model can read, or None.
    """

    items: Sequence[Item]
    fitted: Sequence[Fitted]
    wanted: Sequence[dict[str, set[RegionRef]]]
    owners: Sequence[tuple[int, str]]
    requests: Sequence[Request]
    start: Start
    separator: Separator | None
    added: Added | None
    context: int | None


def prepare(
    tokenizer: Any,
    config: Any,
    items: Iterable[Item],
    *,
    bos: BosChoice = "auto",
    separator_text: str = "auto",
    separator_space: SpaceChoice = "keep",
    uses_separator: bool | None = None,
    truncate: bool = False,
    rules: Rules = DEFAULT,
    every_token: bool = False,
    words: WordBeginnings | None = None,
) -> Prepared:
    """Encode items and say what is to be read of them.

    Args:
        tokenizer: the tokenizer.
        config: the model's config, or None.
        items, bos, separator_text, separator_space, uses_separator, truncate, rules, every_token:
            as for :func:`eval.surprisal.score`.
        words: the tokens that begin a word, if surprisals are to be corrected.

    Raises:
        SuiteError: an item is not valid.
        EvaluationError: a formula cannot be read, an option contradicts the mode, or the tokens of
            a text cannot be placed in it.
    """
    refuse_options(
        rules,
        {
            "bos": (bos, "auto"),
            "separator_text": (separator_text, "auto"),
            "separator_space": (separator_space, "keep"),
            "truncate": (truncate, False),
        },
    )
    items = list(items)
    for item in items:
        validate_item(item)
    wanted = [read_by(item) for item in items]
    if rules.joins_regions:
        items = [with_joined_regions(item) for item in items]
    added = added_by(tokenizer) if rules.tokenizer_adds else None
    start = start_of_text(tokenizer, config, "never" if rules.tokenizer_adds else bos)
    rendering = None
    if rules.separator_is_text:
        uses_separator = False
    if uses_separator is None:
        uses_separator = any(SEPARATOR in c.content for i in items for c in i.conditions)
    if uses_separator:
        rendering = separator(tokenizer, separator_text, separator_space)
    context = context_length(config)
    flat = [condition for item in items for condition in item.conditions]
    item_ids = [item.item_id for item in items for _ in item.conditions]
    encodings = iter(encode(tokenizer, flat, start, rendering, added, item_ids))
    fitted = [
        fit({c.condition_name: next(encodings) for c in item.conditions}, context, truncate)
        for item in items
    ]
    owners: list[tuple[int, str]] = []
    requests: list[Request] = []
    for number, one in enumerate(fitted):
        for name, encoding in one.encodings.items():
            owners.append((number, name))
            read = wanted[number].get(name)
            positions = (
                tuple(range(1, len(encoding.ids))) if every_token else _positions(encoding, read)
            )
            if words is None or not positions:
                requests.append(Request(encoding.ids, positions, number))
                continue
            starts = words.needed(encoding.ids, positions)
            # What follows the last token is read as well.
            ids = (*encoding.ids, words.end)
            requests.append(Request(ids, positions, number, behind=True, word_starts=starts))
    return Prepared(items, fitted, wanted, owners, requests, start, rendering, added, context)


def places(encoding: Encoding, region: RegionRef) -> Sequence[int]:
    """Indices of a region's tokens, increasing; for ``"*"`` of all tokens of the text."""
    if region != WHOLE:
        return encoding.of_region.get(region, range(0))
    return _together([own for number, own in encoding.of_region.items() if number != SPECIAL])


def _together(stretches: Sequence[Sequence[int]]) -> Sequence[int]:
    """Indices of several regions, increasing."""
    return stretches[0] if len(stretches) == 1 else sorted(chain.from_iterable(stretches))


def _positions(encoding: Encoding, regions: set[RegionRef] | None) -> tuple[int, ...]:
    """The positions to score: position 0 has nothing before it and so no surprisal."""
    if not regions:
        return ()
    chosen = [WHOLE] if WHOLE in regions else regions
    read = _together([places(encoding, region) for region in chosen])
    return tuple(read[1:] if read and read[0] == 0 else read)
