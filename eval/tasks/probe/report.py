"""The report of a probe: accuracies beside their baselines, curves by layer, rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from coherencegym.eval.data.dataset import HUMAN_PERFORMANCE
from coherencegym.eval.data.source import Published
from coherencegym.eval.kinds.examples import LabelledExample
from coherencegym.eval.plan.explain import time_text
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import Figure, ReportSection, Strips, Text, TextLists, Verdict
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    FEW_ITEMS,
    MOST_FREQUENT,
    Score,
    by_line,
    shown_rows,
)
from coherencegym.eval.tasks.probe.curves import LayerCurve, curves_of, draw_layers
from coherencegym.eval.tasks.probe.data import ProbeTable
from coherencegym.eval.tasks.probe.options import ProbeOptions
from coherencegym.eval.tasks.probe.probe import costs
from coherencegym.eval.tasks.probe.published_protocol import published_accuracies
from coherencegym.eval.tasks.probe.results import (
    ACCURACY,
    CONTROL,
    RANDOM,
    SURPRISAL,
    ProbeFacts,
    layer_name,
    layer_rows,
)
from coherencegym.eval.tasks.results import Results

#: Baselines that an accuracy is held against, and what sentences call them.
_BASELINES = {
    MOST_FREQUENT: "the most frequent label",
    BAG_OF_WORDS: "a bag of words",
    RANDOM: "random init",
}
#: Rows of each table that are listed.
_MOST_ROWS = 200
#: The line below the table by layer.
_CHOSEN = "accuracy, %, of the probe of each layer; * layer with the best accuracy on validation"


def probe_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    lines = tuple(meanings(found))
    yield ReportSection("Accuracies, %", probes_grid(found), sentences=lines)
    yield ReportSection("Further figures of the chosen layer", beside_grid(found), is_detail=True)
    for table in published_grids(found):
        yield ReportSection(table.title, table, is_detail=True)
    curves = list(layer_curves(found))
    if len(curves[0].layers) > 1:
        table = layers_grid(curves)
        yield ReportSection("Accuracy of each layer, %", table, sentences=(_CHOSEN,))
    title = f"{short_model(str(found.model['name']))} on {found.dataset['name']}"
    yield ReportSection(
        "Accuracy by layer",
        Figure("layers", "; ".join(map(_described, curves)), lambda: draw_layers(curves, title)),
    )
    yield ReportSection(
        "Accuracy by group of rows",
        Strips(tuple(shown_rows(found.rows)), ("bag of words", "most frequent label")),
    )
    yield ReportSection(
        "Rows",
        TextLists(("label", "predicted", "probability of the label, %"), tuple(_lists(found))),
        "Test rows with their label and the prediction of the chosen layer's probe; the rows with "
        "the least probable label come first.",
    )


def layer_curves(found: Results) -> Iterator[LayerCurve]:
    """The curves of a run, one for each config."""
    model = short_model(str(found.model["name"]))
    return curves_of(model, list(layer_rows(found.details)), found.outcomes)


def _described(curve: LayerCurve) -> str:
    values = ", ".join(
        f"layer {layer} {100 * value:.1f} %"
        for layer, value in zip(curve.layers, curve.test, strict=True)
    )
    return f"{curve.config}: {values}"


def _lists(found: Results) -> Iterator[tuple[str, int, tuple[Text, ...]]]:
    for own in found.details:
        names = own.table.labels
        both = zip(own.predict(own.chosen), own.chosen.log_probabilities, strict=True)
        rows = [
            (math.exp(log[names.index(row.label)]), row, predicted)
            for row, (predicted, log) in zip(own.tested, both, strict=True)
        ]
        rows.sort(key=lambda row: row[0])
        yield own.table.table.name, len(rows), tuple(_text(*one) for one in rows[:_MOST_ROWS])


def _text(probability: float, row: LabelledExample, predicted: str) -> Text:
    is_wrong = predicted not in (row.label, *row.also)
    label = " or ".join((row.label, *row.also))
    share = grid.share_cell(probability)
    cells = (label, ""), (predicted, "wrong" if is_wrong else ""), (share, "")
    return Text(row.item_id, " | ".join(" ".join(slot.segments) for slot in row.slots), cells)


def probe_verdict(found: Results) -> Verdict | None:
    """The verdict on a run: the mean accuracy over configs beside those of the baselines."""
    head = found.headline
    if head is None or len(found.details) < 2:
        return None
    name = short_model(str(found.model["name"]))
    value = grid.share_with_interval(head.score, head.ci_low, head.ci_high)
    reached = [_reached(found, own) for own in found.summary]
    baselines = {what: [own.get(of) for own in reached] for of, what in _BASELINES.items()}
    known = {what: [one for one in own if one is not None] for what, own in baselines.items()}
    means = {what: fmean(known[what]) for what, own in baselines.items() if own == known[what]}
    over = f", averaged over {head.n_cells} configs" if head.n_cells > 1 else ""
    beside = ", ".join(f"{what} {grid.share_cell(mean)}" for what, mean in means.items())
    said = f"{name}: layers chosen on validation predict {value} % of the labels{over} ({beside})"
    not_above = [what for what, mean in means.items() if (head.ci_low or 0.0) <= mean]
    if not_above:
        return Verdict(said, f"this is no evidence beyond {_listed(not_above)}", "open")
    if "random init" not in means:
        return Verdict(
            said,
            ("without a randomly initialised model, this does not show an effect of training"),
            "open",
        )
    return Verdict(said, "neither the words nor the architecture alone explain this", "shows")


def _reached(found: Results, own: ProbeFacts) -> dict[str, float]:
    """The accuracy of each system on a config; the model's own has no name."""
    return {
        row.system: row.score
        for row in found.rows
        if (row.config, row.split, row.group) == (own.config, own.split, "")
        and row.metric == ACCURACY
        and row.score is not None
    }


