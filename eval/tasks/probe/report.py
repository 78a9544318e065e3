"""The report of a probe: accuracies beside their baselines, curves by layer, rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coherencegym.eval.data.dataset import HUMAN_PERFORMANCE
from coherencegym.eval.data.source import Published
from coherencegym.eval.kinds.examples import LabelledExample
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import Figure, ReportSection, TextLists, score_table
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    FEW_ITEMS,
    MOST_FREQUENT,
    Score,
    shown_rows,
)
from coherencegym.eval.tasks.probe.curves import LayerCurve, curves_of, draw_layers
from coherencegym.eval.tasks.probe.published_protocol import published_accuracies
from coherencegym.eval.tasks.probe.results import (
    ACCURACY,
    CONTROL,
    RANDOM,
    label_rows,
    layer_name,
    layer_rows,
)
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.report import published_block

#: Baselines that an accuracy is held against, and what sentences call them.
_BASELINES = {
    MOST_FREQUENT: "the most frequent label",
    BAG_OF_WORDS: "a bag of words",
    RANDOM: "random init",
}
#: Rows of each table that are listed.
_MOST_ROWS = 200
#: The column of accuracies with their intervals.
_SCORE = "accuracy, % [95 % interval]"
#: The line below the table by layer.
_CHOSEN = "accuracy, %, of the probe of each layer; * layer with the best accuracy on validation"


def probe_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    lines = tuple(meanings(found))
    yield ReportSection("Accuracies, %", probes_grid(found), sentences=lines)
    if published := published_beside(found):
        table = published_block(published, "published accuracies, %")
        yield ReportSection("Published accuracies", table, is_detail=True)
    curves = list(layer_curves(found))
    if len(curves[0].layers) > 1:
        table = layers_grid(curves)
        yield ReportSection("Accuracy of each layer, %", table, sentences=(_CHOSEN,))
    title = f"{short_model(str(found.model['name']))} on {found.dataset['name']}"
    yield ReportSection(
        "Accuracy by layer",
        Figure("layers", "; ".join(map(_described, curves)), lambda: draw_layers(curves, title)),
    )
    groups = score_table(shown_rows(found.rows))
    yield ReportSection("Accuracy by group of rows", groups, is_detail=True)
    yield ReportSection(
        "Rows",
        TextLists(tuple(_lists(found))),
        "Test rows with their label and the prediction of the chosen layer's probe; the rows with "
        "the least probable label come first.",
    )


def layer_curves(found: Results) -> Iterator[LayerCurve]:
    """The curves of a run, one for each config."""
    model = short_model(str(found.model["name"]))
    return curves_of(model, layer_rows(found), found.rows)


def _described(curve: LayerCurve) -> str:
    values = ", ".join(
        f"layer {layer} {100 * value:.1f} %"
        for layer, value in zip(curve.layers, curve.test, strict=True)
    )
    return f"{curve.config}: {values}"


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
                "macro F1": grid.share_cell(own["macro_f1"]),
                **{name: _share_of(reached, system) for name, system in systems.items()},
                "compression": grid.number_cell(own["compression"], ".2f"),
                "by frequencies": grid.number_cell(own["frequency_compression"], ".2f"),
                # They judged a sample of the rows.
                f"{HUMAN_PERFORMANCE} (rows)": grid.share_of_people(
                    score.human_score, score.human_n
                ),
            }
        )
    return grid.of_cells("config", headings, cells, ("", "–"), (_SCORE,))


def _share_of(reached: Mapping[str, Score], system: str) -> str:
    return grid.share_cell(reached[system].score if system in reached else None)


def layers_grid(curves: Sequence[LayerCurve]) -> grid.Grid:
    """A row for each config: the accuracy on test of each layer, the chosen one marked."""
    rows = [
        grid.GridRow(
            (
                f"{curve.config} ({curve.split})",
                *(
                    grid.share_cell(value) + ("*" if layer == curve.chosen else " ")
                    for layer, value in zip(curve.layers, curve.test, strict=True)
                ),
            )
        )
        for curve in curves
    ]
    return grid.made("config", list(map(layer_name, curves[0].layers)), rows)


def meanings(found: Results) -> list[str]:
    """A sentence for each config on whether its accuracy means anything."""
    model = short_model(str(found.model["name"]))
    return [_meaning(own, _reached(found, own), model) for own in found.summary]


def _meaning(own: Mapping[str, Any], reached: Mapping[str, Score], model: str) -> str:
    known = {what: reached[of].score for of, what in _BASELINES.items() if of in reached}
    baselines = {what: score for what, score in known.items() if score is not None}
    accuracy, low = reached[""].score or 0.0, reached[""].ci_low or 0.0
    said = (
        f"{own['config']}: {layer_name(own['layer'])} of {model} predicts "
        f"{grid.share_cell(accuracy)} % of the labels"
    )
    below = [
        f"{baseline} ({grid.share_cell(value)} %)"
        for baseline, value in baselines.items()
        if accuracy <= value
    ]
    if below:
        return f"{said}, no more than {_listed(below)}: no evidence beyond these baselines"
    close = [baseline for baseline, value in baselines.items() if low <= value]
    if own["over_bag"] is not None:  # tested row by row, which tells more
        close = [baseline for baseline in close if baseline != "a bag of words"]
        close += ["a bag of words"] if (own["over_bag"]["low"] or 0.0) <= 0 else []
    said += f", more than {_listed(list(baselines))}"
    if close:
        return f"{said}, but the lead over {_listed(close)} is not significant"
    return said


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def published_beside(found: Results) -> tuple[Published, ...]:
    """The published accuracies on the tasks of a run in the paper's mode."""
    if not found.options.compat:
        return ()
    configs = [(one.config, one.protocol) for one in found.inputs]
    return published_accuracies(found.input_tables[0].source.manifest, configs)
