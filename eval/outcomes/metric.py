"""A metric: one number from the outcomes of units."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from coherencegym.eval.outcomes.tables import Cells, count_distinct
from coherencegym.eval.statistics.intervals import Estimate, Interval


@dataclass(frozen=True)
class Metric(ABC):
    """One number from the outcomes of units.

    Its methods take the units, or items, that :meth:`counted` gives, and ``fault`` all outcomes.

    Attributes:
        name: the name in files, as outcomes have it.
        label: the name for people.
        by_group: it is also reported of groups of units.
        estimator: the way in which outcomes add up, as files have it.
        chance: the value of a system that reads nothing, where that is the same for all data.
        is_signed: it goes from -1 to 1, and else from 0 to 1.
        unit: that of its values where they are no shares.
        is_of_items: it is over items, whose units come first to one value.
        is_compared: two systems are compared by it.
    """

    name: str
    label: str = ""
    by_group: bool = True
    estimator: ClassVar[str]
    chance: ClassVar[float | None] = None
    is_signed: ClassVar[bool] = False
    unit: ClassVar[str] = ""
    is_of_items: ClassVar[bool] = False
    is_compared: ClassVar[bool] = True

    @property
    def said(self) -> str:
        """The name that people read."""
        return self.label or self.name

    def counted(self, cells: Cells) -> Cells:
        """The units that the value is over, or the items that they are of."""
        return cells

    @abstractmethod
    def value(self, cells: Cells) -> float | None:
        """The value alone; None where it is not defined."""

    @abstractmethod
    def estimate(self, cells: Cells) -> Estimate:
        """The value with its 95 % interval over clusters of units."""

    @abstractmethod
    def compare(self, before: Cells, after: Cells, seed: int = 0) -> Estimate | None:
        """The value of the second less that of the first, on the same units in the same order.

        It has a test. None where one of the two has no value. ``seed`` draws signs or swaps.
        """

    def rightness(self, cells: Cells) -> Any:
        """The share of each that is right; None where none alone is judged."""
        return None

    @abstractmethod
    def fault(self, cells: Cells) -> str:
        """The first contradiction to the metric in outcomes that anybody wrote; empty: none."""


def over(estimate: Estimate, cells: Cells) -> Estimate:
    """The estimate with the number of clusters that it is over."""
    return replace(estimate, clusters=count_distinct(cells.cluster))


class Mean(Metric):
    """A mean over units, or over items."""

    def value(self, cells: Cells) -> float | None:
        """The mean; None without units."""
        return math.fsum(cells.value) / len(cells) if len(cells) else None

    def estimate(self, cells: Cells) -> Estimate:
        """The mean, with its interval over clusters."""
        value = self.value(cells)
        interval = None if value is None else self.interval(cells)
        return over(Estimate(value, interval, len(cells)), cells)

    @abstractmethod
    def interval(self, cells: Cells) -> Interval | None:
        """The interval of the mean of one unit or more; None where there is none."""
