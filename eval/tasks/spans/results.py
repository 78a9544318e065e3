"""What a run of ``coherencegym spans`` has beside its outcomes, and its file of answers.

``results.json`` has ``spans``: of each config the confidence of choices, and facts on how answers
were found. ``spans.parquet`` has each span with its probability and answer, and no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.outcomes.metrics import Accuracy, Metric, Ratio
from coherencegym.eval.outcomes.schema import MODEL, System, baseline
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.statistics.scores import FEW_ITEMS, by_line
from coherencegym.eval.tasks.headline import (
    Headline,
    cells_by_table,
    mean_headline,
    mean_if_known,
)
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.answers import BEST_CONSTANT, CROSSING, TOO_LONG, Answered
from coherencegym.eval.tasks.spans.coherence import COHERENCE_METRICS, TextPrediction
from coherencegym.eval.tasks.spans.data import CHOICE
from coherencegym.eval.tasks.spans.released import paper_table
from coherencegym.eval.tasks.task import add_people
from coherencegym.files.parquet import row_schema, write_rows

#: Metrics of outcomes, beside those of :data:`COHERENCE_METRICS`.
ACCURACY, SPAN_ACCURACY, MONOTONE = "accuracy", "span accuracy", "monotone"
STRICT_IF_RIGHT = "strict if right"
#: Groups of rows: those of one unit, for which strict coherence is accuracy, and the others.
ONE_UNIT, SEVERAL_UNITS = "units: 1", "units: several"
#: The system of what the released program computes.
RELEASED_PROGRAM = "released program"


def span_facts(found: Results) -> dict[str, Any]:
    """What each config has beside its scores.

    ``thresholds`` are the lowest and the highest confidence that was chosen for a choice, by
    metric.
    """
    return {
        "spans": [
            {
                "config": one.table.table.config,
                "split": one.table.table.split,
                "question": one.table.question,
                "positive": one.table.positive,
                "cut": one.cut,
                "thresholds": {name: (min(own), max(own)) for name, own in one.at.items()}
                if one.table.question == CHOICE
                else {},
                "about": one.about,
            }
            for one in found.details
        ]
    }


def add_span_outcomes(writer: OutcomeWriter, one: Answered) -> None:
    """Add the outcomes of the answers of a model, of baselines, and of people."""
    table, is_choice = one.table.table, one.table.question == CHOICE
    units = writer.units(
        table.unit(
            row,
            "",
            (
                *table.unit(row).groups,
                *([] if is_choice else [("", ONE_UNIT if row.size == 1 else SEVERAL_UNITS)]),
            ),
        )
        for row in table.rows
    )
    for system, known in _values_by_system(one):
        for name in next(iter(known.values())):
            metric = _METRICS[name]
            values = [known.get(row.item_id, {name: (None, 1.0)})[name] for row in table.rows]
            writer.add(
                units,
                metric.name,
                system,
                [value for value, _ in values],
                reason=[own if isinstance(own, str) else "" for own in one.rows],
                weight=[whole for _, whole in values] if isinstance(metric, Ratio) else None,
            )
    # People were asked about some spans of a text, and mostly about one.
    add_people(writer, units, table.rows, _METRICS[SPAN_ACCURACY])


def _values_by_system(
    one: Answered,
) -> Iterator[tuple[System, dict[str, dict[str, tuple[float, float]]]]]:
    """The values of the rows that were answered, by their ids."""

    def values(judged: Sequence[TextPrediction], at: Mapping[str, Sequence[float]]) -> Any:
        return {
            own.text.item_id: text_values(own, {name: each[n] for name, each in at.items()})
            for n, own in enumerate(judged)
        }

    yield MODEL, values(one.judged, one.at)
    for name, judged in one.baselines.items():
        yield baseline(name), values(judged, one.thresholds(judged))
    ids = [own.text.item_id for own in one.judged]
    for name, released in one.released.items():
        both = zip(released.stricts, released.lenients, strict=True)
        own = [{"strict": (strict, 1.0), "lenient": (lenient, 1.0)} for strict, lenient in both]
        label = f"{RELEASED_PROGRAM}, {name}" if name else RELEASED_PROGRAM
        yield baseline(label), dict(zip(ids, own, strict=True))


#: Of parts of rows a ratio, of rows an accuracy.
SPAN_METRICS: tuple[Metric, ...] = (
    *map(Accuracy, (ACCURACY, *COHERENCE_METRICS)),
    Ratio(SPAN_ACCURACY),
    Accuracy(MONOTONE),
    Ratio(STRICT_IF_RIGHT),
)
_METRICS = {metric.name: metric for metric in SPAN_METRICS}


def text_values(one: TextPrediction, at: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """The values of a text by metric, where a choice needs this confidence for each.

    Each has what it is a part of.
    """
    strict = one.metric("strict", at["strict"])
    rights = one.span_rights(at["strict"])
    return {
        ACCURACY: (float(one.right), 1.0),
        **{name: (one.metric(name, at[name]), 1.0) for name in COHERENCE_METRICS},
        SPAN_ACCURACY: (float(sum(rights)), float(len(rights))),
        MONOTONE: (float(one.monotone(at["strict"])), 1.0),
        STRICT_IF_RIGHT: (strict, float(one.right)),
    }


def span_headline(found: Results) -> Headline | None:
    """The mean over configs of strict coherence, each with the same weight."""
    strict = Accuracy("strict")
    tables = [(table.config, table.split) for table in found.tables]
    rows = by_line(found.rows)
    scores = [rows[(*table, "", "")][strict.said] for table in tables]
    return mean_headline(
        cells_by_table(found.outcomes, strict, MODEL, tables),
        strict,
        partial_input_score=mean_if_known([own.partial_input_score for own in scores]),
        chance=mean_if_known([own.chance for own in scores]),
        chance_name=BEST_CONSTANT,
    )


def span_rows(details: Sequence[Answered]) -> Iterator[dict[str, Any]]:
    """Rows of ``spans.parquet``: each span of each text that was answered.

    ``p`` is the probability of a positive answer, or of the chosen alternative.
    """
    for one in details:
        for number, own in enumerate(one.judged):
            at = one.at["strict"][number]
            for place, gold in own.gold.items():
                answer = own.answer(place, at)
                yield {
                    "config": one.table.table.config,
                    "split": one.table.table.split,
                    "item_id": own.text.item_id,
                    "start": place[0],
                    "end": place[1],
                    "gold": gold,
                    "p": own.predicted[place].probability,
                    "answer": answer,
                    "right": answer == gold,
                }


def write_span_files(details: Sequence[Answered], folder: Path) -> None:
    """Write the answers to spans into a folder that is there."""
    schema = row_schema(
        *("config string", "split string", "item_id string", "start int32", "end int32"),
        *("gold int32", "p double", "answer int32", "right bool"),
    )
    write_rows(span_rows(details), schema, folder / "spans.parquet")


def span_notes(found: Results) -> Iterator[Note]:
    """Lines that a reader of the table must know."""
    yield detail(
        "strict: share of texts with a right answer for the whole and for every span; lenient: "
        "mean share of spans with a right answer; lenient if right: lenient, with 0 for texts "
        "with a wrong answer for the whole"
    )
    for one in found.details:
        yield from _notes_on(one)


def _notes_on(one: Answered) -> Iterator[Note]:
    table = one.table.table
    name = table.name
    for number, why in (
        (one.left_out[TOO_LONG], "exceed the model's context and are left out"),
        (
            one.left_out[CROSSING],
            "are left out: a token crosses the edge of what is compared on one side only",
        ),
        (one.cut, "exceed the model's context and are cut at the end"),
    ):
        if number:
            yield caution(f"{name}: {number:,} of {len(table.rows):,} texts {why}")
    clusters = {one.text.cluster for one in one.judged}
    if len(clusters) < FEW_ITEMS and len(clusters) < len(one.judged):
        yield caution(
            f"{name}: the texts come from only {len(clusters)} sources, so intervals are wide"
        )
    if one.table.question == CHOICE:
        low, high = min(one.at["strict"]), max(one.at["strict"])
        yield detail(f"{name}: \N{GREEK SMALL LETTER RHO} of strict is {low:.2f} to {high:.2f}")
    if one.table.question == CHOICE and one.rho == "best":
        yield caution(
            f"{name}: --rho best: the confidence threshold of each metric was chosen on these "
            "same texts, as in the paper"
        )
    if (weight := one.about.get("weight", 1.0)) < 0:
        yield caution(
            f"{name}: the answers are inverted (weight {weight:.3f}, set on "
            f"{one.about['calibrated_on']}): the model answers '{one.table.positive}' where less "
            "supports it"
        )
    if one.compat and (published := paper_table(table.config)) is not None:
        yield caution(f"{name}: {'; '.join(published.differs)}")
