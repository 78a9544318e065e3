"""The one number of a run, and what it is held against."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any

from coherencegym.eval.data.dataset import BASELINE_TITLES, BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.data.notes import Note, caution, first_names
from coherencegym.eval.metrics.estimates import Accuracy, AreaUnderCurve, Spearman
from coherencegym.eval.outcomes.schema import System
from coherencegym.eval.outcomes.tables import Cells, OutcomeTables
from coherencegym.eval.report import grid
from coherencegym.eval.statistics.estimators import Estimate
from coherencegym.eval.statistics.intervals import Interval
from coherencegym.eval.statistics.scores import CD, CHANCE_NAME, Score, is_correlation
from coherencegym.files.strict_json import Share, SignedShare


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A suite's one number.

    Attributes:
        over: the configs that are averaged.
        n_cells: the number of groups or configs, each with the same weight.
        n: items, each once; of another measure the units that it is over.
        score: the value with its 95 % interval over discourses, and how that was computed.
        partial_input_score, lexical_overlap_score, surface_score, human_score: the mean of the
            configs' own, each with as much weight as in ``score``; None where one of them has none.
        human_ci_low, human_ci_high, human_n: the interval of human performance, where it is of one
            table, and the number of units that people judged.
        chance, chance_name: reached by a system that reads nothing, and the name of that system.
        only: the ``column=value`` of the items that count, by config; of others all count.
    """

    over: tuple[str, ...]
    n_cells: int
    n: int
    score: SignedShare | None
    ci_low: SignedShare | None
    ci_high: SignedShare | None
    ci_method: str = ""
    partial_input_score: SignedShare | None = None
    lexical_overlap_score: SignedShare | None = None
    surface_score: SignedShare | None = None
    human_score: SignedShare | None = None
    human_ci_low: float | None = None
    human_ci_high: float | None = None
    human_n: int = 0
    chance: Share | None = 0.5
    chance_name: str = CHANCE_NAME
    metric: str = CD
    only: dict[str, str] = field(default_factory=dict)

    @property
    def best_baseline(self) -> float | None:
        """The highest score of a baseline; None where none is known."""
        known = (getattr(self, field) for field in BASELINE_WORDS)
        return max((score for score in known if score is not None), default=None)

    @property
    def is_above_chance(self) -> bool:
        """Tell whether the whole interval is above chance."""
        return _above(self.ci_low, self.chance)

    @property
    def is_above_baseline(self) -> bool:
        """Tell whether the whole interval is above all known baselines."""
        return _above(self.ci_low, self.best_baseline)

    @property
    def is_above(self) -> bool:
        """Tell whether the whole interval is above chance and baselines, of which one is known.

        A baseline below chance is no more than that.
        """
        return self.is_above_chance and self.is_above_baseline

    @property
    def is_above_known(self) -> bool:
        """Tell whether the whole interval is above chance, and baselines where there are any."""
        return self.is_above_chance and (self.best_baseline is None or self.is_above_baseline)

    @property
    def is_over_groups(self) -> bool:
        """Tell whether it is the mean over groups of predictions, not over configs."""
        return self.n_cells > len(self.over)

    @property
    def mean_of(self) -> str:
        """Words on the average: ``mean of a, b, c and 2 more, equally weighted``."""
        groups = f"{self.n_cells:,} groups of predictions of " if self.is_over_groups else ""
        named = [f"{c} (only {self.only[c]})" if c in self.only else c for c in self.over]
        return f"mean of {groups}{first_names(named)}, equally weighted"

    @property
    def counted(self) -> str:
        """Words on the part of the suite that counts; empty where that is a whole config."""
        if self.n_cells > 1:
            return self.mean_of
        return "".join(f"only {self.only[config]}" for config in self.over if config in self.only)

    @property
    def words(self) -> str:
        """Words such as ``the mean of 8 configs``; of one cell the config."""
        if self.n_cells == 1:
            return self.over[0]
        what = "groups" if self.is_over_groups else "configs"
        return f"the mean of {self.n_cells} {what}"


def known_baselines(headlines: Sequence[Headline]) -> dict[str, str]:
    """The names of the baselines that one or more of these headlines have, by their fields."""
    return {
        name: words
        for name, words in BASELINE_WORDS.items()
        if any(getattr(one, name) is not None for one in headlines)
    }


def _above(low: float | None, baseline: float | None) -> bool:
    return low is not None and baseline is not None and low > baseline


