"""A board as a folder of pages: written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.results.board import Board
from coherencegym.eval.results.folder import write_json
from coherencegym.eval.views.board.names import (
    BOARD_MARKER,
    INDEX,
    model_file,
    pair_file,
    suite_file,
)
from coherencegym.eval.views.board.pages import Site, render_index, render_model, render_suite
from coherencegym.eval.views.board.pairs import PairReadings, compared_pairs, render_pair
from coherencegym.eval.views.html_report import write_html

_FORMAT = 1


def write_board(
    board: Board,
    folder: Path,
    title: str,
    sources: Sequence[str] = (),
    most_pairs: int = 0,
    progress: Callable[[str], None] = lambda line: None,
) -> Site:
    """Write the pages of a board into an empty folder.

    Args:
        board: the columns, at least one.
        folder: an empty folder.
        title: the first page's.
        sources: lines on what the board was made of.
        most_pairs: pages of two models at most.
        progress: a function that is told of each of these.
    """
    pairs = {}
    readings = PairReadings()
    for pair in compared_pairs(board, readings, most_pairs):
        file = pair_file(pair.model, pair.other)
        trail = [
            (title, f"../{INDEX}"),
            *(
                (board.models[m], f"../{model_file(board.models[m], m)}")
                for m in (pair.model, pair.other)
            ),
        ]
        write_html(render_pair(board, pair, readings, trail), folder, file)
        pairs[pair.model, pair.other] = file
        progress(f"{board.models[pair.model]} against {board.models[pair.other]}")
    without = [
        f"{Path(folder).name}: {why.replace(folder, Path(folder).name)}"
        for folder, why in readings.without.items()
    ]
    lines = [*sources, *(f"not compared with others, {line}" for line in without)]
    site = Site(board, title, lines, pairs, len(board.pairs()) - len(pairs))
    for model, name in board.models.items():
        write_html(render_model(site, model), folder, model_file(name, model))
    for suite in board.suites:
        write_html(render_suite(site, suite), folder, suite_file(suite))
    write_html(render_index(site), folder, INDEX)
    write_json(board_as_json(site), folder / BOARD_MARKER)
    return site


def board_as_json(site: Site) -> dict[str, Any]:
    """The content of ``board.json``: every number of the first page, for programs."""
    board = site.board
    return {
        "format": _FORMAT,
        "title": site.title,
        "sources": list(site.sources),
        "models": list(board.models.values()),
        "columns": [
            {
                "task": column.task,
                "suite": column.suite,
                "version": column.version,
                "measure": column.measure,
                "differs": list(column.differs),
                "digest": column.digest,
                "runs": [
                    {
                        "model": board.models[model],
                        "score": head.score if head else None,
                        "ci_low": head.ci_low if head else None,
                        "ci_high": head.ci_high if head else None,
                        "n": head.n if head else None,
                        "signature": entry.run.signature,
                    }
                    for model, entries in column.entries.items()
                    for entry in entries
                    for head in (entry.number,)
                ],
            }
            for column in board.columns
        ],
    }
