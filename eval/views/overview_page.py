"""The page of an overview: models by suites, and a card behind each number.

It is as safe as the page of a run (:mod:`eval.views.html_report`): names and texts are escaped,
nothing runs or is fetched but what is in the page. Without its script all is there but sorting and
filtering.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coherencegym.eval.data.baselines import BASELINE_MEANINGS, BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.report.grid import counts_cell
from coherencegym.eval.results.learning import learning_curves
from coherencegym.eval.results.run_table import RunColumn, RunTable
from coherencegym.eval.statistics.scores import CHANCE_NAME, SPEARMAN, chance_names
from coherencegym.eval.tasks.headline import known_baselines
from coherencegym.eval.views.html_report import page_of, source
from coherencegym.eval.views.overview_cells import BESIDE, Cell, cell_of, reference_cell
from coherencegym.eval.views.training.table import LEGEND, training_grids


@dataclass(frozen=True)
class ModelLine:
    """A model, and its cell in each column."""

    name: str
    cells: Sequence[Cell | None]


def render_overview(
    table: RunTable,
    title: str,
    reports: Mapping[Path | None, str],
    curve: bytes,
    copied: Sequence[tuple[str, str]],
) -> str:
    """The page: models by columns, and the learning curves where there are any.

    Args:
        table: the runs.
        title: the page's.
        reports: the folder of a run -> the address of its report.
        curve: the learning curves as SVG; empty where there are none.
        copied: the table as LaTeX, CSV, ..., by these names.
    """
    rows = [
        ModelLine(name, [cell_of(table, column, model, reports) for column in table.columns])
        for model, name in table.models.items()
    ]
    return page_of(
        "overview.html.jinja",
        source("copy.js") + source("overview.js"),
        title=title,
        table=table,
        rows=rows,
        baselines=list(_baselines(table)),
        heads=[cell.head for row in rows for cell in row.cells if cell is not None],
        tasks=list(dict.fromkeys(column.task for column in table.columns)),
        curve=base64.b64encode(curve).decode(),
        copied=copied,
        steps=list(training_grids(learning_curves(table))),
        steps_notes=LEGEND,
        reading=reading_lines(table),
        cautions=list(table.cautions()),
        data={"words": [_words(column) for column in table.columns]},
    )


def _baselines(table: RunTable) -> Iterator[tuple[str, list[str]]]:
    yield "items", [counts_cell(column.counts) for column in table.columns]
    for field, said in BESIDE.items():
        if any(column.reference(field) for column in table.columns):
            name = table.chance_name if field == CHANCE_NAME else said
            yield name, [reference_cell(column, field) for column in table.columns]


def _words(column: RunColumn) -> str:
    run = next(iter(column.shown.values()))
    return " ".join((column.name, *column.differs, column.task, run.words.title)).lower()


#: Lines on what stands beside the scores, by the fields that have it.
_BESIDE = {
    **{
        name: f"{words}: {BASELINE_MEANINGS[name]}, scored on the same configs and groups"
        for name, words in BASELINE_WORDS.items()
    },
    "human_score": f"{HUMAN_PERFORMANCE}: annotators, on judged items of the same configs "
    "(their number in brackets)",
}
#: The baselines beside numbers that are no CD scores, by their metric.
_OF_METRIC = {
    "accuracy": "probes (accuracy): partial input is a bag of words, chance is the most frequent "
    "label",
    SPEARMAN: "ratings (Spearman): correlations times 100; partial input is a bag of words, "
    "lexical overlap is repeated words, human performance is one rater against the others, "
    "chance is 0 (values below 0 are drawn at 0)",
    "strict": "spans (strict): partial input is a bag of words, and the best constant answer "
    "(such as never) replaces chance",
}
#: The line on columns in which models do not have the same items.
_OTHER_ITEMS = (
    "items: where two numbers stand, some models were scored on fewer items (texts are too long "
    "for a model, or equal as its tokens), so baselines may differ, too (a or b); `compare` takes "
    "the common items"
)
#: The mark of a number above all that it is held against.
ABOVE_ALL = (
    "* the whole interval is above {chance} and every known baseline ({baselines}), of which at "
    "least one is known"
)


def reading_lines(table: RunTable) -> list[str]:
    """Lines on what stands beside the scores of a table, and on its marks."""
    numbers = table.numbers
    known = [name for name in _BESIDE if any(getattr(one, name) is not None for one in numbers)]
    metrics = {one.metric for one in numbers}
    controlled = any(column.is_controlled for column in table.columns)
    return [
        *(_BESIDE[name] for name in known),
        *(
            ABOVE_ALL.format(
                chance=chance_names(numbers, article=True), baselines=", ".join(found.values())
            )
            for found in [known_baselines(numbers)]
            if found
        ),
        *[f"not on the learning curve, as the name has no step: {first_names(table.without_step)}"]
        * bool(table.without_step),
        *(said for metric, said in _OF_METRIC.items() if metric in metrics),
        *(
            f"{column.whole_name}: the {column.numbers[0].mean_of}; not the score of one config"
            for column in table.columns
            if column.numbers and column.numbers[0].is_over_groups
        ),
        *[_OTHER_ITEMS] * any(len(column.counts) > 1 for column in table.columns),
        *["† compare this score with those of its controls: the report has the differences"]
        * controlled,
    ]
