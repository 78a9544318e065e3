"""The overview of several runs: on the terminal, in Markdown, in a notebook, and as one page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.escapes import markdown_text
from coherencegym.eval.data.baselines import BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.report import grid
from coherencegym.eval.report.formats import TableDocument, copied_texts
from coherencegym.eval.report.notebook import notebook_cell
from coherencegym.eval.results.learning import learning_curves
from coherencegym.eval.results.run_table import RunColumn, RunModel, RunTable, table_of
from coherencegym.eval.statistics.scores import CD, CHANCE_NAME
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.views.html_report import write_html
from coherencegym.eval.views.overview_cells import reference_cell
from coherencegym.eval.views.overview_page import reading_lines, render_overview
from coherencegym.eval.views.plots_curve import CURVE, write_curves
from coherencegym.eval.views.training.table import LEGEND as TRAINING_LEGEND
from coherencegym.eval.views.training.table import training_grids
from coherencegym.files.checksums import read_checksums
from coherencegym.files.folders import check_files, check_folder, check_inputs, written_into
from coherencegym.files.frames import data_frame

#: The page of an overview, and the file beside it.
PAGE = "index.html"
_MARKDOWN = "overview.md"
#: The files of an overview.
OVERVIEW_FILES = (PAGE, _MARKDOWN, CURVE, Path(CURVE).with_suffix(".svg").name)
_REFERENCES = {
    **{words: name for name, words in BASELINE_WORDS.items()},
    HUMAN_PERFORMANCE: "human_score",
    CHANCE_NAME: "chance",
}

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]


def overview_title(shown: RunTable) -> str:
    """The title, which names the metric where there is one."""
    scores = "CD scores" if all(head.metric == CD for head in shown.numbers) else "scores"
    order = ", best model first" if shown.is_ranked else ""
    return f"Overview: {scores} in per cent [95 % interval]{order}"


class ShownOverview(RunTable):
    """A table of runs that a notebook shows, and that prints as the terminal has it."""

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each run: its suite, model, headline score (a share) and baselines."""
        return data_frame(self.records)

    def __str__(self) -> str:
        return grid.as_printed(lambda console: print_overview(self, console))

    def _repr_html_(self) -> str:
        return notebook_cell([replace(overview_grid(self), notes=tuple(self.sentences))])


def overview(results: Iterable[Results]) -> ShownOverview:
    """The overview of results, or of runs that were read, which shows itself."""
    return ShownOverview(table_of(results).columns)


def overview_grid(
    shown: RunTable,
    reports: Mapping[Path | None, str] | None = None,
    models: Collection[RunModel] | None = None,
) -> grid.Grid:
    """The suites by models; cells lead to the reports of their runs.

    ``reports`` are the folders of runs and the addresses of their reports; ``models`` are those
    that have a column, None: all.
    """
    names = {key: name for key, name in shown.models.items() if models is None or key in models}
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
                *(_cell(column.number(model)) for model in names),
                *(reference_cell(column, field) for field in fields.values()),
            ),
            links=_links(column, names, reports or {}, 2 + has_languages),
        )
        for column in shown.columns
    ]
    others = [shown.chance_name if name == CHANCE_NAME else name for name in fields]
    headers = (*["language"] * has_languages, "items", *names.values(), *others)
    return grid.made("suite", headers, rows, overview_title(shown))


def _links(
    column: RunColumn, models: Iterable[RunModel], reports: Mapping[Path | None, str], first: int
) -> dict[int, str]:
    return {
        place: reports[column.shown[model].folder]
        for place, model in enumerate(models, first)
        if model in column.shown and column.shown[model].folder in reports
    }


def _cell(head: Headline | None) -> str:
    if head is None:
        return "–"
    mark = " *" if head.is_above else "  "
    return grid.share_with_interval(head.score, head.ci_low, head.ci_high) + mark


def print_overview(shown: RunTable, console: Any = None) -> None:
    """Print the table, what it shows, and how to read it; a training as a table of its steps."""
    console = grid.console_for(console)
    steps = _steps(shown)
    for own in steps:
        console.print(grid.rich_block(own, console.width))
    is_all = bool(steps) and len(shown.spoken_for) == 1
    if not is_all:
        table = overview_grid(shown, models=shown.spoken_for)
        console.print(grid.rich_block(table, console.width))
    for line in shown.sentences:
        console.print(grid.plain_text(line, "bold"))
    legend = [line for line in _legend(shown) if not (is_all and line.startswith("*"))]
    grid.print_below(console, [*TRAINING_LEGEND * bool(steps), *legend])


