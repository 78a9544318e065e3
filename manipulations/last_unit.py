"""The last unit of a discourse without those before it: what they add to it can be told apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse, Edit, Span
from coherencegym.manipulations.editing import move_annotations
from coherencegym.manipulations.operator import Composable, Context


@dataclass(frozen=True)
class LastUnit(Composable):
    """Keep only the last unit (sentence or turn) of a text, with the annotations of this unit.

    A text of one unit gives no result.
    """

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield it, unless there is no other unit."""
        *others, last = discourse.units
        if not others:
            context.skipped["a single unit"] += 1
            return

        def move(span: Span) -> Span | None:
            if any(unit < len(others) for unit, _, _ in span):
                return None
            return tuple((0, start, end) for _, start, end in span)

        edits = (Edit("LastUnit", 0, 0, unit.text, "", removed=True) for unit in others)
        yield move_annotations(discourse, move, units=(last,), edits=(*discourse.edits, *edits))
