"""Surprisals of items under a causal language model: the library behind ``python -m eval``.

The surprisal of a token is -log2 p(token | everything before it), in bits (Hale 2001).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eval.compat import DEFAULT, Rules, refuse_options, with_joined_regions
from eval.encode import Encoding, encode
from eval.errors import EvaluationError
from eval.execute import Execution, Progress, Store, execute
from eval.fit import fit
from eval.model import context_length, vocabulary_size
from eval.plan import Plan, Request, default_budget, make_plan
from eval.predictions import WHOLE, RegionRef, read_by
from eval.regions import SPECIAL
from eval.special import (
    Added,
    BosChoice,
    Separator,
    SpaceChoice,
    Start,
    added_by,
    separator,
    start_of_text,
)
from eval.suite import SEPARATOR, Item, validate_item

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class ScoredCondition:
    """One condition's tokens with their surprisals.

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

        places = _places(self.encoding, region)
        values: np.ndarray = self.bits[places]
        values = values[~np.isnan(values)]
        return values

    def leaves_out_first(self, region: RegionRef) -> bool:
        """Whether the region holds the first token of a text that has nothing before it."""
        import numpy as np

        return 0 in _places(self.encoding, region) and bool(np.isnan(self.bits[0]))


@dataclass(frozen=True)
class ScoredItem:
    """An item's conditions by name.

    Attributes:
        item: the item.
        conditions: by name; a condition whose separator cannot be rendered is not there, and none
            is there for an item that is too long.
        too_long: a condition is longer than the model's context; the item is in no score.
        truncated: tokens that every condition lost on the left, where that was allowed.
    """

    item: Item
    conditions: Mapping[str, ScoredCondition]
    too_long: bool = False
    truncated: int = 0


@dataclass(frozen=True)
class Scored:
    """What :func:`score` returns: the items in their order, and how they were run.

    ``added`` are the tokens that the tokenizer put around every text by itself, where ``rules`` let
    it; ``start`` is then none.
    """

    items: tuple[ScoredItem, ...]
    start: Start
    separator: Separator | None
    context: int | None
    execution: Execution = field(repr=False)
    rules: Rules = DEFAULT
    added: Added | None = None

    @property
    def plan(self) -> Plan:
        """What was run."""
        return self.execution.plan

    @property
    def spanning_tokens(self) -> int:
        """Tokens that reach from one region into another, over all conditions."""
        return sum(
            condition.encoding.spanning
            for scored in self.items
            for condition in scored.conditions.values()
        )


def score(
    model: Any,
    tokenizer: Any,
    items: Iterable[Item],
    *,
    bos: BosChoice = "auto",
    separator_text: str = "auto",
    separator_space: SpaceChoice = "keep",
    uses_separator: bool | None = None,
    truncate: bool = False,
    rules: Rules = DEFAULT,
    share: bool = True,
    batch_tokens: int | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> Scored:
    """Surprisals (bits) of every token that a prediction of the items reads.

    Args:
        model: a causal language model of transformers, in evaluation mode.
        tokenizer: its tokenizer.
        items: minimal pairs.
        bos: start of text; see :mod:`eval.special`.
        separator_text: ``auto``, ``none`` or the text that stands for ``[SEP]``.
        separator_space: keep or drop the white space after a separator.
        uses_separator: whether ``[SEP]`` in a text is a separator; None: it is where it occurs.
        truncate: cut a text that is too long on the left, as far as all conditions are identical.
        rules: another mode (see :mod:`eval.compat`), which fixes the five options above.
        share: run what an item's conditions begin with alike once, if the model can.
        batch_tokens: most tokens in a batch, padding included; None: by device.
        store: surprisals of earlier runs of the same model, and where to keep those of this one.
        progress: called after each batch.

    Raises:
        SuiteError: an item is not valid.
        EvaluationError: a formula cannot be read, an option contradicts the mode, the tokens of a
            text cannot be placed in it or are not in the model's vocabulary, or a surprisal is not
            finite.
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
    start = start_of_text(
        tokenizer, getattr(model, "config", None), "never" if rules.tokenizer_adds else bos
    )
    rendering = None
    if rules.separator_is_text:
        uses_separator = False
    if uses_separator is None:
        uses_separator = any(SEPARATOR in c.content for i in items for c in i.conditions)
    if uses_separator:
        rendering = separator(tokenizer, separator_text, separator_space)
    context = context_length(getattr(model, "config", None))
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
            positions = _positions(encoding, wanted[number].get(name))
            requests.append(Request(encoding.ids, positions, number))
    _check_vocabulary(model, tokenizer, requests)
    budget = default_budget(model.get_input_embeddings().weight.device.type, batch_tokens)
    plan = make_plan(requests, budget, share=share)
    execution = execute(model, plan, budget, share=share, store=store, progress=progress)
    conditions: list[dict[str, ScoredCondition]] = [{} for _ in items]
    for (number, name), request, run in zip(owners, requests, plan.owner, strict=True):
        scored = _scored_condition(fitted[number].encodings[name], request, execution, run)
        _check_finite(items[number], name, scored, request)
        regions = wanted[number].get(name, set())
        if rules.first_token_is_zero and regions & {WHOLE, *scored.encoding.regions[:1]}:
            scored.bits[:1] = 0.0
        conditions[number][name] = scored
    return Scored(
        tuple(
            ScoredItem(item, own, one.too_long, one.cut)
            for item, own, one in zip(items, conditions, fitted, strict=True)
        ),
        start,
        rendering,
        context,
        execution,
        rules,
        added,
    )


def _places(encoding: Encoding, region: RegionRef) -> list[int]:
    """Indices of a region's tokens; for ``"*"`` of all tokens of the text."""
    if region == WHOLE:
        return [i for i, number in enumerate(encoding.regions) if number != SPECIAL]
    return [i for i, number in enumerate(encoding.regions) if number == region]


def _positions(encoding: Encoding, regions: set[RegionRef] | None) -> tuple[int, ...]:
    """The positions to score: position 0 has nothing before it and so no surprisal."""
    if not regions:
        return ()
    if WHOLE in regions:
        return tuple(i for i in _places(encoding, WHOLE) if i > 0)
    return tuple(i for i, n in enumerate(encoding.regions) if i > 0 and n in regions)


def _check_vocabulary(model: Any, tokenizer: Any, requests: Sequence[Request]) -> None:
    size = vocabulary_size(model)
    largest = max((max(request.ids) for request in requests if request.ids), default=0)
    if largest >= size:
        raise EvaluationError(
            f"the tokenizer gives token {largest} "
            f"({tokenizer.convert_ids_to_tokens(largest)!r}), but the model's vocabulary has "
            f"{size} entries; expected a tokenizer that belongs to the model"
        )


def _scored_condition(
    encoding: Encoding, request: Request, execution: Execution, run: int | None
) -> ScoredCondition:
    import numpy as np

    values = np.full(len(encoding.ids), math.nan)
    if run is not None:
        values[list(execution.plan.runs[run].positions)] = execution.bits[run]
        unread = np.ones(len(values), dtype=bool)
        unread[list(request.positions)] = False
        values[unread] = math.nan
    return ScoredCondition(encoding, values)


def _check_finite(item: Item, name: str, scored: ScoredCondition, request: Request) -> None:
    import numpy as np

    if not np.isfinite(scored.bits[list(request.positions)]).all():
        raise EvaluationError(
            f"{item.item_id}: condition {name!r} has a surprisal that is not finite; "
            "try --dtype float32"
        )


__all__ = ["Scored", "ScoredCondition", "ScoredItem", "score"]
