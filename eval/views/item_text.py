"""The surprisal of every token of one item, printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from coherencegym.eval.tasks.score.items_page import (
    ConditionView,
    ItemView,
    RegionValue,
    TokenView,
    in_words,
    outcome_text,
)
from coherencegym.eval.tasks.score.scoring import EvaluatedPrediction

#: Tokens at the beginning that a condition has in common with another at least, to leave them out.
_FEWEST = 8
#: Bits by which the same token after the same text may differ: batches round, and two places show.
_NOISE = 0.005


def print_item(view: ItemView, console: Any) -> None:
    """Print an item on rich's ``console``."""
    from rich.text import Text

    def say(line: str = "", style: str = "") -> None:
        console.print(Text(line, style=style), soft_wrap=True)

    say(f"{view.item_id}  ({view.config}, {view.split})", "bold")
    if view.truncated:
        say(f"cut to fit: {view.truncated:,} tokens on the left")
    for place, condition in enumerate(view.conditions):
        say()
        say(condition.name, "bold")
        same, other = _beginning(condition, view.conditions[:place])
        if same:
            say(f"  the first {same:,} tokens are those of {other}, with the same bits", "dim")
        for line in _listing(condition.tokens[same:]):
            say(line)
        for line in _regions(condition):
            say(line, "dim")
    say()
    say("predictions", "bold")
    for prediction, values in view.predictions:
        for line in _prediction(prediction, values):
            say(line)
    if view.hidden:
        say(f"  {view.hidden:,} more read conditions that are not shown", "dim")


def _beginning(condition: ConditionView, earlier: Sequence[ConditionView]) -> tuple[int, str]:
    # The number of tokens with which one before it begins, too, and its name; 0: too few.
    def same(other: ConditionView) -> int:
        pairs = enumerate(zip(condition.tokens, other.tokens, strict=False))
        shortest = min(len(condition.tokens), len(other.tokens))
        return next((place for place, pair in pairs if not _alike(*pair)), shortest)

    found, name = max(
        ((same(other), other.name) for other in earlier), default=(0, ""), key=itemgetter(0)
    )
    return (found, name) if found >= _FEWEST else (0, "")


def _alike(one: TokenView, other: TokenView) -> bool:
    if (one.text, one.region) != (other.text, other.region):
        return False
    if one.bits is None or other.bits is None:
        return one.bits == other.bits
    return abs(one.bits - other.bits) <= _NOISE


def _listing(tokens: Sequence[TokenView]) -> Iterator[str]:
    from rich.cells import cell_len

    if not tokens:
        return
    shown = [token.text.replace(" ", "␣") for token in tokens]
    widest = max(map(cell_len, [*shown, "token"]))
    yield f"  {'token'.ljust(widest)}    bits  region"
    for token, text in zip(tokens, shown, strict=True):
        space = " " * (widest - cell_len(text))
        bits = "–" if token.bits is None else f"{token.bits:.2f}"
        yield f"  {text}{space}  {bits:>6}  {token.region or '–':>6}"


def _regions(condition: ConditionView) -> Iterator[str]:
    for region in dict.fromkeys(t.region for t in condition.tokens if t.region):
        bits = condition.region_bits(region)
        n = sum(token.region == region for token in condition.tokens)
        tokens = f"{n:,} token" + ("s" if n != 1 else "")
        mean = f", mean {sum(bits) / len(bits):.3f}" if bits else ""
        yield f"  region {region}: {tokens}, {sum(bits):.3f} bits{mean}"


def _prediction(prediction: EvaluatedPrediction, values: Sequence[RegionValue]) -> Iterator[str]:
    outcome = prediction.outcome
    bits = None if outcome is None else outcome.margin
    margin = "" if bits is None else f", margin {bits:+.3f} bits"
    yield f"  {outcome_text(prediction)}{margin}: {prediction.formula} ({prediction.aggregation})"
    yield "    " + ", ".join(
        f"{in_words(region)} of {name} " + ("–" if value is None else f"{value:.3f}")
        for region, name, value in values
    )
    if prediction.groups:
        yield "    " + "; ".join(prediction.groups)
