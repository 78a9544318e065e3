"""Find the sentence of a document that does not belong there (INSteD, Shen et al. 2021).

A language model gives each sentence a score, a threshold makes decisions of scores, and validation
documents choose it. Beside the model stand the majority class, a random place, and people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from coherencegym.errors import ConfigError
from coherencegym.eval.data.dataset import chosen_with, filtered_note
from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.kinds.documents import NO_INTRUDER
from coherencegym.eval.outcomes.schema import MODEL
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection, Strips, TextLists
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, by_line
from coherencegym.eval.tasks.detect.classifier import (
    classify,
    load_for_detection,
    with_detector,
)
from coherencegym.eval.tasks.detect.detect import detections
from coherencegym.eval.tasks.detect.options import (
    CLASSIFIER,
    COMMAND,
    DetectOptions,
    check_detection,
)
from coherencegym.eval.tasks.detect.scores import (
    ANNOTATOR,
    AUC,
    DECISIONS,
    DETECTION_METRICS,
    DOCUMENT_ACCURACY,
    MAJORITY,
    NOT_JUDGED,
    PLACE,
    PROBE_METRICS,
    RANDOM,
    VOTE,
    Decision,
    add_outcomes,
    add_probe_outcomes,
    best_threshold,
    highest,
    intruders,
    probe_differences,
)
from coherencegym.eval.tasks.detect.tables import (
    DetectionInput,
    DocumentTable,
    ScoredTable,
    TableKey,
    detection_names,
    is_plain,
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
from coherencegym.files.parquet_writing import write_rows


@dataclass(frozen=True)
class Threshold:
    """A threshold, and the documents that it was chosen on; none where the user chose it.

    Attributes:
        config, decision, threshold: the tested config, and the threshold of a decision there.
        dataset, commit, chosen_on, split, sha256: those of the table that it was chosen on.
        documents: how many of its documents were read.
    """

    config: str
    decision: Decision
    threshold: float
    dataset: str = ""
    commit: str = ""
    chosen_on: str = ""
    split: str = ""
    sha256: str = ""
    documents: int = 0


@dataclass(frozen=True)
class DetectDetail:
    """A table that was tested on.

    Attributes:
        tested: the documents, with the scores of their sentences.
        calibration: those that the threshold was chosen on; None where the user chose it.
        thresholds: those of each decision.
    """

    tested: ScoredTable
    calibration: ScoredTable | None
    thresholds: tuple[Threshold, ...]


def detect_detail(
    one: DetectionInput,
    scored: Mapping[TableKey, ScoredTable],
    writer: OutcomeWriter,
) -> DetectDetail:
    """The thresholds of a table whose sentences have scores; its outcomes are added."""
    tested = scored[one.table.key]
    on = None if one.calibration is None else scored[one.calibration.key]
    thresholds = tuple(_threshold(one, on, name) for name in DECISIONS)
    add = add_probe_outcomes if one.table.probes else add_outcomes
    add(writer, one.table, tested.scores, {own.decision: own.threshold for own in thresholds})
    return DetectDetail(tested, on, thresholds)


def _threshold(one: DetectionInput, on: ScoredTable | None, name: Decision) -> Threshold:
    if on is None:
        assert one.threshold is not None
        return Threshold(one.table.config, name, one.threshold)
    table = on.table
    pairs = [
        (own, document.intruder_position)
        for own, document in zip(on.scores, table.rows, strict=True)
        if was_read(own) and (is_plain(document) or not table.probes)
    ]
    try:
        best = best_threshold([own for own, _ in pairs], [p for _, p in pairs], name)
    except ConfigError as error:
        raise ConfigError(f"{table.name}: {error}") from None
    source = table.source.name, table.source.commit or ""
    chosen_on = *source, table.config, table.split, table.rows_sha256, len(pairs)
    return Threshold(one.table.config, name, best, *chosen_on)


def detection_facts(one: DetectionInput, found: DetectDetail) -> dict[str, Any]:
    """The facts of a table that was tested on."""
    left_out = {name: found.tested.left_out[name] for name in ("too_long", "crossing")}
    return {"intruded": one.table.intruded, **left_out, "tested": True}


def detection_more(found: Results) -> dict[str, Any]:
    """The thresholds, and what probes change."""
    names = ("config", "split", "decision")
    probed = any(one.tested.table.probes for one in found.details)
    return {
        "thresholds": [asdict(own) for one in found.details for own in one.thresholds],
        "probes": [
            {**dict(zip(names, line, strict=True)), "metric": metric, **asdict(difference)}
            for line, own in (probe_differences(found.outcomes).items() if probed else ())
            for metric, difference in own.items()
        ],
    }


def detection_notes(found: Results) -> Iterator[Note]:
    """Lines that a reader of the table must know."""
    yield from _threshold_notes(found.details, found.model)
    yield from _table_notes(found.details)
    if any(row.system == VOTE for row in found.rows):
        yield detail(
            "people: majority vote, on the documents that people answered; ties count in equal "
            "shares"
        )


def _threshold_notes(details: Sequence[DetectDetail], model: Mapping[str, Any]) -> Iterator[Note]:
    for each in details:
        tested, own = each.tested.table, each.thresholds
        values = ", ".join(f"{t.decision} {t.threshold:.4g}" for t in own)
        where = "set by --threshold"
        if own and own[0].chosen_on:
            other = f"{own[0].dataset}, " if own[0].dataset != tested.source.name else ""
            where = (
                f"chosen for the best F1 on {own[0].documents:,} documents of "
                f"{other}{own[0].chosen_on} ({own[0].split})"
            )
        yield detail(f"{tested.config}: thresholds {values}: {where}")
        extras = (document.extra for document in tested.rows)
        if chosen_with(extras, model["name"], model["commit"]):
            yield filtered_note(tested.config, model["name"])


def _table_notes(details: Sequence[DetectDetail]) -> Iterator[Note]:
    for scored in scored_tables(details):
        if too_long := scored.left_out["too_long"]:
            yield caution(
                f"{scored.table.name}: {too_long:,} documents are longer than the model's "
                "context and are left out"
            )
        if crossing := scored.left_out["crossing"]:
            yield caution(
                f"{scored.table.name}: {crossing:,} documents are left out: a token has characters "
                "of two sentences"
            )
        if scored.cut:
            yield caution(
                f"{scored.table.name}: {scored.cut:,} pairs of a sentence and its document are cut "
                "to what the classifier reads"
            )
    if any(one.tested.table.probes for one in details):
        yield detail(
            "F1: over the sentences of incoherent documents; right: share of coherent documents "
            "that are predicted as coherent; both without the probe, with the probe, and as a "
            "difference"
        )
        return
    for one in details:
        if not one.tested.table.located:
            yield caution(
                f"{one.tested.table.name}: the position of the intruder is not known for all "
                "documents, so only document acc. is measured"
            )
    yield detail(
        "document acc.: share of documents whose decision (an intruder, or none) is right; exact "
        "acc.: share of documents with every sentence right; F1, precision, recall, AUC: over all "
        "sentences except the opening one; place: share of intruded documents whose intruder has "
        "the highest score"
    )


def scored_tables(details: Sequence[DetectDetail]) -> list[ScoredTable]:
    """All tables that were read, each once: those that thresholds are chosen on first."""
    chosen_on = [one.calibration for one in details if one.calibration is not None]
    every = [*chosen_on, *(one.tested for one in details)]
    return list({one.table.key: one for one in every}.values())


def document_rows(details: Sequence[DetectDetail]) -> Iterator[dict[str, Any]]:
    """Rows of ``documents.parquet``: every document, with a score (bits per token) by sentence.

    ``scores`` has null for the opening sentence, and is null for a document that is left out;
    ``highest`` is the place of the highest score. What is an intruder follows from these and the
    thresholds.
    """
    for scored in scored_tables(details):
        table = scored.table
        for document, own in zip(table.rows, scored.scores, strict=True):
            read = was_read(own)
            yield {
                "dataset": table.source.name,
                "config": table.config,
                "split": table.split,
                "item_id": document.item_id,
                "intruder_position": document.intruder_position,
                "scores": [None, *own[1:]] if read else None,
                "highest": highest(own) if read else NO_INTRUDER,
                "too_long": not read and why_left_out(own) == "too_long",
            }


def write_sentence_scores(details: Sequence[DetectDetail], folder: Path) -> None:
    """Write the scores of sentences into a folder that is there."""
    import pyarrow as pa

    texts = {name: pa.string() for name in ("dataset", "config", "split", "item_id")}
    scores = {"intruder_position": pa.int32(), "scores": pa.list_(pa.float64())}
    schema = pa.schema({**texts, **scores, "highest": pa.int32(), "too_long": pa.bool_()})
    write_rows(document_rows(details), schema, folder / "documents.parquet")


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
        TextLists(tuple(map(_listed, details))),
        "Each sentence has a score from the detector that the signature names; a higher score "
        "means more like an intruder. The opening sentence has no score.",
    )


def _listed(one: DetectDetail) -> tuple[str, str, tuple[grid.Grid, ...]]:
    table = one.tested.table
    predicted = [(own.decision, own.threshold) for own in one.thresholds]
    shown = table.rows[:_MOST_DOCUMENTS]
    tables = (
        grid.of_texts(document.item_id, list(_sentences(one.tested, number, predicted)))
        for number, document in enumerate(shown)
    )
    return table.name, f"{len(shown):,} of {len(table.rows):,} documents", tuple(tables)


def _sentences(
    scored: ScoredTable, number: int, predicted: Sequence[tuple[Decision, float]]
) -> Iterator[grid.GridRow]:
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
        cells = text, score if place else "", ", ".join(marks)
        yield grid.GridRow(cells, bold=place == document.intruder_position)


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
    reads=lambda options: options.detector != CLASSIFIER,
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
