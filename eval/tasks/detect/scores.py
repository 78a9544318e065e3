"""The scores of a table of documents: a model's, those of two baselines, and people's.

They are there in the form that every task has as well: outcomes of units, and scores of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import HUMAN, Document
from coherencegym.eval.metrics.accuracy import Accuracy
from coherencegym.eval.metrics.auc import AreaUnderCurve
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.metrics.ratio import Ratio
from coherencegym.eval.outcomes.schema import MODEL as SYSTEM
from coherencegym.eval.outcomes.schema import Group, System
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.statistics.agreement import agreement_groups
from coherencegym.eval.statistics.estimate import Estimate
from coherencegym.eval.statistics.estimators import accuracy, auc, f1, ratio
from coherencegym.eval.statistics.scores import (
    REFERENCE,
    Score,
    level_of,
    people_fields,
    score_fields,
    text_of,
)
from coherencegym.eval.tasks.detect.decisions import (
    DECISIONS,
    Decision,
    DecisionCounts,
    count_decision,
    count_decisions,
    highest,
    intruders,
    mean_counts,
    summed,
    was_read,
    why_left_out,
)
from coherencegym.eval.tasks.detect.tables import DocumentTable

#: Groups of documents, beside those by column and by agreement.
ALL, JUDGED = "", "judged by people"
#: Systems beside the decisions of a model.
MODEL, MAJORITY, RANDOM = "model", "majority: all coherent", "random place"
ANNOTATOR, VOTE = "people: mean annotator", "people: majority vote"


@dataclass(frozen=True)
class DetectionRow:
    """A row about the documents of a group: of one run, or of several seeds.

    Attributes:
        config, split: the documents.
        group: all of them (empty), those with a value of a column (``difficulty=high``), those
            that people judged, or of which so many give the same answer (Shen et al. 2021, Tables 5
            and 6, Figure 3).
        system: the decision of the model (``argmax``, ``independent``), its scores without a
            decision (``model``), a baseline, or people.
        documents, intruded: numbers of documents, and of those with an intruder.
    """

    config: str
    split: str
    group: str
    system: str
    documents: int
    intruded: int


@dataclass(frozen=True)
class DetectionScore(DetectionRow):
    """The metrics that somebody reaches on the documents of a group.

    Attributes:
        document_accuracy, exact_accuracy, precision, recall, f1: see
            :mod:`eval.tasks.detect.decisions`; None for scores without a decision.
        auc: the area over sentences, for the model's scores; None elsewhere.
        place: accuracy of the place on intruded documents; None for decisions of the model, as it
            does not depend on the threshold.
        chance: metrics of the better of the two baselines on the same documents, for the model's
            rows.
    """

    document_accuracy: Estimate | None = None
    exact_accuracy: Estimate | None = None
    precision: Estimate | None = None
    recall: Estimate | None = None
    f1: Estimate | None = None
    auc: Estimate | None = None
    place: Estimate | None = None
    chance: Mapping[str, float] = field(default_factory=dict)


def table_scores(
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> Iterator[DetectionScore]:
    """Scores of a table by group, each with intervals; documents with scores that are NaN are left
    out.
    """
    for group, members in groups_of(table, [n for n, own in enumerate(scores) if was_read(own)]):
        documents = [table.documents[number] for number in members]
        own = [scores[number] for number in members]
        positions = [document.intruder_position for document in documents]
        size = len(documents), sum(document.intruded for document in documents)
        chance = _chance(documents)
        found = [float(highest(s) == p) for s, p in zip(own, positions, strict=True)]
        clusters = [document.cluster for document in documents]
        yield DetectionScore(
            *(table.config, table.split, group, MODEL, *size),
            auc=auc(own, positions, clusters) if table.located else None,
            place=_place(documents, found) if table.located else None,
            chance=chance,
        )
        for decision, threshold in thresholds.items():
            counts = count_decisions(own, positions, threshold, decision)
            yield DetectionScore(
                *(table.config, table.split, group, decision, *size),
                **_metrics_of(documents, counts, table.located),
                chance=chance,
            )
        judged = _are_judged(table.documents if group == ALL else documents)
        others = {**(_BASELINES if group == ALL else {}), **(_PEOPLE if judged else {})}
        for system, decide in others.items():
            counts = list(map(decide, documents))
            # A system that names one sentence has the place right where it is a hit.
            hits = [one.hits for one in counts]
            yield DetectionScore(
                *(table.config, table.split, group, system, *size),
                **_metrics_of(documents, counts, table.located),
                place=None if system == MAJORITY or not table.located else _place(documents, hits),
            )


def groups_of(table: DocumentTable, kept: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """The groups of some documents of a table: their names, and the numbers of their documents."""
    if kept:
        yield ALL, list(kept)
    for column in table.breakdowns:
        by_value: dict[str, list[int]] = {}
        for number in kept:
            value = table.documents[number].extra.get(column)
            if value is not None and value != "":
                by_value.setdefault(text_of(value), []).append(number)
        for name, members in sorted(by_value.items()):
            yield f"{column}={name}", members
    answers = {number: _answers(table.documents[number]) for number in kept}
    judged = [number for number in kept if answers[number]]
    if judged:
        yield JUDGED, judged
    agreeing: dict[str, list[int]] = {}
    for number in judged:
        for name in agreement_groups(answers[number]):
            agreeing.setdefault(name, []).append(number)
    yield from sorted(agreeing.items())


def _are_judged(documents: Sequence[Document]) -> bool:
    return all(document.extra.get(HUMAN) for document in documents)


def _metrics_of(
    documents: Sequence[Document], counts: Sequence[DecisionCounts], located: bool
) -> dict[str, Any]:
    sentences = sum(len(document.sentences) - 1 for document in documents)
    clusters = [document.cluster for document in documents]
    found = {
        name: accuracy(summed(counts, name)[0], clusters)
        for name in ("document_accuracy", "exact_accuracy")
    }
    if not located:
        return {"document_accuracy": found["document_accuracy"]}
    for name, metric in (("precision", ratio), ("recall", ratio), ("f1", f1)):
        found[name] = metric(*summed(counts, name), clusters, sentences)
    return found


def _place(documents: Sequence[Document], found: Sequence[float]) -> Estimate:
    kept = [pair for pair in zip(documents, found, strict=True) if pair[0].intruded]
    return accuracy([hit for _, hit in kept], [document.cluster for document, _ in kept])


def _chance(documents: Sequence[Document]) -> dict[str, float]:
    # The better of the two baselines, by metric.
    reached: dict[str, float] = {}
    for decide in _BASELINES.values():
        counts = list(map(decide, documents))
        hits = math.fsum(one.hits for one in counts)
        wanted = sum(document.intruded for document in documents)
        predicted = hits + math.fsum(one.false_alarms for one in counts)
        found = {
            "document_accuracy": (math.fsum(one.document for one in counts), len(counts)),
            "exact_accuracy": (math.fsum(one.exact for one in counts), len(counts)),
            "f1": (2 * hits, predicted + wanted),
            "precision": (hits, predicted),
            "recall": (hits, wanted),
            "place": (hits, wanted),
        }
        for name, (part, whole) in found.items():
            if whole:
                reached[name] = max(reached.get(name, 0.0), part / whole)
    return {**reached, "auc": 0.5}


def _majority(document: Document) -> DecisionCounts:
    return count_decision((), document.intruder_position)


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


_BASELINES: Mapping[str, Callable[[Document], DecisionCounts]] = {
    MAJORITY: _majority,
    RANDOM: _random,
}
_PEOPLE: Mapping[str, Callable[[Document], DecisionCounts]] = {ANNOTATOR: _annotators, VOTE: _vote}


#: The names of metrics, by the fields of a score.
NAMES = {
    "document_accuracy": "document accuracy",
    "exact_accuracy": "exact accuracy",
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "auc": "AUC",
    "place": "place",
}
#: The metrics by the fields of a score: of scores, and of decisions.
AUC, PLACE = AreaUnderCurve("auc", NAMES["auc"]), Accuracy("place", NAMES["place"])
_DECIDED: Mapping[str, Metric] = {
    name: kind(name, NAMES[name])
    for name, kind in (
        ("document_accuracy", Accuracy),
        ("exact_accuracy", Accuracy),
        ("f1", Ratio),
        ("precision", Ratio),
        ("recall", Ratio),
    )
}
DETECTION_METRICS: tuple[Metric, ...] = (AUC, PLACE, *_DECIDED.values())
TOO_LONG = "too_long"


def scores_of(scores: Sequence[DetectionScore], too_long: Mapping[str, int]) -> Iterator[Score]:
    """One score for each metric of each row, with chance, and with people where they judged.

    ``too_long`` has the number of documents that are, by config.
    """
    votes = {(s.config, s.split, s.group): s for s in scores if s.system == VOTE}
    for row in scores:
        own = row.system == MODEL or row.system in DECISIONS
        left_out = too_long.get(row.config, 0)
        counts = {"documents": row.documents, "intruded": row.intruded}
        for name, metric in NAMES.items():
            found: Estimate | None = getattr(row, name)
            if found is None:
                continue
            people = votes.get((row.config, row.split, row.group)) if own else None
            human: Estimate | None = getattr(people, name) if people else None
            yield Score(
                config=row.config,
                split=row.split,
                metric=metric,
                system="" if row.system == MODEL else row.system,
                group=row.group,
                level=level_of(row.group) if own else REFERENCE,
                **score_fields(found),
                chance=row.chance.get(name),
                **people_fields(human) if human else {},
                counts={**counts, TOO_LONG: left_out} if left_out else counts,
            )


def add_outcomes(
    writer: OutcomeWriter,
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> None:
    """Add the outcomes of a table that was tested on: of documents and, for the AUC, sentences."""
    named = list(groups_of(table, range(len(table.documents))))
    groups = [
        [_group(name) for name, members in named if name and number in members]
        for number in range(len(table.documents))
    ]
    both = list(zip(table.documents, scores, groups, strict=True))
    sentences = [
        (table.unit(document, f"#{place + 1}", own_groups), document, own, place)
        for document, own, own_groups in both
        for place in range(1, len(own))
        if table.located
    ]
    writer.add(
        writer.units(unit for unit, *_ in sentences),
        AUC.name,
        SYSTEM,
        [own[place] if was_read(own) else None for _, _, own, place in sentences],
        reason=[why_left_out(own) for _, _, own, _ in sentences],
        target=[float(place == document.intruder_position) for _, document, _, place in sentences],
    )
    units = writer.units(table.unit(document, "", own) for document, _, own in both)
    intruded = [
        (unit, *one)
        for unit, one in zip(units, both, strict=True)
        if one[0].intruded and table.located
    ]
    writer.add(
        [unit for unit, *_ in intruded],
        PLACE.name,
        SYSTEM,
        [
            float(highest(own) == document.intruder_position) if was_read(own) else None
            for _, document, own, _ in intruded
        ],
        reason=[why_left_out(own) for _, _, own, _ in intruded],
    )
    reasons = list(map(why_left_out, scores))
    for decision, threshold in thresholds.items():
        system = System(label=decision, threshold=threshold)
        came = [
            count_decision(intruders(own, threshold, decision), document.intruder_position).parts
            if was_read(own)
            else {}
            for document, own, _ in both
        ]
        for name, metric in _DECIDED.items():
            if name != "document_accuracy" and not table.located:
                continue
            parts = [one.get(name, (None, 1.0)) for one in came]
            weight = [whole for _, whole in parts] if isinstance(metric, Ratio) else None
            values = [value for value, _ in parts]
            writer.add(units, metric.name, system, values, reason=reasons, weight=weight)


def _group(name: str) -> Group:
    column, equals, value = name.partition("=")
    return (column, value) if equals else ("", name)