def probes_grid(found: Results) -> grid.Grid:
    """A row for each config: the chosen layer's accuracy, and the baselines beside it."""
    lines = by_line(found.rows)
    scores = [lines[own.config, own.split, "", ""][ACCURACY] for own in found.summary]
    pairs = zip(found.summary, scores, strict=True)
    rows = [_row(own, score, _reached(found, own)) for own, score in pairs]
    names = [
        *("rows", "layer", "accuracy, % [95 % interval]", "macro F1", "most frequent"),
        *("bag of words", "random init", "control", "compression", "by frequencies"),
    ]
    if any(one.human_n for one in scores):
        # They judged a sample of the rows.
        names.append(f"{HUMAN_PERFORMANCE} (rows)")
        rows = [
            replace(row, cells=(*row.cells, grid.share_of_people(one.human_score, one.human_n)))
            for row, one in zip(rows, scores, strict=True)
        ]
    return grid.made("config", names, rows)


def _row(own: ProbeFacts, score: Score, reached: Mapping[str, float]) -> grid.GridRow:
    number = f"{own.test:,}" + (" !" if own.test < FEW_ITEMS else "")
    layer = "mean" if own.layer < 0 else f"{own.layer} of {max(own.layers)}"
    cells = (
        f"{own.config} ({own.split})",
        number,
        layer,
        grid.share_with_interval(score.score, score.ci_low, score.ci_high),
        grid.share_cell(own.macro_f1),
        *(grid.share_cell(reached.get(system)) for system in (*_BASELINES, CONTROL)),
        grid.number_cell(own.compression, ".2f"),
        grid.number_cell(own.frequency_compression, ".2f"),
    )
    return grid.GridRow(cells, bold=True)


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


