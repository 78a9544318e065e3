"""Detection in the form that every task has: outcomes of units, and scores of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from coherencegym.eval.statistics.measures import Measure
from coherencegym.eval.statistics.scores import REFERENCE, Score, Statistic, UnitOutcome, level_of
from coherencegym.eval.tasks.detect.decisions import (
    DECISIONS,
    Decision,
    highest,
    intruders,
    tally,
    was_read,
)
from coherencegym.eval.tasks.detect.scores import MODEL, VOTE, DetectionScore, groups_of
from coherencegym.eval.tasks.detect.tables import DocumentTable

#: The names of measures, by the fields of a score.
NAMES = {
    "document_accuracy": "document accuracy",
    "exact_accuracy": "exact accuracy",
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "auc": "AUC",
    "place": "place",
}
#: The measures of decisions, and how their outcomes add up.
_DECIDED: Mapping[str, Statistic] = {
    "document_accuracy": "share",
    "exact_accuracy": "share",
    "f1": "ratio",
    "precision": "ratio",
    "recall": "ratio",
}
TOO_LONG = "too_long"


def scores_of(scores: Sequence[DetectionScore], too_long: Mapping[str, int]) -> Iterator[Score]:
    """One score for each measure of each row, with chance, and with people where they judged.

    ``too_long`` has the number of documents that are, by config.
    """
    votes = {(s.config, s.split, s.group): s for s in scores if s.judge == VOTE}
    for row in scores:
        own = row.judge == MODEL or row.judge in DECISIONS
        left_out = too_long.get(row.config, 0)
        counts = {"documents": row.documents, "intruded": row.intruded}
        for name, measure in NAMES.items():
            found: Measure | None = getattr(row, name)
            if found is None:
                continue
            people = votes.get((row.config, row.split, row.group)) if own else None
            human: Measure | None = getattr(people, name) if people else None
            yield Score(
                config=row.config,
                split=row.split,
                measure=measure,
                judge="" if row.judge == MODEL else row.judge,
                group=row.group,
                level=level_of(row.group) if own else REFERENCE,
                **found.as_score(),
                chance=row.chance.get(name),
                **human.as_people() if human else {},
                counts={**counts, TOO_LONG: left_out} if left_out else counts,
            )


def outcomes_of(
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> Iterator[UnitOutcome]:
    """The outcomes of a table that was tested on, of documents and, for the AUC, of sentences."""
    groups = list(groups_of(table, range(len(table.documents))))
    for number, (document, own) in enumerate(zip(table.documents, scores, strict=True)):
        named = [name for name, members in groups if name and number in members]
        made = partial(table.outcome, document, groups=named, reason=TOO_LONG)
        position, read = document.intruder_position, was_read(own)
        for place in range(1, len(own)):
            value, truth = own[place] if read else None, place == position
            yield made("AUC", "ranks", value, truth=truth, unit=f"#{place + 1}")
        if document.intruded:
            yield made("place", "share", float(highest(own) == position) if read else None)
        for decision, threshold in thresholds.items():
            came = tally(intruders(own, threshold, decision), position).parts if read else {}
            for name, statistic in _DECIDED.items():
                value, whole = came.get(name, (None, 1.0))
                yield made(NAMES[name], statistic, value, whole=whole, judge=decision)
