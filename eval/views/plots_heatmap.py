"""The heat map of a connective suite: what was replaced, by what, and how often a model noticed.

After Table 4 of Beyer, Loáiciga and Schlangen (2021): rows are a connective in a sense, columns
what is put in its place, cells the CD score. A score belongs in it if its group says so:
``as_causal → since``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.report import figures
from coherencegym.eval.report.blocks import HeatMap, heat_maps_of
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.views.plot_rows import merged, suites_of

#: Inches: of a cell, around the panels, for the title of one, below one, and for the key.
_CELL_WIDTH, _CELL_HEIGHT = 0.66, 0.38
_MARGIN, _HEADING, _GAP, _FOOT = 0.2, 0.9, 0.3, 0.85
#: The names of the axes, and inches that the one at the side takes.
_REPLACED, _BY, _SIDE = "replaced word", "replacement", 0.25
#: Most panels side by side, characters of a label, points of its letters, degrees that it slants
#: where it is wider than its column.
_BESIDE, _LONGEST, _POINTS, _SLANT = 3, 32, 9, 40
#: Orange under chance, white at chance, blue above (for colour-blind readers as well).
_COLOURS = ("#B35806", "#F1A340", "#FFFFFF", "#67A9CF", "#0B559F")
#: Strength of the colour of a cell of few items.
_FAINT = 0.3
_EMPTY = "#F4F4F4"


def heat_maps(runs: Sequence[Results]) -> list[HeatMap]:
    """The heat maps of runs; often none."""
    series = {one.label: one.scores.values() for one in merged(runs).series}
    return heat_maps_of(series, suites_of(runs))


def draw_heat_maps(maps: Sequence[HeatMap]) -> Any:
    """A figure of heat maps, those of one config beside each other, a panel a model.

    A cell says the score and, under it, of how many items. Cells under chance have a frame, a
    thick one where the whole interval is under chance; cells of few items are faint, so that
    everything can be told without colour.
    """
    lines = [
        _Line.of(each, list(each.cells)[start : start + _BESIDE])
        for each in maps
        for start in range(0, len(each.cells), _BESIDE)
    ]
    width = max(6.2, *(line.width for line in lines)) + 2 * _MARGIN
    height = sum(line.height for line in lines) + _FOOT + _MARGIN
    figure = figures.new_figure(width, height)
    top = height - _MARGIN
    for line in lines:
        left = _MARGIN + line.label_width
        top -= line.height
        for number, model in enumerate(line.models):
            axes = figure.add_axes(
                (
                    left / width,
                    (top + _GAP) / height,
                    len(line.map.columns) * _CELL_WIDTH / width,
                    len(line.map.rows) * _CELL_HEIGHT / height,
                )
            )
            _panel(axes, line.map, model, slanted=line.slanted, with_labels=number == 0)
            left += line.panel_widths[number]
    _key(figure, width, height)
    return figure


@dataclass(frozen=True)
class _Line:
    # Sizes in inches, titles, labels and gaps included.
    map: HeatMap
    models: Sequence[str]
    label_width: float
    panel_widths: Sequence[float]
    height: float
    slanted: bool

    @property
    def width(self) -> float:
        return self.label_width + sum(self.panel_widths)

    @classmethod
    def of(cls, each: HeatMap, models: Sequence[str]) -> _Line:
        columns = _inches(each.columns)
        slanted = max(columns) > _CELL_WIDTH
        up = math.sin(math.radians(_SLANT)) * max(columns) if slanted else 0.0
        # A label that slants begins in the middle of its column and reaches over the next ones.
        over = [
            (number + 0.5) * _CELL_WIDTH + math.cos(math.radians(_SLANT)) * column
            for number, column in enumerate(columns)
        ]
        cells = max(over) if slanted else len(each.columns) * _CELL_WIDTH
        titles = [max(_inches(_title(each, model).split("\n"), True)) for model in models]
        return cls(
            each,
            models,
            label_width=0.1 + _SIDE + max(_inches(each.rows)),
            panel_widths=[
                max(cells, len(each.columns) * _CELL_WIDTH, title) + _GAP for title in titles
            ],
            height=len(each.rows) * _CELL_HEIGHT + _HEADING + up + _GAP,
            slanted=slanted,
        )


def _inches(texts: Sequence[str], bold: bool = False) -> list[float]:
    shortened = [figures.cut(text, 10_000 if bold else _LONGEST) for text in texts]
    return [width / 72 for width in figures.text_widths(shortened, _POINTS, [bold] * len(texts))]


def _title(each: HeatMap, model: str) -> str:
    what = ", ".join(filter(None, (each.suites, each.title)))
    return f"{figures.cut(model, 40)}\n{figures.cut(what, 48)}"


def _panel(axes: Any, each: HeatMap, model: str, slanted: bool, with_labels: bool) -> None:
    axes.set_gid(f"{each.title}: {model}")
    axes.set_xlim(0, len(each.columns))
    axes.set_ylim(len(each.rows), 0)
    scores = each.cells[model]
    for y, row in enumerate(each.rows):
        for x, column in enumerate(each.columns):
            _cell(axes, x, y, scores.get((row, column)))
    axes.set_xticks(
        [x + 0.5 for x in range(len(each.columns))],
        [figures.cut(column, _LONGEST) for column in each.columns],
        fontsize=_POINTS,
        rotation=_SLANT if slanted else 0,
        ha="left" if slanted else "center",
        rotation_mode="anchor",
    )
    names = [figures.cut(row, _LONGEST) for row in each.rows] if with_labels else []
    axes.set_yticks([y + 0.5 for y in range(len(names))], names, fontsize=_POINTS)
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(_BY, fontsize=_POINTS, color="#555555", loc="left")
    if with_labels:
        axes.set_ylabel(_REPLACED, fontsize=_POINTS, color="#555555")
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(_title(each, model), loc="left", fontsize=_POINTS, fontweight="bold", pad=8)


def _cell(axes: Any, x: int, y: int, score: Score | None) -> None:
    from matplotlib.patches import Rectangle

    if score is None or score.score is None:
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=_EMPTY, edgecolor="white"))
        if score is not None:
            _write(axes, x, y, "–", "n=0", "#777777")
        return
    few = score.n < FEW_ITEMS
    paint = _paint(score.score, few)
    axes.add_patch(
        Rectangle((x, y), 1, 1, facecolor=paint, edgecolor="white", gid=f"score {score.score}")
    )
    if score.score < figures.CHANCE:
        wholly = score.ci_high is not None and score.ci_high < figures.CHANCE
        axes.add_patch(
            Rectangle(
                (x + 0.05, y + 0.08),
                0.9,
                0.84,
                fill=False,
                edgecolor="#666666" if few else "black",
                linewidth=2.2 if wholly else 0.9,
                gid="under chance",
            )
        )
    dark = _luminance(paint) < 0.4
    ink = "white" if dark else "#555555" if few else "black"
    _write(axes, x, y, f"{100 * score.score:.0f}", f"n={score.n:,}", ink)


def _write(axes: Any, x: int, y: int, number: str, below: str, ink: str) -> None:
    axes.text(x + 0.5, y + 0.38, number, ha="center", va="center", fontsize=9, color=ink)
    axes.text(x + 0.5, y + 0.74, below, ha="center", va="center", fontsize=6.5, color=ink)


def _paint(score: float, few: bool) -> tuple[float, float, float]:
    from matplotlib.colors import LinearSegmentedColormap

    strength = _FAINT if few else 1.0
    red, green, blue, _ = LinearSegmentedColormap.from_list("scores", _COLOURS)(score)
    return tuple(1 - strength * (1 - part) for part in (red, green, blue))  # type: ignore[return-value]


def _luminance(colour: tuple[float, float, float]) -> float:
    # ITU-R BT.709, 0 to 1.
    red, green, blue = colour
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _key(figure: Any, width: float, height: float) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.patches import Patch

    axes = figure.add_axes((_MARGIN / width, 0.55 / height, 2.2 / width, 0.14 / height))
    colours = LinearSegmentedColormap.from_list("scores", _COLOURS)
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, 1), colours), cax=axes, orientation="horizontal"
    )
    bar.set_ticks(figures.QUARTERS, labels=figures.PER_CENT)
    bar.ax.tick_params(labelsize=8)
    bar.set_label("CD score, % (50: chance)", fontsize=8)
    handles = [
        Patch(fill=False, edgecolor="black", linewidth=0.9, label="under chance"),
        Patch(
            fill=False,
            edgecolor="black",
            linewidth=2.2,
            label="its whole 95 % interval under chance",
        ),
        Patch(facecolor=_paint(1.0, True), label=f"faint: fewer than {FEW_ITEMS} items"),
    ]
    figure.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=((_MARGIN + 2.6) / width, 0.1 / height),
        frameon=False,
        fontsize=8,
    )
