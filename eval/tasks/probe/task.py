"""Ask which layers of a model know the labels of examples.

Every segment of text becomes a vector a layer; a classifier of them is trained for each layer on
``train``, and ``validation`` chooses penalty and layer. Beside the accuracy on test stand baselines
that need no model, or no training of it (Hewitt and Liang 2019).

``results.json`` has what that of every task has, and ``probes``: of each config the layer that
validation chose, and what stands beside its scores. ``outcomes.parquet`` has for each
test row whether the chosen layer's probe is right, and those of all layers (``layer 3``) and the
bag of words, so that layers and models are compared row by row. ``layers.parquet`` has every fit.
None of them has a text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from coherencegym.eval.data.dataset import HUMAN_PERFORMANCE
from coherencegym.eval.data.notes import Note, caution, detail, first_names
from coherencegym.eval.kinds.documents import LabelledExample
from coherencegym.eval.outcomes.metrics import Accuracy
from coherencegym.eval.outcomes.schema import MODEL, System, baseline
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection, TextLists, counted
from coherencegym.eval.report.score_table import score_table
from coherencegym.eval.statistics.bag_of_words import BagOfWords, FitError, bag_of_words
from coherencegym.eval.statistics.scores import (
    BAG_OF_WORDS,
    LAYER,
    MOST_FREQUENT,
    Score,
    shown_rows,
)
from coherencegym.eval.tasks.headline import Headline, mean_headline
from coherencegym.eval.tasks.probe.data import (
    TRAIN,
    VALIDATION,
    ProbeTable,
    probe_table_of,
    read_probe_tables,
)
from coherencegym.eval.tasks.probe.options import COMMAND, MEAN_LAYER, ProbeOptions, check_probe
from coherencegym.eval.tasks.probe.probe import Probed, best_layer, is_uncertain, probed, settled
from coherencegym.eval.tasks.results import Results, rows_in_folder
from coherencegym.eval.tasks.table import add_people
from coherencegym.eval.tasks.task import Task, TaskContext
from coherencegym.files.parquet import row_schema, write_rows

#: The metrics: a row is right whose prediction is any of its labels, or the first one.
ACCURACY = "accuracy"
ANY_SENSE = Accuracy(ACCURACY)
FIRST_OF_SENSES = Accuracy("accuracy_first_label", "accuracy, first label", by_group=False)


#: Baselines of the chosen layer, beside a bag of words and the most frequent label.
RANDOM, CONTROL = "random init", "control task"


def probe_table(
    context: TaskContext, table: ProbeTable, options: ProbeOptions, writer: OutcomeWriter
) -> Probed:
    """Probe a model on a table, and add the outcomes of its test rows."""
    found = probed(context, table, options)
    _add_outcomes(writer, found, _bag_of(found))
    return found


def left_out_of(own: Probed) -> dict[str, int]:
    """The number of rows without vectors, by reason."""
    reasons = sorted({*filter(None, own.left_out)})
    return {reason: own.left_out.count(reason) for reason in reasons}


def _bag_of(own: Probed) -> BagOfWords | None:
    parts = _with_vectors(own)
    texts = {
        part: [[" ".join(slot.segments) for slot in row.slots] for row in rows]
        for part, rows in parts.items()
    }
    try:
        return bag_of_words(texts, {p: [row.label for row in rows] for p, rows in parts.items()})
    except FitError:
        return None


#: The rows to test on, whatever their split is called: it may be the validation split.
_TESTED = "tested"


def _with_vectors(own: Probed) -> dict[str, list[LabelledExample]]:
    table, left_out = own.table, iter(own.left_out)
    parts = {TRAIN: table.train, VALIDATION: table.validation, _TESTED: table.rows}
    return {part: [row for row in rows if not next(left_out)] for part, rows in parts.items()}


def _add_outcomes(writer: OutcomeWriter, own: Probed, bag: BagOfWords | None) -> None:
    table = own.table
    predicted = {MODEL: own.predict(own.chosen)}
    if own.layer != MEAN_LAYER:
        for number, fit in own.fits.items():
            layer = System(label=layer_name(number), layer=number)
            predicted[layer] = own.predict(fit)
    if bag is not None:
        predicted[baseline(BAG_OF_WORDS)] = list(bag.predictions[_TESTED])
    right = {system: own.right(names) for system, names in predicted.items()}
    if own.random:
        draws = [own.right(own.predict(fits[best_layer(fits)])) for fits in own.random]
        right[baseline(RANDOM)] = [fmean(each) for each in zip(*draws, strict=True)]
    if own.control is not None:
        right[baseline(CONTROL)] = list(map(float, own.control))
    units = writer.units(map(table.unit, table.rows))
    reasons = list(own.left_out_of_test)

    def of_all(values: Sequence[float]) -> list[float | None]:
        given = iter(values)
        return [None if reason else next(given) for reason in reasons]

    for system, values in right.items():
        writer.add(units, ANY_SENSE.name, system, of_all(values), reason=reasons)
    if any(row.also for row in table.rows):
        both = zip(own.tested, predicted[MODEL], strict=True)
        first = of_all([float(name == row.label) for row, name in both])
        writer.add(units, FIRST_OF_SENSES.name, MODEL, first, reason=reasons)
    best = table.most_frequent_label
    named = [float(best in (row.label, *row.also)) for row in table.rows]
    writer.add(units, ANY_SENSE.name, baseline(MOST_FREQUENT), named)
    add_people(writer, units, table.rows, ANY_SENSE)


def layer_name(layer: int) -> str:
    """The name of a layer, as outcomes have it."""
    return "mean of layers" if layer == MEAN_LAYER else f"{LAYER}{layer}"


def probe_figures(found: Results) -> list[dict[str, Any]]:
    """The figures that each config has beside its scores; shares are from 0 to 1.

    - ``config``, ``split``: the table that was tested on.
    - ``train``, ``validation``, ``test``: rows of each part that have vectors.
    - ``labels``, ``layers``: names of the classes, and numbers of the layers that were probed.
    - ``layer``: the one that validation chose; -1 is the mean of all.
    - ``normed``: it comes after the model's final norm.
    - ``setting``: the weight of the penalty that validation chose.
    """
    names = TRAIN, VALIDATION, "test"
    return [
        {
            "config": own.table.config,
            "split": own.table.split,
            **dict(zip(names, map(len, _with_vectors(own).values()), strict=True)),
            "labels": own.table.labels,
            "layers": tuple(own.fits),
            "layer": own.layer,
            "normed": own.layer in own.normed,
            "setting": own.chosen.setting,
        }
        for own in found.details
    ]


def probe_headline(found: Results) -> Headline | None:
    """The mean over configs of the accuracy on test, each with the same weight."""
    return mean_headline(found.outcomes, found.rows, found.tables, ANY_SENSE)


#: Vectors of a segment, in words.
_POOLED = {
    "cls": "[CLS], as of BERT there",
    "mean": "the mean over tokens, as of ELMo there",
    "last": "the last token, which the paper has not",
}
#: Reasons why a row has no vectors, in words.
_REASONS = {
    "too_long": "longer than the model's context",
    "no_token": "with a segment that has no token",
}


def probe_notes(found: Results) -> Iterator[Note]:
    """Lines that a reader of the table must know."""
    details, figures, options = found.details, found.more["probes"], found.options
    if not options.compat:
        yield detail(
            "the layer is chosen on validation rows; its test accuracy is evidence only if it "
            "exceeds the bag of words and the randomly initialised model"
        )
    alike = [
        f"{own['config']} ({own['validation']:,} validation rows)"
        for one, own in zip(details, figures, strict=True)
        if len(own["layers"]) > 1 and is_uncertain(one.fits, own["validation"])
    ]
    if alike:
        yield caution(
            "the choice of the layer is uncertain: the 95 % interval of its accuracy on validation "
            f"includes the accuracies of all other layers: {first_names(alike)}"
        )
    if any(own["normed"] for own in figures):
        yield detail("the last layer is read after the model's final norm, the others before it")
    for own in details:
        counted = ", ".join(
            f"{count:,} {_REASONS.get(reason, reason)}"
            for reason, count in left_out_of(own).items()
        )
        if counted:
            yield caution(f"{own.table.name}: rows without vectors, of all splits: {counted}")
        if own.table.trained_on:
            yield detail(
                f"{own.table.config}: the probe and its layer come from the rows of "
                f"{own.table.trained_on}; {len(own.table.labels)} labels that both have"
            )
        if left := own.table.other_labels:
            yield caution(
                f"{own.table.name}: {left:,} rows with labels that {own.table.trained_on} "
                "does not have are left out"
            )
        if own.table.held_out and own.table.split == VALIDATION:
            yield caution(
                f"{own.table.config}: tested on validation; a tenth of train was held out to "
                "choose layer and penalty, and papers that chose by validation report other rows"
            )
        elif own.table.held_out:
            yield detail(
                f"{own.table.config}: without a split validation, a tenth of train was held out"
            )
        if own.chosen.constant:
            yield caution(
                f"{own.table.config}: the chosen layer has the same vector for all rows, so every "
                "row gets the most frequent label"
            )
        unfinished = [
            layer
            for fits in (own.fits, *own.random)
            for layer, fit in fits.items()
            if not fit.finished
        ]
        if unfinished:
            layers = ", ".join(map(str, sorted({*unfinished})))
            yield caution(
                f"{own.table.config}: {len(unfinished)} fits did not converge (layer "
                f"{layers}); their accuracies may be too low"
            )
    if options.compat:
        yield caution(
            f"--compat {options.compat}: as published in 2019, one seed, nothing standardised; the "
            f"mean of all layers of {_POOLED[options.pool]}"
        )


#: The file of all fits.
LAYERS_FILE = "layers.parquet"


def layer_rows(found: Results) -> Iterator[dict[str, Any]]:
    """Rows of ``layers.parquet``: fits of every layer, of the model and randomly initialised ones.

    ``draw`` is 0 for the model, or the number of a randomly initialised one, whose accuracies have
    no intervals.
    """
    known = {
        (score.config, score.split, system.layer): score
        for metric, system, score in found.estimates
        if metric == ANY_SENSE and system.role == "model" and not score.group
    }
    for own in found.details:
        place = own.table.config, own.table.split
        for draw, fits in enumerate((own.fits, *own.random)):
            for layer, fit in fits.items():
                # The mean of all layers, which is one layer only, is judged under no name of its
                # own.
                score = known[(*place, None if layer == MEAN_LAYER else layer)]
                yield {
                    "config": place[0],
                    "split": place[1],
                    "layer": layer,
                    "draw": draw,
                    "setting": fit.setting,
                    "validation": fit.validation,
                    "test": fmean(own.right(own.predict(fit))),
                    "low": None if draw else score.ci_low,
                    "high": None if draw else score.ci_high,
                    "n": len(own.tested),
                }


def layer_schema() -> Any:
    """The Arrow schema of ``layers.parquet``."""
    return row_schema(
        *("config string", "split string", "layer int32", "draw int32", "n int32"),
        *("setting double", "validation double", "test double", "low double", "high double"),
    )


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
    if any(len(own["layers"]) > 1 for own in found.more["probes"]):
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
    columns = "label", "predicted", "probability of the label, %", "row"
    for own in found.details:
        labels, fit = own.table.labels, own.chosen
        texts = []
        for row, said, logs in zip(
            own.tested, own.predict(fit), fit.log_probabilities, strict=True
        ):
            right, probability = (row.label, *row.also), math.exp(logs[labels.index(row.label)])
            text = " | ".join(" ".join(slot.segments) for slot in row.slots)
            named = said + " (wrong)" * (said not in right)
            cells = text, " or ".join(right), named, grid.share_cell(probability), row.item_id
            texts.append((probability, grid.GridRow(cells)))
        shown = [line for _, line in sorted(texts, key=lambda pair: pair[0])[:_MOST_ROWS]]
        words = f"{len(shown):,} of {len(texts):,} texts"
        yield own.table.name, words, (grid.made("text", columns, shown),)


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
    for own in found.more["probes"]:
        reached = _reached(found, own)
        score = reached[""]
        layer = "mean" if own["layer"] < 0 else f"{own['layer']} of {max(own['layers'])}"
        systems = {"most frequent": MOST_FREQUENT, "bag of words": BAG_OF_WORDS}
        systems |= {"random init": RANDOM, "control": CONTROL}
        headings.append(grid.GridRow((f"{own['config']} ({own['split']})",), bold=True))
        cells.append(
            {
                "rows": counted(own["test"]),
                "layer": layer,
                _SCORE: grid.share_with_interval(score.score, score.ci_low, score.ci_high),
                **{
                    name: grid.share_cell(reached[system].score if system in reached else None)
                    for name, system in systems.items()
                },
                # They judged a sample of the rows.
                f"{HUMAN_PERFORMANCE} (rows)": grid.share_of_people(
                    score.human_score, score.human_n
                ),
            }
        )
    return grid.of_cells("config", headings, cells, ("", "–"), (_SCORE,), _OPTIONAL)


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
        for own in found.more["probes"]
    ]
    return grid.made("config", list(map(layer_name, found.more["probes"][0]["layers"])), rows)


def facts(table: ProbeTable, detail: Probed) -> dict[str, Any]:
    """The number of rows left out, by reason: without vectors, or of a label not trained on."""
    labels = {"label": table.other_labels} if table.other_labels else {}
    return {"left_out": left_out_of(detail) | labels}


TASK = Task(
    command=COMMAND,
    metrics=(ANY_SENSE, FIRST_OF_SENSES),
    run=probe_table,
    names=lambda configs, options: [
        *configs,
        *[options.train_on] * bool(configs and options.train_on),
    ],
    inputs=lambda source, configs, split, most, options: read_probe_tables(
        source, configs, split, most, options.train_on
    ),
    given=lambda rows, split, options: probe_table_of(rows, split, options.train_on),
    check=check_probe,
    settle=settled,
    headline=probe_headline,
    sections=probe_sections,
    notes=probe_notes,
    facts=facts,
    more=lambda found: {"probes": probe_figures(found)},
    files=lambda found, folder: write_rows(layer_rows(found), layer_schema(), folder / LAYERS_FILE),
    frames={"layers": lambda found: rows_in_folder(found, LAYERS_FILE) or layer_rows(found)},
)
