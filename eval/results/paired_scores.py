"""One row of a comparison of two models."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.eval.statistics.scores import CD, what


@dataclass(frozen=True, slots=True)
class PairedScore:
    """The scores of two models over the same predictions or units, and their difference.

    Attributes:
        config, split, formula, metric, group, level, measure, judge: as of
            :class:`eval.statistics.scores.Score`.
        n: items with a prediction that is defined for both models, or documents, or sentences;
            ``n_discourses`` and ``n_clusters`` where they are from.
        left_out: items without one.
        undefined, undefined_baseline: predictions that are undefined for the model (for the
            baseline), or of an item that is too long for it.
        too_close: predictions that are too close to call for either; they are in the scores.
        baseline_score, score: scores over the n items; None without items.
        baseline_higher, higher: items of which more predictions hold for the baseline (for the
            model).
        difference: score minus baseline_score, with a 95 % interval and how it was computed.
        test, p: see :class:`eval.statistics.paired.Test`; empty and None without items.
        p_holm: p adjusted for all tests of its family; None where it is in none.
    """

    config: str
    split: str
    formula: str
    metric: str
    group: str
    level: str
    n: int
    n_discourses: int
    n_clusters: int
    left_out: int
    undefined_baseline: int
    undefined: int
    too_close: int
    baseline_score: float | None
    score: float | None
    baseline_higher: int
    higher: int
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    ci_method: str
    test: str
    p: float | None
    p_holm: float | None = None
    measure: str = CD
    judge: str = ""

    @property
    def what(self) -> str:
        """As of :class:`eval.statistics.scores.Score`."""
        return what(self.measure, self.judge)
