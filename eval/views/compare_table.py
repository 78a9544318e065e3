"""The tables of comparisons.

The plot has differences of scores with their intervals, as papers show them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.eval.data.dataset import SCORE_MEANINGS
from coherencegym.eval.report import figures, grid
from coherencegym.eval.report.blocks import labels
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.report.formats import TableDocument
from coherencegym.eval.report.grid import as_printed
from coherencegym.eval.results.comparison import ModelComparison
from coherencegym.eval.results.folder import write_json
from coherencegym.eval.results.paired_scores import PairedScore
from coherencegym.eval.statistics.estimators import DISCORDANCE, POWER
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.paired import FLIPS
from coherencegym.eval.statistics.scores import CONTROLLED_CD, FEW_ITEMS, is_correlation, only_cd
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.notes import tie_line
from coherencegym.eval.tasks.score.report import items
from coherencegym.files.folders import written_beside
from coherencegym.files.frames import data_frame

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

#: Bound below which an adjusted p-value is marked.
SIGNIFICANT = 0.05
#: Cells of a test of equivalence, by its outcome.
_EQUIVALENT = {True: "yes", False: "not shown", None: ""}
#: Columns that a narrow terminal does without, the first to go first.
_SPARE = ("test", "p")
#: Tests by how their names begin, and what is said of them.
_TESTS = {
    "mcnemar": (
        "McNemar: McNemar's exact test, used if every item comes from a different discourse or "
        "family"
    ),
    "sign flips": (
        "sign flips: sign-flip permutation test over discourses or families, used if one of them "
        "gives several items or an item has several predictions"
    ),
    "gamma": (
        "gamma: a more conservative sign-flip test, used if one more item might reverse a skewed "
        "difference (Fay and Feuer 1997)"
    ),
    "dyadic t": (
        "dyadic t: test of a mean over items of two documents, each of which is in several items "
        "(Cameron and Miller 2014)"
    ),
    "approximate randomisation": (
        "approximate randomisation: permutation test that swaps the two models' predictions on a "
        "document (Yeh 2000)"
    ),
    "influence": "influence: test of two rank correlations with the same ratings, over clusters",
    "DeLong": "DeLong: test of two areas under the ROC curve on the same sentences, over documents",
}


def print_comparisons(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], console: Any = None
) -> None:
    """Print a table for each comparison (``names``: model, baseline), and how to read them."""
    console = grid.console_for(console)
    if (suites := suites_grid(comparisons, names)) is not None:
        console.print(grid.rich_block(suites, console.width))
    for comparison, (model, baseline) in zip(comparisons, names, strict=True):
        about = comparison.baseline
        versus = f"{model} against {baseline} (reference)"
        grid.print_heading(console, about.suite, about.version, versus)
        console.print(comparison_table(comparison, console.width))
        grid.print_below(console, comparison_notes(comparison))
        console.print()
    grid.print_below(console, comparison_legend(comparisons))


def comparison_document(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]]
) -> TableDocument:
    """The tables of comparisons for papers, and their numbers for programs."""
    suites = suites_grid(comparisons, names)
    grids, records = [suites] if suites else [], []
    lines: list[str] = []
    for comparison, (model, baseline) in zip(comparisons, names, strict=True):
        about = comparison.baseline
        what = " ".join(filter(None, (about.suite, about.version)))
        title = f"{what}: {model} against {baseline} (reference)"
        grids.append(replace(comparison_grid(comparison.shown), title=title))
        lines += comparison_notes(comparison)
        place = {"suite": about.suite, "version": about.version, "task": comparison.baseline.task}
        place |= {"baseline": baseline, "model": model}
        if comparison.headline is not None:
            records.append({**place, **asdict(comparison.headline), "level": "headline"})
        records += [{**place, **asdict(row)} for row in comparison.shown]
    return TableDocument(grids, [*lines, *comparison_legend(comparisons)], records)


def suites_grid(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]]
) -> grid.Grid | None:
    """The headline scores, one row a comparison; None where no suite has any."""
    several = len(set(names)) > 1
    headings, cells = [], []
    for comparison, (model, baseline) in zip(comparisons, names, strict=True):
        if comparison.headline is not None:
            about = comparison.baseline
            suite = " ".join(filter(None, (about.suite, about.version)))
            versus = f": {model} against {baseline}" if several else ""
            what = f", {CONTROLLED_CD}" * (comparison.headline.metric == CONTROLLED_CD)
            headings.append(grid.GridRow((suite + what + versus,)))
            cells.append(_cells(comparison.headline, ("too close", "test")))
    if not cells:
        return None
    versus = "" if several else ": {} against {} (reference)".format(*names[0])
    made = grid.of_cells("suite", headings, cells)
    return replace(made, title="Headline scores" + versus)


def suite_titles(comparisons: Sequence[ModelComparison]) -> list[str]:
    """The suite of each comparison, with its version; empty names where all are of one."""
    names = [
        " ".join(filter(None, (one.suite, one.version)))
        for one in (comparison.baseline for comparison in comparisons)
    ]
    return names if len(set(names)) > 1 else [""] * len(names)


def comparison_table(comparison: ModelComparison, width: int) -> Any:
    """A rich table: one row for each config, and indented below it one for each of its groups.

    Columns that have nothing to say are left out, and so are the name of the test and the p-value
    without correction where they do not fit into the width (characters); where that is not enough,
    numbers are below the names.
    """
    choices = [comparison_grid(comparison.shown, _SPARE[:n]) for n in range(len(_SPARE) + 1)]
    return grid.in_width(*choices, width=width)


def comparison_grid(rows: Sequence[PairedScore], without: Sequence[str] = ()) -> grid.Grid:
    """The table of these rows, without some columns."""
    headings = [
        grid.GridRow((name,), int(row.level != "all"), bold=row.level == "all")
        for row, name in zip(rows, labels(rows), strict=True)
    ]
    return grid.of_cells("config, group", headings, [_cells(row, without) for row in rows])


def _cells(row: PairedScore, without: Sequence[str]) -> dict[str, str]:
    difference = grid.share_with_interval(row.difference, row.ci_low, row.ci_high, "+.1f")
    plain = row.baseline_plain_score, row.plain_score
    cells = {
        "items": items(row.n),
        "left out": f"{row.left_out:,}" if row.left_out else "",
        "too close": f"{row.too_close:,}" if row.too_close else "",
        "reference, %": grid.share_cell(row.baseline_score),
        "model, %": grid.share_cell(row.score),
        "difference [95 % interval]": difference,
        "plain CD, %": "" if row.plain_score is None else ", ".join(map(grid.share_cell, plain)),
        "test": "McNemar" if row.test == "mcnemar" else row.test,
        "p": _p(row.p),
        "p (Holm)": _p(row.p_holm) + ("*" if significant(row) else " "),
        "equivalent": _EQUIVALENT[row.equivalent],
    }
    return {name: cell for name, cell in cells.items() if name not in without}


def significant(row: PairedScore) -> bool:
    """Tell whether the adjusted p-value is below 5 %."""
    return row.p_holm is not None and row.p_holm < SIGNIFICANT


def _p(value: float | None) -> str:
    return "<0.001" if value is not None and value < 0.001 else grid.number_cell(value)


def comparison_notes(comparison: ModelComparison) -> Iterator[str]:
    """Notes for a reader of one comparison."""
    for obstacle in comparison.obstacles:
        yield f"compared although not comparable: {obstacle}"
    asked = comparison.baseline.asked
    units = "units" if asked is None else asked.command.units
    if only_cd(comparison.rows):
        units = "predictions"
    if comparison.unpaired:
        yield f"{comparison.unpaired:,} {units} are left out: only one of the two has them"
    if comparison.headline is not None and comparison.headline.visible is not None:
        yield (
            f"smallest difference of the headline scores that a test of {comparison.headline.n:,} "
            f"items{' so weighted' * (comparison.headline.metric == CONTROLLED_CD)} shows with a "
            f"power of {POWER:g}: "
            f"{grid.share_cell(comparison.headline.visible)} points, where one model is right and "
            f"the other wrong on {DISCORDANCE:.0%} of them"
        )
    for remark in comparison.remarks:
        yield f"differs: {remark}"
    for who, count in (
        ("the reference model", _most(comparison, lambda row: row.undefined_baseline)),
        ("the other model", _most(comparison, lambda row: row.undefined)),
    ):
        if count:
            yield f"undefined or too long for {who}, so left out for both: {count:,} {units}"
    for who, side in (("reference", comparison.baseline), ("other", comparison.model)):
        if ties := tie_line(side.outcomes, side.tables):
            yield f"{ties} (the {who} model, {short_model(side.model_name)})"
    if hidden := len(comparison.rows) - len(comparison.shown):
        yield (
            f"{hidden:,} rows of groups of items, uncorrected, are in comparison.json of `compare "
            "--output`; --details prints groups"
        )
    counted = [row for row in comparison.rows if not is_correlation(row.metric)]
    if counted and not any(row.baseline_higher or row.higher for row in counted):
        yield "the two models make the same predictions on all items"


def _most(comparison: ModelComparison, count: Callable[[PairedScore], int]) -> int:
    found: dict[tuple[str, str], int] = defaultdict(int)
    for row in comparison.rows:
        if row.level == "all":
            table = row.config, row.split
            found[table] = max(found[table], count(row))
    return sum(found.values())


def comparison_legend(comparisons: Sequence[ModelComparison]) -> Iterator[str]:
    """Explanations of the tables."""
    rows = [row for comparison in comparisons for row in comparison.shown]
    for name, said in _TESTS.items():
        if any(row.test.startswith(name) for row in rows):
            yield said
    together = any(one.together for one in comparisons)
    several = len(comparisons) > 1 and not together
    counted = [sum(row.p is not None for row in one.shown) for one in comparisons]
    numbers = [sum(counted)] if together else sorted({*counted})
    tests = f"{' or '.join(map(str, numbers))} tests" if numbers != [1] else "one test"
    of_all = f" of all {len(comparisons)} comparisons" if together and len(comparisons) > 1 else ""
    yield (
        f"p (Holm): corrected for the {tests}{of_all} printed"
        f"{' of one comparison' * several}; * below {SIGNIFICANT:g}"
        f"{'; not corrected for the number of comparisons' * several}"
    )
    headlines = sum(one.headline is not None for one in comparisons)
    if together and headlines > 1:
        yield f"headline scores: p (Holm) is corrected for their own {headlines:,} tests"
    margins = {one.equivalence_margin for one in comparisons}
    for margin in (one for one in margins if one is not None):
        yield (
            f"equivalent: the whole interval is within {100 * margin:g} percentage points of 0 "
            "(two one-sided tests at 2.5 %, Schuirmann 1987; not corrected for several tests); "
            "`not shown` does not mean that the models differ"
        )
    if any(row.metric == CONTROLLED_CD for row in rows):
        yield SCORE_MEANINGS["controlled_score"]
        yield "plain CD: reference, model; groups are plain"
    if any(is_correlation(row.metric) for row in rows):
        yield "correlations (Spearman) are shown times 100"
    yield (
        "differences are in percentage points; a row's interval excludes 0 if its p is below 0.05"
    )
    if any(row.n < FEW_ITEMS for row in rows):
        yield f"! fewer than {FEW_ITEMS} items: read the interval, not the difference"


#: The file that every folder of a comparison has.
COMPARISON_FILE = "comparison.json"
#: Most rows in a panel; beyond, groups are left to the table.
_MOST_ROWS = 60
#: Panels beside each other.
_MOST_COLUMNS = 3


def write_comparisons(
    comparisons: Sequence[ModelComparison],
    names: Sequence[tuple[str, str]],
    folder: Path,
    *,
    seed: int,
    overwrite: bool = False,
) -> list[str]:
    """Write all files, whole or not at all; ``names``: (model, baseline).

    Returns:
        Notes on the plot, one line each.
    """
    with written_beside(folder, overwrite) as work:
        write_json(comparisons_as_json(comparisons, names, seed), work / COMPARISON_FILE)
        return plot_comparisons(comparisons, names, work / "comparison.png")


def comparisons_as_json(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], seed: int
) -> dict[str, Any]:
    """The content of ``comparison.json``: all rows, also those that are not printed."""
    return {
        "format": 1,
        "settings": {"seed": seed, "intervals": INTERVALS, "flips": FLIPS},
        "comparisons": [
            {
                "suite": comparison.baseline.suite,
                "version": comparison.baseline.version,
                "baseline": _about(comparison.baseline, baseline),
                "model": _about(comparison.model, model),
                "obstacles": list(comparison.obstacles),
                "remarks": list(comparison.remarks),
                "unpaired_predictions": comparison.unpaired,
                "holm_tests": sum(row.p_holm is not None for row in comparison.rows),
                "headline": asdict(comparison.headline) if comparison.headline else None,
                "rows": [asdict(row) for row in comparison.rows],
            }
            for comparison, (model, baseline) in zip(comparisons, names, strict=True)
        ],
    }


def _about(results: Results, label: str) -> dict[str, Any]:
    return {
        "label": label,
        "folder": str(results.place),
        "signature": results.signature,
        "name": results.model_name,
        "commit": results.commit,
        "dtype": results.dtype,
        "device": results.model.get("device", ""),
    }


def plot_comparisons(
    comparisons: Sequence[ModelComparison], names: Sequence[tuple[str, str]], path: Path
) -> list[str]:
    """Draw one panel for each comparison, all with the same axes, into a PNG and an SVG file.

    Returns:
        Notes on the figure, one line each.
    """
    rows = [_rows(comparison) for comparison in comparisons]
    columns = min(_MOST_COLUMNS, len(comparisons))
    lines = -(-len(comparisons) // columns)
    written = [
        [f"{figures.cut(name)}  (n={row.n:,})" for row, name in zip(own, labels(own), strict=True)]
        for own in rows
    ]
    with figures.style():
        every = [text for texts in written for text in texts]
        widest = max(figures.text_widths(every, 9, [True] * len(every)), default=0)
        # Inches: a row is a quarter of an inch high.
        height = lines * (1.0 + 0.27 * max(4, *map(len, rows))) + 0.7
        figure = figures.new_figure(columns * (3.1 + widest / 72), height, layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False).ravel()
        about = zip(suite_titles(comparisons), names, strict=True)
        for panel, own, texts, (suite, (model, base)) in zip(
            panels, rows, written, about, strict=False
        ):
            figures.draw_points(panel, list(enumerate(own)), "difference", filled=significant)
            figures.row_labels(panel, texts, list(map(figures.is_whole, own)), widest)
            figures.around_zero(panel, [row for each in rows for row in each])
            measured = "of CD scores, " if only_cd(own) else "with "
            panel.set_xlabel(f"difference {measured}95 % interval, points", fontsize=9)
            panel.xaxis.set_major_formatter(lambda place, _: f"{100 * place:+.0f}")
            titles = figures.cut(suite), f"{figures.cut(model)} −", figures.cut(base)
            panel.set_title("\n".join(filter(None, titles)), fontsize=10, fontweight="bold")
        for panel in panels[len(rows) :]:
            panel.set_axis_off()
        point = {"color": figures.colour(0), "marker": "o", "linewidth": 2.4}
        handles = [
            figures.key("p (Holm) < 0.05", **point),
            figures.key("p (Holm) ≥ 0.05", **point, markerfacecolor="white"),
            figures.key("no difference", color=figures.CHANCE_LINE, linestyle=figures.DASHED),
        ]
        figures.legend_below(figure, handles, len(handles))
        return figures.missing_note(figures.save(figure, path))


def _rows(comparison: ModelComparison) -> list[PairedScore]:
    rows = [row for row in comparison.shown if row.difference is not None]
    return rows if len(rows) <= _MOST_ROWS else [row for row in rows if row.level == "all"]


@dataclass(frozen=True, repr=False)
class Comparisons:
    """Comparisons of models with a baseline, which show themselves as results do.

    Attributes:
        comparisons: one for each model; ``comparisons[0].rows`` are its paired scores.
        names: model and baseline of each.
    """

    comparisons: Sequence[ModelComparison]
    names: Sequence[tuple[str, str]]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each difference (a share), with its interval, test and p-values."""

        return data_frame(comparison_document(self.comparisons, self.names).records)

    def __str__(self) -> str:

        return as_printed(lambda console: print_comparisons(self.comparisons, self.names, console))

    def _repr_html_(self) -> str:
        from dataclasses import replace

        from coherencegym.eval.report.grid import notebook_cell

        grids: list[Any] = [
            replace(comparison_grid(one.shown), title=f"{model} against {baseline} (reference)")
            for one, (model, baseline) in zip(self.comparisons, self.names, strict=True)
        ]
        return notebook_cell(grids)
