"""Ask whether a model that is right about a text is right about its parts (Storks and Chai 2021).

Every span of units that has a right answer is asked about. Strict coherence is the share of texts
that are right as a whole and in all of their spans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.kinds.documents import UNDECIDED
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection, TextLists, score_table
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.answers import BEST_CONSTANT, CONSTANTS, Answered
from coherencegym.eval.tasks.spans.coherence import TextPrediction
from coherencegym.eval.tasks.spans.data import (
    SpanTable,
    read_span_tables,
    unit_texts,
)
from coherencegym.eval.tasks.spans.heads import head_answers, kind_of_head
from coherencegym.eval.tasks.spans.options import (
    COMMAND,
    HEADS,
    SpanOptions,
    check_spans,
    own_settings,
    with_scorer,
)
from coherencegym.eval.tasks.spans.released import paper_table, paper_tables
from coherencegym.eval.tasks.spans.results import (
    SPAN_METRICS,
    add_span_outcomes,
    span_facts,
    span_headline,
    span_notes,
    write_span_files,
)
from coherencegym.eval.tasks.spans.zero_shot import surprisal_answers
from coherencegym.eval.tasks.task import Task, TaskContext, fields_beside

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
    table = one.table.table
    texts = sorted(
        zip(one.judged, one.at["strict"], strict=True),
        key=lambda own: (not own[0].right, own[0].metric("lenient", own[1]), own[0].text.item_id),
    )
    shown = [own for own in texts if own[0].text.size <= _MOST_UNITS][:_MOST_TEXTS]
    tables = (
        grid.of_texts(own.text.item_id, list(_lines(own, at, one.table.positive)))
        for own, at in shown
    )
    return table.name, f"{len(shown):,} of {len(texts):,} texts", tuple(tables)


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
    if options.compat and paper_table(table.table.config) is None:
        raise ConfigError(
            f"--compat {options.compat}: {table.table.name} is not of the paper; expected "
            f"--config {' or '.join(paper_tables())}"
        )
    if options.scorer not in HEADS and model.scorer != "causal":
        raise EvaluationError(
            f"model {model.name!r} is a masked language model; expected a causal one, or one with "
            "a head for texts"
        )
    if options.scorer in HEADS:
        # The paper's program reads no more.
        most = 128 if options.compat else None
        how: Any = {"label_map": options.label_map, "batch_tokens": context.reading.batch_tokens}
        how |= {"truncate": options.truncate, "max_length": most}
        found = head_answers(model, options.scorer, table, **how)
    else:
        found = surprisal_answers(context, table, options.temperature)
    answered = replace(found, rho=options.rho, compat=options.compat)
    if not answered.judged:
        raise ConfigError(
            f"{table.table.name}: all {len(table.rows):,} rows exceed the model's context; "
            "expected another model, or with a head --truncate"
        )
    add_span_outcomes(writer, answered)
    return answered


TASK = Task(
    command=COMMAND,
    metrics=SPAN_METRICS,
    run=ask_table,
    reads=lambda options: options.scorer not in HEADS,
    inputs=lambda source, configs, split, most, options: read_span_tables(
        source, configs, split, most
    ),
    table=lambda one: one.table,
    digests=lambda one: one.digests,
    load=lambda options, loader: loader.head(kind_of_head(options.scorer)),
    check=check_spans,
    resolve=with_scorer,
    record=own_settings,
    beside=partial(fields_beside, constants=CONSTANTS, chance_name=BEST_CONSTANT),
    headline=span_headline,
    sections=span_sections,
    notes=span_notes,
    facts=lambda one, detail: {"left_out": detail.left_out},
    more=span_facts,
    files=lambda found, folder: write_span_files(found.details, folder),
)
