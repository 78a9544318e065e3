"""Which predictions a page of items shows: of many, those at both ends and those around zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from coherencegym.eval.tasks.score.metrics import Judgement

#: Predictions of a table and metric at either end, around zero, and without a margin.
LIMITS = (200, 100, 50, 20, 10, 5, 2, 1)
#: Predictions at either end of each group and column value, for each so many of the limit.
PER_GROUP = 40


@dataclass(frozen=True, slots=True)
class Stretch:
    """Predictions that are left out: so many, with margins (bits) from ``low`` to ``high``."""

    n: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Selection:
    """The predictions of one table and metric that are shown, and those that are not.

    Margins by different metrics (a mean, a sum) do not compare, so each metric has its own ends.

    Attributes:
        config, split, metric: of the predictions.
        total: how many there are.
        limit: how many are kept at either end, around zero, and without a margin.
        kept: the places of those that are shown, in the order of the table.
        left_out: those with a margin that are not shown, in stretches.
        left_out_unmeasured: how many without a margin (undefined, too long, an equality) are not.
    """

    config: str
    split: str
    metric: str
    total: int
    limit: int
    kept: tuple[int, ...]
    left_out: tuple[Stretch, ...]
    left_out_unmeasured: int

    @property
    def n_left_out(self) -> int:
        """How many are not shown."""
        return self.total - len(self.kept)


def select(
    config: str,
    split: str,
    judgements: Sequence[Judgement],
    limit: int,
    groups: Callable[[Judgement], Sequence[str]],
) -> list[Selection]:
    """A selection for each metric of a table.

    Kept are the ``limit`` lowest and highest margins, the ``limit`` closest to zero, a few of
    either end of each group (so that none is without an example), and the first ``limit`` without a
    margin.

    Args:
        config, split: the table.
        judgements: of all its predictions.
        limit: see above; at least 1.
        groups: the groups that a judgement is in.
    """
    metrics: dict[str, list[int]] = {}
    for place, judgement in enumerate(judgements):
        metrics.setdefault(judgement.metric, []).append(place)
    selections = []
    for metric, places in metrics.items():
        margins = {place: margin(judgements[place]) for place in places}
        measured = sorted((m, place) for place, m in margins.items() if m is not None)
        unmeasured = [place for place, m in margins.items() if m is None]
        kept = {measured[rank][1] for rank in _ends_and_middle([m for m, _ in measured], limit)}
        kept |= set(_of_groups(measured, lambda p: groups(judgements[p]), limit // PER_GROUP))
        selections.append(
            Selection(
                config,
                split,
                metric,
                len(places),
                limit,
                tuple(sorted(kept | set(unmeasured[:limit]))),
                tuple(_stretches(measured, kept)),
                len(unmeasured[limit:]),
            )
        )
    return selections


def margin(judgement: Judgement) -> float | None:
    """By how many bits a prediction holds; None where it is undefined or has no margin."""
    return judgement.outcome.margin if judgement.outcome else None


def _ends_and_middle(margins: Sequence[float], limit: int) -> set[int]:
    """Ranks among ascending margins."""
    ranks = range(len(margins))
    middle = sorted(ranks, key=lambda rank: abs(margins[rank]))[:limit]
    return {*ranks[:limit], *ranks[-limit:], *middle}


def _of_groups(
    measured: Sequence[tuple[float, int]], groups: Callable[[int], Sequence[str]], n: int
) -> Iterator[int]:
    members: dict[str, list[int]] = {}
    for _, place in measured if n else ():
        for group in groups(place):
            members.setdefault(group, []).append(place)
    for places in members.values():
        yield from places[:n]
        yield from places[-n:]


def _stretches(measured: Sequence[tuple[float, int]], kept: set[int]) -> Iterator[Stretch]:
    """The gaps among ascending margins, across the few that groups keep: never across zero."""
    missing = [(margin, place) for margin, place in measured if place not in kept]
    for _, gap in groupby(missing, key=lambda pair: pair[0] > 0):
        margins = [margin for margin, _ in gap]
        yield Stretch(len(margins), margins[0], margins[-1])
