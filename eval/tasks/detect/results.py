"""Everything that a run of ``coherencegym detect`` reports: the thresholds, and what they find.

``results.json`` has what that of every task has (signature, model, dataset, settings, scores), and
the thresholds, what they were chosen on, and what probes change; ``outcomes.parquet`` what every
document, and for the AUC every sentence, came to; ``documents.parquet`` the scores of every
sentence of every document that was read, also of those that the thresholds were chosen on. It has
no text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from coherencegym.errors import ConfigError
from coherencegym.eval.data.dataset import chosen_with, filtered_note
from coherencegym.eval.data.notes import Note, caution, detail, of_each, partial_notes
from coherencegym.eval.data.signature import signature, versions
from coherencegym.eval.kinds.documents import NO_INTRUDER
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.detect.data import DetectionData
from coherencegym.eval.tasks.detect.decisions import (
    DECISIONS,
    Decision,
    best_threshold,
    highest,
    was_read,
)
from coherencegym.eval.tasks.detect.detect import Detected
from coherencegym.eval.tasks.detect.probes import (
    PROBE_METRICS,
    ProbeScore,
    add_probe_outcomes,
    probe_scores,
    probe_scores_of,
)
from coherencegym.eval.tasks.detect.scores import (
    AUC,
    DETECTION_METRICS,
    JUDGED,
    DetectionScore,
    add_outcomes,
    scores_of,
    table_scores,
)
from coherencegym.eval.tasks.detect.tables import DocumentTable, is_plain
from coherencegym.eval.tasks.results import TaskResults, about_dataset, about_table, signature_line
from coherencegym.eval.tasks.score.headline import area_headline, floor_notes
from coherencegym.eval.tasks.score.summary import FEW_ITEMS


@dataclass(frozen=True)
class Threshold:
    """A threshold, and the documents that it was chosen on; none where the user chose it."""

    config: str
    decision: Decision
    threshold: float
    dataset: str = ""
    chosen_on: str = ""
    split: str = ""
    documents: int = 0


@dataclass(frozen=True)
class ScoredTable:
    """A table, and the scores of its sentences; see :func:`eval.tasks.detect.detect.detect`."""

    table: DocumentTable
    scores: Sequence[Sequence[float]]

    @property
    def too_long(self) -> int:
        """The number of documents that are longer than the model's context."""
        return sum(not was_read(own) for own in self.scores)


