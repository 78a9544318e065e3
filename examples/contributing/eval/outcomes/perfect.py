"""The share of units with a value of 1, such as texts of which a model has no part wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from coherencegym.eval.outcomes.metrics import Accuracy
from coherencegym.eval.outcomes.tables import Cells
from coherencegym.eval.statistics.estimators import PairedDifference
from coherencegym.eval.statistics.intervals import Estimate


class Perfect(Accuracy):
    """The share of units that are wholly right, with the interval and the test of an accuracy."""

    estimator: ClassVar[str] = "perfect"

    def value(self, cells: Cells) -> float | None:
        """The share; None without units."""
        return super().value(self.judged(cells))

    def estimate(self, cells: Cells) -> Estimate:
        """The share, with its interval over clusters."""
        return super().estimate(self.judged(cells))

    def compare(self, before: Cells, after: Cells, seed: int = 0) -> PairedDifference | None:
        """The difference of shares."""
        return super().compare(self.judged(before), self.judged(after), seed)

    def judged(self, cells: Cells) -> Cells:
        """The units with a value of 1 where they are wholly right, and else 0."""
        return replace(cells, value=(cells.value == 1).astype(float))
