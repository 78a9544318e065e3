"""Find the sentence of a document that does not belong there (INSteD, Shen et al. 2021).

A language model gives each sentence a score, a threshold makes decisions of scores, and validation
documents choose it. Beside the model stand the majority class, a random place, and people.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from coherencegym.eval.outcomes.schema import MODEL
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.report import grid
from coherencegym.eval.tasks.detect.classifier import (
    Classified,
    classify,
    load_for_detection,
    pairs_of,
    with_detector,
)
from coherencegym.eval.tasks.detect.data import DetectionInput, detection_names, read_inputs
from coherencegym.eval.tasks.detect.detect import detections, document_queries
from coherencegym.eval.tasks.detect.detectors import detector_of
from coherencegym.eval.tasks.detect.options import (
    CLASSIFIER,
    COMMAND,
    DetectOptions,
    check_detection,
)
from coherencegym.eval.tasks.detect.probes import PROBE_METRICS
from coherencegym.eval.tasks.detect.report import detect_sections
from coherencegym.eval.tasks.detect.results import (
    DetectDetail,
    detect_detail,
    detection_facts,
    detection_more,
    detection_notes,
    write_sentence_scores,
)
from coherencegym.eval.tasks.detect.scores import (
    AUC,
    DETECTION_METRICS,
    DOCUMENT_ACCURACY,
    MAJORITY,
    RANDOM,
)
from coherencegym.eval.tasks.detect.tables import DocumentTable
from coherencegym.eval.tasks.headline import (
    Headline,
    cells_by_table,
    headline_of_one,
    mean_headline,
)
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.task import Task, TaskContext, fields_beside


def _texts(one: DetectionInput, options: DetectOptions) -> list[Query]:
    detector = detector_of(options.detector)
    return [query for table in one.tables for query in _queries(table, detector)]


def _queries(table: DocumentTable, detector: Any) -> list[Query]:
    names = [document.item_id for document in table.documents]
    return document_queries([one.sentences for one in table.documents], detector, names)


def detect_in_table(
    context: TaskContext, one: DetectionInput, options: DetectOptions, writer: OutcomeWriter
) -> DetectDetail:
    """Score the sentences of documents, those that the threshold is chosen on as well."""
    for table in one.tables:
        if table.key not in context.memo:
            context.memo[table.key] = _scored(context, table, options)
    scores = {table.key: context.memo[table.key].scores for table in one.tables}
    cut = {table.key: context.memo[table.key].cut for table in one.tables}
    return detect_detail(one, scores, options.decisions, writer, cut)


def _scored(context: TaskContext, table: DocumentTable, options: DetectOptions) -> Classified:
    if options.detector == CLASSIFIER:
        step = partial(context.step, table.name)
        return classify(context.model, table.documents, step)
    found = detections(
        context.model.model,
        context.model.tokenizer,
        [document.sentences for document in table.documents],
        options.detector,
        context.reading,
        names=[document.item_id for document in table.documents],
        uses_separator=table.separator,
        **context.running,
    )
    if found.scored is not None:
        context.count(found.scored)
    return Classified(found.scores, 0)


def _costs(
    inputs: Sequence[DetectionInput], options: DetectOptions, config: Any, tokenizer: Any
) -> grid.Grid:
    rows = [
        grid.GridRow((t.name, f"{len(t.documents):,}", f"{len(pairs_of(t.documents)):,}"))
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
