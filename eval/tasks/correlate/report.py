"""The report of ``correlate``: correlations, scores by ratings, and the texts that are off most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherencegym.eval.kinds.ratings import RatedText
from coherencegym.eval.metrics.estimates import EstimateRow
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.outcomes.schema import Group, System, name_of_group
from coherencegym.eval.report import figures, grid
from coherencegym.eval.report.blocks import Figure, ReportSection, Text, TextLists
from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    FEW_ITEMS,
    LENGTH,
    ONE_RATER,
    REPEATED_WORDS,
)
from coherencegym.eval.tasks.correlate.systems import BY_TOKEN
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.table import Table

#: The names of rows that are not the model's.
_BESIDE = {
    LENGTH: "baseline: length (longer is higher)",
    REPEATED_WORDS: "baseline: repeated words",
    BAG_OF_WORDS: "baseline: bag of words, cross-validated",
    ONE_RATER: "people: one rater against the others",
}
#: The texts of each table that are listed.
_MOST_TEXTS = 100

#: A text, its score, and how many shares of all texts the score puts it above its rating's place.
Misplaced = tuple[RatedText, float, float]


def correlate_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    yield ReportSection(
        "Correlations with ratings",
        correlation_grid(found.estimates),
        "Scores are negative surprisals, so a higher score predicts a higher rating. A "
        "correlation of 1 is perfect, and 0 is chance. The rows below the model's three scores "
        "are people, and baselines that need no understanding of the text.",
    )
    placed = {table.name: by_misplacement(found, table) for table in found.input_tables}
    yield ReportSection(
        "Scores by ratings",
        Figure(
            "ratings",
            "Each point is a text: its rating against its score. The texts are listed below.",
            lambda: _panels(placed),
        ),
    )
    yield ReportSection(
        "Texts",
        TextLists(
            ("rating", "score", "off, %"),
            tuple(
                (name, len(own), tuple(map(_listed, own[:_MOST_TEXTS])))
                for name, own in placed.items()
            ),
        ),
        'The texts whose score and rating disagree most come first. "off" is the difference of '
        "the two ranks in per cent of all texts: + means that the score ranks the text higher than "
        "its rating does.",
    )


def correlation_grid(rows: Sequence[EstimateRow]) -> grid.Grid:
    """A row for each score of each config, the groups of the first below it, and the baselines."""
    by_key = {(row.config, row.split, row.system, row.group, row.metric): row for row in rows}
    metrics = list(dict.fromkeys(row.metric for row in rows))
    headings, cells = [], []
    for table in dict.fromkeys((row.config, row.split) for row in rows):
        headings.append(grid.GridRow((f"{table[0]} ({table[1]})",), bold=True))
        cells.append(dict.fromkeys(("texts", *map(_headed, metrics)), ""))
        parts = dict.fromkeys(
            (row.system, row.group)
            for row in rows
            if (row.config, row.split) == table and (row.group is None or row.system == BY_TOKEN)
        )
        for system, group in parts:
            own = {metric: by_key.get((*table, system, group, metric)) for metric in metrics}
            n = max(row.estimate.n for row in own.values() if row is not None)
            headings.append(grid.GridRow((f"  {_name(system, group)}",), 1))
            few = " !" if n < FEW_ITEMS else ""
            shown = {_headed(metric): _cell(row) for metric, row in own.items()}
            cells.append({"texts": f"{n:,}{few}", **shown})
    return grid.of_cells("config, score", headings, cells, ("", "–"))


def _headed(metric: Metric) -> str:
    return f"{metric.said} [95 % interval]"


def _name(system: System, group: Group | None) -> str:
    if group is not None:
        return f"  {name_of_group(group)}"
    return f"− {system.label}" if system.role == "model" else _BESIDE[system.label]


def _cell(row: EstimateRow | None) -> str:
    if row is None:
        return "–"
    found = row.estimate
    return grid.with_interval(found.value, found.low, found.high, "+.2f")


def by_misplacement(found: Results, table: Table[RatedText]) -> list[Misplaced]:
    """The texts of a table that have a score, those first that it places worst."""
    from scipy.stats import rankdata

    first = next(iter(found.metrics))
    scores = {
        outcome.unit.item: outcome.value
        for one in found.outcomes.series()
        if (one.config, one.split) == (table.config, table.split)
        and (one.metric, one.system) == (first, BY_TOKEN)
        for outcome in found.outcomes.rows(one.places)
    }
    known = [(row, value) for row in table.rows if (value := scores[row.item_id]) is not None]
    if not known:
        return []
    ranks = [rankdata(own) for own in ([v for _, v in known], [row.rating for row, _ in known])]
    moved = (ranks[0] - ranks[1]) / len(known)
    placed = [(*one, float(by)) for one, by in zip(known, moved, strict=True)]
    return sorted(placed, key=lambda one: (-abs(one[2]), one[0].item_id))


def _panels(placed: dict[str, list[Misplaced]]) -> Any:
    figure = figures.new_figure(max(4.5, 3.6 * len(placed)), 3.6, layout="constrained")
    panels = figure.subplots(1, len(placed), squeeze=False)[0]
    for axes, (name, own) in zip(panels, placed.items(), strict=True):
        axes.scatter(
            [row.rating for row, _, _ in own],
            [value for _, value, _ in own],
            s=18,
            color=figures.colour(0),
            alpha=0.5,
            linewidths=0,
        )
        axes.set_title(figures.cut(name, 40), fontsize=10)
        axes.set_xlabel("rating", fontsize=9)
        axes.set_ylabel(f"− {BY_TOKEN.label}", fontsize=9)
    return figure


def _listed(own: Misplaced) -> Text:
    row, value, moved = own
    ratings = ", ".join(f"{one:g}" for one in row.ratings) if len(row.ratings) > 1 else ""
    about = ": ".join(filter(None, (row.item_id, row.prompt)))
    cells = (f"{row.rating:g}", ratings), (f"{value:.3f}", ""), (f"{100 * moved:+.0f}", "")
    return Text(about, row.text, cells)
