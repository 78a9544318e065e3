"""A number with its interval, and the difference of two: what a reader of scores is shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its 95 % interval.

    Attributes:
        value: a share from 0 to 1, or a correlation; None where nothing can be said, as of a
            precision without predictions.
        low, high: the limits of the interval; None where ``value`` is.
        method: the way in which they were computed.
        n: units that the value is over.
        clusters: the number of clusters that the interval is over; None where nobody counted.
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    clusters: int | None = None


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The value of one system less that of another, on the same units.

    Attributes:
        value, low, high, method: see :class:`Estimate`.
        test, p: the test of no difference, and its two-sided p-value.
    """

    value: float
    low: float | None
    high: float | None
    method: str
    test: str
    p: float
