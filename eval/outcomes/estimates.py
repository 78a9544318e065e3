"""The scores of a run: an estimate of each metric and system on a table or a group of units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.metric import Metric
from coherencegym.eval.outcomes.metrics import RowPlaces
from coherencegym.eval.outcomes.schema import System, name_of_group
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.statistics.scores import REFERENCE, Score, score_fields


def rows_of(
    tables: OutcomeTables, places: Any, system: System, by_group: bool
) -> Iterator[RowPlaces]:
    """The rows of some outcomes of a system: of all, and if asked for of each group of units."""
    for group, own in tables.parts(places, by_group).items():
        if system.role != "model":
            level = REFERENCE
        elif system.layer is not None:
            level = "detail"
        elif group is None:
            level = "all"
        else:
            level = "column" if group[0] else "group"
        yield level, name_of_group(group) if group else "", own


def estimates(
    tables: OutcomeTables, metrics: Mapping[str, Metric]
) -> Iterator[tuple[Metric, System, Score]]:
    """The scores of a run by table, metric and system: of all units, then of each group.

    A layer by itself is not reported by group.

    Raises:
        EvaluationError: a metric left its range, so that no reader would take the score.
    """
    for (config, split, name, system), every in tables.series.items():
        metric = metrics[name]
        by_group = metric.by_group and system.layer is None
        for level, group, places in rows_of(tables, every, system, by_group):
            cells = tables.cells(places)
            found = metric.estimate(metric.counted(cells))
            least = -1 if metric.is_signed else 0
            if found.value is not None and not least <= found.value <= 1:
                said = f"{found.value:g}; expected {least} to 1"
                raise EvaluationError(f"metric {metric.said!r}: {said}")
            yield (
                metric,
                system,
                Score(
                    config=config,
                    split=split,
                    metric=metric.said,
                    system=system.label,
                    group=group,
                    level=level,
                    **score_fields(found),
                    chance=metric.chance,
                    counts=dict(cells.left_out),
                ),
            )
