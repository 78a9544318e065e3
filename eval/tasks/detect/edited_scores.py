"""What linguistic probes do to the detection of intruders: scores without and with, paired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherencegym.eval.statistics.measures import Measure, accuracy, share_difference
from coherencegym.eval.tasks.detect.decisions import Decision, intruders
from coherencegym.eval.tasks.detect.document_tables import DocumentTable, cluster
from coherencegym.eval.tasks.detect.edited_tables import (
    CONDITION,
    INTRUDER,
    INTRUDER_PROBE,
    ITEM,
    ORIGINAL,
    ORIGINAL_PROBE,
)
from coherencegym.eval.tasks.detect.tallies import Tally, f1, f1_difference, tally


@dataclass(frozen=True)
class ProbeScore:
    """What a probe does to the decisions of a model.

    Both sides of a difference are versions of the same documents: those that have both.

    Attributes:
        config, split: of the probe.
        decision, threshold: of the model.
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
    f1: Measure
    f1_probe: Measure
    difference: Measure
    coherent_documents: int
    coherent: Measure
    coherent_probe: Measure
    coherent_difference: Measure


def probe_scores(
    table: DocumentTable,
    scores: Sequence[Sequence[float]],
    thresholds: Mapping[Decision, float],
) -> Iterator[ProbeScore]:
    """Scores of a table of probes, one for each decision.

    Args:
        table: its documents, by condition.
        scores: of each document, of each sentence; NaN in those that are left out.
        thresholds: of each decision.
    """
    for decision, threshold in thresholds.items():
        clusters: dict[str, str] = {}
        sizes: dict[str, int] = {}
        found: dict[str, dict[str, Tally]] = {}
        for document, own in zip(table.documents, scores, strict=True):
            if own[-1] == own[-1]:
                item = str(document.extra[ITEM])
                clusters[item], sizes[item] = cluster(document), len(own) - 1
                called = intruders(own, threshold, decision)
                by_item = found.setdefault(str(document.extra[CONDITION]), {})
                by_item[item] = tally(called, document.intruder_position)

        both = in_both(found, INTRUDER, INTRUDER_PROBE)
        before, after = ([found[c][item] for item in both] for c in (INTRUDER, INTRUDER_PROBE))
        drawn, sentences = [clusters[item] for item in both], sum(sizes[item] for item in both)
        same = in_both(found, ORIGINAL, ORIGINAL_PROBE)
        kept, kept_probe = ([found[c][item] for item in same] for c in (ORIGINAL, ORIGINAL_PROBE))
        coherent = [clusters[item] for item in same]
        right, right_probe = ([one.document for one in side] for side in (kept, kept_probe))
        yield ProbeScore(
            config=table.config,
            split=table.split,
            decision=decision,
            threshold=threshold,
            documents=len(before),
            f1=f1(before, drawn, sentences),
            f1_probe=f1(after, drawn, sentences),
            difference=f1_difference(before, after, drawn),
            coherent_documents=len(kept),
            coherent=accuracy(right, coherent),
            coherent_probe=accuracy(right_probe, coherent),
            coherent_difference=share_difference(right, right_probe, coherent),
        )


def in_both(found: Mapping[str, Mapping[str, object]], plain: str, probe: str) -> list[str]:
    """The items that have both conditions, in their order."""
    return [item for item in found.get(plain, {}) if item in found.get(probe, {})]
