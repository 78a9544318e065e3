"""The overview of several runs: on the terminal, in Markdown, in a notebook, and as one page."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.report import grid
from coherencegym.eval.results.learning import learning_curves
from coherencegym.eval.results.overview import (
    ModelKey,
    Overview,
    above_chance,
    above_floor,
    overview_of,
)
from coherencegym.eval.results.runs import Run
from coherencegym.eval.results.steps import AS_NAMED, Axis
from coherencegym.eval.statistics.scores import CD, CHANCE_NAME, SPEARMAN, chance_names
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import TaskResults
from coherencegym.eval.views.plots_curve import CURVE, write_curves
from coherencegym.eval.views.training.table import LEGEND as TRAINING_LEGEND
from coherencegym.eval.views.training.table import training_grids
from coherencegym.files.checksums import read_checksums
from coherencegym.files.folders import check_files, check_folder, check_inputs, written_into
from coherencegym.files.templates import content_policy

#: The files of an overview.
PAGE, MARKDOWN = "index.html", "overview.md"
_FILES = (PAGE, MARKDOWN, CURVE, Path(CURVE).with_suffix(".svg").name)
_REFERENCES = {
    "artefact": "artefact_score",
    "overlap": "overlap_score",
    "human": "human_score",
    CHANCE_NAME: "chance",
}
_LEGEND = {
    "artefact": "artefact: a classifier that never sees the contrast in context, on the same parts",
    "overlap": "overlap: the side that repeats more words of the text before it, on the same parts",
    "human": "human: people who judged items of the same parts",
    "suite": "* the whole interval is above {chance}, the artefact and the overlap score",
}
#: The baselines beside headlines that are no CD scores, by their measure.
_BESIDE = {
    "accuracy": "of probes (accuracy): artefact is a bag of words, chance the most frequent label",
    SPEARMAN: "of ratings (Spearman): a correlation, times 100; artefact is a bag of words, "
    "overlap repeated words, human one person beside others, chance 0 (what is below 0 is drawn "
    "there)",
    "strict": "of spans (strict): artefact is a bag of words, and the best constant answer (such "
    "as never) stands where other suites have chance",
}
#: The manipulation of such a suite moves surprisals by itself.
_CONTROLLED = "† read the difference from its controls in the report, and not this score alone"


def overview_title(shown: Overview) -> str:
    """The title, which names the measure where there is one."""
    scores = "CD scores" if all(head.measure == CD for head in shown.headlines) else "scores"
    return f"Overview: {scores} in per cent [95 % interval]"


class ShownOverview(Overview):
    """An overview that a notebook shows as a table, and that prints as the terminal has it."""

    def __str__(self) -> str:
        return grid.as_printed(lambda console: print_overview(self, console))

    def _repr_html_(self) -> str:
        return _rendered("overview_table.html.jinja", overview=self, table=overview_grid(self))


def overview(results: Iterable[TaskResults | Run], axis: Axis = AS_NAMED) -> ShownOverview:
    """The overview of results, or of runs that were read, which shows itself."""
    return ShownOverview(overview_of(results).runs, axis)


def overview_grid(
    shown: Overview,
    folders: Mapping[str, str] | None = None,
    page: str = "report.html",
    models: Collection[ModelKey] | None = None,
) -> grid.Grid:
    """The suites by models; cells lead to the ``page`` of their run below ``folders``.

    ``folders`` are the folders of runs, and their places as a link has them; ``models`` are those
    that have a column, None: all.
    """
    rows = []
    names = shown.models
    models = {key: name for key, name in names.items() if models is None or key in models}
    for suite, name in shown.suites.items():
        heads = [shown.headline(suite, model) for model in models]
        n = next((head.n for head in heads if head is not None), None)
        others = [grid.share_cell(shown.reference(suite, field)) for field in _REFERENCES.values()]
        links = {}
        for place, model in enumerate(models, 2):
            run = shown.by_pair.get((suite, model))
            if run is not None and folders and run.folder in folders:
                links[place] = f"{folders[run.folder]}/{page}"
        name += " †" if shown.controlled(suite) else ""
        cells = (name, "–" if n is None else f"{n:,}", *map(_cell, heads), *others)
        rows.append(grid.GridRow(cells, links=links))
    headers = ("items", *models.values(), *_REFERENCES)
    dull = [
        place
        for place, name in enumerate(headers, 1)
        if name in _REFERENCES and all(row.cells[place] == "–" for row in rows)
    ]
    if dull:
        headers = tuple(name for place, name in enumerate(headers, 1) if place not in dull)
        rows = [
            grid.GridRow(
                tuple(cell for place, cell in enumerate(row.cells) if place not in dull),
                links=row.links,
            )
            for row in rows
        ]
    headers = tuple(shown.chance_name if name == CHANCE_NAME else name for name in headers)
    return grid.made("suite", headers, rows, overview_title(shown))


def _drawn(shown: Overview, table: grid.Grid) -> Iterator[dict[str, Any]]:
    """The rows of the page: a suite with one model is one row, one with several has a row each."""
    models = shown.models
    for (suite, _), row in zip(shown.suites.items(), table.rows, strict=True):
        runs = [
            {
                "model": name,
                "head": shown.headline(suite, model),
                "cell": row.cells[place],
                "link": row.links.get(place, ""),
            }
            for place, (model, name) in enumerate(models.items(), 2)
        ]
        yield {"suite": row.cells[0], "runs": [run for run in runs if run["head"] is not None]}


def _cell(head: Headline | None) -> str:
    if head is None:
        return "–"
    mark = " *" if above_chance(head) and above_floor(head) else "  "
    return grid.share_with_interval(head.score, head.ci_low, head.ci_high) + mark


def print_overview(shown: Overview, console: Any = None) -> None:
    """Print the table, what it shows, and how to read it; a training as a table of its steps."""
    console = grid.console_for(console)
    steps = _steps(shown)
    for own in steps:
        console.print(grid.rich_block(own, console.width))
    table = overview_grid(shown, models=shown.spoken_for)
    is_all = bool(steps) and len(shown.spoken_for) == 1
    if not is_all:
        console.print(grid.rich_block(table, console.width))
    for line in shown.sentences():
        console.print(grid.plain_text(line, "bold"))
    legend = _legend(shown, table)
    if is_all:
        legend = [line for line in legend if not line.startswith("*")]
    grid.print_below(console, [*TRAINING_LEGEND * bool(steps), *legend])


def _steps(shown: Overview) -> list[grid.Grid]:
    """The tables of the trainings that runs are of, by step."""
    return list(training_grids(learning_curves(shown.runs, shown.axis)))


def _legend(shown: Overview, table: grid.Grid) -> list[str]:
    """The columns and marks of the table, and the cautions on its runs."""
    chance = chance_names(shown.headlines, article=True)
    said = [line.format(chance=chance) for at, line in _LEGEND.items() if at in table.headers]
    measures = {head.measure for head in shown.headlines}
    said += [_BESIDE[measure] for measure in _BESIDE if measure in measures]
    said += [_CONTROLLED] * any(row.cells[0].endswith("†") for row in table.rows)
    return [*said, *shown.cautions()]


def check_overview(folder: Path, overwrite: bool, option: str = "--output") -> None:
    """Refuse with ``EvaluationError`` to replace an overview, unless one may."""
    check_files(folder, _FILES, overwrite, option)


def has_overview(folder: Path) -> bool:
    """Tell whether an overview of runs is there, which the next run in the folder makes again."""
    listed = read_checksums(folder) or {}
    return all(name in listed and (folder / name).is_file() for name in (PAGE, MARKDOWN))


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
                "once, under names that differ"
            )
        if folder not in kept:
            check_folder(folder, overwrite, option)
    if above is not None:
        check_overview(above, overwrite or has_overview(above), option)


def write_overview(shown: Overview, folder: Path) -> None:
    """Write ``overview.md`` and ``index.html``, which lead to the reports of the runs.

    Both show the learning curve, ``curve.png`` and ``curve.svg``, where runs are of checkpoints.

    Raises:
        EvaluationError: a file of that name is none of an earlier overview.
    """
    with written_into(folder, _FILES) as work:
        _write_files(shown, folder, work)


def _write_files(shown: Overview, folder: Path, work: Path) -> None:
    """Write into ``work`` the files that are to be in ``folder``."""
    has_curve = write_curves(shown.runs, work, shown.axis) is not None
    places = {run.folder: _place(Path(run.folder), folder) for run in shown.runs if run.folder}
    table = overview_grid(shown, places)
    steps = _steps(shown)
    lines = [f"# {overview_title(shown)}", "", *shown.sentences(), ""]
    lines += [f"![learning curve]({CURVE})", ""] * has_curve
    lines += [line for own in steps for line in (own.title, "", *grid.markdown(own), "")]
    lines += [*grid.markdown(table), ""]
    legend = [*TRAINING_LEGEND * bool(steps), *_legend(shown, table)]
    lines += ["- " + note.replace("*", "\\*", 1) for note in legend]
    (work / MARKDOWN).write_bytes(("\n".join(lines) + "\n").encode("utf-8", "replace"))
    drawn = (work / CURVE).with_suffix(".svg").read_bytes() if has_curve else b""
    (work / PAGE).write_bytes(_page(shown, table, drawn, steps).encode("utf-8", "replace"))


def _place(run: Path, folder: Path) -> str:
    import os

    return Path(os.path.relpath(run, folder)).as_posix()


def _page(shown: Overview, table: grid.Grid, drawn: bytes, steps: Sequence[grid.Grid]) -> str:
    """The page: no script, and its style by its hash; nothing is fetched.

    ``drawn`` is the learning curve as SVG; empty where there is none. ``steps`` are the tables of
    trainings.
    """
    from markupsafe import Markup

    from coherencegym.eval.views.html_report import source

    style = source("report.css")
    return _rendered(
        "overview.html.jinja",
        overview=shown,
        rows=list(_drawn(shown, table)),
        several=len(shown.models) > 1,
        title=overview_title(shown),
        legend_notes=_legend(shown, table),
        curve=base64.b64encode(drawn).decode(),
        steps=steps,
        steps_notes=TRAINING_LEGEND,
        policy=content_policy([], [style]),
        style=Markup(style),
    )


def _rendered(template: str, **values: Any) -> str:
    from coherencegym.eval.views.html_report import templates

    text: str = templates().get_template(template).render(**values)
    return text
