"""A config against its controls: by how many bits more its predictions hold than theirs.

Where a manipulation changes surprisals by itself (a separator before the utterance that is scored),
a score of its own says little. A control has the same manipulation without the incoherence; what is
left of the margin when the control's is taken from it can come from the incoherence. Which config
is the control of which is declared by the suite and stands in the dataset's manifest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from coherencegym.eval.statistics.intervals import difference_of_means
from coherencegym.eval.tasks.score.metrics import Judgement
from coherencegym.eval.tasks.score.summary import ItemValue, item_values


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The mean margin of one prediction in a config, minus that in a control.

    What has a default an older release may not have written.

    Attributes:
        config, split, control: the tables; ``control`` is a config of the same split.
        formula, metric: the prediction, the same in both.
        n, n_control: items with a margin.
        n_clusters, n_clusters_control: discourses, or families of discourses, that they come from.
        margin_mean, control_margin_mean: bits; None without items.
        difference: the first minus the second, with a 95 % interval; None where either is, the
            interval also where either side has fewer than two clusters.
        ci_method: ``t``, or empty where there is no interval.
    """

    config: str
    split: str
    control: str
    formula: str
    metric: str
    n: int = 0
    n_control: int = 0
    n_clusters: int = 0
    n_clusters_control: int = 0
    margin_mean: float | None = None
    control_margin_mean: float | None = None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    ci_method: str = ""


def differences(
    config: str,
    split: str,
    judgements: Sequence[Judgement],
    controls: Mapping[str, Sequence[Judgement]],
) -> list[Difference]:
    """The differences of one table from its controls, one for each formula that both have.

    A formula without a margin (an equality takes part in it) has no difference. ``controls`` are
    the judgements of the same split of other configs, by name.
    """
    rows = []
    own = _margins(judgements) if controls else {}
    for control, theirs in controls.items():
        other = _margins(theirs)
        for kind, values in own.items():
            both = values, other.get(kind, [])
            if kind in other and all(v.margin is not None for side in both for v in side):
                fields = {"formula": kind[0], "metric": kind[1], **_compared(*both)}
                rows.append(Difference(config=config, split=split, control=control, **fields))
    return rows


def _margins(judgements: Sequence[Judgement]) -> dict[tuple[str, str], list[ItemValue]]:
    """Item values by formula and metric, in the order in which they first occur."""
    chosen: dict[tuple[str, str], list[Judgement]] = {}
    for judgement in judgements:
        chosen.setdefault((judgement.formula, judgement.metric), []).append(judgement)
    return {kind: item_values(own) for kind, own in chosen.items()}


def _compared(own: Sequence[ItemValue], other: Sequence[ItemValue]) -> dict[str, Any]:
    """The fields of a difference that the values of items give."""
    samples = [
        ([v.margin for v in values if v.margin is not None], [v.cluster for v in values])
        for values in (own, other)
    ]
    left, right = (fmean(margins) if margins else None for margins, _ in samples)
    clusters = [len(set(names)) for _, names in samples]
    interval = difference_of_means(*samples) if min(clusters) > 0 else None
    return {
        "n": len(own),
        "n_control": len(other),
        "n_clusters": clusters[0],
        "n_clusters_control": clusters[1],
        "margin_mean": left,
        "control_margin_mean": right,
        "difference": None if left is None or right is None else left - right,
        "ci_low": interval.low if interval else None,
        "ci_high": interval.high if interval else None,
        "ci_method": interval.method if interval else "",
    }
