"""What detection came to in the form that every task has: outcomes of units, and scores of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.statistics.measures import Measure
from coherencegym.eval.statistics.outcomes import Outcome
from coherencegym.eval.statistics.scores import REFERENCE, Score
from coherencegym.eval.tasks.detect.decisions import DECISIONS, Decision, highest, intruders
from coherencegym.eval.tasks.detect.detection_scores import (
    MODEL,
    VOTE,
    DetectionScore,
    groups_of,
)
from coherencegym.eval.tasks.detect.document_tables import DocumentTable, cluster
from coherencegym.eval.tasks.detect.edited_scores import ProbeScore, in_both
from coherencegym.eval.tasks.detect.edited_tables import (
    CONDITION,
    INTRUDER,
    INTRUDER_PROBE,
    ITEM,
    ORIGINAL,
    ORIGINAL_PROBE,
)
from coherencegym.eval.tasks.detect.tallies import Tally, tally

#: What the measures of a score are called, by their fields.
NAMES = {
    "document_accuracy": "document accuracy",
    "exact_accuracy": "exact accuracy",
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "auc": "AUC",
    "place": "place",
}
#: Measures of probes, by the fields of their scores.
PROBE_NAMES = {
    "f1": "F1 without probe",
    "f1_probe": "F1 with probe",
    "coherent": "coherent without probe",
    "coherent_probe": "coherent with probe",
}
TOO_LONG = "too_long"


def scores_of(scores: Sequence[DetectionScore], table: Mapping[str, int]) -> Iterator[Score]:
    """One score for each measure of each row, with chance, and with people where they judged.

    Args:
        scores: rows of tables.
        table: by config, how many documents are too long.
    """
    by_judge = {(s.config, s.split, s.group, s.judge): s for s in scores}
    for row in scores:
        people = by_judge.get((row.config, row.split, row.group, VOTE))
        own = row.judge == MODEL or row.judge in DECISIONS
        for name, measure in NAMES.items():
            found: Measure | None = getattr(row, name)
            if found is None:
                continue
            human = getattr(people, name) if own and people else None
            too_long = table.get(row.config, 0)
            yield Score(
                config=row.config,
                split=row.split,
                measure=measure,
                judge="" if row.judge == MODEL else row.judge,
                group=row.group,
                level=_level(row.group) if own else REFERENCE,
                **_measured(found),
                chance=row.chance.get(name),
                **_human(human),
                counts={
                    "documents": row.documents,
                    "intruded": row.intruded,
                    **({TOO_LONG: too_long} if too_long else {}),
                },
            )


def probe_scores_of(probes: Sequence[ProbeScore]) -> Iterator[Score]:
    """One score for each side of each probe."""
    for row in probes:
        for name, measure in PROBE_NAMES.items():
            yield Score(
                config=row.config,
                split=row.split,
                measure=measure,
                judge=row.decision,
                group="",
                level="all",
                **_measured(getattr(row, name)),
                chance=None,
                counts={"documents": row.documents, "coherent": row.coherent_documents},
            )


def _level(group: str) -> str:
    if not group:
        return "all"
    return "column" if "=" in group else "group"


def _measured(measure: Measure) -> dict[str, Any]:
    return {
        "n": measure.n,
        "score": measure.value,
        "ci_low": measure.low,
        "ci_high": measure.high,
        "ci_method": measure.method,
    }


def _human(measure: Measure | None) -> dict[str, Any]:
    if measure is None or measure.value is None:
        return {}
    return {
        "human_score": measure.value,
        "human_ci_low": measure.low,
        "human_ci_high": measure.high,
        "human_n": measure.n,
    }


def outcomes_of(
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> Iterator[Outcome]:
    """The outcomes of a table that was tested on, of documents and, for the AUC, of sentences.

    Args:
        table: its documents, at least one.
        scores: of each document, of each sentence; NaN in those that are left out.
        thresholds: of each decision.
    """
    if table.probes:
        yield from _probe_outcomes(table, scores, thresholds)
        return
    groups = groups_of(table, range(len(table.documents)))
    for number, (document, own) in enumerate(zip(table.documents, scores, strict=True)):
        about = _about(table, document) | {
            "groups": tuple(name for name, members in groups if name and number in members)
        }
        if own[-1] != own[-1]:
            yield from _left_out(document, about, thresholds)
            continue
        position = document.intruder_position
        for place in range(1, len(own)):
            yield Outcome(
                **(about | {"unit_id": f"{document.item_id}#{place + 1}"}),
                measure=NAMES["auc"],
                judge="",
                statistic="ranks",
                value=own[place],
                truth=place == position,
            )
        if document.intruded:
            hit = float(highest(own) == position)
            yield Outcome(**about, measure=NAMES["place"], judge="", statistic="share", value=hit)
        for decision, threshold in thresholds.items():
            came = tally(intruders(own, threshold, decision), position)
            yield from _decided(came, about, decision)


def _about(table: DocumentTable, document: Document) -> dict[str, Any]:
    return {
        "config": table.config,
        "split": table.split,
        "unit_id": document.item_id,
        "discourse_id": document.discourse_id,
        "cluster": cluster(document),
    }


def _left_out(
    document: Document, about: Mapping[str, Any], thresholds: Mapping[Decision, float]
) -> Iterator[Outcome]:
    """A document that is too long, under every measure."""
    for place in range(1, len(document.sentences)):
        yield Outcome(
            **{**about, "unit_id": f"{document.item_id}#{place + 1}"},
            measure=NAMES["auc"],
            judge="",
            statistic="ranks",
            value=None,
            truth=place == document.intruder_position,
            reason=TOO_LONG,
        )
    if document.intruded:
        yield Outcome(
            **about,
            measure=NAMES["place"],
            judge="",
            statistic="share",
            value=None,
            reason=TOO_LONG,
        )
    for decision in thresholds:
        yield from _decided(None, about, decision)


def _decided(came: Tally | None, about: Mapping[str, Any], judge: str) -> Iterator[Outcome]:
    """What a decision on a document came to, None: too long, under the measures of decisions."""
    parts: dict[str, tuple[float, float]] = {}
    if came is not None:
        parts = {
            "document_accuracy": (came.document, 1.0),
            "exact_accuracy": (came.exact, 1.0),
            "f1": _f1_parts(came),
            "precision": (came.hits, came.hits + came.false_alarms),
            "recall": (came.hits, came.hits + came.misses),
        }
    for name in ("document_accuracy", "exact_accuracy", "f1", "precision", "recall"):
        value, whole = parts.get(name, (None, 1.0))
        yield Outcome(
            **about,
            measure=NAMES[name],
            judge=judge,
            statistic="share" if name.endswith("accuracy") else "ratio",
            value=value,
            whole=whole,
            reason=TOO_LONG if came is None else "",
        )


def _f1_parts(came: Tally) -> tuple[float, float]:
    return 2 * came.hits, 2 * came.hits + came.false_alarms + came.misses


#: The conditions of a probe's two sides, without and with it, and their measures.
_SIDES = (
    (INTRUDER, INTRUDER_PROBE, "f1", "f1_probe"),
    (ORIGINAL, ORIGINAL_PROBE, "coherent", "coherent_probe"),
)


def _probe_outcomes(
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> Iterator[Outcome]:
    """The outcomes of documents that are there without and with the probe."""
    read: dict[str, dict[str, tuple[Document, Sequence[float]]]] = {}
    for document, own in zip(table.documents, scores, strict=True):
        if own[-1] == own[-1]:
            by_item = read.setdefault(str(document.extra[CONDITION]), {})
            by_item[str(document.extra[ITEM])] = document, own
    for decision, threshold in thresholds.items():
        for plain, edited, *names in _SIDES:
            for item in in_both(read, plain, edited):
                for condition, name in zip((plain, edited), names, strict=True):
                    document, own = read[condition][item]
                    called = intruders(own, threshold, decision)
                    came = tally(called, document.intruder_position)
                    is_f1 = condition in (INTRUDER, INTRUDER_PROBE)
                    value, whole = _f1_parts(came) if is_f1 else (came.document, 1.0)
                    yield Outcome(
                        **_about(table, document),
                        measure=PROBE_NAMES[name],
                        judge=decision,
                        statistic="ratio" if is_f1 else "share",
                        value=value,
                        whole=whole,
                    )
