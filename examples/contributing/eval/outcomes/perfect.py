"""The share of units with a value of 1, such as texts of which a model has no part wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from coherencegym.eval.outcomes.metrics import Accuracy
from coherencegym.eval.outcomes.tables import Cells


class Perfect(Accuracy):
    """The share of units that are wholly right, with the interval and the test of an accuracy."""

    estimator: ClassVar[str] = "perfect"

    def counted(self, cells: Cells) -> Cells:
        """The units with a value of 1 where they are wholly right, and else 0."""
        return replace(cells, value=(cells.value == 1).astype(float))
