"""The one number of a run, and what it is held against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from coherencegym.eval.data.dataset import BASELINE_TITLES, HUMAN_PERFORMANCE, PLAIN_BASELINES
from coherencegym.eval.data.notes import Note, caution, first_names
from coherencegym.eval.outcomes.label_metrics import AreaUnderCurve, Spearman
from coherencegym.eval.outcomes.metrics import Accuracy
from coherencegym.eval.outcomes.schema import MODEL, System
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import Bearing, Verdict
from coherencegym.eval.statistics.intervals import Estimate
from coherencegym.eval.statistics.scores import (
    CD,
    CD_METRICS,
    CHANCE_NAME,
    CONTROLLED_CD,
    FEW_ITEMS,
    OTHER_BASELINES,
    Score,
    baseline_words,
    chance_names,
    is_correlation,
)
from coherencegym.files.strict_json import Share, SignedShare


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A suite's one number.

    Attributes:
        over: the configs that are averaged, each with the same weight.
        n: items; of another measure the units that it is over.
        score: the value with its 95 % interval over discourses, and how that was computed: the
            controlled score where all configs have one.
        plain_score: the plain score beside a controlled one, with its interval.
        effective_items: the equally weighted items that those of a controlled score are worth.
        partial_input_score, lexical_overlap_score, surface_score, human_score: the mean of the
            configs' own; None where one of them has none. ``surface_score`` is a controlled one.
        over_surface: the controlled score minus ``surface_score``, with its interval.
        human_ci_low, human_ci_high, human_n: the interval of human performance, where it is of one
            table, and the number of units that people judged.
        chance, chance_name: reached by a system that reads nothing, and the name of that system.
    """

    over: tuple[str, ...]
    n: int
    score: SignedShare | None
    ci_low: SignedShare | None
    ci_high: SignedShare | None
    ci_method: str = ""
    plain_score: Share | None = None
    plain_ci_low: Share | None = None
    plain_ci_high: Share | None = None
    effective_items: float | None = None
    partial_input_score: SignedShare | None = None
    lexical_overlap_score: SignedShare | None = None
    surface_score: SignedShare | None = None
    over_surface: SignedShare | None = None
    over_surface_low: SignedShare | None = None
    over_surface_high: SignedShare | None = None
    human_score: SignedShare | None = None
    human_ci_low: float | None = None
    human_ci_high: float | None = None
    human_n: int = 0
    chance: Share | None = 0.5
    chance_name: str = CHANCE_NAME
    metric: str = CD

    @property
    def is_controlled(self) -> bool:
        """Tell whether it is a controlled score."""
        return self.metric == CONTROLLED_CD

    @property
    def held_against(self) -> tuple[str, ...]:
        """The fields of the baselines that it is held against."""
        if self.is_controlled:
            return ("surface_score",)
        return PLAIN_BASELINES if self.metric == CD else tuple(OTHER_BASELINES)

    @property
    def baselines(self) -> dict[str, float]:
        """What the baselines that are known reach, by their fields: of correlations the size."""
        known = {name: getattr(self, name) for name in self.held_against}
        sign = is_correlation(self.metric)
        return {n: abs(v) if sign else v for n, v in known.items() if v is not None}

    @property
    def best_baseline(self) -> float | None:
        """The most that a baseline reaches that it is held against; None where none is known."""
        return max(self.baselines.values(), default=None)

    @property
    def is_above_chance(self) -> bool:
        """Tell whether the whole interval is above chance."""
        return _above(self.ci_low, self.chance)

    @property
    def is_above_baseline(self) -> bool:
        """Tell whether it is above all known baselines.

        A controlled score is where the interval of its difference is, a plain one where its whole
        interval is.
        """
        if self.is_controlled:
            return _above(self.over_surface_low, 0.0)
        return _above(self.ci_low, self.best_baseline)

    @property
    def is_above(self) -> bool:
        """Tell whether it is above chance and baselines, of which one is known.

        A baseline below chance is no more than that.
        """
        return self.is_above_chance and self.is_above_baseline

    @property
    def is_below(self) -> bool:
        """Tell whether the whole interval, of a controlled score the plain, is below chance."""
        high = self.plain_ci_high if self.is_controlled else self.ci_high
        return high is not None and self.chance is not None and high < self.chance

    @property
    def mean_of(self) -> str:
        """Words on the average: ``mean of a, b, c and 2 more, equally weighted``; empty of one."""
        several = len(self.over) > 1
        return f"mean of {first_names(list(self.over))}, equally weighted" if several else ""

    @property
    def words(self) -> str:
        """Words such as ``the mean of 8 configs``; of one config its name."""
        return self.over[0] if len(self.over) == 1 else f"the mean of {len(self.over)} configs"


def known_baselines(headlines: Sequence[Headline]) -> dict[str, str]:
    """The names of the baselines that one or more of these headlines are held against, by field."""
    return {
        name: words
        for one in headlines
        for name, words in baseline_words(one.metric).items()
        if name in one.baselines
    }


def _above(low: float | None, baseline: float | None) -> bool:
    return low is not None and baseline is not None and low > baseline


def headline_of_one(score: Score) -> Headline:
    """The headline of results that have but one score: that."""
    names = ("n", "score", "ci_low", "ci_high", "ci_method", "metric", "chance", "chance_name")
    about = {name: getattr(score, name) for name in (*names, *PLAIN_BASELINES)}
    human = human_performance(score.human_score, [score])
    return Headline(over=(score.config,), **about, **human)


