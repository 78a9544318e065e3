"""Looks of every figure, and its files: PNG and SVG, the same bytes for the same data.

SVG files turn dark where their reader prefers that, inside a page or by themselves.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

#: Colours and marks of models, in their order: apart in print and for colour-blind readers (Okabe
#: and Ito 2008), and the marks apart without colour.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
MARKS = ("o", "s", "^", "v", "P", "X", "<", ">")
PARTIAL_INPUT, CHANCE_LINE, HUMAN = "#D55E00", "#777777", "#333333"
#: The looks of baselines, by the fields of their scores: lines differ, as values are often alike.
BASELINE_LOOKS: dict[str, dict[str, Any]] = {
    "partial_input_score": {"color": PARTIAL_INPUT},
    "lexical_overlap_score": {"color": "#A08000", "linestyle": (0, (1, 1))},
    "surface_score": {"color": "#7A5195", "linestyle": (0, (3, 1))},
}
#: The CD score of a model that sees no difference.
CHANCE = 0.5
DASHED = (0, (4, 3))
#: Pixels an inch, and the most pixels of a side: a longer figure gets fewer an inch.
_DPI, _MOST_PIXELS = 160, 30_000
#: The style of SVG files where a reader prefers dark pages: light becomes dark, blue stays blue;
#: white comes out as the paper of the pages, black as their ink.
_STYLE = '<style type="text/css">'
_DARK = "@media (prefers-color-scheme: dark) {svg {filter: invert(0.91) hue-rotate(180deg)}}"
#: Fonts for the scripts that the default font lacks; those that are not installed are left out.
_FALLBACKS = (
    *("Noto Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans Arabic"),
    *("Noto Sans Devanagari", "Noto Emoji", "Arial Unicode MS", "WenQuanYi Zen Hei", "Unifont"),
)


@contextmanager
def style() -> Iterator[None]:
    """Draw and write in here: matplotlib's defaults, whatever the user's own are.

    Identifiers in SVG files are hashed with a fixed salt, and ``$`` in a name is no formula.
    """
    import matplotlib
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        fonts = ["DejaVu Sans", *(name for name in _FALLBACKS if name in installed)]
        own: Any = {"svg.hashsalt": "coherencegym", "text.parse_math": False, "font.family": fonts}
        matplotlib.rcParams.update(own)
        yield


def new_figure(width: float, height: float, **options: Any) -> Any:
    """A figure of this size (inches) that belongs to no window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), **options)
    FigureCanvasAgg(figure)
    return figure


def save(figure: Any, path: Path) -> None:
    """Write a figure as ``path`` with the endings ``.png`` and ``.svg``, without a date."""
    longest = max(figure.get_size_inches())
    with warnings.catch_warnings():
        # Characters that no installed font has are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        # `Figure.savefig` writes the same bytes, but draws everything twice to lay it out.
        figure.dpi, original = min(_DPI, int(_MOST_PIXELS / longest)), figure.dpi
        figure.canvas.print_png(path.with_suffix(".png"))
        figure.dpi = original
        write_svg(figure, path.with_suffix(".svg"))


def write_svg(figure: Any, path: Path, **metadata: str) -> None:
    """Write a figure as an SVG file, without a date, that is dark where its reader prefers that."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvas: Any = FigureCanvasSVG(figure)
    drawn = StringIO()
    canvas.print_svg(drawn, metadata={"Date": None, **metadata})
    path.write_bytes(drawn.getvalue().replace(_STYLE, _STYLE + _DARK, 1).encode())


def colour(number: int) -> str:
    """The colour of a model, by its place."""
    return COLOURS[number % len(COLOURS)]


def mark(number: int) -> str:
    """The mark of a model, by its place: colour and mark together repeat late."""
    return MARKS[(number + number // len(COLOURS)) % len(MARKS)]


def model_key(number: int, label: str) -> Any:
    """A model's line of a legend, by its place."""
    look: Any = {"color": colour(number), "marker": mark(number)}
    return key(label, **look, linewidth=2.4, markersize=6)


def key(label: str, **look: Any) -> Any:
    """A line of a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **look)


def legend_below(figure: Any, handles: Sequence[Any], columns: int) -> None:
    """Put a legend under all panels, in as many columns as the figure has room for."""
    for count in range(min(columns, len(handles)), 0, -1):
        legend = figure.legend(
            handles=handles, loc="outside lower center", ncols=count, frameon=False, fontsize=9
        )
        if count == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()
