"""Find the sentence of a document that does not belong there (INSteD, Shen et al. 2021).

A language model gives each sentence a score, a threshold makes decisions of scores, and validation
documents choose it. Beside the model stand the majority class, a random place, and people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from coherencegym.errors import ConfigError
from coherencegym.eval.data.dataset import FILTER_MODEL, filter_notes
from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection, TextLists
from coherencegym.eval.report.score_table import score_table
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.detect.detectors import (
    classify,
    detections,
    load_for_detection,
    with_detector,
)
from coherencegym.eval.tasks.detect.documents import (
    AUC,
    DECISIONS,
    DETECTION_METRICS,
    DOCUMENT_ACCURACY,
    MAJORITY,
    PROBE_METRICS,
    RANDOM,
    VOTE,
    Decision,
    DocumentTable,
    add_outcomes,
    add_probe_outcomes,
    best_threshold,
    detection_names,
    highest,
    intruders,
    is_plain,
    probe_differences,
    read_inputs,
    was_read,
    why_left_out,
)
from coherencegym.eval.tasks.detect.options import (
    CLASSIFIER,
    COMMAND,
    DetectOptions,
    check_detection,
)
from coherencegym.eval.tasks.headline import Headline, headline_of_one, mean_headline
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.task import Task, TaskContext, fields_beside


@dataclass(frozen=True)
class DetectDetail:
    """A table that was tested on.

    Attributes:
        table: the documents.
        scores: those of their sentences (:func:`eval.tasks.detect.detectors.detections`).
        cut: the number of pairs that a classifier read without their end.
        thresholds: that of each decision.
        chosen_on: the number of documents that they were chosen on; 0 where the user chose one.
    """

    table: DocumentTable
    scores: Sequence[Sequence[float]]
    cut: int
    thresholds: Mapping[Decision, float]
    chosen_on: int

    @property
    def left_out(self) -> Counter[str]:
        """The number of documents that are left out, by reason."""
        return Counter(why_left_out(own) for own in self.scores if not was_read(own))


def detect_in_table(
    context: TaskContext, table: DocumentTable, options: DetectOptions, writer: OutcomeWriter
) -> DetectDetail:
    """Score the sentences of documents, those that the thresholds are chosen on as well."""
    for own in table.tables:
        if own.key not in context.memo:
            context.memo[own.key] = _scored(context, own, options)
    scores, cut = context.memo[table.key]
    thresholds, number = _thresholds(table.calibration, context.memo, options)
    add = add_probe_outcomes if table.probes else add_outcomes
    add(writer, table, scores, thresholds)
    return DetectDetail(table, scores, cut, thresholds, number)


def _scored(
    context: TaskContext, table: DocumentTable, options: DetectOptions
) -> tuple[list[list[float]], int]:
    if options.detector == CLASSIFIER:
        return classify(context.model, table, partial(context.step, table.name))
    names = [document.item_id for document in table.rows]
    texts = [document.sentences for document in table.rows]
    return detections(context, texts, options.detector, names, table), 0


def _thresholds(
    table: DocumentTable | None, scored: Mapping[Any, Any], options: DetectOptions
) -> tuple[dict[Decision, float], int]:
    # And the number of documents that they are chosen on.
    if table is None:
        assert options.threshold is not None
        return dict.fromkeys(DECISIONS, options.threshold), 0
    pairs = [
        (own, document.intruder_position)
        for own, document in zip(scored[table.key][0], table.rows, strict=True)
        if was_read(own) and is_plain(document)
    ]
    known = [own for own, _ in pairs], [position for _, position in pairs]
    try:
        return {name: best_threshold(*known, name)[0] for name in DECISIONS}, len(pairs)
    except ConfigError as error:
        raise ConfigError(f"{table.name}: {error}") from None


def detection_facts(table: DocumentTable, found: DetectDetail) -> dict[str, Any]:
    """The facts of a table that was tested on."""
    left_out = {name: found.left_out[name] for name in ("too_long", "crossing")}
    return {"intruded": table.intruded, **left_out, "tested": True}


def detection_more(found: Results) -> dict[str, Any]:
    """The thresholds with the documents that they were chosen on, and what probes change."""
    probed = any(table.probes for table in found.inputs)
    return {
        "thresholds": [record for one in found.details for record in _records(one)],
        "probes": list(probe_differences(found.outcomes)) if probed else [],
    }


def _records(one: DetectDetail) -> Iterator[dict[str, Any]]:
    on = one.table.calibration
    for decision, threshold in one.thresholds.items():
        yield {
            "config": one.table.config,
            "decision": decision,
            "threshold": threshold,
            "dataset": on.source.name if on else "",
            "commit": (on.source.commit or "") if on else "",
            "chosen_on": on.config if on else "",
            "split": on.split if on else "",
            "sha256": on.rows_sha256 if on else "",
            "documents": one.chosen_on,
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
        tested, on = each.table, each.table.calibration
        values = ", ".join(f"{name} {value:.4g}" for name, value in each.thresholds.items())
        where = "set by --threshold"
        if on is not None:
            other = f"{on.source.name}, " if on.source.name != tested.source.name else ""
            where = f"chosen for the best F1 on {each.chosen_on:,} documents of {other}{on.name}"
        yield detail(f"{tested.config}: thresholds {values}: {where}")
        chosen = (document.extra.get(FILTER_MODEL) for document in tested.rows)
        yield from filter_notes(tested.config, chosen, model)


def _table_notes(details: Sequence[DetectDetail]) -> Iterator[Note]:
    for each in details:
        name, left = each.table.name, each.left_out
        for number, what in (
            (left["too_long"], "documents are longer than the model's context and are left out"),
            (left["crossing"], "documents are left out: a token has characters of two sentences"),
            (each.cut, "pairs of a sentence and its document are cut to what the classifier reads"),
        ):
            if number:
                yield caution(f"{name}: {number:,} {what}")
        if not each.table.located:
            yield caution(
                f"{name}: the position of the intruder is not known for all documents, so only "
                "document accuracy is measured"
            )
    if any(one.table.probes for one in details):
        yield detail(
            "F1: over the sentences of incoherent documents; coherent: share of coherent documents "
            "that are predicted as coherent"
        )
        return
    yield detail(
        "document accuracy: share of documents whose decision (an intruder, or none) is right; "
        "exact accuracy: share of documents with every sentence right; F1, precision, recall, AUC: "
        "over all sentences except the opening one; place: share of intruded documents whose "
        "intruder has the highest score"
    )


#: Documents of each table that are listed.
_MOST_DOCUMENTS = 200


def detect_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    yield ReportSection("Metrics", score_table(found.rows))
    if found.more["probes"]:
        yield ReportSection("Differences by a probe", probe_grid(found))
    yield ReportSection(
        "Documents",
        TextLists(tuple(map(_listed, found.details))),
        "Each sentence has a score from the detector that the signature names; a higher score "
        "means more like an intruder. The opening sentence has no score.",
    )


def _listed(one: DetectDetail) -> tuple[str, str, tuple[grid.Grid, ...]]:
    shown = one.table.rows[:_MOST_DOCUMENTS]
    tables = (
        grid.of_texts(document.item_id, list(_sentences(one, number)))
        for number, document in enumerate(shown)
    )
    return one.table.name, f"{len(shown):,} of {len(one.table.rows):,} documents", tuple(tables)


def _sentences(scored: DetectDetail, number: int) -> Iterator[grid.GridRow]:
    # Scores are in bits per token, none for the opening sentence.
    document, scores = scored.table.rows[number], scored.scores[number]
    why = "" if was_read(scores) else why_left_out(scores).replace("_", " ")
    for place, text in enumerate(document.sentences):
        marks = ["intruder"] if place == document.intruder_position else []
        if not why:
            marks += ["highest score"] * (place == highest(scores))
            marks += [
                f"predicted by {decision}"
                for decision, threshold in scored.thresholds.items()
                if place in intruders(scores, threshold, decision)
            ]
        score = why or f"{scores[place]:+.3f}"
        cells = text, score if place else "", ", ".join(marks)
        yield grid.GridRow(cells, bold=place == document.intruder_position)


def probe_grid(found: Results) -> grid.Grid:
    """What a probe changes, in points."""
    changes = [
        Score(
            **{name: one[name] for name in ("config", "split", "metric", "n")},
            **{"group": "", "level": "all", "system": one["decision"], "score": one["value"]},
            **{"ci_low": one["low"], "ci_high": one["high"]},
        )
        for one in found.more["probes"]
    ]

    def cell(score: Score) -> str:
        return grid.share_with_interval(score.score, score.ci_low, score.ci_high, "+.1f")

    return score_table(changes, cell, ": change in points")


def _headline(found: Results) -> Headline | None:
    tables = {(table.config, table.split) for table in found.inputs}
    head = mean_headline(found.outcomes, found.rows, found.inputs, AUC)
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
    check=check_detection,
    headline=_headline,
    sections=detect_sections,
    beside=partial(fields_beside, constants=(MAJORITY, RANDOM)),
    notes=detection_notes,
    facts=detection_facts,
    more=detection_more,
    spreads=True,
)