#: The beginning of a caution that a headline is no better than what needs no reading.
NO_BETTER = "the score is no better than"
#: The beginning of a caution on a headline that is worse than chance.
BELOW = "the whole interval is below"
#: The beginning of a note on the control of the configs of a headline.
CONTROL_NOTE = "control of what words and lengths give away"


def named_baselines(headline: Headline) -> dict[str, float]:
    """The values of what needs no reading and a headline is held against, by their names."""
    reached = {}
    if headline.chance is not None:
        reached[chance_names([headline], article=True)] = headline.chance
    words = baseline_words(headline.metric)
    titles = BASELINE_TITLES if headline.metric in CD_METRICS else words
    return reached | {f"the {titles[name]}": value for name, value in headline.baselines.items()}


def baseline_notes(headline: Headline | None) -> Iterator[Note]:
    """A caution that a headline is no better than what needs no reading, where it is not."""
    low = headline.ci_low if headline else None
    if headline is None or low is None:
        return
    surface = f"the {BASELINE_TITLES['surface_score']}"
    missed = [
        name
        for name, value in named_baselines(headline).items()
        if name != surface and low <= value
    ]
    if headline.is_controlled and not headline.is_above_baseline:
        missed.append(surface)
    if missed:
        *others, last = missed
        named = " or ".join(filter(None, (", ".join(others), last)))
        yield caution(f"{NO_BETTER} {named}")
    if headline.is_below:
        yield caution(f"{BELOW} {chance_names([headline], article=True)}")


def mean_headline(
    outcomes: OutcomeTables,
    rows: Iterable[Score],
    tables: Iterable[Any],
    metric: Accuracy | AreaUnderCurve | Spearman,
    system: System = MODEL,
) -> Headline | None:
    """The unweighted mean of a metric over tables in which a system has a value; None without any.

    Beside it are the means of what stands beside the scores of these tables, which are in ``rows``.
    """
    chosen = {(one.config, one.split) for one in tables}
    cells = {
        (config, split): values
        for (config, split, *key), where in outcomes.series.items()
        if key == [metric.name, system] and (config, split) in chosen
        if metric.value(values := outcomes.cells(where)) is not None
    }
    if not cells:
        return None
    kind = "", metric.said, system.label
    known = (row for row in rows if (row.config, row.split) in cells)
    own = [one for one in known if (one.group, one.metric, one.system) == kind]
    beside: dict[str, Any] = {
        name: mean_if_known([getattr(one, name) for one in own])
        for name in (*OTHER_BASELINES, "chance")
    }
    beside |= human_performance(mean_if_known([one.human_score for one in own]), own)
    beside |= {"metric": metric.said, "chance_name": own[0].chance_name}
    found = metric.mean(list(cells.values()))
    return headline_over((config for config, _ in cells), found, **beside)


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


def headline_over(configs: Iterable[str], found: Estimate, **beside: Any) -> Headline:
    """The headline of a mean over tables, given the config of each."""
    return Headline(
        over=tuple(dict.fromkeys(configs)),
        n=found.n,
        score=found.value,
        ci_low=found.low,
        ci_high=found.high,
        ci_method=found.method,
        **beside,
    )


def headline_line(headline: Headline) -> str:
    """The one number of a suite in a line, with what it is to be held against."""
    ends = headline.ci_low, headline.ci_high
    score = grid.score_with_interval(headline.score, *ends, headline.metric, " %")
    said = partial(grid.score_with_interval, low=None, high=None, metric=headline.metric)

    def known(names: Iterable[str]) -> list[str]:
        words = baseline_words(headline.metric)
        values = {words[name]: getattr(headline, name) for name in names}
        return [f"{name} {said(value)}" for name, value in values.items() if value is not None]

    beside = [*known(PLAIN_BASELINES)] * (not headline.is_controlled)
    beside += known(["surface_score"])
    if headline.chance is not None:
        beside.append(f"{headline.chance_name} {said(headline.chance)}")
    if headline.human_score is not None:
        ends = headline.human_ci_low, headline.human_ci_high
        human = grid.score_with_interval(headline.human_score, *ends, headline.metric)
        beside.append(f"{HUMAN_PERFORMANCE} {human} (n = {headline.human_n:,})")
    items = [headline.mean_of, f"{headline.n:,} item{'s' * (headline.n != 1)}"]
    if headline.effective_items is not None:
        items[-1] += f" worth {headline.effective_items:,.0f}"
    line = f"{headline.metric.removesuffix(' score')} {score} ({', '.join(filter(None, items))})"
    line += f"; {', '.join(beside)}"
    if headline.is_controlled:
        line += f"; plain CD {grid.share_cell(headline.plain_score)}"
    return line


_NO_LARGER = (
    "its margins are not shown to be larger than in the controls, in which the same change makes "
    "no text less coherent"
)


def verdict(head: Headline, over_controls: Sequence[float | None] = ()) -> Verdict | None:
    """The verdict on a headline; None where it has no number.

    ``over_controls`` are the lower ends of its differences from controls.
    """
    if head.score is None:
        return None
    against = [str(note) for note in baseline_notes(head)]
    if any(low is not None for low in over_controls) and not all(
        low is not None and low > 0 for low in over_controls
    ):
        against.append(_NO_LARGER)
    above = f"the whole interval is above {' and '.join(named_baselines(head))}"
    if head.ci_low is None:
        above = f"{head.ci_method or 'the score'} has no interval"
    few = f"fewer than {FEW_ITEMS} items (!): read the interval, not the score"
    reasons = "; ".join([*(against or [above]), *[few] * (head.n < FEW_ITEMS)])
    bearing: Bearing = "open" if against or head.ci_low is None else "shows"
    return Verdict(
        headline_line(head),
        reasons,
        "below" if head.is_below else bearing,
    )
