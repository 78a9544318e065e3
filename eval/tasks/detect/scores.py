"""The outcomes of a table of documents: those of a model, of two baselines, and of people.

Two decisions need a threshold, the one with the best F1 over sentences on other documents, such as
those of the validation split. ``argmax``: a document has at most one intruder, the sentence with
the highest score, if that is above the threshold. ``independent``: every sentence above the
threshold is one, as in Shen et al. 2021, section 5, who classify each sentence by itself.

They are measured as there (section 4.3): **document accuracy** is whether a document has an
intruder at all, and a document is taken to have one if at least one of its sentences is; **F1** is
over its non-opening sentences, the intruders being the positive class. Beside them the **exact
accuracy** asks for every sentence of the document to be right, and the **accuracy of the place**,
for the highest score to be that of the intruder, where there is one, whatever the threshold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

from coherencegym.errors import ConfigError, EvaluationError
from coherencegym.eval.kinds.documents import HUMAN, NO_INTRUDER, Document
from coherencegym.eval.outcomes.metrics import F1, Accuracy, AreaUnderCurve, Metric, Ratio
from coherencegym.eval.outcomes.schema import MODEL, Group, Role, System
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.statistics.correlation import agreement_groups
from coherencegym.eval.statistics.estimators import Estimate, ratio_difference, share_difference
from coherencegym.eval.tasks.detect.tables import (
    CONDITION,
    INTRUDER,
    INTRUDER_PROBE,
    ITEM,
    ORIGINAL,
    ORIGINAL_PROBE,
    DocumentTable,
    was_read,
    why_left_out,
)

Decision = Literal["argmax", "independent"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)


def highest(scores: Sequence[float]) -> int:
    """The place of the sentence with the highest score; never that of the opening sentence."""
    return max(range(1, len(scores)), key=lambda place: scores[place])


def _candidates(scores: Sequence[float], decision: Decision) -> Sequence[int]:
    return [highest(scores)] if decision == "argmax" else range(1, len(scores))


def intruders(scores: Sequence[float], threshold: float, decision: Decision) -> tuple[int, ...]:
    """The places (from 0) of the sentences of a document that are taken for intruders.

    Their scores are greater than the threshold; that of the opening sentence is not looked at.
    """
    return tuple(place for place in _candidates(scores, decision) if scores[place] > threshold)


def best_threshold(
    scores: Sequence[Sequence[float]], positions: Sequence[int], decision: Decision
) -> float:
    """The threshold with the highest F1 over sentences.

    Between two scores it is halfway; of several that are as good, the highest, so that nothing is
    called an intruder for nothing. ``positions`` are the places of intruders, -1 for none.
    """
    wanted = sum(position > 0 for position in positions)
    if not wanted:
        raise ConfigError(
            "no document with an intruder to choose the threshold on; expected some, or --threshold"
        )
    compared = (
        (own[place], place == position)
        for own, position in zip(scores, positions, strict=True)
        for place in _candidates(own, decision)
    )
    found = sorted(compared, key=lambda pair: -pair[0])
    # Above all scores nothing is an intruder, and F1 is 0.
    best, threshold = 0.0, found[0][0]
    right = 0
    for number, (score, is_intruder) in enumerate(found, start=1):
        right += is_intruder
        after = found[number][0] if number < len(found) else score - 1.0
        f1 = 2 * right / (number + wanted)
        if after < score and f1 > best:
            halfway = (score + after) / 2
            # Of neighbouring floats there is nothing between.
            best, threshold = f1, halfway if after <= halfway < score else after
    return threshold


#: What a decision adds to each metric: a part, and its whole.
Parts = Mapping[str, tuple[float, float]]


def decision_parts(predicted: Sequence[int], position: int) -> Parts:
    """The parts of calling the sentences of a document at these places intruders.

    The position may be -1, or -2 of an unknown one: then ``document_accuracy`` alone says
    something.
    """
    hit, calls = position in predicted, len(predicted)
    intruded = position != NO_INTRUDER
    exact = calls == intruded and (hit or not intruded)
    return {
        "document_accuracy": (float(bool(predicted) == intruded), 1.0),
        "exact_accuracy": (float(exact), 1.0),
        "f1": (2.0 * hit, float(calls + intruded)),
        "precision": (float(hit), float(calls)),
        "recall": (float(hit), float(intruded)),
        # Who names one sentence has the place right where it is a hit.
        "place": (float(hit), 1.0),
    }


def mean_parts(parts: Sequence[Parts]) -> Parts:
    """The mean of several decisions on one document."""
    return {
        name: (
            math.fsum(one[name][0] for one in parts) / len(parts),
            math.fsum(one[name][1] for one in parts) / len(parts),
        )
        for name in parts[0]
    }


def f1_of(
    scores: Sequence[Sequence[float]],
    positions: Sequence[int],
    threshold: float,
    decision: Decision,
) -> float:
    """F1 over the sentences of documents, at least one of which is or is called an intruder."""
    parts = [
        decision_parts(intruders(own, threshold, decision), position)["f1"]
        for own, position in zip(scores, positions, strict=True)
    ]
    return math.fsum(part for part, _ in parts) / math.fsum(whole for _, whole in parts)


#: The conditions of a probe's two sides, without and with it, and what a side is measured by:
#: incoherent documents by F1 over their sentences, coherent ones by the share that is taken for
#: coherent.
_SIDES: tuple[tuple[str, str, str, Metric, Metric], ...] = (
    (
        *(INTRUDER, INTRUDER_PROBE, "f1"),
        F1("f1_without_probe", "F1 without probe"),
        F1("f1_with_probe", "F1 with probe"),
    ),
    (
        *(ORIGINAL, ORIGINAL_PROBE, "document_accuracy"),
        Accuracy("coherent_without_probe", "coherent without probe"),
        Accuracy("coherent_with_probe", "coherent with probe"),
    ),
)
PROBE_METRICS = tuple(metric for *_, before, after in _SIDES for metric in (before, after))


def add_probe_outcomes(
    writer: OutcomeWriter,
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> None:
    """Add the outcomes of documents that were read without and with the probe.

    The unit of both is the document without it.
    """
    read = {
        (str(document.extra[CONDITION]), str(document.extra[ITEM])): (document, own)
        for document, own in zip(table.rows, scores, strict=True)
        if was_read(own)
    }
    for plain, probe, part, *metrics in _SIDES:
        items = [item for condition, item in read if condition == plain and (probe, item) in read]
        units = writer.units(table.unit(read[plain, item][0], "", ()) for item in items)
        for decision, threshold in thresholds.items():
            for condition, metric in zip((plain, probe), metrics, strict=True):
                parts = [
                    decision_parts(intruders(own, threshold, decision), document.intruder_position)[
                        part
                    ]
                    for document, own in (read[condition, item] for item in items)
                ]
                writer.add(
                    units,
                    metric.name,
                    System(label=decision),
                    [value for value, _ in parts],
                    weight=[whole for _, whole in parts] if isinstance(metric, Ratio) else None,
                )


def probe_differences(
    outcomes: OutcomeTables,
) -> dict[tuple[str, str, str], dict[str, Estimate]]:
    """What a probe changes, paired by document: by config, split and decision, and by metric.

    The metric is that with the probe; its difference is from the one without.
    """
    cells = outcomes.cells_by_key()
    found: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for *_, first, second in _SIDES:
        for (config, split, decision, name), before in cells.items():
            if name != first.name:
                continue
            after = cells[config, split, decision, second.name]
            found.setdefault((config, split, decision), {})[second.said] = (
                ratio_difference(
                    (before.value, before.weight), (after.value, after.weight), before.cluster
                )
                if isinstance(first, Ratio)
                else share_difference(before.value, after.value, before.cluster)
            )
    return found


#: A group of documents, beside those by column and by agreement.
JUDGED = "judged by people"
#: Systems beside the model's scores and decisions.
MAJORITY, RANDOM = "majority: all coherent", "random place"
ANNOTATOR, VOTE = "people: mean annotator", "people: majority vote"
#: The reason why people have no outcome on a document.
NOT_JUDGED = "not judged"

#: The metrics of scores, and those of decisions: see :mod:`eval.tasks.detect.scores`.
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
    documents = table.rows
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
    for system, decided in _decisions(documents, scores, thresholds).items():
        has_place = (PLACE,) if system.label in (RANDOM, ANNOTATOR, VOTE) else ()
        for metric in (*_DECIDED, *has_place) if table.located else (DOCUMENT_ACCURACY,):
            add(metric, system, {n: own[metric.name] for n, own in decided.items()})


def _decisions(
    documents: Sequence[Document],
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> dict[System, dict[int, Parts]]:
    """What each system decided, by the numbers of the documents that it decided on."""
    found = {
        System(label=decision): {
            n: decision_parts(intruders(own, threshold, decision), document.intruder_position)
            for n, (document, own) in enumerate(zip(documents, scores, strict=True))
        }
        for decision, threshold in thresholds.items()
    }
    others: tuple[tuple[Role, str, Callable[[Document], Parts]], ...] = (
        ("baseline", MAJORITY, lambda document: decision_parts((), document.intruder_position)),
        ("baseline", RANDOM, _random),
        ("people", ANNOTATOR, _annotators),
        ("people", VOTE, _vote),
    )
    for role, label, decide in others:
        decided = {
            n: decide(document)
            for n, document in enumerate(documents)
            if role == "baseline" or document.extra.get(HUMAN)
        }
        if decided:
            found[System(role=role, label=label)] = decided
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


def _random(document: Document) -> Parts:
    # Any sentence but the opening one: what is to be expected of it.
    places = range(1, len(document.sentences))
    return mean_parts([decision_parts((place,), document.intruder_position) for place in places])


def _answers(document: Document) -> list[int]:
    answers = list(document.extra.get(HUMAN) or ())
    number = len(document.sentences)
    for answer in answers:
        if type(answer) is not int or not -1 <= answer < number:
            raise EvaluationError(
                f"{document.item_id}: {HUMAN} has {answer!r}; expected -1, or 0 to {number - 1}"
            )
    return answers


def _said(answer: int, document: Document) -> Parts:
    return decision_parts(() if answer == -1 else (answer,), document.intruder_position)


def _annotators(document: Document) -> Parts:
    return mean_parts([_said(answer, document) for answer in _answers(document)])


def _vote(document: Document) -> Parts:
    # Several that are as frequent count in equal parts.
    counts = Counter(_answers(document))
    most = max(counts.values())
    return mean_parts([_said(answer, document) for answer, n in counts.items() if n == most])
