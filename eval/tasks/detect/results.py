"""What a run of ``coherencegym detect`` has beside its outcomes: thresholds, scores of sentences.

``results.json`` has the thresholds, what they were chosen on, and what probes change;
``documents.parquet`` the scores of every sentence of every document that was read, also of those
that the thresholds were chosen on. It has no text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coherencegym.errors import ConfigError
from coherencegym.eval.data.dataset import chosen_with, filtered_note
from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.kinds.documents import NO_INTRUDER
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.tasks.detect.scores import (
    DECISIONS,
    VOTE,
    Decision,
    add_outcomes,
    add_probe_outcomes,
    best_threshold,
    highest,
    probe_differences,
)
from coherencegym.eval.tasks.detect.tables import (
    DetectionInput,
    ScoredTable,
    TableKey,
    is_plain,
    was_read,
    why_left_out,
)
from coherencegym.eval.tasks.results import Results
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
