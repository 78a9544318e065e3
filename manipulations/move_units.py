"""Move units: one to the front, or two neighbours exchanged.

Chen, Chu and Gimpel 2019 (DiscoEval), sections 3.1 and 3.2: sentence position and binary sentence
order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Composable, Context
from coherencegym.manipulations.shuffle import original_positions, reorder

_TO_FRONT, _EXCHANGE = "MoveToFront", "Exchange"


@dataclass(frozen=True)
class MoveToFront(Composable):
    """Move one unit (a sentence or a turn) of a text to the front.

    The operator draws the unit at random. If the operator draws the first unit, the text stays
    unchanged. The result is named ``moved``. Call the function :func:`moved_from` with the result
    to get the original position (from 0) of the moved unit. A text of one unit gives no result.
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with a unit in front, unless there is one unit only."""
        number = len(discourse.units)
        if number < 2:
            context.skipped["fewer than two units to reorder"] += 1
            return
        place = context.random(discourse, _TO_FRONT).randrange(number)
        order = [place, *(other for other in range(number) if other != place)]
        yield reorder(discourse, order, "moved", _TO_FRONT)


def moved_from(discourse: Discourse) -> int:
    """The place (from 0) at which the first unit stood before :class:`MoveToFront`."""
    return original_positions(discourse, _TO_FRONT)[0]


@dataclass(frozen=True)
class Exchange(Composable):
    """Exchange two neighbouring units (sentences or turns) of a text.

    Attributes:
        unit: the position (from 0) of the unit that is exchanged with the next unit.

    The result is named ``exchanged``. A text gives no result if the two units have the same words.

    Raises:
        ValueError: ``unit`` (from 0) is negative.
    """

    unit: int = 0

    def __post_init__(self) -> None:
        if self.unit < 0:
            raise ValueError(f"unit is {self.unit}; expected 0 or more")

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with both exchanged, unless it reads the same or has no such unit."""
        first, second = self.unit, self.unit + 1
        if second >= len(discourse.units):
            context.skipped["no two units to exchange"] += 1
            return
        if discourse.units[first].text == discourse.units[second].text:
            context.skipped["both units have the same text"] += 1
            return
        order = list(range(len(discourse.units)))
        order[first], order[second] = second, first
        yield reorder(discourse, order, "exchanged", _EXCHANGE)
