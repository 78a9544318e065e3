"""Surprisals of items under a causal language model: the library behind ``python -m eval``.

The surprisal of a token is -log2 p(token | everything before it), in bits (Hale 2001).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.distributed import ALONE, World
from coherencegym.eval.forward.execute import Execution, NotFiniteError, Progress, Store, execute
from coherencegym.eval.kinds.compat import DEFAULT, Rules, refuse_options
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.predictions import WHOLE, RegionRef
from coherencegym.eval.models.limits import limits_of
from coherencegym.eval.models.load import vocabulary_size
from coherencegym.eval.models.placement import input_device
from coherencegym.eval.plan.memory import free_budget
from coherencegym.eval.plan.plan import Plan, Request, default_budget, make_plan
from coherencegym.eval.plan.requests import places, prepare
from coherencegym.eval.text.encode import Encoding
from coherencegym.eval.text.special import Added, BosChoice, Separator, SpaceChoice, Start
from coherencegym.eval.text.words import WordBeginnings, word_beginnings

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class ScoredCondition:
    """One condition's tokens with their surprisals.

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

        found = places(self.encoding, region)
        # Most regions are one stretch, and a stretch is read without looking up each place.
        values: np.ndarray = self.bits[
            found if not isinstance(found, range) else slice(found.start, found.stop)
        ]
        values = values[~np.isnan(values)]
        return values

    def leaves_out_first(self, region: RegionRef) -> bool:
        """Whether the region holds the first token of a text that has nothing before it."""
        import numpy as np

        return 0 in places(self.encoding, region) and bool(np.isnan(self.bits[0]))


@dataclass(frozen=True)
class ScoredItem:
    """An item's conditions by name.

    Attributes:
        item: the item.
        conditions: by name; a condition whose separator cannot be rendered is not there, and none
            is there for an item that is too long.
        too_long: a condition is longer than the model's context; the item is in no score.
        truncated: tokens that every condition lost on the left, where that was allowed.
        errors: by metric, the error (bits) of the run; see :mod:`eval.forward.numeric`.
    """

    item: Item
    conditions: Mapping[str, ScoredCondition]
    too_long: bool = False
    truncated: int = 0
    errors: Mapping[str, float] = field(default_factory=dict)


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
    every_token: bool = False,
    word_correction: bool = False,
    progress: Progress | None = None,
    world: World = ALONE,
) -> Scored:
    """Surprisals (bits) of every token that a prediction of the items reads.

    Args:
        model: a causal language model of transformers, in evaluation mode.
        tokenizer: its tokenizer.
        items: minimal pairs.
        bos: start of text; see :mod:`eval.text.special`.
        separator_text: ``auto``, ``none`` or the text that stands for ``[SEP]``.
        separator_space: keep or drop the white space after a separator.
        uses_separator: whether ``[SEP]`` in a text is a separator; None: it is where it occurs.
        truncate: cut a text that is too long on the left, as far as all conditions are identical.
        rules: another mode (see :mod:`eval.kinds.compat`), which fixes the five options above.
        share: run what an item's conditions begin with alike once, if the model can.
        batch_tokens: most tokens in a forward pass, padding included; None: by device, on a GPU by
            its free memory.
        store: surprisals of earlier runs of the same model, and where to keep those of this one.
        every_token: also of the tokens that no prediction reads, separators included.
        word_correction: surprisals of words, for tokens that begin with a space; see
            :mod:`eval.text.words`.
        progress: called after each batch.
        world: the processes that run together; see :mod:`eval.forward.distributed`.

    Raises:
        SuiteError: an item is not valid.
        EvaluationError: a formula cannot be read, an option contradicts the mode, the tokens of a
            text cannot be placed in it or are not in the model's vocabulary, or a surprisal is not
            finite.
    """
    refuse_options(rules, {"word_correction": (word_correction, False)})
    words = word_beginnings(tokenizer, vocabulary_size(model)) if word_correction else None
    prepared = prepare(
        tokenizer,
        getattr(model, "config", None),
        items,
        bos=bos,
        separator_text=separator_text,
        separator_space=separator_space,
        uses_separator=uses_separator,
        truncate=truncate,
        rules=rules,
        every_token=every_token,
        words=words,
    )
    _check_vocabulary(model, tokenizer, prepared.requests)
    budget = default_budget(input_device(model).type, batch_tokens, free_budget(model))
    limits = limits_of(getattr(model, "config", None))
    plan = make_plan(prepared.requests, budget, limits=limits)
    try:
        execution = execute(
            model,
            plan,
            budget,
            share=share,
            store=store,
            progress=progress,
            world=world,
            beginnings=words.ids if words else (),
        )
    except NotFiniteError as error:
        number, name = prepared.owners[plan.owner.index(error.index)]
        raise EvaluationError(
            f"{prepared.items[number].item_id}: condition {name!r} has a surprisal that is not "
            "finite; try --dtype float32"
        ) from None
    conditions: list[dict[str, ScoredCondition]] = [{} for _ in prepared.items]
    for (number, name), request, run in zip(
        prepared.owners, prepared.requests, plan.owner, strict=True
    ):
        encoding = prepared.fitted[number].encodings[name]
        scored = _scored_condition(encoding, request, execution, run, words)
        regions = prepared.wanted[number].get(name, set())
        if rules.first_token_is_zero and regions & {WHOLE, *encoding.regions[:1]}:
            scored.bits[:1] = 0.0
        conditions[number][name] = scored
    return Scored(
        tuple(
            ScoredItem(item, own, one.too_long, one.cut, execution.errors)
            for item, own, one in zip(prepared.items, conditions, prepared.fitted, strict=True)
        ),
        prepared.start,
        prepared.separator,
        prepared.context,
        execution,
        rules,
        prepared.added,
    )


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
    encoding: Encoding,
    request: Request,
    execution: Execution,
    run: int | None,
    words: WordBeginnings | None,
) -> ScoredCondition:
    import numpy as np

    values = np.full(len(encoding.ids), math.nan)
    if run is None:
        return ScoredCondition(encoding, values)
    sequence, bits = execution.plan.sequences[run], execution.bits[run].tolist()
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


__all__ = ["Scored", "ScoredCondition", "ScoredItem", "score"]
