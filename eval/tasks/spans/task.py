"""Ask whether a model that is right about a text is right about its parts (Storks and Chai 2021).

Every span of units that has a right answer is asked about. Strict coherence is the share of texts
that are right as a whole and in all of their spans.

``results.json`` has ``spans``: of each config the confidence of choices, and facts on how answers
were found. ``spans.parquet`` has each span with its probability and answer, and no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.kinds.documents import UNDECIDED, SpanText
from coherencegym.eval.outcomes.label_metrics import Ratio
from coherencegym.eval.outcomes.metric import Metric
from coherencegym.eval.outcomes.metrics import Accuracy
from coherencegym.eval.outcomes.schema import MODEL, System, UnitRow, baseline
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection, TextLists
from coherencegym.eval.report.score_table import score_table
from coherencegym.eval.statistics.scores import FEW_ITEMS
from coherencegym.eval.tasks.headline import Headline, mean_headline
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.coherence import (
    ACCURACY,
    BEST_CONSTANT,
    CHOICE,
    COHERENCE_METRICS,
    CONSTANTS,
    CROSSING,
    MONOTONE,
    SPAN_ACCURACY,
    STRICT_IF_RIGHT,
    TOO_LONG,
    Answered,
    SpanTable,
    TextPrediction,
    baselines_of,
    paper_table,
    paper_tables,
    read_span_tables,
    released_coherence,
    unit_texts,
)
from coherencegym.eval.tasks.spans.options import (
    COMMAND,
    HEADS,
    SpanOptions,
    own_settings,
    with_scorer,
)
from coherencegym.eval.tasks.spans.scorers import head_answers, kind_of_head, surprisal_answers
from coherencegym.eval.tasks.table import add_parts, add_people
from coherencegym.eval.tasks.task import Task, TaskContext, fields_beside
from coherencegym.files.parquet import row_schema, write_rows

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
                "config": one.table.config,
                "split": one.table.split,
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


def add_span_outcomes(writer: OutcomeWriter, one: Answered, compat: str = "") -> None:
    """Add the outcomes of a model, of baselines, of people, and with ``compat`` of the program."""
    table = one.table

    def unit(row: SpanText) -> UnitRow:
        groups = list(table.unit(row).groups)
        if table.question != CHOICE:
            groups.append(("", ONE_UNIT if row.size == 1 else SEVERAL_UNITS))
        return table.unit(row, "", groups)

    units = writer.units(map(unit, table.rows))
    reasons = [own if isinstance(own, str) else "" for own in one.rows]

    def add(system: System, metric: Metric, parts: Iterable[tuple[float, float]]) -> None:
        # Of the rows that were answered.
        given = iter(parts)
        known = [(None, 1.0) if why else next(given) for why in reasons]
        add_parts(writer, units, metric, system, known, reasons)

    systems = {"": one.judged, **baselines_of(table, [own.text for own in one.judged])}
    for name, judged in systems.items():
        at = one.thresholds(judged)
        for metric in SPAN_METRICS:
            each = zip(judged, at.get(metric.name, at["strict"]), strict=True)
            parts = (own.part(metric.name, threshold) for own, threshold in each)
            add(baseline(name) if name else MODEL, metric, parts)
    for name, judged in systems.items() if compat else ():
        system = baseline(f"{RELEASED_PROGRAM}, {name}" if name else RELEASED_PROGRAM)
        both = zip(("strict", "lenient"), released_coherence(judged), strict=True)
        for which, (values, _) in both:
            add(system, Accuracy(which), ((value, 1.0) for value in values))
    # People were asked about some spans of a text, and mostly about one.
    add_people(writer, units, table.rows, Ratio(SPAN_ACCURACY))


#: Of parts of rows a ratio, of rows an accuracy.
SPAN_METRICS: tuple[Metric, ...] = (
    *map(Accuracy, (ACCURACY, *COHERENCE_METRICS)),
    Ratio(SPAN_ACCURACY),
    Accuracy(MONOTONE),
    Ratio(STRICT_IF_RIGHT),
)


def span_headline(found: Results) -> Headline | None:
    """The mean over configs of strict coherence, each with the same weight."""
    return mean_headline(found.outcomes, found.rows, found.tables, Accuracy("strict"))


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
                    "config": one.table.config,
                    "split": one.table.split,
                    "item_id": own.text.item_id,
                    "start": place[0],
                    "end": place[1],
                    "gold": gold,
                    "p": own.predicted[place].probability,
                    "answer": answer,
                    "right": answer == gold,
                }


def write_span_files(found: Results, folder: Path) -> None:
    """Write the answers to spans into a folder that is there."""
    schema = row_schema(
        *("config string", "split string", "item_id string", "start int32", "end int32"),
        *("gold int32", "p double", "answer int32", "right bool"),
    )
    write_rows(span_rows(found.details), schema, folder / "spans.parquet")


def span_notes(found: Results) -> Iterator[Note]:
    """Lines that a reader of the table must know."""
    yield detail(
        "strict: share of texts with a right answer for the whole and for every span; lenient: "
        "mean share of spans with a right answer; lenient if right: lenient, with 0 for texts "
        "with a wrong answer for the whole"
    )
    for one in found.details:
        yield from _notes_on(one, found.options.compat)


def _notes_on(one: Answered, compat: str) -> Iterator[Note]:
    table, name = one.table, one.table.name
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
    if table.question == CHOICE:
        low, high = min(one.at["strict"]), max(one.at["strict"])
        yield detail(f"{name}: \N{GREEK SMALL LETTER RHO} of strict is {low:.2f} to {high:.2f}")
        if one.rho == "best":
            yield caution(
                f"{name}: --rho best: the confidence threshold of each metric was chosen on these "
                "same texts, as in the paper"
            )
    if (weight := one.about.get("weight", 1.0)) < 0:
        yield caution(
            f"{name}: the answers are inverted (weight {weight:.3f}, set on "
            f"{one.about['calibrated_on']}): the model answers '{table.positive}' where less "
            "supports it"
        )
    if compat and (published := paper_table(table.config)) is not None:
        yield caution(f"{name}: {'; '.join(published.differs)}")


#: Texts of each table that are on the page, and units of the longest.
_MOST_TEXTS, _MOST_UNITS = 100, 20


def span_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    yield ReportSection("Scores", score_table(found.rows))
    yield ReportSection(
        "Texts",
        TextLists(tuple(map(_listed, found.details))),
        "The number of a span is the probability (%) of a positive answer, or of the chosen text. "
        "Texts that are right as a whole and wrong in most parts come first.",
    )


def _listed(one: Answered) -> tuple[str, str, tuple[grid.Grid, ...]]:
    # First those that are right for the wrong parts, worst first.
    texts = sorted(
        zip(one.judged, one.at["strict"], strict=True),
        key=lambda own: (not own[0].right, own[0].metric("lenient", own[1]), own[0].text.item_id),
    )
    shown = [own for own in texts if own[0].text.size <= _MOST_UNITS][:_MOST_TEXTS]
    tables = (
        grid.of_texts(own.text.item_id, list(_lines(own, at, one.table.positive)))
        for own, at in shown
    )
    return one.table.name, f"{len(shown):,} of {len(texts):,} texts", tuple(tables)


def _lines(own: TextPrediction, threshold: float, positive: str) -> Iterator[grid.GridRow]:
    text = own.text
    if text.hypothesis:
        yield grid.GridRow((text.hypothesis, "", "hypothesis"))
    alternatives = [unit_texts(text, number) for number in range(max(1, len(text.alternatives)))]
    for number, units in enumerate(zip(*alternatives, strict=True), start=1):
        yield grid.GridRow((f"{number}. {' | '.join(units)}", "", ""))

    def said(answer: int) -> str:
        if not text.is_choice:
            return positive if answer else f"not {positive}"
        return "undecided" if answer == UNDECIDED else f"text {answer + 1}"

    for (start, end), gold in own.gold.items():
        answer = own.answer((start, end), threshold)
        score = grid.share_cell(own.predicted[start, end].probability)
        mark = "" if answer == gold else f"wrong, right is {said(gold)}"
        line = f"units {start + 1} to {end + 1}: {said(answer)}"
        yield grid.GridRow((line, score, mark), bold=bool(mark))


def ask_table(
    context: TaskContext, table: SpanTable, options: SpanOptions, writer: OutcomeWriter
) -> Answered:
    """Ask a model about every span of a table, and add the outcomes of its texts."""
    model = context.model
    if options.compat and paper_table(table.config) is None:
        raise ConfigError(
            f"--compat {options.compat}: {table.name} is not of the paper; expected "
            f"--config {' or '.join(paper_tables())}"
        )
    if options.scorer not in HEADS and model.scorer != "causal":
        raise EvaluationError(
            f"model {model.name!r} is a masked language model; expected a causal one, or one with "
            "a head for texts"
        )
    if options.scorer in HEADS:
        found = head_answers(model, table, options, context.reading.batch_tokens)
    else:
        found = surprisal_answers(context, table, options.temperature)
    answered = replace(found, rho=options.rho)
    if not answered.judged:
        raise ConfigError(
            f"{table.name}: all {len(table.rows):,} rows exceed the model's context; "
            "expected another model, or with a head --truncate"
        )
    add_span_outcomes(writer, answered, options.compat)
    return answered


TASK = Task(
    command=COMMAND,
    metrics=SPAN_METRICS,
    run=ask_table,
    reads=lambda options: options.scorer not in HEADS,
    inputs=lambda source, configs, split, most, options: read_span_tables(
        source, configs, split, most
    ),
    load=lambda options, load: load(kind_of_head(options.scorer)),
    resolve=with_scorer,
    record=own_settings,
    beside=partial(fields_beside, constants=CONSTANTS, chance_name=BEST_CONSTANT),
    headline=span_headline,
    sections=span_sections,
    notes=span_notes,
    facts=lambda one, detail: {"left_out": detail.left_out},
    more=span_facts,
    files=write_span_files,
)
