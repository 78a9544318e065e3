"""Numbers on the page of an overview, and the card behind each, with its run's signature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from coherencegym.eval.data.baselines import BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.report.grid import (
    share_cell,
    share_of_people,
    share_with_interval,
    shares_cell,
)
from coherencegym.eval.results.run_table import RunColumn, RunModel, RunTable
from coherencegym.eval.statistics.scores import CHANCE_NAME
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results

#: Names of baselines, chance and people, by the fields that have them.
BESIDE = {
    "chance": "chance",
    **BASELINE_WORDS,
    "human_score": HUMAN_PERFORMANCE,
}


@dataclass(frozen=True)
class Card:
    """A run in full: what its number is of, and from what it can be reproduced.

    Attributes:
        id: its element's on the page.
        model, column, differs: names, and in what the column differs from others of the suite.
        number: the score with its interval; empty where there is no one number.
        over: the configs or groups that it is summed up over.
        beside: names of baselines, chance and people, and their values.
        facts: names and values of the model's and the dataset's facts.
        cautions: lines that a reader must know.
        signature: the line of the run.
        others: scores, signatures and reports of other runs of the model in this column.
    """

    id: str
    model: str
    column: str
    differs: tuple[str, ...]
    number: str
    over: str
    beside: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    cautions: tuple[str, ...]
    signature: str
    others: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Cell:
    """A number in a table.

    Attributes:
        head: the number, which is drawn.
        score, interval: its texts.
        above: true where it is above chance and all its baselines.
        fewer: the number of items where others of the column have more, as they are too long for
            this model or undefined for it; empty where it has all.
        report: the address of the run's report; empty without one.
        card: the run in full.
    """

    head: Headline
    score: str
    interval: str
    above: bool
    fewer: str
    report: str
    card: Card


def reference_cell(column: RunColumn, field: str) -> str:
    """The values of a baseline, of people or of chance in a column: one, if all runs have it."""
    if field != "human_score":
        return shares_cell(column.reference(field))
    judged = [number for number in column.numbers if number.human_score is not None]
    cells = [share_of_people(number.human_score, number.human_n) for number in judged]
    return " or ".join(dict.fromkeys(sorted(cells))) or "–"


def cell_of(
    table: RunTable, column: RunColumn, model: RunModel, reports: Mapping[Path | None, str]
) -> Cell | None:
    """The cell of a model in a column; None where it has no run there.

    ``reports`` are the addresses of reports by the folders of their runs.
    """
    if model not in column.runs:
        return None
    run = column.shown[model]
    head = run.number or _without_number(run)
    low, high = head.ci_low, head.ci_high
    most = max(column.counts, default=0)
    has_interval = low is not None and high is not None
    return Cell(
        head,
        share_cell(head.score),
        f"{share_cell(low)}{_dash(low)}{share_cell(high)}" if has_interval else "",
        head.is_above,
        f"{head.n:,} of {most:,} items" if head.n < most else "",
        reports.get(run.folder, ""),
        card_of(table, column, model, reports),
    )


def _dash(low: float | None) -> str:
    # Beside a minus a dash would be read as another.
    return " to " if low is not None and low < 0 else "–"


def _without_number(run: Results) -> Headline:
    # For a run that has several scores and no headline.
    own = [score for score in run.rows if score.level == "all"]
    over = tuple(dict.fromkeys(score.config for score in own))
    n = sum(score.n for score in own)
    return Headline(
        over=over, n_cells=len(over), n=n, score=None, ci_low=None, ci_high=None, chance=None
    )


def card_of(
    table: RunTable, column: RunColumn, model: RunModel, reports: Mapping[Path | None, str]
) -> Card:
    """The card of the run of a model in a column."""
    *rest, shown = column.runs[model]
    place = list(table.models).index(model), table.columns.index(column)
    head = shown.number
    return Card(
        id=f"run-{place[0]}-{place[1]}",
        model=table.models[model],
        column=column.name,
        differs=column.differs,
        number=_number(head),
        over=f"{head.words}, {head.n:,} items" if head is not None else "",
        beside=tuple(
            (head.chance_name if field == CHANCE_NAME else said, f"{share_cell(value)} %")
            for field, said in BESIDE.items()
            if head is not None and (value := getattr(head, field)) is not None
        ),
        facts=tuple(_facts(shown, model[3])),
        cautions=tuple(shown.cautions),
        signature=shown.signature,
        others=tuple(
            (_number(one.number), one.signature, reports.get(one.folder, ""))
            for one in reversed(rest)
        ),
    )


def _number(head: Headline | None) -> str:
    if head is None or head.score is None:
        return ""
    return f"{share_with_interval(head.score, head.ci_low, head.ci_high)} %"


def _facts(run: Results, how: str) -> Iterator[tuple[str, str]]:
    commits = (run.commit.removeprefix("sha256:")[:12], run.data_commit[:12])
    yield "model", " ".join(filter(None, (f"{run.model_name}{run.at_revision}", commits[0])))
    yield "dataset", " ".join(filter(None, (run.data, commits[1])))
    if (parameters := run.model.get("parameters")) is not None:
        yield "parameters", f"{parameters:,}"
    yield "loaded as", ", ".join(filter(None, (how, run.model.get("device"))))