@dataclass(frozen=True)
class DetectionResults(TaskResults):
    """Everything that a run reports.

    Attributes:
        calibration: the datasets that only thresholds were chosen on.
        thresholds: those of each config and decision.
        scores, probes: rows of the tables that were tested on.
        tables: all that were read, with the scores of their sentences.
        tested: those that were tested on.
    """

    calibration: Sequence[Mapping[str, Any]]
    thresholds: Sequence[Threshold]
    scores: Sequence[DetectionScore]
    tables: Sequence[ScoredTable]
    tested: Sequence[ScoredTable]
    probes: Sequence[ProbeScore]

    @property
    def rows(self) -> list[Score]:
        """The scores in the form that every task has."""
        too_long = {one.table.config: one.too_long for one in self.tested}
        return [*scores_of(self.scores, too_long), *probe_scores_of(self.probes)]

    @cached_property
    def outcomes(self) -> OutcomeTables:
        """The outcomes of the tables that were tested on."""
        writer = OutcomeWriter()
        for one in self.tested:
            add = add_probe_outcomes if one.table.probes else add_outcomes
            add(writer, one.table, one.scores, _of(self.thresholds, one.table))
        return writer.tables()

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics of the outcomes."""
        return *DETECTION_METRICS, *PROBE_METRICS

    def more(self) -> dict[str, Any]:
        """The keys of ``results.json`` that only this task has."""
        return {
            "calibration": list(self.calibration),
            "thresholds": [asdict(threshold) for threshold in self.thresholds],
            "probes": [asdict(probe) for probe in self.probes],
        }


def gather_detection(
    data: DetectionData,
    detected: Sequence[Detected],
    model: LoadedModel,
    settings: Mapping[str, Any],
) -> DetectionResults:
    """The results of a run, from the scores of each of ``data.tables`` and what the user chose.

    Raises:
        EvaluationError: no document that thresholds are chosen on has an intruder.
    """
    read = [one.scored for one in detected if one.scored is not None]
    about = {**model.about(), "context": read[0].context if read else None}
    rendering = next((one.separator for one in read if one.separator), None)
    all_settings = {
        **settings,
        "start_of_text": asdict(read[0].start) if read else None,
        "separator_rendering": asdict(rendering) if rendering else None,
        "added_tokens": None,
        "tie_bits": None,
        "intervals": INTERVALS,
        "versions": versions(about),
    }
    own = {"task": "detect", "detector": settings["detector"], "threshold": _chosen_on(data)}

    def signed(dataset: Mapping[str, Any]) -> str:
        return f"{signature(about, dataset, all_settings)}|{signature_line(own)}"

    scores = [one.scores for one in detected]
    return judged("detect", data, scores, about, all_settings, signed, model.lines(), model)


def judged(
    task: str,
    data: DetectionData,
    scores: Sequence[Sequence[Sequence[float]]],
    about: Mapping[str, Any],
    settings: Mapping[str, Any],
    signed: Callable[[Mapping[str, Any]], str],
    more_notes: Iterable[Note],
    model: LoadedModel | None = None,
) -> DetectionResults:
    """The results of scores, whoever gave them: the model of a run, or a trained one.

    Args:
        task: its name.
        data: the documents.
        scores: those of the sentences of the documents of each of ``data.tables``.
        about, settings: model and settings for ``results.json``.
        signed: gives the signature, from what results record of the dataset.
        more_notes: lines about the model, or its training.
        model: one that rows may have been chosen with.

    Raises:
        EvaluationError: see :func:`gather_detection`.
    """
    read = [ScoredTable(*pair) for pair in zip(data.tables, scores, strict=True)]
    chosen, unasked = of_each(
        data.tested,
        lambda table: (table, list(_thresholds(data, table, read, settings["decision"]))),
    )
    data = data.only([table for table, _ in chosen], unasked)
    thresholds = [threshold for _, own in chosen for threshold in own]
    tables = [one for one in read if one.table.key in {table.key for table in data.tables}]
    tested = [one for one in tables if data.is_tested(one.table)]
    found: list[DetectionScore] = []
    probes: list[ProbeScore] = []
    for one in tested:
        given = one.table, one.scores, _of(thresholds, one.table)
        if one.table.probes:
            probes += probe_scores(*given)
        else:
            found += table_scores(*given)
    dataset, *others = _datasets(data, tables)
    both = [(kept, [t for t in kept["tables"] if not t["tested"]]) for kept in (dataset, *others)]
    made = DetectionResults(
        signature=signed(dataset),
        model=about,
        dataset={**dataset, "tables": [t for t in dataset["tables"] if t["tested"]]},
        settings=settings,
        notes=[
            *data.source.notes,
            *partial_notes(
                data.source.manifest,
                [(table.config, len(table.documents)) for table in data.tested],
                settings.get("max_items"),
            ),
            *more_notes,
            *_threshold_notes(data, thresholds, model),
            *_table_notes(data, tables, found),
        ],
        calibration=[{**kept, "tables": unseen} for kept, unseen in both if unseen],
        thresholds=thresholds,
        scores=found,
        tables=tables,
        tested=tested,
        probes=probes,
        task=task,
    )
    headline = area_headline(made.outcomes, AUC)
    return replace(made, headline=headline, notes=[*made.notes, *floor_notes(headline)])


def _chosen_on(data: DetectionData) -> str:
    """The tables that thresholds are from, for a signature; or the user's threshold."""
    if data.threshold is not None:
        return f"{data.threshold:g}"
    places = set()
    for table in data.calibration.values():
        place = f"{table.config}/{table.split}"
        is_here = table.source.folder == data.source.folder
        places.add(place if is_here else f"{table.source.name}:{place}")
    return ",".join(sorted(places))


def _thresholds(
    data: DetectionData,
    tested: DocumentTable,
    tables: Sequence[ScoredTable],
    decision: Decision | None,
) -> Iterator[Threshold]:
    """The thresholds of a config that is tested on, of each decision; None: both of them."""
    for name in DECISIONS if decision is None else (decision,):
        if data.threshold is not None:
            yield Threshold(tested.config, name, data.threshold)
            continue
        table = data.calibration[tested.config]
        (scored,) = (one for one in tables if one.table.key == table.key)
        pairs = [
            (own, document.intruder_position)
            for own, document in zip(scored.scores, table.documents, strict=True)
            if was_read(own) and (is_plain(document) or not table.probes)
        ]
        try:
            best = best_threshold([own for own, _ in pairs], [p for _, p in pairs], name)
        except ConfigError as error:
            raise ConfigError(f"{table.name}: {error}") from None
        chosen_on = table.source.name, table.config, table.split, len(pairs)
        yield Threshold(tested.config, name, best, *chosen_on)


