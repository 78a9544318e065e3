"""An item on the terminal: coloured text, or an aligned listing where there are no colours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coherencegym.eval.views.item_view import ConditionView, ItemView, PredictionView, in_words

#: Bits from which on a background is taken, and the letters on it (dark on light, light on dark).
SHADES = (
    (0.0, "#f7fbff", "#000000"),
    (2.0, "#d0e1f2", "#000000"),
    (4.0, "#94c4df", "#000000"),
    (8.0, "#4a98c9", "#000000"),
    (12.0, "#1764ab", "#ffffff"),
    (16.0, "#08306b", "#ffffff"),
)


def print_item(view: ItemView, console: Any) -> None:
    """Print an item on rich's ``console``."""
    from rich.text import Text

    def say(line: str = "", style: str = "") -> None:
        console.print(Text(line, style=style), soft_wrap=True)

    coloured = console.is_terminal and not console.no_color and console.color_system is not None
    say(f"{view.item_id}  ({view.config}, {view.split})", "bold")
    if view.truncated:
        say(f"cut to fit: {view.truncated:,} tokens on the left")
    if coloured:
        console.print(_legend())
    for condition in view.conditions:
        say()
        say(condition.name, "bold")
        if coloured:
            console.print(_coloured(condition))
        else:
            for line in _listing(condition):
                say(line)
        for line in _regions(condition):
            say(line, "dim")
    say()
    say("predictions", "bold")
    for prediction in view.predictions:
        for line in _prediction(prediction):
            say(line)
    if view.hidden:
        say(f"  {view.hidden:,} more read conditions that are not shown", "dim")


def shade(bits: float) -> str:
    """The style of a token of so many bits."""
    _, background, letters = [step for step in SHADES if step[0] <= max(bits, 0.0)][-1]
    return f"{letters} on {background}"


def _legend() -> Any:
    from rich.text import Text

    legend = Text("bits ")
    for place, (low, _, _) in enumerate(SHADES):
        high = f"–{SHADES[place + 1][0]:.0f}" if place + 1 < len(SHADES) else " and more"
        legend.append(f" {low:.0f}{high} ", style=shade(low))
    return legend.append("  │2│ region 2 begins", style="default")


def _coloured(condition: ConditionView) -> Any:
    from rich.text import Text

    text = Text()
    region: int | None = None
    for token in condition.tokens:
        if token.region is not None and token.region != region:
            text.append(f"│{token.region or '–'}│", style="bold")
            region = token.region
        text.append(token.text, style="dim" if token.bits is None else shade(token.bits))
    return text


def _listing(condition: ConditionView) -> Iterator[str]:
    """Token, bits and region, a line each; white space is visible."""
    from rich.cells import cell_len

    shown = [token.text.replace(" ", "␣") for token in condition.tokens]
    widest = max(map(cell_len, [*shown, "token"]))
    yield f"  {'token'.ljust(widest)}    bits  region"
    for token, text in zip(condition.tokens, shown, strict=True):
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


def _prediction(prediction: PredictionView) -> Iterator[str]:
    margin = "" if prediction.margin is None else f", margin {prediction.margin:+.3f} bits"
    yield f"  {prediction.verdict}{margin}: {prediction.formula} ({prediction.metric})"
    yield "    " + ", ".join(
        f"{in_words(region)} of {name} " + ("–" if value is None else f"{value:.3f}")
        for region, name, value in prediction.values
    )
    if prediction.groups:
        yield "    " + "; ".join(prediction.groups)
