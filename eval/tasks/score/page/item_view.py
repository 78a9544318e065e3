"""One scored item, ready to be shown: its tokens, its regions, and what became of predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.escapes import visible
from coherencegym.eval.kinds.formula import WHOLE, RegionRef, values_of
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.plan.options import Rules
from coherencegym.eval.surprisal import ScoredCondition
from coherencegym.eval.tasks.score.metrics import (
    UNDEFINED,
    EvaluatedPrediction,
    evaluate_predictions,
)
from coherencegym.eval.tasks.score.scoring import ScoredItem
from coherencegym.eval.tasks.score.values import RegionValues
from coherencegym.eval.text.encode import SPECIAL

_WORD_MARKS = "▁Ġ"
_SIGNS = str.maketrans({"\n": "↵", "\t": "⇥", "\r": "␍"})


@dataclass(frozen=True, slots=True)
class TokenView:
    """A token.

    Attributes:
        text: the condition's, with control characters made visible; of a start or
            separator token, and of a part of a character, the tokenizer's name for it.
        bits: its surprisal; None for a first token, which has nothing before it.
        region: the number of its region, 0 outside every region, None for a start-of-text or
            separator token.
    """

    text: str
    bits: float | None
    region: int | None


@dataclass(frozen=True, slots=True)
class ConditionView:
    """A condition and its tokens."""

    name: str
    tokens: tuple[TokenView, ...]

    def region_bits(self, region: int) -> list[float]:
        """The surprisals (bits) of a region's tokens."""
        return [t.bits for t in self.tokens if t.region == region and t.bits is not None]


#: The value (bits) of a region in a condition.
RegionValue = tuple[RegionRef, str, float | None]


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item.

    ``predictions`` have the values that they read in their own order, and ``hidden`` counts those
    that read conditions which are not shown.
    """

    item_id: str
    config: str
    split: str
    conditions: tuple[ConditionView, ...]
    predictions: tuple[tuple[EvaluatedPrediction, list[RegionValue]], ...]
    hidden: int
    truncated: int


def view_item(
    scored: ScoredItem,
    tokenizer: Any,
    config: str,
    split: str,
    chosen: Sequence[str] = (),
    *,
    rules: Rules,
) -> ItemView:
    """An item as it is shown; ``chosen``: conditions; none: all that predictions read."""
    item = scored.item
    check_conditions(item, chosen)
    if scored.too_long:
        raise EvaluationError(
            f"{item.item_id}: too long for the model's context; expected a model with a longer one"
            ", or --truncate"
        )
    evaluated = list(evaluate_predictions(scored, rules))
    read = set(chosen) or {name for one in evaluated for _, name in reads(one)}
    names = [c.condition_name for c in item.conditions if c.condition_name in read]
    if missing := [name for name in names if name not in scored.conditions]:
        raise EvaluationError(
            f"{item.item_id}: condition {missing[0]!r} cannot be rendered: this tokenizer has no "
            "separator for [SEP]; expected --separator with a text, or none"
        )
    visible = [one for one in evaluated if {name for _, name in reads(one)} <= set(names)]
    return ItemView(
        item.item_id,
        config,
        split,
        tuple(_condition(scored, name, tokenizer) for name in names),
        tuple((one, read_values(one, scored, rules)) for one in visible),
        len(evaluated) - len(visible),
        scored.truncated,
    )


def _condition(scored: ScoredItem, name: str, tokenizer: Any) -> ConditionView:
    tokens = _tokens(scored.conditions[name], scored.item.condition(name).content, tokenizer)
    return ConditionView(name, tokens)


def check_conditions(item: Item, chosen: Sequence[str]) -> None:
    """Refuse the name of a condition that an item does not have."""
    names = [condition.condition_name for condition in item.conditions]
    if unknown := [name for name in chosen if name not in names]:
        raise EvaluationError(
            f"{item.item_id}: no condition {unknown[0]!r}; expected one of {', '.join(names)}"
            f"{did_you_mean(unknown[0], names)}"
        )


def reads(prediction: EvaluatedPrediction) -> list[tuple[RegionRef, str]]:
    """The (region, condition) pairs that a prediction reads, in its order, each once."""
    values = values_of(prediction.formula)
    return list(dict.fromkeys((value.region, value.condition) for value in values))


def read_values(
    prediction: EvaluatedPrediction, scored: ScoredItem, rules: Rules
) -> list[RegionValue]:
    """The values (bits) of what a prediction reads; None of a condition that was not scored."""
    values = RegionValues(scored.item, scored.conditions, rules)
    return [
        (
            region,
            name,
            values.value(region, name, prediction.aggregation)
            if name in scored.conditions
            else None,
        )
        for region, name in reads(prediction)
    ]


def state(prediction: EvaluatedPrediction) -> str:
    """``met``, ``not met``, ``tie`` or ``undefined``."""
    outcome = prediction.outcome
    if outcome is None:
        return "undefined"
    return "met" if outcome.met else "tie" if outcome.tie else "not met"


def _tokens(scored: ScoredCondition, content: str, tokenizer: Any) -> tuple[TokenView, ...]:
    encoding = scored.encoding
    names = map(str, tokenizer.convert_ids_to_tokens(list(encoding.ids)))
    tokens = []
    before = (0, 0)
    for name, region, place, bits in zip(
        names, encoding.regions, encoding.offsets, scored.bits, strict=True
    ):
        start, end = place
        text = content[start:end]
        # SentencePiece's mark of a word, where it is a token of its own, has the place of what
        # follows; of a character that is several tokens the first shows it.
        is_mark = bool(text.strip()) and not name.strip(_WORD_MARKS)
        named = region == SPECIAL or start == end or place == before or is_mark
        tokens.append(
            TokenView(
                visible((name if named else text).translate(_SIGNS)),
                None if math.isnan(bits) else float(bits),
                None if region == SPECIAL else region,
            )
        )
        before = before if is_mark else place
    return tuple(tokens)


def outcome_text(prediction: EvaluatedPrediction) -> str:
    """What became of a prediction, with ``too close to call``, or why it is undefined."""
    if prediction.outcome is None:
        return f"undefined: {UNDEFINED[prediction.reason]}"
    return state(prediction) + (", too close to call" if prediction.too_close else "")


def in_words(region: RegionRef) -> str:
    """A region's name in a sentence."""
    return "whole text" if region == WHOLE else f"region {region}"
