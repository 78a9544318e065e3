"""The primitive edit: replace characters of one unit, move what is annotated around them."""

from __future__ import annotations

import dataclasses

from coherencegym.loaders.discourse import Discourse, Edit, Span
from coherencegym.manipulations.annotations import move_annotations


def replace_text(
    discourse: Discourse,
    unit: int,
    start: int,
    end: int,
    after: str,
    *,
    operator: str,
    source_discourse: str | None = None,
    source_unit: int | None = None,
) -> Discourse:
    """The discourse with ``units[unit].text[start:end]`` replaced by ``after``, and the edit noted.

    Spans that end before the place stay, those behind it move, those that touch a replaced
    character are dropped. An insertion (``start == end``) drops only spans that it would split.

    Raises:
        ValueError: the characters are not in the unit.
    """
    text = discourse.units[unit].text
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"{discourse.id}: characters {start} to {end} are not in unit {unit}")
    shift = len(after) - (end - start)

    def move(span: Span) -> Span | None:
        parts = []
        for part_unit, part_start, part_end in span:
            if part_unit != unit or part_end <= start:
                parts.append((part_unit, part_start, part_end))
            elif part_start >= end:
                parts.append((part_unit, part_start + shift, part_end + shift))
            else:
                return None
        return tuple(parts)

    units = list(discourse.units)
    units[unit] = dataclasses.replace(units[unit], text=text[:start] + after + text[end:])
    edit = Edit(operator, unit, start, text[start:end], after, source_discourse, source_unit)
    return dataclasses.replace(
        move_annotations(discourse, move), units=tuple(units), edits=(*discourse.edits, edit)
    )
