"""The report of scores: their table, and below it controls, baselines, published scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from coherencegym.eval.data.dataset import BASELINE_WORDS, HUMAN_PERFORMANCE, PLAIN_BASELINES
from coherencegym.eval.data.source import Published
from coherencegym.eval.outcomes.schema import FIRST_LEFT_OUT, TIE, TOO_CLOSE, TOO_LONG
from coherencegym.eval.plan.options import SYNTAXGYM_2021
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import (
    Introduction,
    ItemList,
    ReportSection,
    labels,
    score_table,
)
from coherencegym.eval.statistics.scores import CONTROLLED_CD, FEW_ITEMS, Score, shown_rows
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.items_page import collect, example_of
from coherencegym.eval.tasks.score.outcomes import Difference
from coherencegym.eval.tasks.score.scoring import UNDEFINED

#: The columns of scores with their intervals, plain and controlled.
SCORE, CONTROLLED_SCORE = "CD, % [95 % interval]", f"{CONTROLLED_CD}, % [95 % interval]"
#: The mode in which scores of Beyer et al. (2021) and of SyntaxGym's authors were computed.
PUBLISHED_MODE = SYNTAXGYM_2021.name
#: Rows of published scores on the terminal; results.json has them all.
PUBLISHED_ROWS = 12


def score_sections(found: Results) -> Iterator[ReportSection]:
    """The scores, and what stands below them where it has something to say."""
    summary = found.summary
    rows = shown_rows(summary["scores"])
    yield ReportSection("What was asked", Introduction(example_of(found)))
    yield ReportSection("Scores", score_grid(rows), _on_groups(rows))
    if summary["differences"]:
        body = difference_block(summary["differences"])
        yield ReportSection("Differences from controls", body, is_detail=True)
    if summary["over_baselines"]:
        body = over_block(summary["over_baselines"])
        yield ReportSection("Differences from baselines", body, is_detail=True)
    if summary["published"]:
        title = published_title(str(found.settings.get("compat") or ""))
        published = published_block(summary["published"], title)
        yield ReportSection("Published scores", published, is_detail=True)
    if len(rows) < len(summary["scores"]):
        every = score_table([one for row in summary["scores"] for one in row.both])
        yield ReportSection("All scores", every, _on_groups(summary["scores"]), is_detail=True)
    yield ReportSection("Items", ItemList(partial(collect, found)))


def _on_groups(rows: Sequence[Score]) -> str:
    return (
        "An indented row is a group: A > B, C has the predictions that the text with A is more "
        "surprising than the text with B, where C is the case; the card of the dataset has the "
        "words." * any(" > " in row.group for row in rows)
    )


def score_grid(rows: Sequence[Score]) -> grid.Grid:
    """One row for each config, and indented below it one for each of its groups.

    Columns that have nothing to say (no ties, no baselines) are left out.
    """
    headings = [
        grid.GridRow(
            (name + (" †" if FIRST_LEFT_OUT in row.counts else ""),),
            int(row.level != "all"),
            None if row.level == "formula" else (row.config, row.split, row.group),
            row.level == "all",
            row.level != "all",
        )
        for row, name in zip(rows, labels(rows), strict=True)
    ]
    cells = list(map(_cells, rows))
    return grid.of_cells("config", headings, cells, ("", "–"), (SCORE,), _OPTIONAL)


_MARGIN, _HUMAN = "margin, bits [95 % interval]", f"{HUMAN_PERFORMANCE}, % (pairs)"
_TIED = "tied predictions"
#: The columns of baselines, by their fields.
_BASELINES = {name: f"{words}, %" for name, words in BASELINE_WORDS.items()}
#: Columns for which there may be no room, the first of them first.
_OPTIONAL = (
    *(_MARGIN, TOO_CLOSE, _TIED),
    *(_BASELINES["lexical_overlap_score"], _BASELINES["partial_input_score"]),
    *("effective items", "undefined", "too long", _HUMAN, _BASELINES["surface_score"]),
)


def _cells(row: Score) -> dict[str, str]:
    limits = row.controlled_ci_low, row.controlled_ci_high
    margins = row.margin_mean, row.margin_mean_low, row.margin_mean_high

    def beside(*fields: str) -> dict[str, str]:
        return {_BASELINES[name]: grid.share_cell(getattr(row, name)) for name in fields}

    controlled = {
        CONTROLLED_SCORE: grid.share_with_interval(row.controlled_score, *limits),
        "effective items": grid.number_cell(row.effective_items, ",.0f"),
        **beside("surface_score"),
    }
    return {
        "items": items(row.n),
        # Parts have none.
        **(controlled if row.level == "all" else dict.fromkeys(controlled, "")),
        SCORE: grid.share_with_interval(row.score, row.ci_low, row.ci_high),
        **beside(*PLAIN_BASELINES),
        _HUMAN: grid.share_of_people(row.human_score, row.human_n),
        _MARGIN: grid.with_interval(*margins, "+.3f"),
        _TIED: str(row.counts.get(TIE, "")),
        TOO_CLOSE: str(row.counts.get(TOO_CLOSE, "")),
        "undefined": str(sum(row.counts.get(reason, 0) for reason in UNDEFINED) or ""),
        "too long": str(row.counts.get(TOO_LONG, "")),
    }


def items(n: int) -> str:
    """A number of items, marked where they are few."""
    return f"{n:,}" + (" !" if n < FEW_ITEMS else "")


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
    return grid.made(
        "config − control", names, rows, "mean margin minus the control's mean margin, bits"
    )


def over_block(rows: Sequence[Mapping[str, Any]]) -> grid.Grid:
    """A row for each config and baseline."""
    splits = len({row["split"] for row in rows}) > 1
    lines = []
    for row in rows:
        split = f" ({row['split']})" if splits else ""
        value, low, high = (
            None if share is None else 100 * share
            for share in (row["difference"], row["ci_low"], row["ci_high"])
        )
        name = f"{row['config']}{split} − {row['baseline'].replace('_', ' ')}"
        cells = name, f"{row['n']:,}", grid.with_interval(value, low, high, "+.1f")
        lines.append(grid.GridRow(cells))
    names = ("items", "difference, points [95 % interval]")
    return grid.made(
        "config − baseline", names, lines, "model's score minus the baseline's on the same items"
    )


def difference_labels(rows: Sequence[Difference]) -> list[str]:
    """The names of the rows: config and control, with the prediction where there are several."""
    splits = len({row.split for row in rows}) > 1
    pairs = [(row.config, row.split, row.control) for row in rows]
    names = []
    for row, pair in zip(rows, pairs, strict=True):
        split = f" ({row.split})" if splits else ""
        prediction = f", {row.formula} {row.aggregation}" if pairs.count(pair) > 1 else ""
        names.append(f"{row.config} − {row.control}{split}{prediction}")
    return names


def published_title(mode: str) -> str:
    """The title of published scores beside those of a run in a mode."""
    comparable = "not comparable with the figures above"
    if mode == PUBLISHED_MODE:
        comparable = "comparable where the model is the same"
    return f"published, % (same corpus, {PUBLISHED_MODE} mode; {comparable})"


def published_block(rows: Sequence[Published], title: str) -> grid.Grid:
    """A row for each row of a paper's table, a column for each model."""
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
        title,
        ("config, row", *models, *["source"] * several),
        (False, *[True] * len(models), *[False] * several),
        tuple(lines),
        tuple(notes),
    )
