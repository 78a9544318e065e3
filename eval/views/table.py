"""The table of scores, and what stands below it: controls, lengths, published scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from coherencegym.eval.data.source import Published
from coherencegym.eval.plan.options import SYNTAXGYM_2021
from coherencegym.eval.report import grid
from coherencegym.eval.results.labels import difference_labels, formula_labels, labels
from coherencegym.eval.results.results import Results
from coherencegym.eval.statistics.scores import CD, FEW_ITEMS, is_correlation
from coherencegym.eval.tasks.score.controls import Difference
from coherencegym.eval.tasks.score.headline import Headline
from coherencegym.eval.tasks.score.lengths import LengthCorrelation
from coherencegym.eval.tasks.score.summary import ItemScore, shown_rows

#: The column of scores with their intervals.
SCORE = "CD, % [95 % interval]"
#: The mode in which scores of Beyer et al. (2021) and of SyntaxGym's authors were computed.
PUBLISHED_MODE = SYNTAXGYM_2021.name
#: Rows of published scores on the terminal; results.json has them all.
PUBLISHED_ROWS = 12


def print_scores(results: Results, console: Any = None, *, verbose: bool = True) -> None:
    """Print scores, notes and signature.

    Args:
        results: those of one run.
        console: rich's; None: standard output.
        verbose: print all notes and published scores, too; False: only how many there are.
    """
    console = grid.console_for(console)
    about = results.dataset
    grid.print_heading(console, about["suite"], about["version"], results.model["name"])
    if results.headline is not None:
        console.print(grid.plain_text(headline_line(results.headline)))
    console.print(score_table(results.scores, console.width))
    for macro in results.macros:
        console.print(
            f"{macro.config}: macro average over {macro.n_groups} groups "
            f"{grid.share_with_interval(macro.score, macro.ci_low, macro.ci_high)} %",
            markup=False,
        )
    shown = results if verbose else replace(results, published=())
    for block in score_blocks(shown):
        console.print()
        console.print(grid.rich_block(block, console.width))
    console.print()
    rows = len(results.published)
    grid.print_notes(console, results.notes, results.signature, verbose=verbose, rows=rows)


def headline_line(headline: Headline) -> str:
    """The one number of a suite in a line, with what it is to be held against."""
    ends = headline.ci_low, headline.ci_high
    score = grid.score_with_interval(headline.score, *ends, headline.measure)
    cells = f"mean of {headline.n_cells:,} equal parts, " if headline.n_cells > 1 else ""
    beside = {
        "artefact": headline.artefact_score,
        "overlap": headline.overlap_score,
        "human": headline.human_score,
        headline.chance_name: headline.chance,
    }
    said = grid.share_cell
    if is_correlation(headline.measure):
        said = partial(grid.number_cell, form="+.2f")
    others = [f"{name} {said(value)}" for name, value in beside.items() if value]
    what = "CD" if headline.measure == CD else headline.measure
    return f"{what} {score} ({cells}{headline.n:,} items); {', '.join(others)}"


def score_table(scores: Sequence[ItemScore], width: int) -> Any:
    """A rich table: one row for each config, and indented below it one for each of its groups.

    Columns that have nothing to say (no ties, no floors) are left out, and so are the
    margins' intervals where they do not fit into the width (characters); where that is not enough,
    numbers are below the names.
    """
    rows = shown_rows(scores)
    return grid.in_width(score_grid(rows), score_grid(rows, False), width=width)


def score_grid(rows: Sequence[ItemScore], with_intervals: bool = True) -> grid.Grid:
    """The table of all these scores; ``with_intervals``: those of margins."""
    headings = [
        grid.GridRow(
            (name + (" †" if row.first_left_out else ""),),
            int(row.level != "all"),
            None if row.level == "formula" else (row.config, row.split, row.group),
            row.level == "all",
        )
        for row, name in zip(rows, labels(rows), strict=True)
    ]
    cells = [_cells(row, with_intervals) for row in rows]
    return grid.of_cells("config, group", headings, cells, ("", "–"), (SCORE,))


def _cells(row: ItemScore, with_intervals: bool) -> dict[str, str]:
    low, high = row.margin_mean_low, row.margin_mean_high
    return {
        "items": items(row.n),
        SCORE: grid.share_with_interval(row.score, row.ci_low, row.ci_high),
        "artefact, %": grid.share_cell(row.artefact_score),
        "overlap, %": grid.share_cell(row.overlap_score),
        "human, %": grid.share_cell(row.human_score) + " !" * (0 < row.human_n < FEW_ITEMS),
        "margin, bits": grid.with_interval(row.margin_mean, low, high, "+.3f", with_intervals),
        "ties": str(row.ties or ""),
        "too close": str(row.too_close or ""),
        "undefined": str(row.undefined or ""),
        "too long": str(row.too_long or ""),
    }


def items(n: int) -> str:
    """A number of items, marked where they are few."""
    return f"{n:,}" + (" !" if n < FEW_ITEMS else "")


def score_blocks(results: Results) -> Iterator[grid.Grid]:
    """The blocks below the scores that have something to say."""
    if results.differences:
        yield difference_block(results.differences)
    if lengths := shown_lengths(results.lengths):
        yield length_block(lengths)
    if results.published:
        yield published_block(results.published, str(results.settings.get("compat") or ""))


def difference_block(differences: Sequence[Difference]) -> grid.Grid:
    """A row for each config, control and formula."""
    rows = [
        grid.GridRow(
            (
                name,
                f"{row.n:,}, {row.n_control:,}",
                ", ".join(
                    grid.number_cell(m, "+.3f") for m in (row.margin_mean, row.control_margin_mean)
                ),
                grid.with_interval(row.difference, row.ci_low, row.ci_high, "+.3f"),
            )
        )
        for row, name in zip(differences, difference_labels(differences), strict=True)
    ]
    names = ("items", "margins", "difference [95 % interval]")
    return grid.made("config − control", names, rows, "mean margin minus that of the control, bits")


def shown_lengths(lengths: Sequence[LengthCorrelation]) -> list[LengthCorrelation]:
    """Those that are noteworthy, and those that the suite asks for where lengths differ."""
    return [row for row in lengths if row.noteworthy or (row.asked and row.n_differ)]


def length_block(lengths: Sequence[LengthCorrelation]) -> grid.Grid:
    """A row for each formula."""
    title = (
        "correlation of the margin with the difference in length (tokens, predicted side − other)"
    )
    splits = len({row.split for row in lengths}) > 1
    rows = []
    for row, name in zip(lengths, formula_labels(lengths), strict=True):
        split = f" ({row.split})" if splits else ""
        figures = [
            grid.number_cell(v, "+.2f") for v in (row.tokens_mean, row.pearson, row.spearman)
        ]
        cells = (f"{row.config}{split}, {name}", f"{row.n:,}", f"{row.n_differ:,}", *figures)
        rows.append(grid.GridRow(cells))
    names = ("items", "that differ", "tokens more", "Pearson", "Spearman")
    return grid.made("config, prediction", names, rows, title)


def published_block(rows: Sequence[Published], mode: str) -> grid.Grid:
    """A row for each row of a paper's table, a column for each model; ``mode`` is of this run."""
    comparable = (
        "comparable where the model is the same"
        if mode == PUBLISHED_MODE
        else "not comparable with the figures above"
    )
    models = list(dict.fromkeys(row.model for row in rows))
    sources = list(dict.fromkeys(row.source for row in rows))
    several = len(sources) > 1
    scores: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        scores[row.config, row.row, row.source][row.model] = row.score
    lines = []
    for (config, name, source), by_model in list(scores.items())[:PUBLISHED_ROWS]:
        heading = ", ".join(filter(None, (config, name))) or "all"
        cells = [grid.share_cell(by_model.get(model)) for model in models]
        lines.append(grid.GridRow((heading, *cells, *[source] * several)))
    notes = [] if several else [sources[0]]
    if len(scores) > PUBLISHED_ROWS:
        notes.append(f"{len(scores) - PUBLISHED_ROWS} more rows in results.json")
    return grid.Grid(
        f"published, % (same corpus, {PUBLISHED_MODE} mode; {comparable})",
        ("config, row", *models, *["source"] * several),
        (False, *[True] * len(models), *[False] * several),
        tuple(lines),
        tuple(notes),
    )
