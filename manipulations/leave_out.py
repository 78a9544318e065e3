"""Leave a unit out, so that what it said is missing from the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, Edit, Span
from coherencegym.manipulations.editing import move_annotations
from coherencegym.manipulations.operator import Composable, Context

_NAME = "LeaveOut"


@dataclass(frozen=True)
class LeaveOut(Composable):
    """Leave out a unit, and the annotations that touch it; the variant is ``left_out``.

    Attributes:
        unit: the unit, from 0.

    Raises:
        ValueError: ``unit`` is negative.
    """

    unit: int = 1

    def __post_init__(self) -> None:
        if self.unit < 0:
            raise ValueError(f"unit is {self.unit}; expected 0 or more")

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse without the unit, unless it has no such unit or no other one."""
        units, out = discourse.units, self.unit
        if out >= len(units) or len(units) == 1:
            context.skipped["no such unit, or no other one"] += 1
            return

        def move(span: Span) -> Span | None:
            if any(unit == out for unit, _, _ in span):
                return None
            return tuple((unit - (unit > out), start, end) for unit, start, end in span)

        yield move_annotations(
            discourse,
            move,
            units=units[:out] + units[out + 1 :],
            variant="left_out",
            edits=(*discourse.edits, Edit(_NAME, out, 0, units[out].text, "", removed=True)),
        )
