"""The one number of a suite: the unweighted mean over the cells of its headline configs.

A cell is a group of a config whose own score is over a headline group (a sense of a connective), or
else all items of a config (a genre): no cell counts more for having more items.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any, Protocol

from coherencegym.eval.data.baselines import BASELINE_WORDS
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.table_kind import SAMPLE
from coherencegym.eval.outcomes.tables import OutcomeTables, count_distinct
from coherencegym.eval.statistics.intervals import macro_interval, share_interval
from coherencegym.eval.tasks.headline import (
    Headline,
    headline_over,
    human_performance,
    mean_if_known,
)
from coherencegym.eval.tasks.score.outcomes import ACCURACY, predictions_of
from coherencegym.eval.tasks.score.selections import cells_of, inside
from coherencegym.eval.tasks.score.summary import ItemScore


def headline_of(
    tables: Sequence[ItemTable], outcomes: OutcomeTables, scores: Sequence[ItemScore]
) -> Headline | None:
    """The headline of a run's tables; None where none of them is in it or has a score.

    The splits of a config are read as one. Configs of the project's sample, a few texts to try
    things on, count only where there are no others.

    Args:
        tables, outcomes: the tables of a run, and what became of their predictions.
        scores: the tables' own, with the baselines and the scores of people.
    """
    import numpy as np

    chosen = [table for table in tables if table.in_headline]
    chosen = [table for table in chosen if table.corpora - {SAMPLE}] or chosen
    cells: dict[tuple[str, str], list[tuple[Any, Any, Any]]] = {}
    n_items = 0
    for table in chosen:
        counted: list[Any] = []
        for group, places in headline_cells(outcomes, table).items():
            if len(items := ACCURACY.counted(outcomes.cells(places))):
                counted.append(items.item)
                own = items.value, items.cluster, items.weight
                cells.setdefault((table.config, group), []).append(own)
        n_items += count_distinct(np.concatenate(counted)) if counted else 0
    if not cells:
        return None
    groups: Any = [
        parts[0] if len(parts) == 1 else tuple(map(np.concatenate, zip(*parts, strict=True)))
        for parts in cells.values()
    ]
    configs = [config for config, _ in cells]
    beside = [score for table in chosen for score in _scores_over(table, scores)]
    # Of one cell that of its row.
    interval = (
        share_interval(*groups[0])
        if len(groups) == 1
        else macro_interval([(values, clusters) for values, clusters, _ in groups])
    )
    return headline_over(
        configs,
        fmean(fmean(values) for values, *_ in groups),
        interval,
        n_items,
        **{name: _mean_of(name, configs, beside) for name in BASELINE_WORDS},
        only={t.config: t.headline_value for t in chosen if t.headline_value},
        **human_performance(_mean_of("human_score", configs, beside), beside),
    )


class CountedTable(Protocol):
    """A table, and what of it counts in the suite's one number (:class:`ItemTable`)."""

    @property
    def config(self) -> str:
        """Its config."""

    @property
    def split(self) -> str:
        """Its split."""

    @property
    def headline(self) -> str:
        """The group that its own score is over; empty: all."""

    @property
    def headline_value(self) -> str:
        """The ``column=value`` of the items that count; empty: all."""


def headline_cells(outcomes: OutcomeTables, table: CountedTable) -> dict[str, Any]:
    """The predictions of each cell of a table that count in the suite's one number."""
    places = predictions_of(outcomes, table.config, table.split)
    counted = inside(outcomes, places, table.headline_value)
    return cells_of(outcomes, counted, table.headline)


def _scores_over(table: ItemTable, scores: Sequence[ItemScore]) -> list[ItemScore]:
    # By column, where some items of a table do not count.
    own = [s for s in scores if (s.config, s.split) == (table.config, table.split)]
    by_value = [s for s in own if s.level == "column" and s.group == table.headline_value]
    return by_value or [s for s in own if s.level == "all"]


def _mean_of(name: str, configs: Sequence[str], scores: Sequence[ItemScore]) -> float | None:
    # Over cells; None unless all have it.
    found: dict[str, list[float | None]] = {}
    for score in scores:
        found.setdefault(score.config, []).append(getattr(score, name))
    return mean_if_known([mean_if_known(found.get(config, ())) for config in configs])