def _of(thresholds: Iterable[Threshold], table: DocumentTable) -> dict[Decision, float]:
    """The thresholds of a table that is tested on."""
    return {t.decision: t.threshold for t in thresholds if t.config == table.config}


def _datasets(data: DetectionData, tables: Sequence[ScoredTable]) -> Iterator[dict[str, Any]]:
    """The datasets as results record them, that which is tested on first."""
    by_folder: dict[str, list[ScoredTable]] = {str(data.source.folder): []}
    for scored in tables:
        by_folder.setdefault(str(scored.table.source.folder), []).append(scored)
    for own in by_folder.values():
        digests = (f"{s.table.config} {s.table.split} {s.table.rows_sha256}" for s in own)
        about = [
            about_table(
                scored.table,
                scored.table.documents,
                intruded=scored.table.intruded,
                too_long=scored.too_long,
                tested=data.is_tested(scored.table),
            )
            for scored in own
        ]
        verified = all(scored.table.verified for scored in own)
        yield about_dataset(own[0].table.source, sorted(digests), verified, about)


def _threshold_notes(
    data: DetectionData, thresholds: Sequence[Threshold], model: LoadedModel | None
) -> Iterator[Note]:
    """The thresholds of each config, and that its rows were chosen with the model."""
    for tested in data.tested:
        own = [t for t in thresholds if t.config == tested.config]
        values = ", ".join(f"{t.decision} {t.threshold:.4g}" for t in own)
        where = "as was asked for"
        if own and own[0].chosen_on:
            other = f"{own[0].dataset}, " if own[0].dataset != data.source.name else ""
            where = (
                f"the best F1 on {own[0].documents:,} documents of {other}{own[0].chosen_on} "
                f"({own[0].split})"
            )
        yield detail(f"{tested.config}: thresholds {values}: {where}")
        extras = (document.extra for document in tested.documents)
        if model is not None and chosen_with(extras, model.name, model.commit):
            yield filtered_note(tested.config, model.name)


def _table_notes(
    data: DetectionData, tables: Sequence[ScoredTable], scores: Sequence[DetectionScore]
) -> Iterator[Note]:
    """Lines that a reader of the table must know."""
    for scored in tables:
        if scored.too_long:
            yield caution(
                f"{scored.table.name}: {scored.too_long:,} documents are longer than the model's "
                "context and are left out"
            )
    if any(table.probes for table in data.tested):
        yield detail(
            "F1 over the sentences of incoherent documents, and the share of coherent documents "
            "that are taken for coherent: without the probe, with it, and the difference"
        )
        return
    yield detail(
        "document acc.: is there an intruder; exact acc.: every sentence right; F1, precision, "
        "recall, AUC: over sentences but the opening one; place: the highest score is the "
        "intruder's, where there is one"
    )
    if any(score.documents < FEW_ITEMS for score in scores):
        yield caution(f"! fewer than {FEW_ITEMS} documents: read the interval, not the score")
    if any(score.group == JUDGED for score in scores):
        yield detail(
            "people: on the documents that have their answers; answers with as many votes share"
        )


def document_rows(results: DetectionResults) -> Iterator[dict[str, Any]]:
    """Rows of ``documents.parquet``: every document, with a score (bits per token) by sentence.

    ``scores`` has null for the opening sentence, and is null for a document that is too long;
    ``highest`` is the place of the highest score. What is an intruder follows from these and the
    thresholds.
    """
    for scored in results.tables:
        table = scored.table
        for document, own in zip(table.documents, scored.scores, strict=True):
            read = was_read(own)
            yield {
                "dataset": table.source.name,
                "config": table.config,
                "split": table.split,
                "item_id": document.item_id,
                "intruder_position": document.intruder_position,
                "scores": [None, *own[1:]] if read else None,
                "highest": highest(own) if read else NO_INTRUDER,
                "too_long": not read,
            }


def document_schema() -> Any:
    """The Arrow schema of ``documents.parquet``."""
    import pyarrow as pa

    texts = {name: pa.string() for name in ("dataset", "config", "split", "item_id")}
    scores = {"intruder_position": pa.int32(), "scores": pa.list_(pa.float64())}
    return pa.schema({**texts, **scores, "highest": pa.int32(), "too_long": pa.bool_()})
