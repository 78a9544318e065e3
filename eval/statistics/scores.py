"""Scores: the one row that every view of results reads, whichever task they are of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from coherencegym.eval.data.dataset import BASELINE_WORDS
from coherencegym.eval.statistics.balance import WILSON
from coherencegym.eval.statistics.intervals import Estimate
from coherencegym.files.strict_json import Share, SignedShare

#: Fewer items than this in a score, and the report warns.
FEW_ITEMS = 30
#: The metric of a suite of minimal pairs or sets (Beyer et al. 2021, section 3).
CD = "CD score"
#: The same by balance weights, under which no counted cue tells the coherent side.
CONTROLLED_CD = "CD, controlled"
#: The level of a score that is not the model's: of people, or of a baseline.
REFERENCE = "reference"
#: The system that is such a baseline: a classifier that sees words alone.
BAG_OF_WORDS = "bag of words"
#: Others: how long a text is, how far it repeats words, and one person beside others.
LENGTH, REPEATED_WORDS, ONE_RATER = "length", "repeated words", "one rater"
#: Another: most of the people who judged a row.
PEOPLE = "people"
#: Another: the label that training rows have most.
MOST_FREQUENT = "most frequent label"
#: The name of what a system that reads nothing reaches.
CHANCE_NAME = "chance"
#: The systems of outcomes that are layers of the model begin so; a number follows.
LAYER = "layer "


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """A row of scores, or of their comparison: what it is about.

    Attributes:
        config, split: the table.
        formula, aggregation: the predictions'; empty where they have several, or there are none.
        group: a group of predictions or units, or ``column=value``; empty: all.
        level: ``all``, ``formula``, ``group``, ``headline`` (the group that ``all`` is over),
            ``detail`` (a group that is a row of the suite's table, where the config's own score is
            over a group of many), ``column``, or ``reference``.
        n: units in the score: items, documents or sentences.
        metric: the CD score, F1, the area under the ROC curve, ...
        system: the way in which the model decided, or who did; empty where there is one way.
    """

    config: str
    split: str
    formula: str = ""
    aggregation: str = ""
    group: str
    level: str
    n: int
    metric: str = CD
    system: str = ""

    @property
    def what(self) -> str:
        """The metric and by which decision, for people; empty for a CD score."""
        if self.metric == CD:
            return ""
        return f"{self.metric}, {self.system}" if self.system else self.metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(ScoreRow):
    """One row of results; what has a default an older release may not have written.

    Attributes:
        score: the value with its 95 % interval and how that was computed; None without units. It is
            a share, or a correlation, which may be below 0.
        partial_input_score: the value for a classifier that never sees the contrast in context.
        lexical_overlap_score: that for the side that repeats more words of the text before it.
        controlled_score: the controlled CD score, with its interval, of items that are worth
            ``effective_items`` equally weighted ones; None where they cannot be balanced.
        surface_score: that of the rule or classifier without reading that comes furthest.
        human_score: the same for people, with its interval, over ``human_n`` units; None, and 0,
            where nobody was asked.
        chance: reached by a system that reads nothing; None where that is not known.
        chance_name: the name of that system, where it does not guess.
        clusters: those of which no two units share most of their text: what intervals are over.
        margin_mean: the bits by which predictions hold, with their interval; None where a formula
            has no margin, the interval also of one cluster.
        counts: units that are left out, by reason, or that are of a kind. Of predictions a tie is
            in the score and does not hold, and one ``too close`` differs by less than the measured
            numeric error of the run.
    """

    score: SignedShare | None
    ci_low: SignedShare | None
    ci_high: SignedShare | None
    ci_method: str = ""
    partial_input_score: SignedShare | None = None
    lexical_overlap_score: SignedShare | None = None
    controlled_score: Share | None = None
    controlled_ci_low: Share | None = None
    controlled_ci_high: Share | None = None
    effective_items: float | None = None
    surface_score: SignedShare | None = None
    human_score: SignedShare | None = None
    human_ci_low: float | None = None
    human_ci_high: float | None = None
    human_n: int = 0
    chance: Share | None = 0.5
    chance_name: str = CHANCE_NAME
    clusters: int = 0
    margin_mean: float | None = None
    margin_mean_low: float | None = None
    margin_mean_high: float | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def controlled(self) -> Self:
        """The row of the controlled score alone; itself where there is none."""
        if self.controlled_score is None:
            return self
        limits = self.controlled_ci_low, self.controlled_ci_high
        number: Any = dict(zip(("ci_low", "ci_high"), limits, strict=True))
        beside: Any = dict.fromkeys(("partial_input_score", "lexical_overlap_score"))
        number |= {"score": self.controlled_score, "metric": CONTROLLED_CD, "ci_method": WILSON}
        return replace(self, **number, **beside)

    @property
    def both(self) -> list[Self]:
        """The row of the controlled score, where there is one, and that of the plain one."""
        plain = replace(self, surface_score=None)
        return [self.controlled, plain] if self.controlled is not self else [self]


def chance_names(rows: Iterable[Any], *, article: bool = False) -> str:
    """The names of what stands in the place of chance in some scores or headlines, or ``chance``.

    ``article``: for a sentence, ``chance or the best constant answer``.
    """
    names = dict.fromkeys(row.chance_name for row in rows if row.chance is not None)
    the = "the " if article else ""
    return " or ".join(n if n == CHANCE_NAME else the + n for n in names or (CHANCE_NAME,))


#: The names of metrics that are correlations have it.
SPEARMAN = "Spearman"


def is_correlation(metric: str) -> bool:
    """Say that a metric goes from -1 to 1."""
    return SPEARMAN in metric


def text_of(value: object) -> str:
    """A column's value as a group's name says it: JSON's spelling of truth values."""
    return str(value).lower() if isinstance(value, bool) else str(value)


