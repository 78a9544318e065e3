"""Linguistic probes: what they do to the detection of intruders, paired by document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherencegym.eval.kinds.documents import Document
from coherencegym.eval.metrics.accuracy import Accuracy
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.metrics.ratio import Ratio
from coherencegym.eval.outcomes.schema import System
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.statistics.estimate import Estimate
from coherencegym.eval.statistics.estimators import (
    accuracy,
    f1,
    ratio_difference,
    share_difference,
)
from coherencegym.eval.statistics.scores import Score, score_fields
from coherencegym.eval.tasks.detect.decisions import (
    Decision,
    DecisionCounts,
    count_decision,
    intruders,
    summed,
    was_read,
)
from coherencegym.eval.tasks.detect.tables import (
    CONDITION,
    INTRUDER,
    INTRUDER_PROBE,
    ITEM,
    ORIGINAL,
    ORIGINAL_PROBE,
    DocumentTable,
)

#: The conditions of a probe's two sides, without and with it, and what a side is measured by.
_SIDES: tuple[tuple[str, str, str, type[Metric], str], ...] = (
    (INTRUDER, INTRUDER_PROBE, "f1", Ratio, "F1"),
    (ORIGINAL, ORIGINAL_PROBE, "document_accuracy", Accuracy, "coherent"),
)
_VERSIONS = ("without probe", "with probe")


@dataclass(frozen=True)
class ProbeScore:
    """The effect of a probe on the decisions of a model.

    Both sides of a difference are versions of the same documents: those that have both.

    Attributes:
        config, split: the probe.
        decision, threshold: the model's.
        documents: incoherent documents with and without the probe.
        f1, f1_probe: F1 over the sentences of incoherent documents, without the probe and with it
            in the intruder.
        difference: the second minus the first, paired by document.
        coherent_documents: coherent documents with and without the probe.
        coherent, coherent_probe: the share of coherent documents that are taken for coherent,
            without the probe and with it in the document's own sentence.
        coherent_difference: the second minus the first.
    """

    config: str
    split: str
    decision: Decision
    threshold: float
    documents: int
    f1: Estimate
    f1_probe: Estimate
    difference: Estimate
    coherent_documents: int
    coherent: Estimate
    coherent_probe: Estimate
    coherent_difference: Estimate


#: A document, and what a decision did on it.
_Came = tuple[Document, DecisionCounts]


def probe_scores(
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> Iterator[ProbeScore]:
    """Scores of a table of probes, one for each decision; scores that are NaN are left out."""
    for decision, threshold in thresholds.items():
        wrong, right = _sides(table, scores, threshold, decision)
        drawn, coherent = (
            [document.cluster for (document, _), _ in side] for side in (wrong, right)
        )
        sentences = sum(len(document.sentences) - 1 for (document, _), _ in wrong)
        before, after = (summed([pair[n][1] for pair in wrong], "f1") for n in (0, 1))
        kept, kept_probe = ([pair[n][1].document for pair in right] for n in (0, 1))
        yield ProbeScore(
            config=table.config,
            split=table.split,
            decision=decision,
            threshold=threshold,
            documents=len(wrong),
            f1=f1(*before, drawn, sentences),
            f1_probe=f1(*after, drawn, sentences),
            difference=ratio_difference(before, after, drawn),
            coherent_documents=len(right),
            coherent=accuracy(kept, coherent),
            coherent_probe=accuracy(kept_probe, coherent),
            coherent_difference=share_difference(kept, kept_probe, coherent),
        )


def _sides(
    table: DocumentTable, scores: Sequence[Sequence[float]], threshold: float, decision: Decision
) -> list[list[tuple[_Came, _Came]]]:
    # The documents that are there without and with the probe, by side.
    found: dict[str, dict[str, _Came]] = {}
    for document, own in zip(table.documents, scores, strict=True):
        if was_read(own):
            came = count_decision(intruders(own, threshold, decision), document.intruder_position)
            by_item = found.setdefault(str(document.extra[CONDITION]), {})
            by_item[str(document.extra[ITEM])] = document, came
    return [
        [
            (came, found[probe][item])
            for item, came in found.get(plain, {}).items()
            if item in found.get(probe, {})
        ]
        for plain, probe, *_ in _SIDES
    ]


def probe_scores_of(probes: Sequence[ProbeScore]) -> Iterator[Score]:
    """One score for each side of each probe, in the form that every task has."""
    for row in probes:
        metrics = (row.f1, row.f1_probe), (row.coherent, row.coherent_probe)
        for (*_, name), both in zip(_SIDES, metrics, strict=True):
            for version, metric in zip(_VERSIONS, both, strict=True):
                yield Score(
                    config=row.config,
                    split=row.split,
                    metric=f"{name} {version}",
                    system=row.decision,
                    group="",
                    level="all",
                    **score_fields(metric),
                    chance=None,
                    counts={"documents": row.documents, "coherent": row.coherent_documents},
                )


def add_probe_outcomes(
    writer: OutcomeWriter,
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> None:
    """Add the outcomes of documents that are there without and with the probe."""
    ids = [document.item_id for document in table.documents]
    units = writer.units(table.unit(document, "", ()) for document in table.documents)
    unit_of = dict(zip(ids, units, strict=True))
    for decision, threshold in thresholds.items():
        system = System(label=decision, threshold=threshold)
        both = _sides(table, scores, threshold, decision)
        for (*_, field, kind, name), side in zip(_SIDES, both, strict=True):
            for number, version in enumerate(_VERSIONS):
                came = [pair[number] for pair in side]
                parts = [own.parts[field] for _, own in came]
                metric = probe_metric(kind, name, version)
                writer.add(
                    [unit_of[document.item_id] for document, _ in came],
                    metric.name,
                    system,
                    [value for value, _ in parts],
                    weight=[whole for _, whole in parts] if kind is Ratio else None,
                )


def probe_metric(kind: type[Metric], name: str, version: str) -> Metric:
    """The metric of one side, without or with the probe."""
    said = f"{name} {version}"
    return kind("_".join(said.lower().replace(",", "").split()), said)


#: All of them.
PROBE_METRICS = tuple(
    probe_metric(kind, name, version) for *_, kind, name in _SIDES for version in _VERSIONS
)
