"""The pages of a board: the table of all, a page for each model, and one for each suite.

They are as safe as the page of a run (:mod:`eval.views.html_report`): names and texts are escaped,
nothing runs or is fetched but what is in the page. Only the first page has a script, and without it
all is there but sorting and filtering.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coherencegym.eval.report.grid import share_cell, share_with_interval
from coherencegym.eval.results.board import Board, BoardColumn, BoardModel, Entry
from coherencegym.eval.statistics.scores import CHANCE_NAME, Score, chance_names
from coherencegym.eval.tasks.headline import Headline, headline_of_one
from coherencegym.eval.views.board.cells import (
    BESIDE,
    Cell,
    cell_of,
    is_above,
    shown_scores,
)
from coherencegym.eval.views.board.names import INDEX, model_file, suite_file
from coherencegym.eval.views.html_report import page_of, source

#: A comparison of two models, the better first -> its page.
PairFiles = Mapping[tuple[BoardModel, BoardModel], str]


@dataclass(frozen=True)
class Site:
    """A board and what its pages say of it.

    Attributes:
        board: the columns.
        title: the title of the first page.
        sources: lines on what it was made of.
        pairs: the pages of two models.
        pairs_left_out: pairs of models without such a page.
    """

    board: Board
    title: str
    sources: Sequence[str]
    pairs: PairFiles
    pairs_left_out: int


@dataclass(frozen=True)
class DrawnRow:
    """A row of a drawn table: a score, or (no ``score``) the heading of those below it."""

    name: str
    level: int
    score: Headline | Score | None = None
    link: str = ""
    cell: Cell | None = None
    above: bool = False
    differs: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The score and its interval."""
        one = self.score
        return "" if one is None else share_with_interval(one.score, one.ci_low, one.ci_high)


@dataclass(frozen=True)
class ColumnHead:
    """The head of a column: its page, and what its scores are held against, by name."""

    column: BoardColumn
    link: str
    beside: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class ModelLine:
    """A model on the first page: its page, and its cell in each column."""

    name: str
    link: str
    cells: Sequence[Cell | None]


def render_index(site: Site) -> str:
    """The first page: models by columns."""
    board = site.board
    columns = [
        ColumnHead(column, f"{suite_file(column.suite)}#{column.digest}", _beside(column))
        for column in board.columns
    ]
    rows = [
        ModelLine(
            name,
            model_file(name, model),
            [cell_of(board, column, model) for column in board.columns],
        )
        for model, name in board.models.items()
    ]
    numbers = {model: number for number, model in enumerate(board.models)}
    return page_of(
        "board.html.jinja",
        source("board.js"),
        site=site,
        columns=columns,
        rows=rows,
        beside=[said for said in BESIDE.values() if any(one.beside[said] for one in columns)],
        heads=[cell.head for row in rows for cell in row.cells if cell is not None],
        tasks=list(dict.fromkeys(column.task for column in board.columns)),
        sentences=[board.standing(model) for model in board.models],
        data={
            "pairs": [[numbers[a], numbers[b], file] for (a, b), file in site.pairs.items()],
            "words": [_words(column) for column in board.columns],
        },
    )


def _beside(column: BoardColumn) -> dict[str, tuple[float, ...]]:
    return {said: column.reference(field) for field, said in BESIDE.items()}


def _words(column: BoardColumn) -> str:
    """Words that a search finds a column by."""
    entry = next(iter(column.shown.values()))
    return " ".join((column.name, *column.differs, column.task, entry.suite.title)).lower()


def render_model(site: Site, model: BoardModel) -> str:
    """The page of a model: every score of every run, and the models that it is compared with."""
    board = site.board
    name = board.models[model]
    own = board.of_model(model)
    rows = [row for column in own for row in _rows_of_model(board, column, model)]
    compared = [
        (board.models[other], f"../{file}", n)
        for pair, file in site.pairs.items()
        if model in pair
        for other in (pair[1] if pair[0] == model else pair[0],)
        for n in (len(board.shared(*pair)),)
    ]
    return page_of(
        "board_model.html.jinja",
        title=name,
        trail=[(site.title, f"../{INDEX}")],
        entry=own[0].entries[model][0],
        sentence=board.standing(model),
        rows=rows,
        compared=compared,
        differences=[
            (column.name, one) for column in own for one in column.shown[model].run.differences
        ],
        cautions=_cautions_by_text((column.name, column.shown[model]) for column in own),
    )


