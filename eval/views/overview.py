"""The overview of several runs: on the terminal, in Markdown, in a notebook, and as one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from coherencegym.eval.data.dataset import BASELINE_WORDS, HUMAN_PERFORMANCE, SCORE_MEANINGS
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import Figure, ReportSection
from coherencegym.eval.report.formats import Shown, TableDocument, render_document
from coherencegym.eval.results.run_table import (
    RunColumn,
    RunModel,
    RunTable,
    learning_curves,
    table_of,
)
from coherencegym.eval.statistics.scores import CHANCE_NAME, SPEARMAN, chance_names, only_cd
from coherencegym.eval.tasks.headline import BELOW, CONTROL_NOTE, NO_BETTER, Headline
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.views.page import render_page, svg_address, write_html
from coherencegym.files.folders import written_beside

#: The page of an overview, and the file beside it.
PAGE = "index.html"
_MARKDOWN = "overview.md"
_REFERENCES = {
    **{words: name for name, words in BASELINE_WORDS.items()},
    HUMAN_PERFORMANCE: "human_score",
    CHANCE_NAME: "chance",
}


def overview_title(shown: RunTable, short: bool = False) -> str:
    """The title, which names the metric where there is one; ``short``: of scores alone."""
    scores = "CD scores" if only_cd(shown.numbers) else "scores"
    order = ", best model first" if shown.is_ranked else ""
    kinds = {head.is_controlled for head in shown.numbers}
    plain = ("; controlled" + " (plain)" * (not short)) * (True in kinds)
    plain += ", or plain alone" * (len(kinds) > 1)
    return f"Overview: {scores} in per cent{' [95 % interval]' * (not short)}{plain}{order}"


class ShownOverview(RunTable, Shown):
    """A table of runs that a notebook shows, and that prints as the terminal has it."""

    @property
    def document(self) -> TableDocument:
        """The tables and their numbers: a row for each run, with its headline and baselines."""
        return overview_document(self)


def overview(results: Iterable[Results]) -> ShownOverview:
    """The overview of results, or of runs that were read, which shows itself."""
    return ShownOverview(table_of(results).columns)


def overview_grid(
    shown: RunTable,
    reports: Mapping[Path | None, str] = MappingProxyType({}),
    short: bool = False,
) -> grid.Grid:
    """The suites by models; cells lead to the reports of their runs, by the folders of these.

    ``short``: cells have the score alone, and a terminal may leave out all models but the first.
    """
    names = shown.models
    fields = {
        name: field
        for name, field in _REFERENCES.items()
        if any(column.reference(field) for column in shown.columns)
    }
    has_languages = len({code for column in shown.columns for code in column.languages}) > 1
    rows = [
        grid.GridRow(
            (
                column.whole_name + " †" * column.is_controlled,
                *[", ".join(column.languages)] * has_languages,
                grid.counts_cell(column.counts),
                *(_cell(column.number(model), short) for model in names),
                *(reference_cell(column, field) for field in fields.values()),
            ),
            links=_links(column, names, reports, 2 + has_languages),
        )
        for column in shown.columns
    ]
    others = [shown.chance_name if name == CHANCE_NAME else name for name in fields]
    headers = (*["language"] * has_languages, "items", *names.values(), *others)
    table = grid.made("suite", headers, rows, overview_title(shown, short))
    table = replace(table, notes=tuple(shown.sentences), optional=(*others[:-1], "language"))
    if short:
        last = (*others[-1:], "items", *[*names.values()][:0:-1])
        return replace(table, optional=(*table.optional, *last))
    left = "intervals" + ", plain scores" * any(head.is_controlled for head in shown.numbers)
    return replace(table, short=(overview_grid(shown, short=True), left))


def _links(
    column: RunColumn, models: Iterable[RunModel], reports: Mapping[Path | None, str], first: int
) -> dict[int, str]:
    return {
        place: reports[column.shown[model].folder]
        for place, model in enumerate(models, first)
        if model in column.shown and column.shown[model].folder in reports
    }


def _cell(head: Headline | None, short: bool) -> str:
    if head is None:
        return "–"
    mark = " *" if head.is_above else "  "
    if short:
        return grid.share_cell(head.score) + mark
    plain = f" ({grid.share_cell(head.plain_score)})" if head.is_controlled else ""
    return grid.share_with_interval(head.score, head.ci_low, head.ci_high) + plain + mark


def overview_document(
    shown: RunTable, reports: Mapping[Path | None, str] = MappingProxyType({})
) -> TableDocument:
    """The table of the overview with links to reports, what it shows, and how to read it."""
    # What scores show, the sentences below the table say.
    of_scores = [
        one for one in shown.cautions() if one.startswith((NO_BETTER, BELOW, CONTROL_NOTE))
    ]
    others = [one for one in shown.cautions() if one not in of_scores]
    lines, legend = [*_marks(shown), *others], [*reading_lines(shown), *of_scores]
    return TableDocument([overview_grid(shown, reports)], lines, shown.records, legend)


def write_overview(shown: RunTable, folder: Path) -> None:
    """Write a folder of ``overview.md`` and ``index.html``, which lead to the reports of the runs.

    Both show the learning curve, ``curve.png`` and ``curve.svg``, where runs are of checkpoints.
    """
    with written_beside(folder, True) as work:
        _write_files(shown, folder, work)


def _write_files(shown: RunTable, folder: Path, work: Path) -> None:
    from coherencegym.eval.views.plots import CURVE, write_curves

    write_curves(learning_curves(shown), work)
    curve = (work / CURVE).with_suffix(".svg")
    drawn = curve.read_bytes() if curve.is_file() else b""
    reports: dict[Path | None, str] = {
        run.folder: _report(run.folder, folder) for run in shown.every_run if run.folder
    }
    document = overview_document(shown, reports)
    text = f"![learning curve]({CURVE})\n\n" * bool(drawn) + render_document(document, "markdown")
    (work / _MARKDOWN).write_bytes(text.encode("utf-8", "replace"))
    write_html(_page(shown, document, drawn), work / PAGE)


def _page(shown: RunTable, document: TableDocument, curve: bytes) -> str:
    sections = [ReportSection("Scores", replace(document.grids[0], title=""))]
    if curve:
        words = "The scores of the table below against the steps of the training."
        sections.insert(0, ReportSection("Learning curve", Figure(words, svg_address(curve))))
    return render_page(
        overview_title(shown),
        sections,
        lines=[*document.lines, *document.legend, *_WARNINGS],
    )


#: What a reader of many intervals has to know.
_WARNINGS = (
    "Every number has its own 95 % interval, which is not corrected for the number of models: of a "
    "hundred models that only guess, two or three are above chance.",
    "If the intervals of two models overlap, their order says little; coherencegym compare tests "
    "them item by item.",
)


def _report(run: Path, folder: Path) -> str:
    import os

    return (Path(os.path.relpath(run, folder)) / "report.html").as_posix()


def reference_cell(column: RunColumn, field: str) -> str:
    """The values of a baseline, of people or of chance in a column: one, if all runs have it."""
    if field != "human_score":
        return grid.shares_cell(column.reference(field))
    judged = [number for number in column.numbers if number.human_score is not None]
    cells = [grid.share_of_people(number.human_score, number.human_n) for number in judged]
    return " or ".join(dict.fromkeys(sorted(cells))) or "–"


#: Lines on what stands beside the scores, by the fields that have it.
_BESIDE = {
    **SCORE_MEANINGS,
    "plain_score": "in brackets the plain score, with partial input and lexical overlap beside it",
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
ABOVE_ALL = "* above {chance} and every known baseline, of which at least one is known"


def reading_lines(table: RunTable) -> list[str]:
    """Lines on what stands beside the scores of a table, and on its marks."""
    numbers = table.numbers
    known = [n for n in _BESIDE if any(getattr(one, n, None) is not None for one in numbers)]
    known = ["controlled_score"] * ("plain_score" in known) + known
    return [
        *(_BESIDE[name] for name in known),
        *[_OTHER_ITEMS] * any(len(column.counts) > 1 for column in table.columns),
    ]


def _marks(table: RunTable) -> Iterator[str]:
    numbers = table.numbers
    metrics = {one.metric for one in numbers}
    yield from (said for metric, said in _OF_METRIC.items() if metric in metrics)
    if any(one.is_above for one in numbers):
        yield ABOVE_ALL.format(chance=chance_names(numbers, article=True))
    if any(column.is_controlled for column in table.columns):
        yield "† compare this score with those of its controls: the report has the differences"
