"""The predictions that a page of items shows: of many, both ends and those around zero."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from coherencegym.eval.tasks.score.metrics import EvaluatedPrediction

#: Predictions of a table and aggregation at either end, around zero, and without a margin.
LIMITS = (200, 100, 50, 20, 10, 5, 2, 1)
#: Predictions at either end of each group and column value, for each so many of the limit.
PER_GROUP = 40


@dataclass(frozen=True, slots=True)
class MarginGap:
    """Predictions that are left out: so many, with margins (bits) from ``low`` to ``high``."""

    n: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PageSelection:
    """The predictions of one table and aggregation that are shown, and those that are not.

    Margins by different aggregations (a mean, a sum) do not compare: each has its own ends.

    Attributes:
        total: all of its predictions.
        limit: predictions that are kept at either end, around zero, and without a margin.
        kept: the places of those that are shown, in the order of the table.
        left_out: those with a margin that are not shown, in gaps.
        left_out_unmeasured: those without a margin (undefined, too long, an equality) that are not.
    """

    config: str
    split: str
    aggregation: str
    total: int
    limit: int
    kept: tuple[int, ...]
    left_out: tuple[MarginGap, ...]
    left_out_unmeasured: int

    @property
    def n_left_out(self) -> int:
        """Number of predictions that are not shown."""
        return self.total - len(self.kept)


def select_shown(
    config: str,
    split: str,
    evaluated: Sequence[EvaluatedPrediction],
    limit: int,
    groups: Callable[[EvaluatedPrediction], Sequence[str]],
) -> list[PageSelection]:
    """A selection for each aggregation of a table.

    Kept are the ``limit`` lowest and highest margins, the ``limit`` closest to zero, a few of
    either end of each group (so that none is without an example), and the first ``limit`` without a
    margin.
    """
    aggregations: dict[str, list[int]] = defaultdict(list)
    for place, prediction in enumerate(evaluated):
        aggregations[prediction.aggregation].append(place)
    selections = []
    for aggregation, places in aggregations.items():
        margins = {place: margin(evaluated[place]) for place in places}
        measured = sorted((m, place) for place, m in margins.items() if m is not None)
        unmeasured = [place for place, m in margins.items() if m is None]
        kept = {*_extremes(measured, limit), *(place for _, place in _closest(measured)[:limit])}
        members: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for one in measured if limit >= PER_GROUP else ():
            for group in groups(evaluated[one[1]]):
                members[group].append(one)
        for own in members.values():
            kept |= _extremes(own, limit // PER_GROUP)
        selections.append(
            PageSelection(
                config,
                split,
                aggregation,
                len(places),
                limit,
                tuple(sorted({*kept, *unmeasured[:limit]})),
                tuple(_margin_gaps(measured, kept)),
                len(unmeasured[limit:]),
            )
        )
    return selections


def margin(prediction: EvaluatedPrediction) -> float | None:
    """The bits by which a prediction holds; None where it is undefined or has no margin."""
    return prediction.outcome.margin if prediction.outcome else None


def _closest(measured: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    return sorted(measured, key=lambda one: abs(one[0]))


def _extremes(measured: Sequence[tuple[float, int]], n: int) -> set[int]:
    return {place for _, place in (*measured[:n], *measured[len(measured) - n :])} if n else set()


def _margin_gaps(measured: Sequence[tuple[float, int]], kept: set[int]) -> Iterator[MarginGap]:
    # Across the few that groups keep: never across zero.
    missing = [(margin, place) for margin, place in measured if place not in kept]
    for _, gap in groupby(missing, key=lambda pair: pair[0] > 0):
        margins = [margin for margin, _ in gap]
        yield MarginGap(len(margins), margins[0], margins[-1])
