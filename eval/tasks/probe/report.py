"""The report of a probe: accuracies beside their baselines, by layer, and rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coherencegym.eval.data.dataset import HUMAN_PERFORMANCE
from coherencegym.eval.kinds.documents import LabelledExample
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection, TextLists, score_table
from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    FEW_ITEMS,
    MOST_FREQUENT,
    Score,
    shown_rows,
)
from coherencegym.eval.tasks.probe.results import (
    ACCURACY,
    CONTROL,
    RANDOM,
    label_rows,
    layer_name,
    layer_rows,
)
from coherencegym.eval.tasks.results import Results

#: Rows of each table that are listed.
_MOST_ROWS = 200
#: The column of accuracies with their intervals.
_SCORE = "accuracy, % [95 % interval]"
#: Columns for which there may be no room, the first of them first.
_OPTIONAL = ("random init", "control", "layer")
#: The line below the table by layer.
_CHOSEN = "accuracy, %, of the probe of each layer; * layer with the best accuracy on validation"


def probe_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    yield ReportSection("Accuracies, %", probes_grid(found))
    if any(len(own["layers"]) > 1 for own in found.summary):
        yield ReportSection("Accuracy of each layer, %", layers_grid(found), "", (_CHOSEN,), True)
    groups = score_table(shown_rows(found.rows))
    yield ReportSection("Accuracy by group of rows", groups, is_detail=True)
    yield ReportSection(
        "Rows",
        TextLists(tuple(_lists(found))),
        "Test rows with their label and the prediction of the chosen layer's probe; the rows with "
        "the least probable label come first.",
    )


def _lists(found: Results) -> Iterator[tuple[str, str, tuple[grid.Grid, ...]]]:
    for own in found.details:
        said = zip(own.table.table.rows, label_rows([own]), strict=True)
        rows = [(row, one) for row, one in said if one["predicted"] is not None]
        rows.sort(key=lambda pair: pair[1]["probability"])
        columns = "label", "predicted", "probability of the label, %", "row"
        shown = [_text(*pair) for pair in rows[:_MOST_ROWS]]
        words = f"{len(shown):,} of {len(rows):,} texts"
        yield own.table.table.name, words, (grid.made("text", columns, shown),)


def _text(row: LabelledExample, said: Mapping[str, Any]) -> grid.GridRow:
    right = (row.label, *row.also)
    named = said["predicted"] + " (wrong)" * (said["predicted"] not in right)
    text = " | ".join(" ".join(slot.segments) for slot in row.slots)
    shown = grid.share_cell(said["probability"])
    return grid.GridRow((text, " or ".join(right), named, shown, row.item_id))


def _reached(found: Results, own: Mapping[str, Any]) -> dict[str, Score]:
    """The accuracy of each system on a config; the model's own has no name."""
    return {
        row.system: row
        for row in found.rows
        if (row.config, row.split, row.group) == (own["config"], own["split"], "")
        and row.metric == ACCURACY
    }


def probes_grid(found: Results) -> grid.Grid:
    """A row for each config: the chosen layer's accuracy, and the baselines beside it."""
    headings, cells = [], []
    for own in found.summary:
        reached = _reached(found, own)
        score = reached[""]
        layer = "mean" if own["layer"] < 0 else f"{own['layer']} of {max(own['layers'])}"
        systems = {"most frequent": MOST_FREQUENT, "bag of words": BAG_OF_WORDS}
        systems |= {"random init": RANDOM, "control": CONTROL}
        headings.append(grid.GridRow((f"{own['config']} ({own['split']})",), bold=True))
        cells.append(
            {
                "rows": f"{own['test']:,}" + " !" * (own["test"] < FEW_ITEMS),
                "layer": layer,
                _SCORE: grid.share_with_interval(score.score, score.ci_low, score.ci_high),
                **{name: _share_of(reached, system) for name, system in systems.items()},
                # They judged a sample of the rows.
                f"{HUMAN_PERFORMANCE} (rows)": grid.share_of_people(
                    score.human_score, score.human_n
                ),
            }
        )
    return grid.of_cells("config", headings, cells, ("", "–"), (_SCORE,), _OPTIONAL)


def _share_of(reached: Mapping[str, Score], system: str) -> str:
    return grid.share_cell(reached[system].score if system in reached else None)


def layers_grid(found: Results) -> grid.Grid:
    """A row for each config: the accuracy on test of each layer, the chosen one marked."""
    fits = [fit for fit in layer_rows(found) if not fit["draw"]]
    rows = [
        grid.GridRow(
            (
                f"{own['config']} ({own['split']})",
                *(
                    grid.share_cell(fit["test"]) + ("*" if fit["layer"] == own["layer"] else " ")
                    for fit in fits
                    if (fit["config"], fit["split"]) == (own["config"], own["split"])
                ),
            )
        )
        for own in found.summary
    ]
    return grid.made("config", list(map(layer_name, found.summary[0]["layers"])), rows)
