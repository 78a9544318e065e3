"""The scores of a table of documents: a model's, those of two baselines, and people's."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.statistics.measures import Measure, accuracy, auc, ratio
from coherencegym.eval.tasks.detect.decisions import Decision, highest, intruders
from coherencegym.eval.tasks.detect.document_tables import DocumentTable, cluster
from coherencegym.eval.tasks.detect.tallies import Tally, f1, mean_tally, tally

#: A column with what each annotator said: the place of the intruder, -1 for none.
HUMAN = "human"
#: So many annotators have to say the same for their document to count as agreed on (Shen et al.
#: 2021, section 4.3).
AGREE = 3
#: Groups of documents, beside those by column.
ALL, JUDGED, AGREED = "", "judged by people", f"at least {AGREE} annotators agree"
#: Who decides, beside the decisions of a model.
MODEL, MAJORITY, RANDOM = "model", "majority: all coherent", "random place"
ANNOTATOR, VOTE = "people: mean annotator", "people: majority vote"


@dataclass(frozen=True)
class DetectionScore:
    """What somebody reaches on the documents of a group.

    Attributes:
        config, split: of the documents.
        group: which of them: all (empty), those with a value of a column (``difficulty=high``), or
            those that people judged.
        judge: the decision of the model (``argmax``, ``independent``), its scores without a
            decision (``model``), a baseline, or people.
        threshold: of the decision; None where none is needed.
        documents, intruded: how many documents, and how many of them have an intruder.
        document_accuracy, exact_accuracy, precision, recall, f1: see
        :mod:`eval.tasks.detect.tallies`;
            None for scores without a decision.
        auc: over sentences, for the model's scores; None elsewhere.
        place: accuracy of the place on intruded documents; None for decisions of the model, as it
            does not depend on the threshold.
        chance: by measure, what the better of the two baselines reaches on the same documents;
            for the model's rows.
    """

    config: str
    split: str
    group: str
    judge: str
    threshold: float | None
    documents: int
    intruded: int
    document_accuracy: Measure | None = None
    exact_accuracy: Measure | None = None
    precision: Measure | None = None
    recall: Measure | None = None
    f1: Measure | None = None
    auc: Measure | None = None
    place: Measure | None = None
    chance: Mapping[str, float] = field(default_factory=dict)


def table_scores(
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> Iterator[DetectionScore]:
    """Scores of a table by group, each with intervals.

    Args:
        table: its documents, at least one.
        scores: of each document, of each sentence; NaN in those that are left out.
        thresholds: of each decision that is asked for.
    """
    kept = [number for number, own in enumerate(scores) if own[-1] == own[-1]]
    for group, members in groups_of(table, kept):
        documents = [table.documents[number] for number in members]
        own = [scores[number] for number in members]
        clusters = [cluster(document) for document in documents]
        positions = [document.intruder_position for document in documents]
        first = _about(table, group, documents, MODEL, None)
        reached = _chance(documents)
        found = [float(highest(s) == p) for s, p in zip(own, positions, strict=True)]
        yield DetectionScore(
            **first,
            auc=auc(own, positions, clusters),
            place=_place(documents, found, clusters),
            chance=reached,
        )
        for decision, threshold in thresholds.items():
            tallies = [
                tally(intruders(s, threshold, decision), p)
                for s, p in zip(own, positions, strict=True)
            ]
            about = _about(table, group, documents, decision, threshold)
            yield DetectionScore(**about, **_measures(documents, tallies, clusters), chance=reached)
        others = {ALL: _BASELINES, JUDGED: _PEOPLE, AGREED: _PEOPLE}.get(group, {})
        for judge, decide in others.items():
            tallies = [decide(document) for document in documents]
            # A judge who names one sentence has the place right where it is a hit.
            hits = [one.hits for one in tallies]
            yield DetectionScore(
                **_about(table, group, documents, judge, None),
                **_measures(documents, tallies, clusters),
                place=None if judge == MAJORITY else _place(documents, hits, clusters),
            )


def groups_of(table: DocumentTable, kept: Sequence[int]) -> list[tuple[str, list[int]]]:
    """The groups of some documents of a table: their names, and the numbers of their documents."""
    return list(_groups(table, kept))


def _groups(table: DocumentTable, kept: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    if kept:
        yield ALL, list(kept)
    for column in table.breakdowns:
        by_value: dict[str, list[int]] = {}
        for number in kept:
            value = table.documents[number].extra.get(column)
            if value is not None and value != "":
                by_value.setdefault(_shown(value), []).append(number)
        for value, members in sorted(by_value.items()):
            yield f"{column}={value}", members
    judged = [number for number in kept if _answers(table.documents[number])]
    if judged:
        yield JUDGED, judged
    agreed = [n for n in judged if max(Counter(_answers(table.documents[n])).values()) >= AGREE]
    if agreed:
        yield AGREED, agreed


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _about(
    table: DocumentTable,
    group: str,
    documents: Sequence[Document],
    judge: str,
    threshold: float | None,
) -> dict[str, Any]:
    return {
        "config": table.config,
        "split": table.split,
        "group": group,
        "judge": judge,
        "threshold": threshold,
        "documents": len(documents),
        "intruded": sum(document.intruded for document in documents),
    }


def _measures(
    documents: Sequence[Document], tallies: Sequence[Tally], clusters: Sequence[str]
) -> dict[str, Any]:
    sentences = sum(len(document.sentences) - 1 for document in documents)
    hits = [one.hits for one in tallies]
    called = [one.hits + one.false_alarms for one in tallies]
    wanted = [one.hits + one.misses for one in tallies]
    return {
        "document_accuracy": accuracy([one.document for one in tallies], clusters),
        "exact_accuracy": accuracy([one.exact for one in tallies], clusters),
        "precision": ratio(hits, called, clusters, sentences),
        "recall": ratio(hits, wanted, clusters, sentences),
        "f1": f1(tallies, clusters, sentences),
    }


def _place(
    documents: Sequence[Document], found: Sequence[float], clusters: Sequence[str]
) -> Measure:
    chosen = [number for number, document in enumerate(documents) if document.intruded]
    return accuracy([found[n] for n in chosen], [clusters[n] for n in chosen])


def _chance(documents: Sequence[Document]) -> dict[str, float]:
    """By measure, the most that a judge who reads nothing reaches: one of the two baselines."""
    reached: dict[str, float] = {}
    for decide in _BASELINES.values():
        tallies = [decide(document) for document in documents]
        hits = math.fsum(one.hits for one in tallies)
        wanted = sum(document.intruded for document in documents)
        called = hits + math.fsum(one.false_alarms for one in tallies)
        found = {
            "document_accuracy": (math.fsum(one.document for one in tallies), len(tallies)),
            "exact_accuracy": (math.fsum(one.exact for one in tallies), len(tallies)),
            "f1": (2 * hits, called + wanted),
            "precision": (hits, called),
            "recall": (hits, wanted),
            "place": (hits, wanted),
        }
        for name, (part, whole) in found.items():
            if whole:
                reached[name] = max(reached.get(name, 0.0), part / whole)
    return {**reached, "auc": 0.5}


def _majority(document: Document) -> Tally:
    return tally((), document.intruder_position)


def _random(document: Document) -> Tally:
    """One sentence, any but the opening one: what is to be expected of it."""
    places = range(1, len(document.sentences))
    return mean_tally([tally((place,), document.intruder_position) for place in places])


def _answers(document: Document) -> list[int]:
    """What each annotator said.

    Raises:
        EvaluationError: an answer is no place of a sentence.
    """
    answers = list(document.extra.get(HUMAN) or ())
    number = len(document.sentences)
    for answer in answers:
        if type(answer) is not int or not -1 <= answer < number:
            raise EvaluationError(
                f"{document.item_id}: {HUMAN} has {answer!r}; expected -1, or 0 to {number - 1}"
            )
    return answers


def _said(answer: int, document: Document) -> Tally:
    return tally(() if answer == -1 else (answer,), document.intruder_position)


def _annotators(document: Document) -> Tally:
    return mean_tally([_said(answer, document) for answer in _answers(document)])


def _vote(document: Document) -> Tally:
    """The most frequent answer; several that are as frequent count in equal parts."""
    counts = Counter(_answers(document))
    most = max(counts.values())
    return mean_tally([_said(answer, document) for answer, n in counts.items() if n == most])


_BASELINES: Mapping[str, Callable[[Document], Tally]] = {MAJORITY: _majority, RANDOM: _random}
_PEOPLE: Mapping[str, Callable[[Document], Tally]] = {ANNOTATOR: _annotators, VOTE: _vote}
