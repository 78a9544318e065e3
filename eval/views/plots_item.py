"""The surprisal of every token of one item, drawn; see :func:`draw_item`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil
from operator import itemgetter
from pathlib import Path
from typing import Any

from coherencegym.eval.report import figures
from coherencegym.eval.tasks.score.page.item_view import (
    ConditionView,
    ItemView,
    PredictionView,
    TokenView,
    in_words,
)

#: Bits from which on a background is taken, and the letters on it (dark on light, light on dark).
SHADES = (
    (0.0, "#f7fbff", "#000000"),
    (2.0, "#d0e1f2", "#000000"),
    (4.0, "#94c4df", "#000000"),
    (8.0, "#4a98c9", "#000000"),
    (12.0, "#1764ab", "#ffffff"),
    (16.0, "#08306b", "#ffffff"),
)
#: Tokens at the beginning that a condition has in common with another at least, to leave them out.
_FEWEST = 8
#: Bits by which the same token after the same text may differ: batches round, and two places show.
_NOISE = 0.005


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
    for place, condition in enumerate(view.conditions):
        say()
        say(condition.name, "bold")
        same, other = _beginning(condition, view.conditions[:place])
        if same:
            say(f"  the first {same:,} tokens are those of {other}, with the same bits", "dim")
        if coloured:
            console.print(_coloured(condition, same))
        else:
            for line in _listing(condition.tokens[same:]):
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


def _coloured(condition: ConditionView, start: int) -> Any:
    from rich.text import Text

    text = Text()
    region = condition.tokens[start - 1].region if start else None
    for token in condition.tokens[start:]:
        if token.region is not None and token.region != region:
            text.append(f"│{token.region or '–'}│", style="bold")
            region = token.region
        text.append(token.text, style="dim" if token.bits is None else shade(token.bits))
    return text


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


def _prediction(prediction: PredictionView) -> Iterator[str]:
    margin = "" if prediction.margin is None else f", margin {prediction.margin:+.3f} bits"
    yield f"  {prediction.verdict}{margin}: {prediction.formula} ({prediction.aggregation})"
    yield "    " + ", ".join(
        f"{in_words(region)} of {name} " + ("–" if value is None else f"{value:.3f}")
        for region, name, value in prediction.values
    )
    if prediction.groups:
        yield "    " + "; ".join(prediction.groups)


#: Most tokens in a line; characters of a token, and of a start or separator token; points of both.
_BESIDE, _LONGEST, _LONGEST_SPECIAL, _POINTS = 48, 18, 9, 7.5
#: Inches: a token, the bars, the margins, the heading of the figure and of a condition, a gap.
_TOKEN, _BARS, _LEFT, _RIGHT = 0.19, 1.05, 0.55, 0.15
_TOP, _HEADING, _GAP = 0.6, 0.3, 0.16
#: Colours of bars, of start-of-text and separator tokens, and of a region's mean.
_BAR, _SPECIAL, _MEAN = figures.COLOURS[0], "#999999", "#D55E00"
#: Backgrounds of regions: of those that a prediction reads, and of the others.
_READ, _UNREAD = "#DCE9F5", "#F3F3F3"


def plot_item(view: ItemView, model: str, path: Path) -> list[str]:
    """Draw an item into a PNG and an SVG file; see :func:`draw_item`.

    Returns:
        What to say of it, one line each.
    """
    with figures.style():
        return figures.missing_note(figures.save(draw_item(view, model), path))


def draw_item(view: ItemView, model: str) -> Any:
    """A figure of one item: below each other its conditions, a bar a token, as high as its bits.

    Regions are numbered and shaded, darker where a prediction reads them; where one reads the mean
    of a region, a line says how high that is. All panels have the same scale. A panel's ``gid`` is
    the condition's name and the place of its first token.
    """
    # All conditions break at the same place, lines being about as long as each other.
    longest = max(len(condition.tokens) for condition in view.conditions)
    each = ceil(longest / ceil(longest / _BESIDE))
    lines = [
        (condition, first, condition.tokens[first : first + each])
        for condition in view.conditions
        for first in range(0, len(condition.tokens), each)
    ]
    beside = max(len(tokens) for _, _, tokens in lines)
    # Room for the words below each line, as long as they are.
    below = [max(_inches(tokens)) + 0.1 for _, _, tokens in lines]
    headings = [_HEADING if first == 0 else 0.0 for _, first, _ in lines]
    width = max(_LEFT + beside * _TOKEN + _RIGHT, 6.0)
    height = _TOP + sum(below) + sum(headings) + len(lines) * (_BARS + _GAP)
    figure = figures.new_figure(width, height)
    known = [t.bits for _, _, tokens in lines for t in tokens if t.bits is not None]
    # A surprisal that is corrected for words may be a little under 0.
    scale = (1.1 * min([*known, 0.0]), 1.16 * max([*known, 1.0]))
    top = height - _TOP
    for (condition, first, tokens), words, heading in zip(lines, below, headings, strict=True):
        top -= heading + _BARS
        axes = figure.add_axes(
            (_LEFT / width, top / height, beside * _TOKEN / width, _BARS / height)
        )
        axes.set_gid(f"{condition.name}:{first}")
        _panel(axes, condition, tokens, beside, scale)
        if first == 0:
            axes.set_title(
                figures.cut(condition.name, 60), loc="left", fontsize=9, fontweight="bold", pad=4
            )
        top -= words + _GAP
    _heading(figure, view, model, width, height)
    return figure


def _word(token: TokenView) -> str:
    # White space is stripped, unless there is nothing else.
    text = token.text.strip() or token.text.replace(" ", "␣")
    return figures.cut(text, _LONGEST if token.region is not None else _LONGEST_SPECIAL)


def _inches(tokens: Sequence[TokenView]) -> list[float]:
    words = [_word(token) for token in tokens]
    return [points / 72 for points in figures.text_widths(words, _POINTS, [False] * len(words))]


def _panel(
    axes: Any,
    condition: ConditionView,
    tokens: Sequence[TokenView],
    beside: int,
    scale: tuple[float, float],
) -> None:
    axes.set_xlim(-0.5, beside - 0.5)
    axes.set_ylim(*scale)
    for region, own in groupby(enumerate(tokens), key=lambda pair: pair[1].region):
        places = [place for place, _ in own]
        if region:
            _region(axes, condition, region, places[0] - 0.5, places[-1] + 0.5, scale[1])
    axes.bar(
        range(len(tokens)),
        [token.bits or 0.0 for token in tokens],
        width=0.78,
        color=[_SPECIAL if token.region is None else _BAR for token in tokens],
        zorder=3,
    )
    axes.set_xticks(
        range(len(tokens)), [_word(token) for token in tokens], fontsize=_POINTS, rotation=90
    )
    for label, token in zip(axes.get_xticklabels(), tokens, strict=True):
        if token.region is None:
            label.set_color("#777777")
    axes.tick_params(axis="x", length=0, pad=3)
    axes.tick_params(axis="y", labelsize=7.5, length=2)
    axes.locator_params(axis="y", nbins=4)
    axes.set_ylabel("bits", fontsize=8)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)


def _region(
    axes: Any, condition: ConditionView, region: int, left: float, right: float, highest: float
) -> None:
    read = region in condition.read or "*" in condition.read
    axes.axvspan(
        left,
        right,
        facecolor=_READ if read else _UNREAD,
        edgecolor="white",
        linewidth=1.6,
        zorder=0,
        gid=f"region {region}",
    )
    axes.text(left + 0.12, highest * 0.985, str(region), fontsize=8, va="top", color="#333333")
    bits = condition.region_bits(region)
    if region in condition.read_by_mean and bits:
        axes.hlines(
            sum(bits) / len(bits), left, right, colors=_MEAN, linewidth=1.2, zorder=4
        ).set_gid(f"mean {region}")


def _heading(figure: Any, view: ItemView, model: str, width: float, height: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure.text(
        0.12 / width,
        1 - 0.1 / height,
        figures.cut(f"{view.item_id}  ({figures.short_model(model)})", int(width * 11)),
        fontsize=10,
        fontweight="bold",
        va="top",
    )
    handles: list[Any] = [Patch(facecolor=_READ, label="region that a prediction reads")]
    regions = {t.region for c in view.conditions for t in c.tokens if t.region}
    if any("*" not in c.read and regions - c.read for c in view.conditions):
        handles.append(Patch(facecolor=_UNREAD, label="other region"))
    if any(condition.read_by_mean - {"*"} for condition in view.conditions):
        handles.append(Line2D([], [], color=_MEAN, linewidth=1.2, label="its mean"))
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(0.05 / width, 1 - 0.28 / height),
        ncols=len(handles),
        frameon=False,
        fontsize=8,
    )
