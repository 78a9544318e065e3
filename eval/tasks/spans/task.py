"""Ask whether a model that is right about a text is right about its parts (Storks and Chai 2021).

Every span of units that has a right answer is asked about. Strict coherence is the share of texts
that are right as a whole and in all of their spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.distributed import world
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.options import Options
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.report import grid
from coherencegym.eval.tasks.spans.asking import ask_spans, askable, prompt_queries
from coherencegym.eval.tasks.spans.baselines import BEST_CONSTANT, CONSTANTS
from coherencegym.eval.tasks.spans.data import (
    SpanTable,
    places_of,
    read_span_tables,
    span_table_of,
)
from coherencegym.eval.tasks.spans.heads import kind_of_head
from coherencegym.eval.tasks.spans.options import (
    COMMAND,
    HEADS,
    PROMPT,
    SpanOptions,
    check_spans,
    own_settings,
    with_scorer,
)
from coherencegym.eval.tasks.spans.report import span_sections
from coherencegym.eval.tasks.spans.results import (
    Answered,
    add_span_outcomes,
    metric_named,
    span_facts,
    span_headline,
    span_notes,
    write_span_files,
)
from coherencegym.eval.tasks.spans.zero_shot import span_queries
from coherencegym.eval.tasks.task import Loader, Task, TaskContext, fields_beside


def _texts(table: SpanTable, options: SpanOptions) -> list[Query]:
    if options.scorer == PROMPT:
        chat = options.apply_chat_template
        return prompt_queries(table, truncate=options.truncate, chat=chat)
    return span_queries(table, truncate=options.truncate)


def _costs(
    tables: Sequence[SpanTable], options: SpanOptions, config: Any, tokenizer: Any
) -> grid.Grid:
    rows = []
    for table in tables:
        spans = sum(len(places_of(row)) for row in table.rows)
        each = max(1, len(table.rows[0].alternatives))
        cells = (table.table.name, f"{len(table.rows):,}", f"{each * spans:,}")
        rows.append(grid.GridRow(cells))
    return grid.made("config", ("texts", "spans to read"), rows)


def _load(options: SpanOptions, loader: Loader) -> LoadedModel:
    if options.scorer not in HEADS:
        return loader.scores()
    if world().size > 1:
        raise EvaluationError(f"--scorer {options.scorer}: several processes; expected one")
    return loader.head(kind_of_head(options.scorer))


def ask_table(
    context: TaskContext, table: SpanTable, options: SpanOptions, writer: OutcomeWriter
) -> Answered:
    """Ask a model about every span of a table, and add the outcomes of its texts."""
    how = {} if options.scorer in HEADS else context.running
    found = ask_spans(context.model, table, options, _reading(context.reading), **how)
    add_span_outcomes(writer, found)
    return found


def _reading(options: Options) -> Options:
    # What a text loses is cut at its end, not as another task cuts.
    return Options(
        bos=options.bos,
        separator=options.separator,
        separator_space=options.separator_space,
        batch_tokens=options.batch_tokens,
        share=options.share,
    )


TASK = Task(
    command=COMMAND,
    metrics=(),
    metric=metric_named,
    run=ask_table,
    texts=_texts,
    reads=lambda options: options.scorer not in HEADS,
    in_chat=lambda options: options.apply_chat_template,
    costs=_costs,
    inputs=lambda source, configs, split, most, options: read_span_tables(
        source, configs, split, most, options.calibrate_on, options.calibrate_folds
    ),
    given=lambda rows, split, options: span_table_of(
        rows, split, options.calibrate_on, options.calibrate_folds
    ),
    accept=askable,
    table=lambda one: one.table,
    digests=lambda one: one.digests,
    load=_load,
    check=check_spans,
    resolve=with_scorer,
    record=own_settings,
    beside=partial(fields_beside, constants=CONSTANTS, chance_name=BEST_CONSTANT),
    summary=span_facts,
    headline=span_headline,
    sections=span_sections,
    notes=span_notes,
    facts=lambda one, detail: {
        "left_out": {"too_long": detail.too_long, "crossing": len(detail.answers.crossed)}
    },
    more=lambda found: {"spans": list(map(asdict, found.summary))},
    files=lambda found, folder: write_span_files(found.details, folder),
)