def _rows_of_model(board: Board, column: BoardColumn, model: BoardModel) -> list[DrawnRow]:
    cell = cell_of(board, column, model)
    assert cell is not None
    entry = column.shown[model]
    scores = shown_scores(entry)
    link = f"../{suite_file(column.suite)}#{column.digest}"
    first = DrawnRow(column.name, 0, cell.head, link, cell, cell.above, column.differs)
    return [first, *(_row_of_score(score, 1, _config(score, scores), cell) for score in scores)]


def _row_of_score(score: Score, level: int, name: str, cell: Cell) -> DrawnRow:
    above = is_above(headline_of_one(score))
    return DrawnRow(name, level, score, "", cell, above)


def _config(score: Score, among: Sequence[Score]) -> str:
    """The name of a score among those of its run."""
    splits = len({one.split for one in among}) > 1
    name = f"{score.config} ({score.split})" if splits else score.config
    return f"{name}: {score.what}" if score.what else name


def render_suite(site: Site, suite: str) -> str:
    """The page of a suite: what it asks, and every model in each of its columns."""
    board = site.board
    columns = board.of_suite(suite)
    told = _best_told(columns)
    return page_of(
        "board_suite.html.jinja",
        title=told.suite.title or suite,
        name=suite,
        trail=[(site.title, f"../{INDEX}")],
        about=told.suite,
        parts=[
            {"column": column, "rows": _rows_of_column(board, column), "facts": _facts(column)}
            for column in columns
        ],
    )


def _best_told(columns: Sequence[BoardColumn]) -> Entry:
    """The run whose results say most of the suite: those of earlier releases say less."""

    def told(entry: Entry) -> tuple[int, str, str]:
        about = entry.suite
        said = [about.title, about.hypothesis, about.description, about.conditions]
        words = sum(map(bool, [*said, about.limitations, about.uses]))
        return words, entry.run.version, entry.run.signature

    return max((one for c in columns for own in c.entries.values() for one in own), key=told)


def _rows_of_column(board: Board, column: BoardColumn) -> list[DrawnRow]:
    """The models by the number of the column, and then by each of its configs."""
    models = [model for model in board.models if model in column.entries]
    cells = {model: cell for model in models if (cell := cell_of(board, column, model))}
    models.sort(key=lambda model: -(cells[model].head.score or -1.0))
    by_name: dict[str, list[DrawnRow]] = {}
    for model in models:
        scores = shown_scores(column.shown[model])
        for score in scores:
            own = _row_of_score(score, 1, board.models[model], cells[model])
            by_name.setdefault(_config(score, scores), []).append(own)
    number = cells[models[0]].head
    heading = f"headline: {number.words}" if by_name else number.words
    if number.n_cells == 1 and number.over[0] in by_name:
        del by_name[number.over[0]]
    rows = [DrawnRow(heading, 0)]
    rows += [
        DrawnRow(
            board.models[m],
            1,
            cells[m].head,
            f"../{model_file(board.models[m], m)}",
            cells[m],
            cells[m].above,
        )
        for m in models
    ]
    for name, own_rows in by_name.items():
        rows += [DrawnRow(name, 0), *own_rows]
    return rows


def _facts(column: BoardColumn) -> list[tuple[str, str]]:
    """Facts of a column: tables, digests, settings, floors."""
    entry = next(iter(column.shown.values()))
    tables = [
        f"{t.config} ({t.split}): {t.items:,} items, rows {t.sha256[:12]}"
        for t in entry.suite.tables
    ]
    versions = {_release(one) for own in column.entries.values() for one in own}
    return [
        *(("table", line) for line in tables),
        *(
            (_said(name, column), " or ".join(map(share_cell, values)))
            for name, values in _beside(column).items()
            if values
        ),
        ("scored with", f"coherencegym {', '.join(sorted(versions))}"),
    ]


def _said(name: str, column: BoardColumn) -> str:
    """The name of a floor, or of what stands in the place of chance."""
    heads = (column.number(model) for model in column.entries)
    return chance_names(one for one in heads if one) if name == CHANCE_NAME else name


def _release(entry: Entry) -> str:
    versions = entry.run.settings.get("versions")
    return str(versions.get("coherencegym", "?")) if isinstance(versions, Mapping) else "?"


def _cautions_by_text(entries: Iterable[tuple[str, Entry]]) -> list[tuple[str, list[str]]]:
    """Cautions, each once, with the suites that they are of."""
    found: dict[str, list[str]] = {}
    for name, entry in entries:
        for note in entry.run.notes:
            if note.kind == "caution":
                found.setdefault(note.text.lstrip("!† "), []).append(name)
    return [(text, list(dict.fromkeys(names))) for text, names in found.items()]
