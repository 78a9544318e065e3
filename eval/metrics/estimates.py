"""Every number of a run: each metric and system, of all units of a table and of their groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.metrics.accuracy import Accuracy
from coherencegym.eval.metrics.auc import AreaUnderCurve
from coherencegym.eval.metrics.item_accuracy import ItemAccuracy
from coherencegym.eval.metrics.margin import Margin
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.metrics.ratio import F1, Ratio
from coherencegym.eval.metrics.spearman import PartialSpearman, Spearman, SpearmanWithin
from coherencegym.eval.outcomes.schema import Group, System, name_of_group
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.statistics.estimate import Estimate
from coherencegym.eval.statistics.scores import REFERENCE, Score, score_fields

#: The kinds of metrics by their estimators: a new one is one line here.
KINDS: Mapping[str, type[Metric]] = {
    kind.estimator: kind
    for kind in (
        *(Accuracy, ItemAccuracy, Margin, Ratio, F1, AreaUnderCurve),
        *(Spearman, PartialSpearman, SpearmanWithin),
    )
}


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """A number of a run, and what it is of.

    Attributes:
        group: the units; None: all of the table.
        left_out: outcomes without a value, by reason.
    """

    config: str
    split: str
    group: Group | None
    metric: Metric
    system: System
    estimate: Estimate
    left_out: Mapping[str, int]


def estimates(tables: OutcomeTables, metrics: Mapping[str, Metric]) -> Iterator[EstimateRow]:
    """The estimates of a run by table, metric and system: of all units, then of each group.

    A layer by itself is not reported by group.
    """
    for one in tables.series():
        metric = metrics[one.metric]
        by_group = metric.by_group and one.system.layer is None
        for group, places in tables.parts(one.places, by_group).items():
            cells = tables.cells(places)
            yield EstimateRow(
                one.config,
                one.split,
                group,
                metric,
                one.system,
                metric.estimate(cells),
                cells.left_out,
            )


def score_level(system: System, group: Group | None) -> str:
    """The level of a score (:class:`eval.statistics.scores.ScoreRow`)."""
    if system.role != "model":
        return REFERENCE
    if system.layer is not None:
        return "detail"
    if group is None:
        return "all"
    return "column" if group[0] else "group"


def score_of(row: EstimateRow) -> Score:
    """The row that readers of results take."""
    group = row.group
    return Score(
        config=row.config,
        split=row.split,
        metric=row.metric.said,
        system=row.system.label,
        group=name_of_group(group) if group else "",
        level=score_level(row.system, group),
        **score_fields(row.estimate),
        chance=row.metric.chance,
        counts=dict(row.left_out),
    )


def described_metrics(metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """Metrics as ``results.json`` has them."""
    return [{**asdict(metric), "estimator": metric.estimator} for metric in metrics]


@dataclass(frozen=True)
class SavedMetric:
    """A metric as ``results.json`` has it."""

    name: str
    label: str
    by_group: bool
    estimator: str


def known_metrics(saved: Sequence[SavedMetric], where: str) -> dict[str, Metric]:
    """The metrics by their names, from how they were described."""
    found = {}
    for one in saved:
        if one.estimator not in KINDS:
            raise EvaluationError(
                f"{where}: metric {one.name!r}: estimator {one.estimator!r}; expected one of "
                f"{', '.join(KINDS)}"
            )
        found[one.name] = KINDS[one.estimator](one.name, one.label, one.by_group)
    return found
