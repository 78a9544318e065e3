"""Linguistic probes: what they do to the detection of intruders, paired by document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coherencegym.eval.metrics.accuracy import Accuracy
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.metrics.ratio import F1, Ratio
from coherencegym.eval.outcomes.schema import System
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.statistics.estimate import Estimate
from coherencegym.eval.statistics.estimators import ratio_difference, share_difference
from coherencegym.eval.tasks.detect.decisions import (
    Decision,
    count_decision,
    intruders,
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
        for document, own in zip(table.documents, scores, strict=True)
        if was_read(own)
    }
    for plain, probe, part, *metrics in _SIDES:
        items = [item for condition, item in read if condition == plain and (probe, item) in read]
        units = writer.units(table.unit(read[plain, item][0], "", ()) for item in items)
        for decision, threshold in thresholds.items():
            for condition, metric in zip((plain, probe), metrics, strict=True):
                parts = [
                    count_decision(
                        intruders(own, threshold, decision), document.intruder_position
                    ).parts[part]
                    for document, own in (read[condition, item] for item in items)
                ]
                writer.add(
                    units,
                    metric.name,
                    System(label=decision, threshold=threshold),
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
