"""Figures in few words: to draw one twice, as PNG and as SVG, takes longer than most commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coherencegym.eval.report import figures

REAL = figures.save


def sketch(figure: Any, path: Path) -> None:
    """Write what a figure says, as the comments of the SVG file do, its points and its intervals.

    It stands for ``figures.save`` in tests of the evaluator that do not ask for ``real_figures``.
    """
    from matplotlib.collections import Collection
    from matplotlib.text import Text

    said = [text.get_text() for text in figure.findobj(Text)]
    for points in figure.findobj(Collection):
        said.append(str(points.get_offsets().tolist()))
        said += [str(line.vertices.tolist()) for line in points.get_paths()]
    content = "".join(f"<!-- {text} -->\n" for text in said)
    path.with_suffix(".svg").write_text(f"<svg>{content}</svg>", encoding="utf-8")
    path.with_suffix(".png").write_bytes(b"\x89PNG\r\n\x1a\n" + content.encode())


@contextmanager
def saving(save: Any) -> Iterator[None]:
    """Write figures so in here."""
    before = figures.save
    figures.save = save
    try:
        yield
    finally:
        figures.save = before


def drawn() -> Any:
    """Write figures as they are in here, for a fixture of a module."""
    return saving(REAL)
