"""Scores: how often predictions hold, by how many bits, and how far that can be trusted.

The CD score of Beyer, Loáiciga and Schlangen (2021, section 3) is the share of items whose
prediction holds. Where a row of the summary takes several predictions of one item, the item's
value is the share of them that holds.

The controlled score is the same of weighted items (:mod:`eval.statistics.balance`). A suite's one
number is the mean over its configs, of which none counts more for having more items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from coherencegym.eval.data.dataset import BASELINE_WORDS, SURFACE, ItemTable
from coherencegym.eval.kinds.table_kind import SAMPLE
from coherencegym.eval.outcomes.metrics import ItemAccuracy, RowPlaces, pooled
from coherencegym.eval.outcomes.schema import FIRST_LEFT_OUT, FLAGS, MODEL, TOO_LONG, System
from coherencegym.eval.outcomes.tables import Cells, OutcomeTables, count_distinct, join_cells
from coherencegym.eval.statistics.effective_size import effective_sample_size
from coherencegym.eval.statistics.scores import Score, difference_fields, score_fields
from coherencegym.eval.tasks.headline import (
    Headline,
    headline_over,
    human_performance,
    mean_if_known,
)
from coherencegym.eval.tasks.results import TableFacts
from coherencegym.eval.tasks.score.outcomes import (
    ACCURACY,
    CONTROLLED,
    MARGIN,
    OF_MODEL,
    SURFACE_SYSTEM,
    by_kind,
    inside,
    item_baselines,
    select,
)

if TYPE_CHECKING:
    import numpy as np


def over_baselines(outcomes: OutcomeTables, table: ItemTable) -> list[dict[str, Any]]:
    """The score of one table minus that of each of its baselines, on the items of both.

    Each row has the ``baseline``, the number ``n`` of items, and the ``difference`` with its
    interval and test (:class:`eval.statistics.intervals.Estimate`): of controlled scores for what
    does not read but comes furthest.
    """
    rows = []
    for name, metric, *sides in _held_against(outcomes, table):
        model, baseline = map(metric.counted, sides)
        if (found := metric.compare(baseline, model)) is not None:
            about = {"config": table.config, "split": table.split, "baseline": name, "n": found.n}
            rows.append(about | difference_fields(found))
    return rows


def _held_against(
    outcomes: OutcomeTables, table: ItemTable
) -> Iterator[tuple[str, ItemAccuracy, Cells, Cells]]:
    model, surface = (_controlled(outcomes, table, one) for one in (MODEL, SURFACE_SYSTEM))
    yield SURFACE, CONTROLLED, model, surface
    places = outcomes.places_of(table.config, table.split, *OF_MODEL)
    cells = outcomes.cells(inside(outcomes, places, table.headline))
    for name, system in item_baselines(outcomes):
        values = outcomes.by_unit(ACCURACY.name, system)
        yield name, ACCURACY, *decided_cells(cells, values)


def _controlled(outcomes: OutcomeTables, table: CountedTable, system: System) -> Cells:
    places = outcomes.places_of(table.config, table.split, CONTROLLED.name, system)
    return outcomes.cells(places)


def summarise(outcomes: OutcomeTables, table: ItemTable) -> list[Score]:
    """The scores of one table: of all items, then by formula, by group, by column."""
    places = outcomes.places_of(table.config, table.split, *OF_MODEL)
    rows = partial(select, outcomes, places, table.headline, table.breakdowns)
    margins = outcomes.by_unit(MARGIN.name, MODEL)
    scores = [_score(outcomes, margins, table, row) for row in rows()]
    del margins
    # Of millions of items there is no room for the decisions of all baselines at once.
    for name, system in item_baselines(outcomes):
        values = outcomes.by_unit(ACCURACY.name, system)
        for place, (_, _, of_row) in enumerate(rows()):
            _, own = decided_cells(outcomes.cells(of_row), values)
            if not len(own.value):
                continue
            value: Any = {f"{name}_score": ACCURACY.value(ACCURACY.counted(own))}
            scores[place] = replace(scores[place], **value)
    items, surface = (
        CONTROLLED.counted(_controlled(outcomes, table, one)) for one in (MODEL, SURFACE_SYSTEM)
    )
    if len(items):
        found = CONTROLLED.estimate(items)
        scores[0] = replace(
            scores[0],
            controlled_score=found.value,
            controlled_ci_low=found.low,
            controlled_ci_high=found.high,
            effective_items=effective_sample_size(items.weight),
            surface_score=CONTROLLED.value(surface),
        )
    return scores


def decided_cells(cells: Cells, values: np.ndarray) -> tuple[Cells, Cells]:
    """Outcomes of the model on which a baseline decided, too: the model's and the baseline's.

    ``values`` are the baseline's by the ids of units, NaN where it has none.
    """
    import numpy as np

    own = values[cells.unit]
    if not (is_decided := ~np.isnan(own)).all():
        cells, own = cells.take(np.flatnonzero(is_decided)), own[is_decided]
    return cells, replace(cells, value=own)


def _score(
    outcomes: OutcomeTables,
    margins: np.ndarray,
    table: ItemTable,
    row: RowPlaces,
) -> Score:
    level, group, places = row
    formula, metric = kind_of(outcomes, places)
    # People judged texts, whatever the formula and the metric.
    human = next((h for h in table.humans if level != "formula" and h["group"] == group), {})
    items = ACCURACY.counted(cells := outcomes.cells(places))
    return Score(
        config=table.config,
        split=table.split,
        formula=formula,
        aggregation=metric,
        group=group,
        level=level,
        **score_fields(ACCURACY.estimate(items)),
        **_margin(cells, margins),
        counts=_counts_of(outcomes, places),
        human_score=human.get("score"),
        human_ci_low=human.get("ci_low"),
        human_ci_high=human.get("ci_high"),
        human_n=human.get("n", 0),
    )


def _margin(cells: Cells, margins: np.ndarray) -> dict[str, Any]:
    import numpy as np

    bits = margins[cells.unit]
    # An average of a part of them says nothing of the rest.
    if not len(bits) or np.isnan(bits).any():
        return {}
    found = MARGIN.estimate(MARGIN.counted(replace(cells, value=bits)))
    limits = {"margin_mean_low": found.low, "margin_mean_high": found.high}
    return {"margin_mean": found.value, **limits}


def _counts_of(outcomes: OutcomeTables, places: np.ndarray) -> dict[str, int]:
    counts = dict(outcomes.reasons(places[~outcomes.has_value(places)]))
    if TOO_LONG in counts:
        counts[TOO_LONG] = count_distinct(outcomes.items(outcomes.with_reason(places, TOO_LONG)))
    for name in FLAGS:
        flagged = places[outcomes.flags(places, name)]
        counts[name] = len(flagged)
        if name == FIRST_LEFT_OUT:
            counts[name] = count_distinct(outcomes.items(flagged))
    return {name: number for name, number in counts.items() if number}


def kind_of(outcomes: OutcomeTables, places: np.ndarray) -> tuple[str, str]:
    """The formula and the aggregation that predictions have in common; empty where they differ."""
    kinds = by_kind(outcomes, places)
    return only_one(formula for formula, _ in kinds), only_one(metric for _, metric in kinds)


def only_one(names: Iterable[str]) -> str:
    """The name that all have in common; empty where they differ."""
    found = set(names)
    return found.pop() if len(found) == 1 else ""


def headline_of(
    tables: Sequence[ItemTable], outcomes: OutcomeTables, scores: Sequence[Score]
) -> Headline | None:
    """The headline of a run's tables; None where none of them is in it or has a score.

    It is over controlled scores where all its configs have one, and else over plain ones. The
    splits of a config are read as one; beside a controlled score nothing is over those that could
    not be balanced. Configs of the project's sample, a few texts to try things on, count only where
    there are no others.

    Args:
        tables, outcomes: the tables of a run, and what became of their predictions.
        scores: the tables' own, with the baselines and the scores of people.
    """
    chosen = [table for table in tables if table.in_headline]
    chosen = [table for table in chosen if table.corpora - {SAMPLE}] or chosen
    items = items_by_config(outcomes, chosen, ACCURACY)
    if not items:
        return None
    model, surface = (
        items_by_config(outcomes, chosen, CONTROLLED, system) for system in (MODEL, SURFACE_SYSTEM)
    )
    if is_controlled := model.keys() == items.keys():
        # What stands beside a controlled score is over the same splits.
        chosen = [table for table in chosen if _is_balanced(outcomes, table)]
        items = items_by_config(outcomes, chosen, ACCURACY)
    beside = [
        score
        for score in scores
        if score.level == "all" and any(_place(score) == _place(table) for table in chosen)
    ]
    known: dict[str, Any] = {
        **{name: _mean_of(name, items, beside) for name in BASELINE_WORDS},
        **human_performance(_mean_of("human_score", items, beside), beside),
    }
    plain = ACCURACY.mean([*items.values()])
    if not is_controlled:
        return headline_over(items, plain, **{**known, "surface_score": None})
    known |= {"plain_score": plain.value, "plain_ci_low": plain.low, "plain_ci_high": plain.high}
    over = CONTROLLED.compare_means([*surface.values()], [*model.values()])
    known |= {
        "metric": CONTROLLED.label,
        "effective_items": effective_sample_size(pooled([*model.values()]).weight),
        "surface_score": CONTROLLED.mean([*surface.values()]).value,
        "over_surface": over.value,
        "over_surface_low": over.low,
        "over_surface_high": over.high,
    }
    return headline_over(items, CONTROLLED.mean([*model.values()]), **known)


#: A table in memory, or one of results: both say what counts in the suite's one number.
CountedTable = ItemTable | TableFacts


def items_by_config(
    outcomes: OutcomeTables,
    tables: Iterable[CountedTable],
    metric: ItemAccuracy,
    system: System = MODEL,
) -> dict[str, Cells]:
    """The items of each config that count in the suite's one number; of those that have any."""
    found: dict[str, list[Cells]] = {}
    for table in tables:
        places = outcomes.places_of(table.config, table.split, metric.name, system)
        if len(items := metric.counted(outcomes.cells(inside(outcomes, places, table.headline)))):
            found.setdefault(table.config, []).append(items)
    return {config: join_cells(own) for config, own in found.items()}


def _is_balanced(outcomes: OutcomeTables, table: ItemTable) -> bool:
    return bool(len(outcomes.places_of(table.config, table.split, CONTROLLED.name, MODEL)))


def _place(one: Score | ItemTable) -> tuple[str, str]:
    return one.config, one.split


def _mean_of(name: str, configs: Iterable[str], scores: Sequence[Score]) -> float | None:
    # Over configs, and inside over the items of those splits that have it; None unless all do.
    means = []
    for config in configs:
        own = [
            (s.n, v) for s in scores if s.config == config and (v := getattr(s, name)) is not None
        ]
        means.append(sum(n * v for n, v in own) / sum(n for n, _ in own) if own else None)
    return mean_if_known(means)
