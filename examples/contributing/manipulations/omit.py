"""Leave a unit out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, Edit, Span
from coherencegym.manipulations.editing import move_annotations
from coherencegym.manipulations.operator import Context, Operator


@dataclass(frozen=True)
class Omit(Operator):
    """The discourse without one unit, which is neither the first nor the last."""

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the shortened discourse, unless there are fewer than three units."""
        units = discourse.units
        if len(units) < 3:
            context.skipped["fewer than three units"] += 1
            return
        out = context.random(discourse, "Omit").randrange(1, len(units) - 1)

        def move(span: Span) -> Span | None:
            """The span in the remaining units; None if a part of the span is removed."""
            if any(unit == out for unit, _, _ in span):
                return None
            return tuple((unit - (unit > out), start, end) for unit, start, end in span)

        edit = Edit("Omit", out, 0, units[out].text, "", removed=True)
        yield move_annotations(
            discourse,
            move,
            units=units[:out] + units[out + 1 :],
            variant="omitted",
            edits=(*discourse.edits, edit),
        )
