"""The outcomes of a table of documents: those of a model, of two baselines, and of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import HUMAN, Document
from coherencegym.eval.metrics.accuracy import Accuracy
from coherencegym.eval.metrics.auc import AreaUnderCurve
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.metrics.ratio import F1, Ratio
from coherencegym.eval.outcomes.schema import MODEL, Group, Role, System
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.statistics.agreement import agreement_groups
from coherencegym.eval.tasks.detect.decisions import (
    Decision,
    DecisionCounts,
    count_decision,
    highest,
    intruders,
    mean_counts,
    was_read,
    why_left_out,
)
from coherencegym.eval.tasks.detect.tables import DocumentTable

#: A group of documents, beside those by column and by agreement.
JUDGED = "judged by people"
#: Systems beside the model's scores and decisions.
MAJORITY, RANDOM = "majority: all coherent", "random place"
ANNOTATOR, VOTE = "people: mean annotator", "people: majority vote"
#: The reason why people have no outcome on a document.
NOT_JUDGED = "not judged"

#: The metrics of scores, and those of decisions: see :mod:`eval.tasks.detect.decisions`.
AUC, PLACE = AreaUnderCurve("auc", "AUC"), Accuracy("place")
DOCUMENT_ACCURACY = Accuracy("document_accuracy", "document accuracy")
_DECIDED: tuple[Metric, ...] = (
    DOCUMENT_ACCURACY,
    Accuracy("exact_accuracy", "exact accuracy"),
    F1("f1", "F1"),
    Ratio("precision"),
    Ratio("recall"),
)
DETECTION_METRICS: tuple[Metric, ...] = (AUC, PLACE, *_DECIDED)


def add_outcomes(
    writer: OutcomeWriter,
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> None:
    """Add the outcomes of a table that was tested on: of documents and, for the AUC, sentences.

    Of documents that the model did not read nobody has any. Where intruders are in unknown places,
    only whole documents are judged.
    """
    documents = table.documents
    groups = [groups_of(table, document) for document in documents]
    reasons = ["" if was_read(own) else why_left_out(own) for own in scores]
    if table.located:
        sentences = [
            (number, place)
            for number, document in enumerate(documents)
            for place in range(1, len(document.sentences))
        ]
        writer.add(
            writer.units(table.unit(documents[n], f"#{p + 1}", groups[n]) for n, p in sentences),
            AUC.name,
            MODEL,
            [None if reasons[n] else scores[n][p] for n, p in sentences],
            reason=[reasons[n] for n, _ in sentences],
            target=[float(p == documents[n].intruder_position) for n, p in sentences],
        )
    units = writer.units(
        table.unit(document, "", own) for document, own in zip(documents, groups, strict=True)
    )

    def add(metric: Metric, system: System, values: Mapping[int, tuple[float, float]]) -> None:
        # By the numbers of documents: each value with what it is a part of.
        asked = [n for n, one in enumerate(documents) if one.intruded or metric != PLACE]
        known = [values.get(n, (None, 1.0)) if not reasons[n] else (None, 1.0) for n in asked]
        writer.add(
            [units[n] for n in asked],
            metric.name,
            system,
            [value for value, _ in known],
            reason=[reasons[n] or NOT_JUDGED for n in asked],
            weight=[whole for _, whole in known] if isinstance(metric, Ratio) else None,
        )

    positions = [document.intruder_position for document in documents]
    if table.located:
        places = {n: highest(scores[n]) for n, reason in enumerate(reasons) if not reason}
        add(PLACE, MODEL, {n: (float(own == positions[n]), 1.0) for n, own in places.items()})
    for system, counts in _decisions(documents, scores, thresholds).items():
        for metric in _DECIDED if table.located else (DOCUMENT_ACCURACY,):
            add(metric, system, {n: own.parts[metric.name] for n, own in counts.items()})
        if table.located and system.label in (RANDOM, ANNOTATOR, VOTE):
            # Who names one sentence has the place right where it is a hit.
            add(PLACE, system, {n: (own.hits, 1.0) for n, own in counts.items()})


def _decisions(
    documents: Sequence[Document],
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> dict[System, dict[int, DecisionCounts]]:
    """The counts of each system, by the numbers of the documents that it decided on."""
    found = {
        System(label=decision, threshold=threshold): {
            n: count_decision(intruders(own, threshold, decision), document.intruder_position)
            for n, (document, own) in enumerate(zip(documents, scores, strict=True))
        }
        for decision, threshold in thresholds.items()
    }
    others: tuple[tuple[Role, str, Callable[[Document], DecisionCounts]], ...] = (
        ("baseline", MAJORITY, lambda document: count_decision((), document.intruder_position)),
        ("baseline", RANDOM, _random),
        ("people", ANNOTATOR, _annotators),
        ("people", VOTE, _vote),
    )
    for role, label, decide in others:
        counts = {
            n: decide(document)
            for n, document in enumerate(documents)
            if role == "baseline" or document.extra.get(HUMAN)
        }
        if counts:
            found[System(role=role, label=label, primary=False)] = counts
    return found


def groups_of(table: DocumentTable, document: Document) -> tuple[Group, ...]:
    """The groups of a document: by columns, and by how many of those who judged it agree.

    The latter are of Shen et al. 2021 (Tables 5 and 6, Figure 3).
    """
    answers = _answers(document)
    names = [JUDGED, *agreement_groups(answers)] if answers else []
    parts = [name.partition("=") for name in names]
    judged = [(column, value) if equals else ("", column) for column, equals, value in parts]
    return (*table.unit(document).groups, *judged)


def _random(document: Document) -> DecisionCounts:
    # Any sentence but the opening one: what is to be expected of it.
    places = range(1, len(document.sentences))
    return mean_counts([count_decision((place,), document.intruder_position) for place in places])


def _answers(document: Document) -> list[int]:
    answers = list(document.extra.get(HUMAN) or ())
    number = len(document.sentences)
    for answer in answers:
        if type(answer) is not int or not -1 <= answer < number:
            raise EvaluationError(
                f"{document.item_id}: {HUMAN} has {answer!r}; expected -1, or 0 to {number - 1}"
            )
    return answers


def _said(answer: int, document: Document) -> DecisionCounts:
    return count_decision(() if answer == -1 else (answer,), document.intruder_position)


def _annotators(document: Document) -> DecisionCounts:
    return mean_counts([_said(answer, document) for answer in _answers(document)])


def _vote(document: Document) -> DecisionCounts:
    # Several that are as frequent count in equal parts.
    counts = Counter(_answers(document))
    most = max(counts.values())
    return mean_counts([_said(answer, document) for answer, n in counts.items() if n == most])