def overview_document(shown: RunTable) -> TableDocument:
    """The tables of the overview for papers, and its numbers for programs."""
    steps = _steps(shown)
    lines = [*shown.sentences, *TRAINING_LEGEND * bool(steps), *_legend(shown)]
    return TableDocument([*steps, overview_grid(shown)], lines, shown.records)


def copied_overview(shown: RunTable) -> list[tuple[str, str]]:
    """The overview as its page copies it, and the works that its suites are after."""
    cited = (run.words.citation for run in shown.every_run)
    return copied_texts(overview_document(shown), cited)


def _steps(shown: RunTable) -> list[grid.Grid]:
    return list(training_grids(learning_curves(shown)))


def _legend(shown: RunTable) -> list[str]:
    return [*reading_lines(shown), *shown.cautions()]


def check_overview(folder: Path, overwrite: bool, option: str = "--output") -> None:
    """Refuse with ``EvaluationError`` to replace an overview, unless one may."""
    check_files(folder, OVERVIEW_FILES, overwrite, option)


def has_overview(folder: Path) -> bool:
    """Tell whether an overview of runs is there, which the next run in the folder makes again."""
    listed = read_checksums(folder) or {}
    return all(name in listed and (folder / name).is_file() for name in (PAGE, _MARKDOWN))


def check_runs(
    folders: Sequence[Path],
    overwrite: bool,
    above: Path | None = None,
    option: str = "--output",
    kept: Collection[Path] = (),
    inputs: Sequence[str | Path] = (),
    around: Sequence[str | Path] = (),
) -> None:
    """Refuse what would be lost of runs before any is scored: their folders, the overview above.

    Args:
        folders: the folder of each run.
        overwrite: earlier results may be replaced.
        above: the folder of the overview; None: there will be none.
        option: the name of the folder, see :func:`coherencegym.files.folders.check_folder`.
        kept: those of the folders that stay as they are.
        inputs, around: folders that are read, as the same function takes them.

    Raises:
        EvaluationError: one is there, nothing can be written there, two runs have one folder, or a
            page that is no overview is where that would be.
    """
    check_inputs(folders, option, inputs=inputs, around=around)
    for folder in folders:
        if folders.count(folder) > 1:
            raise EvaluationError(
                f"{folder}: two runs would be written there; expected each model and each dataset "
                "once"
            )
        if folder not in kept:
            check_folder(folder, overwrite, option)
    if above is not None:
        check_overview(above, overwrite or has_overview(above), option)


def write_overview(shown: RunTable, folder: Path) -> None:
    """Write ``overview.md`` and ``index.html``, which lead to the reports of the runs.

    Both show the learning curve, ``curve.png`` and ``curve.svg``, where runs are of checkpoints.

    Raises:
        EvaluationError: a file of that name is none of an earlier overview.
    """
    with written_into(folder, OVERVIEW_FILES) as work:
        _write_files(shown, folder, work)


def _write_files(shown: RunTable, folder: Path, work: Path) -> None:
    write_curves(learning_curves(shown), work)
    curve = (work / CURVE).with_suffix(".svg")
    drawn = curve.read_bytes() if curve.is_file() else b""
    reports: dict[Path | None, str] = {
        run.folder: _report(run.folder, folder) for run in shown.every_run if run.folder
    }
    steps = _steps(shown)
    lines = [f"# {markdown_text(overview_title(shown))}", ""]
    lines += [*map(markdown_text, shown.sentences), ""]
    lines += [f"![learning curve]({CURVE})", ""] * bool(drawn)
    lines += [line for own in steps for line in grid.titled_markdown(own)]
    lines += [*grid.markdown(overview_grid(shown, reports)), ""]
    legend = [*TRAINING_LEGEND * bool(steps), *_legend(shown)]
    lines += [f"- {markdown_text(note)}" for note in legend]
    (work / _MARKDOWN).write_bytes(("\n".join(lines) + "\n").encode("utf-8", "replace"))
    copied = copied_overview(shown)
    write_html(render_overview(shown, overview_title(shown), reports, drawn, copied), work, PAGE)


def _report(run: Path, folder: Path) -> str:
    import os

    return (Path(os.path.relpath(run, folder)) / "report.html").as_posix()