def beside_grid(found: Results) -> grid.Grid:
    """The other figures beside the chosen layer."""
    rows = [
        grid.GridRow(
            (
                f"{own.config} ({own.split})",
                _range(own.subsamples),
                _range(own.random),
                grid.number_cell(own.control_compression, ".2f"),
                grid.share_cell(own.embeddings),
                grid.share_cell(own.with_embeddings),
                grid.share_cell(_reached(found, own).get(SURPRISAL)),
                str(own.first_near_best) if own.layer >= 0 else "–",
                grid.number_cell(own.expected_layer, ".1f"),
            )
        )
        for own in found.summary
    ]
    names = (
        *("subsamples", "random init", "compression, control", "layer 0", "layer 0 and this"),
        *("mean surprisals", "first layer near the best", "expected layer"),
    )
    return grid.made("config", names, rows)


def published_grids(found: Results) -> list[grid.Grid]:
    """A table for each task of a paper: a row for each of its models, a column for each source."""
    rows_of = published_beside(found)
    grids = []
    for task in dict.fromkeys((row.config, row.row) for row in rows_of):
        own = [row for row in rows_of if (row.config, row.row) == task]
        sources = list(dict.fromkeys(row.source for row in own))
        by_model: dict[str, dict[str, float]] = {}
        for row in own:
            by_model.setdefault(row.model, {})[row.source] = row.score
        rows = [
            grid.GridRow((model, *(grid.share_cell(scores.get(source)) for source in sources)))
            for model, scores in by_model.items()
        ]
        name = ", ".join(filter(None, task))
        title = f"published accuracies, %: {name}"
        grids.append(replace(grid.made("model", sources, rows), title=title))
    return grids


def _range(values: Iterable[float]) -> str:
    found = sorted(values)
    if not found:
        return "–"
    return f"{grid.share_cell(found[0])} to {grid.share_cell(found[-1])}"


def meanings(found: Results) -> list[str]:
    """A sentence for each config on whether its accuracy means anything."""
    model = short_model(str(found.model["name"]))
    lines, said = by_line(found.rows), []
    for own in found.summary:
        low = lines[own.config, own.split, "", ""][ACCURACY].ci_low or 0.0
        said.append(_meaning(own, _reached(found, own), model, low))
    return said


def _meaning(own: ProbeFacts, reached: Mapping[str, float], model: str, low: float) -> str:
    # ``low`` is the lower end of the interval of the accuracy.
    baselines = {what: reached[of] for of, what in _BASELINES.items() if of in reached}
    accuracy = reached[""]
    said = (
        f"{own.config}: {layer_name(own.layer)} of {model} predicts "
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
    if own.over_bag is not None:  # tested row by row, which tells more
        close = [baseline for baseline in close if baseline != "a bag of words"]
        close += ["a bag of words"] if (own.over_bag.low or 0.0) <= 0 else []
    said += f", more than {_listed(list(baselines))}"
    if close:
        return f"{said}, but the lead over {_listed(close)} is not significant"
    return said


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def cost_grid(
    tables: Sequence[ProbeTable], options: ProbeOptions, config: Any, tokenizer: Any
) -> grid.Grid:
    """The work of a probe; only the model's config and tokenizer are needed."""
    rows = [
        grid.GridRow(
            (
                cost.name,
                *(f"{n:,}" for n in (cost.rows, cost.texts, cost.tokens, cost.layers, cost.fits)),
                time_text(cost.reading),
                time_text(cost.fitting),
            )
        )
        for cost in costs(tables, options, config, tokenizer)
    ]
    names = (
        *("rows", "texts", "tokens", "layers", "fits"),
        *("time to read", "time to fit"),
    )
    note = (
        "times are rough estimates for this machine's processor, including randomly initialised "
        "models; a small model may read several times as long, because arithmetic is a small part "
        "of its time"
    )
    return replace(grid.made("config", names, rows), notes=(note,))


def published_beside(found: Results) -> tuple[Published, ...]:
    """The published accuracies on the tasks of a run in the paper's mode."""
    if not found.options.compat:
        return ()
    configs = [(one.config, one.protocol) for one in found.inputs]
    return published_accuracies(found.input_tables[0].source.manifest, configs)
