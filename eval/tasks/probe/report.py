"""The report of a probe: accuracies beside their baselines, curves by layer, rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from coherencegym.eval.data.baselines import HUMAN_PERFORMANCE
from coherencegym.eval.data.source import Published
from coherencegym.eval.kinds.examples import LabelledExample
from coherencegym.eval.plan.explain import time_text
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import Figure, ReportSection, Strips, Text, TextLists, Verdict
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, shown_rows
from coherencegym.eval.tasks.probe.cost import costs
from coherencegym.eval.tasks.probe.curves import LayerCurve, curves_of, draw_layers
from coherencegym.eval.tasks.probe.data import ProbeTable
from coherencegym.eval.tasks.probe.files import layer_rows
from coherencegym.eval.tasks.probe.options import ProbeOptions
from coherencegym.eval.tasks.probe.published_protocol import published_accuracies
from coherencegym.eval.tasks.probe.results import (
    ACCURACY,
    ProbeDetail,
    ProbeScores,
    fit_accuracy,
    layer_name,
)
from coherencegym.eval.tasks.results import Results

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
    if len(found.details[0].scores.layers) > 1:
        table = layers_grid(found.details)
        yield ReportSection("Accuracy of each layer, %", table, sentences=(_CHOSEN,))
    curves = list(layer_curves(found))
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
    probes = [one.scores for one in found.details]
    return curves_of(model, probes, list(layer_rows(found.details)), found.outcomes)


def _described(curve: LayerCurve) -> str:
    values = ", ".join(
        f"layer {layer} {100 * value:.1f} %"
        for layer, value in zip(curve.layers, curve.test, strict=True)
    )
    return f"{curve.config}: {values}"


def _lists(found: Results) -> Iterator[tuple[str, int, tuple[Text, ...]]]:
    for own in (one.probed for one in found.details):
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
    baselines: dict[str, list[float | None]] = {
        "the most frequent label": [own.most_frequent for own in _scores(found)],
        "a bag of words": [own.bag_of_words for own in _scores(found)],
        "random init": [fmean(own.random) if own.random else None for own in _scores(found)],
    }
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


def probes_grid(found: Results) -> grid.Grid:
    """A row for each config: the chosen layer's accuracy, and the baselines beside it."""
    scores = {
        (one.config, one.split): one
        for one in found.rows
        if one.level == "all" and one.metric == ACCURACY
    }
    rows = [_row(own, scores[own.config, own.split]) for own in _scores(found)]
    names = [
        *("rows", "layer", "accuracy, % [95 % interval]", "macro F1", "most frequent"),
        *("bag of words", "random init", "control", "compression", "by frequencies"),
    ]
    if any(one.human_n for one in scores.values()):
        # They judged a sample of the rows.
        names.append(f"{HUMAN_PERFORMANCE} (rows)")
        people = (scores[own.config, own.split] for own in _scores(found))
        rows = [
            replace(row, cells=(*row.cells, grid.share_of_people(one.human_score, one.human_n)))
            for row, one in zip(rows, people, strict=True)
        ]
    return grid.made("config", names, rows)


def _row(own: ProbeScores, score: Score) -> grid.GridRow:
    number = f"{own.test:,}" + (" !" if own.test < FEW_ITEMS else "")
    layer = "mean" if own.layer < 0 else f"{own.layer} of {max(own.layers)}"
    cells = (
        f"{own.config} ({own.split})",
        number,
        layer,
        grid.share_with_interval(score.score, score.ci_low, score.ci_high),
        grid.share_cell(own.macro_f1),
        grid.share_cell(own.most_frequent),
        grid.share_cell(own.bag_of_words),
        grid.share_cell(fmean(own.random) if own.random else None),
        grid.share_cell(own.control),
        grid.number_cell(own.compression, ".2f"),
        grid.number_cell(own.frequency_compression, ".2f"),
    )
    return grid.GridRow(cells, bold=True)


def layers_grid(details: Sequence[ProbeDetail]) -> grid.Grid:
    """A row for each config: the accuracy on test of each layer, the chosen one marked."""
    rows = [
        grid.GridRow(
            (
                f"{own.scores.config} ({own.scores.split})",
                *(
                    grid.share_cell(fit_accuracy(own.probed, fit))
                    + ("*" if fit.layer == own.scores.layer else " ")
                    for fit in own.probed.curve.fits
                ),
            )
        )
        for own in details
    ]
    names = [layer_name(layer) for layer in details[0].scores.layers]
    return grid.made("config", names, rows)


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
                grid.share_cell(own.surprisal),
                str(own.first_near_best) if own.layer >= 0 else "–",
                grid.number_cell(own.expected_layer, ".1f"),
            )
        )
        for own in _scores(found)
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
    lows = {
        (one.config, one.split): one.ci_low
        for one in found.rows
        if one.level == "all" and one.metric == ACCURACY
    }
    return [_meaning(own, model, lows[own.config, own.split] or 0.0) for own in _scores(found)]


def _meaning(own: ProbeScores, model: str, low: float) -> str:
    # ``low`` is the lower end of the interval of the accuracy.
    baselines = {"the most frequent label": own.most_frequent}
    if own.bag_of_words is not None:
        baselines["a bag of words"] = own.bag_of_words
    if own.random:
        baselines["random init"] = fmean(own.random)
    said = (
        f"{own.config}: {layer_name(own.layer)} of {model} predicts "
        f"{grid.share_cell(own.accuracy)} % of the labels"
    )
    below = [
        f"{baseline} ({grid.share_cell(reached)} %)"
        for baseline, reached in baselines.items()
        if own.accuracy <= reached
    ]
    if below:
        return f"{said}, no more than {_listed(below)}: no evidence beyond these baselines"
    close = [baseline for baseline, reached in baselines.items() if low <= reached]
    if own.over_bag is not None:  # tested row by row, which tells more
        close = [baseline for baseline in close if baseline != "a bag of words"]
        close += ["a bag of words"] if own.over_bag.low <= 0 else []
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


def _scores(found: Results) -> list[ProbeScores]:
    return [one.scores for one in found.details]


def published_beside(found: Results) -> tuple[Published, ...]:
    """The published accuracies on the tasks of a run in the paper's mode."""
    if not found.options.compat:
        return ()
    configs = [(one.config, one.protocol) for one in found.inputs]
    return published_accuracies(found.input_tables[0].source.manifest, configs)