def headline_of_one(score: Score) -> Headline:
    """The headline of results that have but one score: that."""
    names = ("n", "score", "ci_low", "ci_high", "ci_method", "metric", "chance", "chance_name")
    about = {name: getattr(score, name) for name in (*names, *BASELINE_WORDS)}
    human = human_performance(score.human_score, [score])
    return Headline(over=(score.config,), n_cells=1, **about, **human)


#: The beginning of a caution that a headline is no better than what needs no reading.
NO_BETTER = "the score is no better than"
#: A caution on a headline that is worse than chance.
BELOW_CHANCE = "the whole interval is below chance"


def baseline_notes(headline: Headline | None) -> Iterator[Note]:
    """A caution that a headline is no better than what needs no reading, where it is not."""
    low = headline.ci_low if headline else None
    if headline is None or low is None or headline.chance_name != CHANCE_NAME:
        return  # what stands in the place of chance is told by the task
    baselines = {"chance": headline.chance}
    baselines |= {f"the {title}": getattr(headline, f) for f, title in BASELINE_TITLES.items()}
    missed = [name for name, value in baselines.items() if value is not None and low <= value]
    if missed:
        *others, last = missed
        named = " or ".join(filter(None, (", ".join(others), last)))
        yield caution(f"{NO_BETTER} {named}")
    high, chance = headline.ci_high, headline.chance
    if high is not None and chance is not None and high < chance:
        yield caution(BELOW_CHANCE)


def cells_by_table(
    outcomes: OutcomeTables,
    metric: Accuracy | AreaUnderCurve | Spearman,
    system: System,
    tables: Collection[tuple[str, str]],
) -> dict[tuple[str, str], Cells]:
    """The outcomes of a system by config and split, of those tables in which they have a value."""
    found = {
        (one.config, one.split): outcomes.cells(one.places)
        for one in outcomes.series()
        if (one.metric, one.system) == (metric.name, system) and (one.config, one.split) in tables
    }
    return {key: own for key, own in found.items() if metric.value(own) is not None}


def mean_headline(
    cells: dict[tuple[str, str], Cells], metric: Accuracy | AreaUnderCurve | Spearman, **beside: Any
) -> Headline | None:
    """The unweighted mean of a metric over tables; None where there is none."""
    if not cells:
        return None
    found, configs = metric.mean(list(cells.values())), [config for config, _ in cells]
    return headline_over(configs, found.value, found, found.n, metric=metric.said, **beside)


def mean_if_known(values: Sequence[float | None]) -> float | None:
    """The mean of values; None where one of them is, or there is none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def human_performance(mean: float | None, scores: Sequence[Score]) -> dict[str, Any]:
    """The fields of a headline that have human performance, given its mean over scores."""
    found: dict[str, Any] = {"human_score": mean}
    if mean is not None:
        found["human_n"] = sum(one.human_n for one in scores)
        if len(scores) == 1:
            found["human_ci_low"] = scores[0].human_ci_low
            found["human_ci_high"] = scores[0].human_ci_high
    return found


def headline_over(
    configs: Sequence[str],
    score: float | None,
    interval: Interval | Estimate,
    n: int,
    **beside: Any,
) -> Headline:
    """The headline of a mean over cells, given the config of each."""
    return Headline(
        over=tuple(dict.fromkeys(configs)),
        n_cells=len(configs),
        n=n,
        score=score,
        ci_low=interval.low,
        ci_high=interval.high,
        ci_method=interval.method,
        **beside,
    )


def headline_line(headline: Headline) -> str:
    """The one number of a suite in a line, with what it is to be held against."""
    ends = headline.ci_low, headline.ci_high
    score = grid.score_with_interval(headline.score, *ends, headline.metric)
    cells = f"{headline.counted}, " if headline.counted else ""
    beside = {
        **{words: getattr(headline, name) for name, words in BASELINE_WORDS.items()},
        headline.chance_name: headline.chance,
    }
    said = grid.share_cell
    if is_correlation(headline.metric):
        said = partial(grid.number_cell, form="+.2f")
    others = [f"{name} {said(value)}" for name, value in beside.items() if value is not None]
    if headline.human_score is not None:
        ends = headline.human_ci_low, headline.human_ci_high
        human = grid.score_with_interval(headline.human_score, *ends, headline.metric)
        human = human.removesuffix(" %")
        others.append(f"{HUMAN_PERFORMANCE} {human} (n = {headline.human_n:,})")
    what = "CD" if headline.metric == CD else headline.metric
    return f"{what} {score} ({cells}{headline.n:,} items); {', '.join(others)}"
