"""The tables of a probe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from statistics import fmean
from typing import Any

from coherencegym.eval.report import grid
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.probe.cost import Cost
from coherencegym.eval.tasks.probe.results import (
    ACCURACY,
    ProbeResults,
    ProbeScores,
    layer_name,
)
from coherencegym.eval.tasks.score.summary import FEW_ITEMS
from coherencegym.eval.views.verdict import Verdict


def print_probes(results: ProbeResults, console: Any = None, *, verbose: bool = True) -> None:
    """Print scores, floors, a sentence on what they mean, notes and signature."""
    console = grid.console_for(console, 200)
    about = results.dataset
    grid.print_heading(console, about["suite"], about["version"], results.model["name"])
    if len(results.scores) > 1:
        console.print(grid.plain_text(str(probe_verdict(results))), soft_wrap=True)
    console.print(grid.in_width(probes_grid(results), width=console.width))
    if verbose:
        console.print(grid.in_width(beside_grid(results), width=console.width))
        for block in published_grids(results):
            console.print(grid.rich_block(block, console.width))
    for sentence in meanings(results):
        console.print(grid.plain_text(sentence), soft_wrap=True)
    rows = len(results.published)
    grid.print_notes(console, results.notes, results.signature, verbose=verbose, rows=rows)


def probe_verdict(results: ProbeResults) -> Verdict | None:
    """The verdict on a run: the mean accuracy over configs beside those of the floors."""
    found = results.headline
    if found is None:
        return None
    name = short_model(str(results.model["name"]))
    value = grid.share_with_interval(found.score, found.ci_low, found.ci_high)
    floors: dict[str, list[float | None]] = {
        "the most frequent label": [own.most_frequent for own in results.scores],
        "a bag of words": [own.bag_of_words for own in results.scores],
        "new weights": [fmean(own.random) if own.random else None for own in results.scores],
    }
    known = {what: [one for one in own if one is not None] for what, own in floors.items()}
    means = {what: fmean(known[what]) for what, own in floors.items() if own == known[what]}
    over = f", averaged over {found.n_cells} configs" if found.n_cells > 1 else ""
    beside = ", ".join(f"{what} {grid.share_cell(mean)}" for what, mean in means.items())
    said = f"{name}: layers chosen on validation name {value} % of the labels{over} ({beside})"
    not_above = [what for what, mean in means.items() if (found.ci_low or 0.0) <= mean]
    if not_above:
        return Verdict(said, f"this shows no more than {_listed(not_above)}", "open")
    if "new weights" not in means:
        return Verdict(said, "whether training put it there, new weights would say", "open")
    return Verdict(said, "more than the words say, and than the architecture alone", "shows")


def probes_grid(results: ProbeResults) -> grid.Grid:
    """A row for each config: the chosen layer's accuracy, and the floors beside it."""
    scores = {
        (one.config, one.split): one
        for one in results.rows
        if one.level == "all" and one.measure == ACCURACY
    }
    rows = [_row(own, scores[own.config, own.split]) for own in results.scores]
    names = (
        *("rows", "layer", "accuracy, % [95 % interval]", "macro F1", "most frequent"),
        *("bag of words", "new weights", "control", "compression", "by frequencies"),
    )
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


def beside_grid(results: ProbeResults) -> grid.Grid:
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
        for own in results.scores
    ]
    names = (
        *("subsamples", "new weights", "compression, control", "layer 0", "layer 0 and this"),
        *("mean surprisals", "first layer near the best", "expected layer"),
    )
    return grid.made("config", names, rows)


def published_grids(results: ProbeResults) -> list[grid.Grid]:
    """A table for each task of a paper: a row for each of its models, a column for each source."""
    found = []
    for task in dict.fromkeys((row.config, row.row) for row in results.published):
        own = [row for row in results.published if (row.config, row.row) == task]
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
        found.append(replace(grid.made("model", sources, rows), title=title))
    return found


def _range(values: Iterable[float]) -> str:
    """The lowest and the highest of some shares, in per cent."""
    found = sorted(values)
    if not found:
        return "–"
    return f"{grid.share_cell(found[0])} to {grid.share_cell(found[-1])}"


def meanings(results: ProbeResults) -> list[str]:
    """A sentence for each config on whether its accuracy means anything."""
    model = short_model(str(results.model["name"]))
    lows = {
        (one.config, one.split): one.ci_low
        for one in results.rows
        if one.level == "all" and one.measure == ACCURACY
    }
    return [_meaning(own, model, lows[own.config, own.split] or 0.0) for own in results.scores]


_NEW_WEIGHTS = "new weights"


def _meaning(own: ProbeScores, model: str, low: float) -> str:
    """``low`` is the lower end of the interval of the accuracy."""
    floors = {"the most frequent label": own.most_frequent}
    if own.bag_of_words is not None:
        floors["a bag of words"] = own.bag_of_words
    if own.random:
        floors[_NEW_WEIGHTS] = max(own.random)
    said = (
        f"{own.config}: {layer_name(own.layer)} of {model} names {grid.share_cell(own.accuracy)} % "
        "of the labels"
    )
    below = [
        f"{floor} ({grid.share_cell(reached)} %)"
        if floor != _NEW_WEIGHTS or len(own.random) == 1
        # The column has their mean.
        else f"{floor} (the best of {len(own.random)} draws: {grid.share_cell(reached)} %)"
        for floor, reached in floors.items()
        if own.accuracy <= reached
    ]
    if below:
        return f"{said}, no more than {_listed(below)}: it shows nothing that these do not"
    close = [floor for floor, reached in floors.items() if low <= reached]
    if own.over_bag is not None:  # tested row by row, which tells more
        close = [floor for floor in close if floor != "a bag of words"]
        close += ["a bag of words"] if own.over_bag.low <= 0 else []
    said += f", more than {_listed(list(floors))}"
    if close:
        return f"{said}, but above {_listed(close)} by no more than chance would have it"
    return said


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def print_costs(costs: Iterable[Cost]) -> None:
    """Print how much work a probe is."""
    console = grid.console_for()
    rows = [
        grid.GridRow(
            (
                cost.name,
                *(f"{n:,}" for n in (cost.rows, cost.texts, cost.tokens, cost.layers, cost.fits)),
                f"{cost.reading:,.1f}",
                f"{cost.fitting:,.1f}",
            )
        )
        for cost in costs
    ]
    names = (
        *("rows", "texts", "tokens", "layers", "fits"),
        *("minutes to read", "minutes to fit"),
    )
    console.print(grid.in_width(grid.made("config", names, rows), width=console.width))
    console.print(
        grid.plain_text(
            "· minutes are rough, on this machine's processor, with those of new weights; of small "
            "models, where little of it is arithmetic, it may be several times as many"
        )
    )
