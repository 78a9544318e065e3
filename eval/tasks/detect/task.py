"""Find the sentence of a document that does not belong there (INSteD, Shen et al. 2021).

A language model gives each sentence a score, a threshold makes decisions of scores, and validation
documents choose it. Beside the model stand the majority class, a random place, and people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from coherencegym.eval.outcomes.schema import MODEL
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import DocumentLists, ReportSection, Strips
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, by_line
from coherencegym.eval.tasks.detect.classifier import (
    classify,
    load_for_detection,
    pairs_of,
    with_detector,
)
from coherencegym.eval.tasks.detect.detect import detections, document_queries
from coherencegym.eval.tasks.detect.options import (
    CLASSIFIER,
    COMMAND,
    DetectOptions,
    check_detection,
)
from coherencegym.eval.tasks.detect.results import (
    DetectDetail,
    detect_detail,
    detection_facts,
    detection_more,
    detection_notes,
    write_sentence_scores,
)
from coherencegym.eval.tasks.detect.scores import (
    ANNOTATOR,
    AUC,
    DETECTION_METRICS,
    DOCUMENT_ACCURACY,
    MAJORITY,
    NOT_JUDGED,
    PLACE,
    PROBE_METRICS,
    RANDOM,
    VOTE,
    Decision,
    highest,
    intruders,
    probe_differences,
)
from coherencegym.eval.tasks.detect.tables import (
    DetectionInput,
    DocumentTable,
    ScoredTable,
    detection_names,
    read_inputs,
    was_read,
    why_left_out,
)
from coherencegym.eval.tasks.headline import (
    Headline,
    cells_by_table,
    headline_of_one,
    mean_headline,
)
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.task import Task, TaskContext, fields_beside

#: Columns by their metrics, with intervals where there is room.
DETECTION_COLUMNS = {
    "document accuracy": "document acc.",
    "exact accuracy": "exact acc.",
    **{name: name for name in ("F1", "precision", "recall", "AUC", "place")},
}
_PROBE_COLUMNS = (
    *("incoherent", "F1, %", "F1, probe, %", "difference, points"),
    *("coherent", "right, %", "right, probe, %", "difference, points "),
)


#: Documents of each table that are listed.
_MOST_DOCUMENTS = 200


def detect_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    details: list[DetectDetail] = list(found.details)
    if any(not one.tested.table.probes for one in details):
        yield ReportSection("Metrics by decision rule", detection_grid(found))
    if any(one.tested.table.probes for one in details):
        yield ReportSection("Detection without and with a probe", probe_grid(found))
    drawn = tuple(row for row in found.rows if row.level == "all")
    yield ReportSection("Scores", Strips(drawn, ("partial input", "chance")))
    yield ReportSection(
        "Documents",
        DocumentLists(tuple(map(_listed, details))),
        "Each sentence has a score from the detector that the signature names; a higher score "
        "means more like an intruder. The opening sentence has no score.",
    )


def _listed(one: DetectDetail) -> dict[str, Any]:
    table = one.tested.table
    predicted = [(own.decision, own.threshold) for own in one.thresholds]
    return {
        "name": table.name,
        "place": f"{table.config}/{table.split}",
        "units": "documents",
        "total": len(table.rows),
        "documents": [
            {
                "name": document.item_id,
                "sentences": list(_sentences(one.tested, number, predicted)),
            }
            for number, document in enumerate(table.rows[:_MOST_DOCUMENTS])
        ],
    }


def _sentences(
    scored: ScoredTable, number: int, predicted: Sequence[tuple[Decision, float]]
) -> Iterator[dict[str, Any]]:
    # Scores are in bits per token, none for the opening sentence.
    document, scores = scored.table.rows[number], scored.scores[number]
    why = "" if was_read(scores) else why_left_out(scores).replace("_", " ")
    for place, text in enumerate(document.sentences):
        marks = ["intruder"] if place == document.intruder_position else []
        if not why:
            marks += ["highest score"] * (place == highest(scores))
            marks += [
                f"predicted by {decision}"
                for decision, threshold in predicted
                if place in intruders(scores, threshold, decision)
            ]
        score = why or f"{scores[place]:+.3f}"
        yield {"text": text, "score": score if place else "", "marks": marks}


def detection_grid(found: Results) -> grid.Grid:
    """The table of detection: a line for each group, and below it who decides.

    Baselines are there for all documents, people where they judged all documents of a group.
    """
    lines, rows = by_line(found.rows), []
    for one in found.details:
        table, decisions = one.tested.table, [own.decision for own in one.thresholds]
        place = table.config, table.split
        for group in sorted({group for (*where, group, _) in lines if (*where,) == place}):
            documents = lines[*place, group, decisions[0]][DOCUMENT_ACCURACY.said].n
            located = lines.get((*place, group, ""), {}).get(PLACE.said)
            numbers = _count(documents), f"{located.n:,}" if located else ""
            baselines = () if group else (MAJORITY, RANDOM)
            for system in ("", *decisions, *baselines, ANNOTATOR, VOTE) if documents else ():
                line = lines.get((*place, group, system), {})
                in_part = any(NOT_JUDGED in score.counts for score in line.values())
                if system and (in_part or not line):
                    continue
                name = f"    {system}" if system else f"  {group}" if group else table.name
                known = (line.get(metric) for metric in DETECTION_COLUMNS)
                metrics = (_cell(score) if score else "" for score in known)
                cells = (name, *numbers, *metrics)
                is_part = bool(group or system)
                rows.append(grid.GridRow(cells, int(is_part), bold=not is_part))
    return grid.made(
        "config, group, decision",
        ("documents", "intruded", *(f"{name}, %" for name in DETECTION_COLUMNS.values())),
        rows,
    )


def probe_grid(found: Results) -> grid.Grid:
    """The table of probes, without and with each."""
    lines, differences, rows = by_line(found.rows), probe_differences(found.outcomes), []
    for table, decision in (
        (one.tested.table, own.decision) for one in found.details for own in one.thresholds
    ):
        changes = differences.get((table.config, table.split, decision), {})
        scores = lines.get((table.config, table.split, "", decision), {})
        cells = [f"{table.name} {decision}"]
        for side in ("F1", "coherent"):
            change = changes.get(f"{side} with probe")
            both = [scores.get(f"{side} {which} probe") for which in ("without", "with")]
            cells.append(_count(both[0].n if both[0] else 0))
            cells += [_cell(score) if score else "–" for score in both]
            limits = (change.value, change.low, change.high) if change else (None, None, None)
            cells.append(grid.share_with_interval(*limits, "+.1f"))
        rows.append(grid.GridRow(tuple(cells)))
    return grid.made("probe, decision", _PROBE_COLUMNS, rows)


def _cell(score: Score) -> str:
    return grid.share_with_interval(score.score, score.ci_low, score.ci_high)


def _count(n: int) -> str:
    return f"{n:,}" + (" !" if n < FEW_ITEMS else "")


def _texts(one: DetectionInput, options: DetectOptions) -> list[Query]:
    return [
        query
        for table in one.tables
        for query in document_queries(
            [own.sentences for own in table.rows],
            options.detector,
            [own.item_id for own in table.rows],
        )
    ]


def detect_in_table(
    context: TaskContext, one: DetectionInput, options: DetectOptions, writer: OutcomeWriter
) -> DetectDetail:
    """Score the sentences of documents, those that the threshold is chosen on as well."""
    for table in one.tables:
        if table.key not in context.memo:
            context.memo[table.key] = _scored(context, table, options)
    return detect_detail(one, context.memo, writer)


def _scored(context: TaskContext, table: DocumentTable, options: DetectOptions) -> ScoredTable:
    if options.detector == CLASSIFIER:
        return classify(context.model, table, partial(context.step, table.name))
    scores, read = detections(
        context.model.model,
        context.model.tokenizer,
        [document.sentences for document in table.rows],
        options.detector,
        context.reading,
        names=[document.item_id for document in table.rows],
        uses_separator=table.separator,
        **context.running,
    )
    if read is not None:
        context.count(read)
    return ScoredTable(table, scores)


def _costs(
    inputs: Sequence[DetectionInput], options: DetectOptions, config: Any, tokenizer: Any
) -> grid.Grid:
    rows = [
        grid.GridRow((t.name, f"{len(t.rows):,}", f"{len(pairs_of(t.rows)):,}"))
        for t in {table.key: table for one in inputs for table in one.tables}.values()
    ]
    return grid.made("config", ("documents", "pairs to read"), rows)


def _headline(found: Results) -> Headline | None:
    tables = {(table.config, table.split) for table in found.input_tables}
    head = mean_headline(cells_by_table(found.outcomes, AUC, MODEL, tables), AUC)
    if head is not None or len(tables) > 1:
        return head
    # Only whole documents can be judged where nobody knows the places of intruders.
    whole = DOCUMENT_ACCURACY.said
    every = [one for one in found.rows if one.metric == whole and one.level == "all"]
    every = [one for one in every if (one.config, one.split) in tables]
    return headline_of_one(every[0]) if every else None


TASK = Task(
    command=COMMAND,
    metrics=(*DETECTION_METRICS, *PROBE_METRICS),
    run=detect_in_table,
    texts=_texts,
    reads=lambda options: options.detector != CLASSIFIER,
    costs=_costs,
    load=load_for_detection,
    resolve=with_detector,
    names=detection_names,
    inputs=read_inputs,
    table=lambda one: one.table,
    digests=lambda one: (f"{own.split} {own.rows_sha256}" for own in one.tables),
    check=check_detection,
    headline=_headline,
    sections=detect_sections,
    beside=partial(fields_beside, constants=(MAJORITY, RANDOM)),
    notes=detection_notes,
    facts=detection_facts,
    more=detection_more,
    files=lambda found, folder: write_sentence_scores(found.details, folder),
    spreads=True,
)
