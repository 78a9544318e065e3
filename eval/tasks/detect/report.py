"""From scores of sentences to everything that a run of ``detect`` reports."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from coherencegym.eval.data.filtered import chosen_with, filtered_note
from coherencegym.eval.data.signature import signature, versions
from coherencegym.eval.kinds.items import FAMILY
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.tasks.detect.decisions import DECISIONS, Decision, best_threshold
from coherencegym.eval.tasks.detect.detect import Detected
from coherencegym.eval.tasks.detect.detection_data import DetectionData, is_plain
from coherencegym.eval.tasks.detect.detection_scores import JUDGED, DetectionScore, table_scores
from coherencegym.eval.tasks.detect.document_tables import DocumentTable
from coherencegym.eval.tasks.detect.edited_scores import probe_scores
from coherencegym.eval.tasks.detect.results import DetectionResults, ScoredTable, Threshold
from coherencegym.eval.tasks.score.summary import FEW_ITEMS


def gather(
    data: DetectionData,
    detected: Sequence[Detected],
    model: LoadedModel,
    settings: Mapping[str, Any],
) -> DetectionResults:
    """The results of a run.

    Args:
        data: what was read.
        detected: the scores of each of ``data.tables``, in their order.
        model: that scored them.
        settings: what the user chose.

    Raises:
        EvaluationError: no document that thresholds are chosen on has an intruder.
    """
    tables = [ScoredTable(t, d.scores) for t, d in zip(data.tables, detected, strict=True)]
    read = next((one.scored for one in detected if one.scored is not None), None)
    about = {**model.about(), "context": read.context if read else None}
    datasets = about_datasets(data, tables)
    rendering = next(
        (one.scored.separator for one in detected if one.scored and one.scored.separator), None
    )
    all_settings = {
        **settings,
        "start_of_text": asdict(read.start) if read else None,
        "separator_rendering": asdict(rendering) if rendering else None,
        "added_tokens": None,
        "tie_bits": None,
        "intervals": INTERVALS,
        "versions": versions(about),
    }
    thresholds = chosen_thresholds(data, tables, settings["decision"])
    scores = detection_scores(data, tables, thresholds)
    probes = [
        score
        for scored in tables
        if data.is_tested(scored.table) and scored.table.probes
        for score in probe_scores(
            scored.table,
            scored.scores,
            by_decision(thresholds, scored.table),
        )
    ]
    task = {"task": "detect", "detector": settings["detector"], "threshold": chosen_on(data)}
    return DetectionResults(
        signature=with_task(signature(about, datasets[0], all_settings), task),
        model=about,
        datasets=datasets,
        settings=all_settings,
        thresholds=thresholds,
        scores=scores,
        notes=[*data.source.notes, *model.notes, *notes(data, tables, scores, thresholds, model)],
        tables=tables,
        probes=probes,
    )


def with_task(line: str, task: Mapping[str, str]) -> str:
    """A signature with what only this task has."""
    return "|".join([line, *(f"{key}:{value.replace('|', '/')}" for key, value in task.items())])


def chosen_on(data: DetectionData) -> str:
    """Where thresholds are from, for a signature."""
    if data.threshold is not None:
        return f"{data.threshold:g}"
    places = {
        f"{table.config}/{table.split}"
        if table.source.folder == data.source.folder
        else f"{table.source.name}:{table.config}/{table.split}"
        for table in data.calibration.values()
    }
    return ",".join(sorted(places))


def chosen_thresholds(
    data: DetectionData, tables: Sequence[ScoredTable], decision: Decision | None
) -> list[Threshold]:
    """A threshold for each config that is tested on, and each decision; None: both of them.

    Raises:
        EvaluationError: no document that they are chosen on has an intruder.
    """
    found = []
    for tested in data.tested:
        for name in DECISIONS if decision is None else (decision,):
            if data.threshold is not None:
                found.append(Threshold(tested.config, name, data.threshold))
                continue
            table = data.calibration[tested.config]
            (scored,) = (one for one in tables if one.table.key == table.key)
            pairs = [
                (own, document.intruder_position)
                for own, document in zip(scored.scores, table.documents, strict=True)
                if own[-1] == own[-1] and (is_plain(document) or not table.probes)
            ]
            best = best_threshold([own for own, _ in pairs], [p for _, p in pairs], name)
            found.append(
                Threshold(
                    tested.config,
                    name,
                    best,
                    table.source.name,
                    table.config,
                    table.split,
                    len(pairs),
                )
            )
    return found


def detection_scores(
    data: DetectionData,
    tables: Sequence[ScoredTable],
    thresholds: Sequence[Threshold],
) -> list[DetectionScore]:
    """The scores of all tables of documents that are tested on."""
    found: list[DetectionScore] = []
    for scored in tables:
        if data.is_tested(scored.table) and not scored.table.probes:
            own = by_decision(thresholds, scored.table)
            found += table_scores(scored.table, scored.scores, own)
    return found


def by_decision(thresholds: Sequence[Threshold], table: DocumentTable) -> dict[Decision, float]:
    """The thresholds of a table that is tested on."""
    return {t.decision: t.threshold for t in thresholds if t.config == table.config}


def about_datasets(data: DetectionData, tables: Sequence[ScoredTable]) -> list[dict[str, Any]]:
    """What results record of the datasets, that which is tested on first."""
    by_folder: dict[str, list[ScoredTable]] = {str(data.source.folder): []}
    for scored in tables:
        by_folder.setdefault(str(scored.table.source.folder), []).append(scored)
    found = []
    for own in by_folder.values():
        source = own[0].table.source
        digests = [f"{s.table.config} {s.table.split} {s.table.rows_sha256}" for s in own]
        found.append(
            {
                "name": source.name,
                "suite": source.suite,
                "version": source.version,
                "repo": source.repo,
                "revision": source.revision,
                "commit": source.commit,
                "rows_sha256": hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest(),
                "verified": all(scored.table.verified for scored in own),
                "tables": [_about_table(scored, data) for scored in own],
            }
        )
    return found


def _about_table(scored: ScoredTable, data: DetectionData) -> dict[str, Any]:
    table = scored.table
    return {
        "config": table.config,
        "split": table.split,
        "sha256": table.rows_sha256,
        "items": len(table.documents),
        "intruded": table.intruded,
        "too_long": scored.too_long,
        "tested": data.is_tested(table),
        "headline": "",
        "breakdowns": list(table.breakdowns),
        "families": any(document.extra.get(FAMILY) for document in table.documents),
    }


def notes(
    data: DetectionData,
    tables: Sequence[ScoredTable],
    scores: Sequence[DetectionScore],
    thresholds: Sequence[Threshold],
    model: LoadedModel | None,
) -> Iterator[str]:
    """What a reader of the table must know, one line each."""
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
        yield f"{tested.config}: thresholds {values}: {where}"
        extras = (document.extra for document in tested.documents)
        if model is not None and chosen_with(extras, model.name, model.commit):
            yield filtered_note(tested.config, model.name)
    for scored in tables:
        if scored.too_long:
            yield (
                f"{scored.table.name}: {scored.too_long:,} documents are longer than the model's "
                "context and are left out"
            )
    if any(table.probes for table in data.tested):
        yield (
            "F1 over the sentences of incoherent documents, and the share of coherent documents "
            "that are taken for coherent: without the probe, with it, and the difference"
        )
        return
    yield (
        "document acc.: is there an intruder; exact acc.: every sentence right; F1, precision, "
        "recall, AUC: over sentences but the opening one; place: the highest score is the "
        "intruder's, where there is one"
    )
    if any(score.documents < FEW_ITEMS for score in scores):
        yield f"! fewer than {FEW_ITEMS} documents: read the interval, not the score"
    if any(score.group == JUDGED for score in scores):
        yield "people: on the documents that have their answers; answers with as many votes share"
