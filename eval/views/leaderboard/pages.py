"""The pages of a table of runs: the first, of all, a page for each model, and one for each suite.

They are as safe as the page of a run (:mod:`eval.views.html_report`): names and texts are escaped,
nothing runs or is fetched but what is in the page. Only the first page has a script, and without it
all is there but sorting and filtering.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coherencegym.eval.data.baselines import BASELINE_MEANINGS, BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.data.source import SuiteWords
from coherencegym.eval.report.grid import counts_cell, share_with_interval
from coherencegym.eval.results.learning import learning_curves
from coherencegym.eval.results.run_table import RunColumn, RunModel, RunTable
from coherencegym.eval.results.runs import Run
from coherencegym.eval.statistics.scores import CHANCE_NAME, SPEARMAN, Score, chance_names
from coherencegym.eval.tasks.headline import Headline, headline_of_one, known_baselines
from coherencegym.eval.views.html_report import page_of, source
from coherencegym.eval.views.languages import language_grids
from coherencegym.eval.views.leaderboard.cells import (
    BESIDE,
    Cell,
    Site,
    cell_of,
    reference_cell,
    shown_scores,
)
from coherencegym.eval.views.leaderboard.names import INDEX
from coherencegym.eval.views.training.table import LEGEND, training_grids


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
class ModelLine:
    """A model on the first page: its page, and its cell in each column."""

    name: str
    link: str
    cells: Sequence[Cell | None]


def render_index(site: Site) -> str:
    """The first page: models by columns, and the learning curves where there are any."""
    table = site.table
    rows = [
        ModelLine(
            name,
            site.model_link(model),
            [cell_of(site, column, model) for column in table.columns],
        )
        for model, name in table.models.items()
    ]
    numbers = {model: number for number, model in enumerate(table.models)}
    return page_of(
        "leaderboard.html.jinja",
        source("copy.js") + source("leaderboard.js"),
        site=site,
        table=table,
        rows=rows,
        baselines=list(_baselines(table)),
        heads=[cell.head for row in rows for cell in row.cells if cell is not None],
        tasks=list(dict.fromkeys(column.task for column in table.columns)),
        curve=base64.b64encode(site.curve).decode(),
        steps=list(training_grids(learning_curves(table))),
        steps_notes=LEGEND,
        languages=language_grids(table),
        reading=reading_lines(table),
        cautions=list(table.cautions()),
        data={
            "pairs": [[numbers[a], numbers[b], file] for (a, b), file in site.pairs.items()],
            "words": [_words(column) for column in table.columns],
        },
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


def render_model(site: Site, model: RunModel) -> str:
    """The page of a model: every score of every run, and the models that it is compared with."""
    table = site.table
    own = table.of_model(model)
    compared = [
        (table.models[other], f"../{file}", len(table.shared(*pair)))
        for pair, file in site.pairs.items()
        if model in pair
        for other in (pair[1] if pair[0] == model else pair[0],)
    ]
    return page_of(
        "leaderboard_model.html.jinja",
        title=table.models[model],
        trail=[(site.title, f"../{INDEX}")],
        run=own[0].shown[model],
        loaded_as=model[3],
        sentence=table.standing(model),
        rows=[row for column in own for row in _rows_of_model(site, column, model)],
        compared=compared,
        differences=[
            (column.name, one) for column in own for one in column.shown[model].differences
        ],
        cautions=list(RunTable(tuple(_alone(column, model) for column in own)).cautions()),
    )


def _alone(column: RunColumn, model: RunModel) -> RunColumn:
    return replace(column, runs={model: column.runs[model]})


def _rows_of_model(site: Site, column: RunColumn, model: RunModel) -> list[DrawnRow]:
    cell = cell_of(site, column, model)
    assert cell is not None
    scores = shown_scores(column.shown[model])
    link = f"../{site.column_link(column)}"
    first = DrawnRow(column.name, 0, cell.head, link, cell, cell.above, column.differs)
    return [first, *(_row_of_score(score, 1, _config(score, scores), cell) for score in scores)]


def _row_of_score(score: Score, level: int, name: str, cell: Cell) -> DrawnRow:
    return DrawnRow(name, level, score, "", cell, headline_of_one(score).is_above)


def _config(score: Score, among: Sequence[Score]) -> str:
    splits = len({one.split for one in among}) > 1
    name = f"{score.config} ({score.split})" if splits else score.config
    return f"{name}: {score.what}" if score.what else name


def render_suite(site: Site, suite: str) -> str:
    """The page of a suite: what it asks, and every model in each of its columns."""
    columns = site.table.of_suite(suite)
    words = _best_told(columns)
    return page_of(
        "leaderboard_suite.html.jinja",
        title=words.title or suite,
        trail=[(site.title, f"../{INDEX}")],
        about=words,
        parts=[
            {"column": column, "rows": _rows_of_column(site, column), "facts": _facts(column)}
            for column in columns
        ],
    )


def _best_told(columns: Sequence[RunColumn]) -> SuiteWords:
    # Earlier releases say less of a suite.
    def told(run: Run) -> tuple[int, str, str]:
        about = run.words
        said = [about.title, about.hypothesis, about.description, about.conditions]
        words = sum(map(bool, [*said, about.limitations, about.uses]))
        return words, run.version, run.signature

    return max((one for c in columns for own in c.runs.values() for one in own), key=told).words


def _rows_of_column(site: Site, column: RunColumn) -> list[DrawnRow]:
    names = site.table.models
    models = [model for model in names if model in column.runs]
    cells = {model: cell for model in models if (cell := cell_of(site, column, model))}
    models.sort(key=lambda model: -(cells[model].head.score or -1.0))
    by_name: dict[str, list[DrawnRow]] = {}
    for model in models:
        scores = shown_scores(column.shown[model])
        for score in scores:
            own = _row_of_score(score, 1, names[model], cells[model])
            by_name.setdefault(_config(score, scores), []).append(own)
    number = cells[models[0]].head
    heading = f"headline: {number.words}" if by_name else number.words
    if number.n_cells == 1 and number.over[0] in by_name:
        del by_name[number.over[0]]
    rows = [DrawnRow(heading, 0)]
    rows += [
        DrawnRow(names[m], 1, cell.head, f"../{site.model_link(m)}", cell, cell.above)
        for m in models
        for cell in [cells[m]]
    ]
    for name, own_rows in by_name.items():
        rows += [DrawnRow(name, 0), *own_rows]
    return rows


def _facts(column: RunColumn) -> list[tuple[str, str]]:
    tables = [
        f"{t.config} ({t.split}): {t.items:,} items, rows {t.sha256[:12]}"
        for t in next(iter(column.shown.values())).tables
    ]
    versions = {_release(one) for own in column.runs.values() for one in own}
    return [
        *(("table", line) for line in tables),
        *(
            (
                chance_names(column.numbers) if field == CHANCE_NAME else said,
                reference_cell(column, field),
            )
            for field, said in BESIDE.items()
            if column.reference(field)
        ),
        ("scored with", f"coherencegym {', '.join(sorted(versions))}"),
    ]


def _release(run: Run) -> str:
    versions = run.settings.get("versions")
    return str(versions.get("coherencegym", "?")) if isinstance(versions, Mapping) else "?"


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
