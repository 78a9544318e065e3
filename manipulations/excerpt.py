"""A part of a discourse as a discourse of its own."""

from __future__ import annotations

import dataclasses

from coherencegym.loaders.discourse import Discourse, Span
from coherencegym.manipulations.annotations import move_annotations


def excerpt(discourse: Discourse, first: int, last: int) -> Discourse:
    """Units ``first`` to ``last`` of a discourse, with the annotations that lie in them.

    Edits keep to the units that they were made in, so that undoing those of the excerpt gives
    these units as they were.

    Raises:
        ValueError: there are no such units.
    """
    if not 0 <= first <= last < len(discourse.units):
        raise ValueError(f"{discourse.id}: there are no units {first} to {last}")

    def move(span: Span) -> Span | None:
        if all(first <= unit <= last for unit, _, _ in span):
            return tuple((unit - first, start, end) for unit, start, end in span)
        return None

    edits = tuple(
        dataclasses.replace(edit, unit=edit.unit - first)
        for edit in discourse.edits
        if first <= edit.unit <= last
    )
    units = discourse.units[first : last + 1]
    return dataclasses.replace(move_annotations(discourse, move), units=units, edits=edits)
