"""A config against its controls: by how many bits more its predictions hold than theirs.

Where a manipulation changes surprisals by itself (a separator before the utterance that is scored),
a score of its own says little. A control has the same manipulation without the incoherence; what is
left of the margin when the control's is taken from it can come from the incoherence. Which config
is the control of which is declared by the suite and stands in the dataset's manifest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.eval.outcomes.schema import MODEL
from coherencegym.eval.outcomes.tables import Cells, OutcomeTables
from coherencegym.eval.statistics.intervals import difference_of_means
from coherencegym.eval.tasks.score.outcomes import MARGIN, predictions_of
from coherencegym.eval.tasks.score.selections import by_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The mean margin of one prediction in a config, minus that in a control.

    What has a default an older release may not have written.

    Attributes:
        config, split, control: the tables; ``control`` is a config of the same split.
        formula, aggregation: the prediction, the same in both.
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
    aggregation: str
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
    outcomes: OutcomeTables, config: str, split: str, controls: Sequence[str]
) -> list[Difference]:
    """The differences of one table from its controls, one for each formula that both have.

    A formula without a margin (an equality takes part in it) has no difference. ``controls`` are
    other configs of the same split that were scored.
    """
    own = _margins(outcomes, config, split) if controls else {}
    rows = []
    for control in controls:
        other = _margins(outcomes, control, split)
        for kind in own:
            sides = own[kind], other.get(kind)
            if sides[0] is not None and sides[1] is not None:
                fields = {
                    "formula": kind[0],
                    "aggregation": kind[1],
                    **_compared(sides[0], sides[1]),
                }
                rows.append(Difference(config=config, split=split, control=control, **fields))
    return rows


def _margins(
    outcomes: OutcomeTables, config: str, split: str
) -> dict[tuple[str, str], Cells | None]:
    # None where one has no margin.
    import numpy as np

    bits = outcomes.by_unit(MARGIN.name, MODEL)
    found: dict[tuple[str, str], Cells | None] = {}
    for kind, places in by_kind(outcomes, predictions_of(outcomes, config, split)).items():
        cells = outcomes.cells(places)
        own = bits[cells.unit]
        found[kind] = None if np.isnan(own).any() else MARGIN.counted(replace(cells, value=own))
    return found


def _compared(own: Cells, other: Cells) -> dict[str, Any]:
    left, right = MARGIN.estimate_of(own), MARGIN.estimate_of(other)
    difference = interval = None
    if left.value is not None and right.value is not None:
        difference = left.value - right.value
        interval = difference_of_means((own.value, own.cluster), (other.value, other.cluster))
    return {
        "n": left.n,
        "n_control": right.n,
        "n_clusters": left.clusters,
        "n_clusters_control": right.clusters,
        "margin_mean": left.value,
        "control_margin_mean": right.value,
        "difference": difference,
        "ci_low": interval.low if interval else None,
        "ci_high": interval.high if interval else None,
        "ci_method": interval.method if interval else "",
    }
