"""Ask whether a model that is right about a text is right about its parts (Storks and Chai 2021).

Every span of units that has a right answer is asked about. Strict coherence is the share of texts
that are right as a whole and in all of their spans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import HUMAN_PERFORMANCE
from coherencegym.eval.forward.distributed import world
from coherencegym.eval.kinds.spans import UNDECIDED
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.options import Options
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection, TextLists, score_table
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, by_line, shown_rows
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.spans.answers import BEST_CONSTANT, CONSTANTS, Answered
from coherencegym.eval.tasks.spans.asking import ask_spans, askable
from coherencegym.eval.tasks.spans.coherence import TextPrediction
from coherencegym.eval.tasks.spans.data import (
    SpanTable,
    read_span_tables,
    span_table_of,
    unit_texts,
)
from coherencegym.eval.tasks.spans.heads import kind_of_head
from coherencegym.eval.tasks.spans.options import (
    COMMAND,
    HEADS,
    SpanOptions,
    check_spans,
    own_settings,
    with_scorer,
)
from coherencegym.eval.tasks.spans.results import (
    ACCURACY,
    METRIC_NAMES,
    MONOTONE,
    ONE_UNIT,
    SEVERAL_UNITS,
    SPAN_ACCURACY,
    STRICT_IF_RIGHT,
    add_span_outcomes,
    metric_named,
    span_facts,
    span_headline,
    span_notes,
    write_span_files,
)
from coherencegym.eval.tasks.task import Loader, Task, TaskContext, fields_beside

_METRICS = (ACCURACY, *METRIC_NAMES.values(), STRICT_IF_RIGHT, MONOTONE)
#: Texts of each table that are on the page, and units of the longest.
_MOST_TEXTS, _MOST_UNITS = 100, 20


def span_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    yield ReportSection("Scores", coherence_grid(found))
    groups = score_table(shown_rows(found.rows))
    yield ReportSection("Scores by group of texts", groups, is_detail=True)
    yield ReportSection(
        "Texts",
        TextLists(tuple(map(_listed, found.details))),
        "The number of a span is the probability (%) of a positive answer, or of the chosen text. "
        "Texts that are right as a whole and wrong in most parts come first.",
    )


def coherence_grid(found: Results) -> grid.Grid:
    """The metrics of each config, of all texts, of one unit and of more, and of other systems."""
    lines = by_line(found.rows)
    judged = any(row.human_n for row in found.rows if not row.system)
    rows: list[grid.GridRow] = []
    for own in found.details:
        place = own.table.table.config, own.table.table.split
        sizes = [lines.get((*place, size, "")) for size in (ONE_UNIT, SEVERAL_UNITS)]
        both = all(line and line[ACCURACY].n for line in sizes)
        for group in ("", *((ONE_UNIT, SEVERAL_UNITS) if both else ())):
            line = lines[*place, group, ""]
            needed = "" if group else _confidence(own)
            cells = [group or own.table.table.name, _number(line[ACCURACY])]
            cells += [*(_cell(line[m]) for m in _METRICS), needed]
            if judged:
                people = line[SPAN_ACCURACY].human_score, line[SPAN_ACCURACY].human_n
                cells += [_cell(line[SPAN_ACCURACY]), grid.share_of_people(*people)]
            rows.append(grid.GridRow(tuple(cells), int(bool(group)), bold=not group))
        for (*where, system), line in lines.items():
            if system and where == [*place, ""] and "strict" in line:
                shares = (grid.share_cell(line[m].score if m in line else None) for m in _METRICS)
                rows.append(grid.GridRow((system, "", *shares, ""), 1))
    names = ["texts", *(f"{metric}, %" for metric in _METRICS), "ρ"]
    if judged:
        names += [f"{SPAN_ACCURACY}, %", f"{HUMAN_PERFORMANCE} (texts)"]
        width = 1 + len(names)
        rows = [replace(row, cells=(*row.cells, *[""] * (width - len(row.cells)))) for row in rows]
    return grid.made("config", names, rows)


def _number(score: Score) -> str:
    return f"{score.n:,}" + (" !" if score.n < FEW_ITEMS else "")


def _cell(score: Score) -> str:
    return grid.share_with_interval(score.score, score.ci_low, score.ci_high)


def _confidence(one: Answered) -> str:
    # Answers to one text are confident at any threshold.
    if not one.judged[0].text.is_choice:
        return ""
    low, high = min(one.at["strict"]), max(one.at["strict"])
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


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
    reads=lambda options: options.scorer not in HEADS,
    inputs=lambda source, configs, split, most, options: read_span_tables(
        source, configs, split, most, options.calibrate_on
    ),
    given=lambda rows, split, options: span_table_of(rows, split, options.calibrate_on),
    accept=askable,
    table=lambda one: one.table,
    digests=lambda one: one.digests,
    load=_load,
    check=check_spans,
    resolve=with_scorer,
    record=own_settings,
    beside=partial(fields_beside, constants=CONSTANTS, chance_name=BEST_CONSTANT),
    headline=span_headline,
    sections=span_sections,
    notes=span_notes,
    facts=lambda one, detail: {
        "left_out": {"too_long": detail.too_long, "crossing": len(detail.crossed)}
    },
    more=span_facts,
    files=lambda found, folder: write_span_files(found.details, folder),
)
