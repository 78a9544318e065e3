"""The one number of a suite: the unweighted mean over the cells of its headline configs.

A cell is a group of a config whose own score is over a headline group (a sense of a connective), or
else all items of a config (a genre): no cell counts more for having more items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Protocol

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.notes import Note, caution
from coherencegym.eval.data.source import FLOORS
from coherencegym.eval.kinds.table_kind import SAMPLE
from coherencegym.eval.metrics.auc import AreaUnderCurve
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.statistics.intervals import macro_interval
from coherencegym.eval.statistics.scores import CD, CHANCE_NAME, Score
from coherencegym.eval.tasks.score.outcomes import ACCURACY, predictions_of
from coherencegym.eval.tasks.score.selections import cells_of, inside
from coherencegym.eval.tasks.score.summary import ItemScore
from coherencegym.files.strict_json import Share, SignedShare


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A suite's one number.

    Attributes:
        over: the configs that are averaged.
        n_cells: the number of groups or configs, each with the same weight.
        n: items, each once; of another measure the units that it is over.
        score: the value with its 95 % interval over discourses, and how that was computed.
        artefact_score, overlap_score, human_score: the mean of the configs' own, each with as much
            weight as in ``score``; None where one of them has none.
        chance, chance_name: reached by a judge that reads nothing, and the name of that judge.
    """

    over: tuple[str, ...]
    n_cells: int
    n: int
    score: SignedShare | None
    ci_low: SignedShare | None
    ci_high: SignedShare | None
    ci_method: str = ""
    artefact_score: SignedShare | None = None
    overlap_score: SignedShare | None = None
    human_score: SignedShare | None = None
    chance: Share | None = 0.5
    chance_name: str = CHANCE_NAME
    measure: str = CD

    @property
    def floor(self) -> float | None:
        """The higher of the artefact and the overlap score; None where neither is known."""
        known = (getattr(self, f"{name}_score") for name in FLOORS)
        return max((score for score in known if score is not None), default=None)

    @property
    def words(self) -> str:
        """Words such as ``the mean of 8 configs``; of one cell the config."""
        if self.n_cells == 1:
            return self.over[0]
        what = "configs" if self.n_cells == len(self.over) else "groups"
        return f"the mean of {self.n_cells} {what}"


def headline_of_one(score: Score) -> Headline:
    """The headline of results that have but one score: that."""
    names = ("n", "score", "ci_low", "ci_high", "ci_method", "measure", "chance", "chance_name")
    floors = ("artefact_score", "overlap_score", "human_score")
    about = {name: getattr(score, name) for name in (*names, *floors)}
    return Headline(over=(score.config,), n_cells=1, **about)


#: The beginning of a caution that a headline is no better than what needs no reading.
NO_BETTER = "the score is no better than"


def floor_notes(headline: Headline | None) -> Iterator[Note]:
    """A caution that a headline is no better than what needs no reading, where it is not."""
    low = headline.ci_low if headline else None
    if headline is None or low is None:
        return
    floors = {"chance": headline.chance}
    floors |= {f"the {name} score": getattr(headline, f"{name}_score") for name in FLOORS}
    missed = [name for name, floor in floors.items() if floor is not None and low <= floor]
    if missed:
        *others, last = missed
        named = " or ".join(filter(None, (", ".join(others), last)))
        yield caution(f"{NO_BETTER} {named}")


def headline_of(
    tables: Sequence[ItemTable], outcomes: OutcomeTables, scores: Sequence[ItemScore]
) -> Headline | None:
    """The headline of a run's tables; None where none of them is in it or has a score.

    The splits of a config are read as one. Configs of the project's sample, a few texts to try
    things on, count only where there are no others.

    Args:
        tables, outcomes: the tables of a run, and what became of their predictions.
        scores: the tables' own, with the floors and the scores of people.
    """
    import numpy as np

    chosen = [table for table in tables if table.in_headline]
    chosen = [table for table in chosen if table.corpora - {SAMPLE}] or chosen
    cells: dict[tuple[str, str], list[tuple[Any, Any]]] = {}
    n_items = 0
    for table in chosen:
        counted: list[Any] = []
        for group, places in headline_cells(outcomes, table).items():
            if len(items := ACCURACY.counted(outcomes.cells(places))):
                counted.append(items.item)
                cells.setdefault((table.config, group), []).append((items.value, items.cluster))
        n_items += len(np.unique(np.concatenate(counted))) if counted else 0
    if not cells:
        return None
    groups: Any = [
        parts[0] if len(parts) == 1 else tuple(map(np.concatenate, zip(*parts, strict=True)))
        for parts in cells.values()
    ]
    interval = macro_interval(groups)
    configs = [config for config, _ in cells]
    beside = [score for table in chosen for score in _scores_over(table, scores)]
    return Headline(
        over=tuple(dict.fromkeys(configs)),
        n_cells=len(cells),
        n=n_items,
        score=fmean(fmean(values) for values, _ in groups),
        ci_low=interval.low,
        ci_high=interval.high,
        ci_method=interval.method,
        artefact_score=_mean_of("artefact_score", configs, beside),
        overlap_score=_mean_of("overlap_score", configs, beside),
        human_score=_mean_of("human_score", configs, beside),
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
    """The score of the items of a table that count: by column, where some items do not."""
    own = [s for s in scores if (s.config, s.split) == (table.config, table.split)]
    by_value = [s for s in own if s.level == "column" and s.group == table.headline_value]
    return by_value or [s for s in own if s.level == "all"]


def _mean_of(name: str, configs: Sequence[str], scores: Sequence[ItemScore]) -> float | None:
    """The mean over cells of what their configs' own scores have under a name, if all have it."""
    found: dict[str, list[float | None]] = {}
    for score in scores:
        found.setdefault(score.config, []).append(getattr(score, name))
    values = []
    for config in configs:
        own = [value for value in found.get(config, ()) if value is not None]
        if not own or len(own) < len(found[config]):
            return None
        values.append(fmean(own))
    return fmean(values)


def area_headline(outcomes: OutcomeTables, metric: AreaUnderCurve) -> Headline | None:
    """The mean of the areas under the ROC curves of tables; None where no table has one."""
    tables = {
        (one.config, one.split): outcomes.cells(one.places)
        for one in outcomes.series()
        if one.metric == metric.name
    }
    both = {key: own for key, own in tables.items() if metric.value(own) is not None}
    if not both:
        return None
    found = metric.mean(list(both.values()))
    return Headline(
        over=tuple(dict.fromkeys(config for config, _ in both)),
        n_cells=len(both),
        n=found.n,
        score=found.value,
        ci_low=found.low,
        ci_high=found.high,
        ci_method=found.method,
        measure=metric.said,
    )
