"""Numbers on the pages of a board, and the card behind each, with the signature of its run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coherencegym.eval.report.grid import share_cell, share_with_interval
from coherencegym.eval.results.board import Board, BoardColumn, BoardModel, Entry
from coherencegym.eval.results.overview import above_chance, above_floor
from coherencegym.eval.statistics.scores import CHANCE_NAME, REFERENCE, Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.views.board.names import model_file, suite_file

#: Names of floors, chance and people, by the fields that have them.
BESIDE = {
    "chance": "chance",
    "artefact_score": "artefact",
    "overlap_score": "overlap",
    "human_score": "people",
}


@dataclass(frozen=True)
class Card:
    """A run in full: what its number is of, and from what it can be reproduced.

    Attributes:
        id: its element's on the page.
        model, column, differs: names, and in what the column differs from others of the suite.
        model_link, suite_link: their pages, from the root of the board.
        number: the score with its interval; empty where there is no one number.
        over: the configs or groups that it is summed up over.
        beside: names of floors, chance and people, and their values.
        facts: names and values of the model's and the dataset's facts.
        cautions: lines that a reader must know.
        signature: the line of the run.
        others: scores and signatures of other runs of the model in this column.
    """

    id: str
    model: str
    column: str
    differs: tuple[str, ...]
    model_link: str
    suite_link: str
    number: str
    over: str
    beside: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    cautions: tuple[str, ...]
    signature: str
    others: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cell:
    """A number in a table.

    Attributes:
        head: the number, which is drawn.
        score, interval: its texts.
        above: true where it is above chance and all its floors.
        fewer: the number of items where others of the column have more, as they are too long for
            this model or undefined for it; empty where it has all.
        card: the run in full.
    """

    head: Headline
    score: str
    interval: str
    above: bool
    fewer: str
    card: Card


def cell_of(board: Board, column: BoardColumn, model: BoardModel) -> Cell | None:
    """The cell of a model in a column; None where it has no run there."""
    if model not in column.entries:
        return None
    card = card_of(board, column, model)
    head = column.number(model) or _without_number(column.entries[model][0])
    low, high = head.ci_low, head.ci_high
    numbers = (column.number(each) for each in column.entries)
    most = max((one.n for one in numbers if one is not None), default=0)
    has_interval = low is not None and high is not None
    return Cell(
        head,
        share_cell(head.score),
        f"{share_cell(low)}{_dash(low)}{share_cell(high)}" if has_interval else "",
        is_above(head),
        f"{head.n:,} of {most:,} items" if head.n < most else "",
        card,
    )


def _dash(low: float | None) -> str:
    """The sign of an interval; beside a minus a dash would be read as another."""
    return " to " if low is not None and low < 0 else "–"


def is_above(head: Headline) -> bool:
    """Tell whether the whole interval is above chance and every floor, of which one is known."""
    return above_chance(head) and above_floor(head)


def _without_number(entry: Entry) -> Headline:
    """A headline without a score, for a run that has several scores and no headline."""
    own = [score for score in entry.run.scores if score.level == "all"]
    over = tuple(dict.fromkeys(score.config for score in own))
    n = sum(score.n for score in own)
    return Headline(
        over=over, n_cells=len(over), n=n, score=None, ci_low=None, ci_high=None, chance=None
    )


def card_of(board: Board, column: BoardColumn, model: BoardModel) -> Card:
    """The card of the run of a model in a column."""
    first, *rest = column.entries[model]
    name = board.models[model]
    place = list(board.models).index(model), board.columns.index(column)
    head = first.number
    return Card(
        id=f"run-{place[0]}-{place[1]}",
        model=name,
        column=column.name,
        differs=column.differs,
        model_link=model_file(name, model),
        suite_link=f"{suite_file(column.suite)}#{column.digest}",
        number=_number(head),
        over=f"{head.words}, {head.n:,} items" if head is not None else "",
        beside=tuple(
            (head.chance_name if field == CHANCE_NAME else said, f"{share_cell(value)} %")
            for field, said in BESIDE.items()
            if head is not None and (value := getattr(head, field)) is not None
        ),
        facts=tuple(_facts(first)),
        cautions=tuple(first.run.cautions),
        signature=first.run.signature,
        others=tuple((_number(one.number), one.run.signature) for one in rest),
    )


def _number(head: Headline | None) -> str:
    if head is None or head.score is None:
        return ""
    return f"{share_with_interval(head.score, head.ci_low, head.ci_high)} %"


def _facts(entry: Entry) -> Iterator[tuple[str, str]]:
    """Facts of a run, those that there are."""
    run, model = entry.run, entry.model
    commits = (run.commit.removeprefix("sha256:")[:12], run.data_commit[:12])
    yield "model", " ".join(filter(None, (f"{run.model}{run.at_revision}", commits[0])))
    yield "dataset", " ".join(filter(None, (run.data, commits[1])))
    if model.parameters is not None:
        yield "parameters", f"{model.parameters:,}"
    yield "loaded as", ", ".join(filter(None, (entry.key[3], model.device)))


def shown_scores(entry: Entry) -> list[Score]:
    """The scores of a run that stand beside its number: one for each config and measure."""
    scores = [s for s in entry.run.scores if s.level in ("all", REFERENCE)]
    return [s for s in scores if s.level == "all"] if len(scores) > 1 else []


def local_names(board: Board) -> Sequence[str]:
    """Names in a board that are folders of the machine where runs were made."""
    names = dict.fromkeys(
        name
        for column in board.columns
        for entries in column.entries.values()
        for entry in entries
        for name in (entry.run.model, entry.run.data)
    )
    return [name for name in names if Path(name).is_absolute()]