#: Both.
CD_METRICS = (CONTROLLED_CD, CD)
#: The systems beside other metrics, by the fields of scores that have those of CD scores.
OTHER_BASELINES = {
    "partial_input_score": BAG_OF_WORDS,
    "lexical_overlap_score": REPEATED_WORDS,
    "surface_score": LENGTH,
}


def baseline_words(metric: str) -> Mapping[str, str]:
    """The words for the baselines beside a metric, by the fields of scores that have them."""
    return BASELINE_WORDS if metric in CD_METRICS else OTHER_BASELINES


def only_cd(scores: Iterable[Any]) -> bool:
    """Say that all scores, comparisons or headlines are of CD, controlled or not."""
    return all(score.metric in CD_METRICS for score in scores)


def score_fields(found: Estimate) -> dict[str, Any]:
    """The fields of a :class:`Score` that have an estimate."""
    return {
        "n": found.n,
        "score": found.value,
        "ci_low": found.low,
        "ci_high": found.high,
        "ci_method": found.method,
        "clusters": found.clusters,
    }


def difference_fields(found: Estimate | None) -> dict[str, Any]:
    """The fields of a row that have a difference, which was tested."""
    if found is None or found.test is None:
        return {}
    return {
        "difference": found.value,
        "ci_low": found.low,
        "ci_high": found.high,
        "ci_method": found.method,
        "test": found.test.method,
        "p": found.test.p,
    }


#: Levels of scores that are over a group of predictions.
GROUP_LEVELS = ("group", "detail", "headline")


_R = TypeVar("_R", bound=ScoreRow)


def shown_rows(scores: Sequence[_R], with_small: bool = False) -> list[_R]:
    """The scores that a table or a plot shows.

    By formula only where there are no groups, groups of few items only ``with_small``, and not
    the group that the config's own score is over, nor what is not the model's.
    """
    grouped = {(s.config, s.split) for s in scores if s.level in GROUP_LEVELS}
    small = set[int]() if with_small else set(map(id, small_groups(scores)))
    return [
        s
        for s in scores
        if (s.level != "formula" or (s.config, s.split) not in grouped)
        and id(s) not in small
        and s.level not in ("headline", REFERENCE)
    ]


def small_groups(scores: Sequence[_R]) -> list[_R]:
    """Those over groups of few items, parts of their tables, which a page alone shows."""
    whole = {(s.config, s.split): s.n for s in scores if s.level == "all"}
    of_cd = [s for s in scores if s.level in ("group", "detail", "column") and s.metric == CD]
    return [s for s in of_cd if s.n < min(FEW_ITEMS, whole.get((s.config, s.split), FEW_ITEMS))]
