"""What outcomes add up to: the one row of results that every task has, and every view reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coherencegym.files.strict_json import Share

#: What the score of a suite of minimal pairs or sets measures (Beyer et al. 2021, section 3).
CD = "CD score"
#: The level of a score that is not the model's: of people, or of a baseline.
REFERENCE = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One row of results; what has a default an older release may not have written.

    Attributes:
        config, split: the table.
        formula, metric: of the predictions; empty where they have several, or there are none.
        group: a group of predictions or units, or ``column=value``; empty: all.
        level: ``all``, ``column``, ``group``, ``formula``, ``headline``, ``detail`` (see
            :class:`eval.tasks.score.summary.Score`), or ``reference``.
        n: units in the score: items, documents or sentences.
        score: the value with its 95 % interval and how that was computed; None without units.
        artefact_score: the same for a classifier that never sees the contrast in context.
        human_score: the same for people, with its interval, over ``human_n`` units; None, and 0,
            where nobody was asked.
        measure: what the score is: the CD score, F1, the area under the ROC curve.
        judge: how the model's decision was taken, or whose it is; empty where there is one way.
        chance: what a judge that reads nothing reaches; None where that is not known.
        counts: by reason, how many units are left out, or of a kind.
    """

    config: str
    split: str
    formula: str = ""
    metric: str = ""
    group: str
    level: str
    n: int
    score: Share | None
    ci_low: Share | None
    ci_high: Share | None
    ci_method: str = ""
    artefact_score: Share | None = None
    artefact_ci_low: float | None = None
    artefact_ci_high: float | None = None
    human_score: Share | None = None
    human_ci_low: float | None = None
    human_ci_high: float | None = None
    human_n: int = 0
    measure: str = CD
    judge: str = ""
    chance: Share | None = 0.5
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def what(self) -> str:
        """The measure and by which decision, for people; empty for a CD score."""
        return what(self.measure, self.judge)


def what(measure: str, judge: str) -> str:
    """The measure and by which decision, for people; empty for a CD score."""
    if measure == CD:
        return ""
    return f"{measure}, {judge}" if judge else measure


def only_cd(scores: Sequence[Score]) -> bool:
    """Whether all of them are CD scores."""
    return all(score.measure == CD for score in scores)
