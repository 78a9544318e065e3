"""Outcomes of units under a measure, and the scores that they add up to: every task's results.

Outcomes are the rows of ``outcomes.parquet``; a score is the one row that every view reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from coherencegym.files.strict_json import Share, SignedShare

#: Ways to add up outcomes: the mean of their values; the sum of values over that of wholes; the
#: share of pairs in which a true unit is above another (the area under the ROC curve); or how their
#: ranks correlate with those of other numbers: as they are, with a third one held constant, or
#: within clusters (:mod:`eval.statistics.correlation`).
Statistic = Literal["share", "ratio", "ranks", "correlation", "partial", "within"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
#: Those that are correlations, from -1 to 1.
CORRELATIONS = frozenset({"correlation", "partial", "within"})


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitOutcome:
    """The outcome of a unit (an item, a document, a sentence) under a measure.

    Attributes:
        config, split, measure, judge: the same as in :class:`ScoreRow`.
        statistic: says how the outcomes of the measure add up.
        unit_id: unique within table, measure and judge.
        discourse_id: the discourse that the unit is from.
        cluster: the units that are drawn as one: a family, or else the discourse.
        groups: those that the unit is in, ``column=value`` among them; all are in the group of all.
        value: a share, a part of the whole, or a number that ranks; None where there is none.
        whole: the value is a part of it, for a ratio; 1 for others.
        truth: the unit is one of those to be found, for ranks; None for others.
        reason: says why there is no value; empty where there is one.
        against: the number that the value is to go along with, for correlations; None for others.
        given: the number that is held constant, for partial ones.
    """

    config: str
    split: str
    measure: str
    judge: str
    statistic: Statistic
    unit_id: str
    discourse_id: str
    cluster: str
    groups: tuple[str, ...] = ()
    value: float | None
    whole: float = 1.0
    truth: bool | None = None
    reason: str = ""
    against: float | None = None
    given: float | None = None


#: The measure of a suite of minimal pairs or sets (Beyer et al. 2021, section 3).
CD = "CD score"
#: The level of a score that is not the model's: of people, or of a baseline.
REFERENCE = "reference"
#: The judge of outcomes that is such a baseline: a classifier that sees words alone.
BAG_OF_WORDS = "bag of words"
#: Others: how long a text is, how far it repeats words, and one person beside others.
LENGTH, REPEATED_WORDS, ONE_RATER = "length", "repeated words", "one rater"
_BASELINES = frozenset({BAG_OF_WORDS, LENGTH, REPEATED_WORDS, ONE_RATER})
#: The judges of outcomes that are layers of the model begin so; a number follows.
LAYER = "layer "


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """A row of scores, or of their comparison: what it is about.

    Attributes:
        config, split: the table.
        formula, metric: the predictions'; empty where they have several, or there are none.
        group: a group of predictions or units, or ``column=value``; empty: all.
        level: ``all``, ``column``, ``group``, ``formula``, ``headline``, ``detail`` (see
            :class:`eval.tasks.score.summary.ItemScore`), or ``reference``.
        n: units in the score: items, documents or sentences.
        measure: the CD score, F1, the area under the ROC curve, ...
        judge: the way in which the model decided, or who did; empty where there is one way.
    """

    config: str
    split: str
    formula: str = ""
    metric: str = ""
    group: str
    level: str
    n: int
    measure: str = CD
    judge: str = ""

    @property
    def what(self) -> str:
        """The measure and by which decision, for people; empty for a CD score."""
        if self.measure == CD:
            return ""
        return f"{self.measure}, {self.judge}" if self.judge else self.measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(ScoreRow):
    """One row of results; what has a default an older release may not have written.

    Attributes:
        score: the value with its 95 % interval and how that was computed; None without units. It is
            a share, or a correlation, which may be below 0.
        artefact_score: the same for a classifier that never sees the contrast in context.
        overlap_score: the same for the side that repeats more words of the text before it.
        human_score: the same for people, with its interval, over ``human_n`` units; None, and 0,
            where nobody was asked.
        chance: reached by a judge that reads nothing; None where that is not known.
        counts: units that are left out, by reason, or that are of a kind.
    """

    score: SignedShare | None
    ci_low: SignedShare | None
    ci_high: SignedShare | None
    ci_method: str = ""
    artefact_score: SignedShare | None = None
    artefact_ci_low: float | None = None
    artefact_ci_high: float | None = None
    overlap_score: SignedShare | None = None
    overlap_ci_low: float | None = None
    overlap_ci_high: float | None = None
    human_score: SignedShare | None = None
    human_ci_low: float | None = None
    human_ci_high: float | None = None
    human_n: int = 0
    chance: Share | None = 0.5
    counts: Mapping[str, int] = field(default_factory=dict)


#: The measures that are correlations begin so.
SPEARMAN = "Spearman"


def is_correlation(measure: str) -> bool:
    """Say that a measure goes from -1 to 1."""
    return measure.startswith(SPEARMAN)


def level_of(group: str, judge: str = "") -> str:
    """The level of a score of units, by the name of their group and by who judged.

    Each layer of a model by itself is a detail.
    """
    if judge in _BASELINES:
        return REFERENCE
    if judge.startswith(LAYER):
        return "detail"
    if not group:
        return "all"
    return "column" if "=" in group else "group"


def text_of(value: object) -> str:
    """A column's value as a group's name says it: JSON's spelling of truth values."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def only_cd(scores: Sequence[Score]) -> bool:
    """Say that all of them are CD scores."""
    return all(score.measure == CD for score in scores)
