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
from coherencegym.eval.tasks.score.columns import (
    Columns,
    ItemValues,
    by_first_place,
    common_clusters,
    count_distinct,
    in_columns,
    item_values,
    places_where,
)
from coherencegym.eval.tasks.score.metrics import Judgement


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
    judgements: Columns | Sequence[Judgement],
    controls: Mapping[str, Columns | Sequence[Judgement]],
) -> list[Difference]:
    """The differences of one table from its controls, one for each formula that both have.

    A formula without a margin (an equality takes part in it) has no difference. ``controls`` are
    the judgements of the same split of other configs, by name.
    """
    rows = []
    columns = in_columns(judgements)
    own = _values(columns) if controls else {}
    for control, judged in controls.items():
        theirs = in_columns(judged)
        other = _values(theirs)
        clusters = common_clusters([columns, theirs])
        for kind in own:
            if kind in other and own[kind].has_margins and other[kind].has_margins:
                sides = own[kind], other[kind]
                named = [each[side.item] for each, side in zip(clusters, sides, strict=True)]
                fields = {"formula": kind[0], "metric": kind[1], **_compared(sides, named)}
                rows.append(Difference(config=config, split=split, control=control, **fields))
    return rows


def _values(columns: Columns) -> dict[tuple[str, str], ItemValues]:
    """Item values by formula and metric, in the order in which they first occur."""
    return {
        columns.kinds[number]: item_values(columns, places_where(columns.kind == number))
        for number in by_first_place(columns.kind)
    }


def _compared(sides: tuple[ItemValues, ItemValues], named: Sequence[Any]) -> dict[str, Any]:
    """The fields of a difference that the values of items, and their clusters, give."""
    own, other = ((side.margin, names) for side, names in zip(sides, named, strict=True))
    left, right = (fmean(margins) if len(margins) else None for margins, _ in (own, other))
    clusters = [count_distinct(names) for names in named]
    interval = difference_of_means(own, other) if min(clusters) > 0 else None
    return {
        "n": len(sides[0]),
        "n_control": len(sides[1]),
        "n_clusters": clusters[0],
        "n_clusters_control": clusters[1],
        "margin_mean": left,
        "control_margin_mean": right,
        "difference": None if left is None or right is None else left - right,
        "ci_low": interval.low if interval else None,
        "ci_high": interval.high if interval else None,
        "ci_method": interval.method if interval else "",
    }
