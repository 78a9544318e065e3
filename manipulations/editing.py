"""Edits of a discourse that take along what is annotated, and what they were."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from coherencegym.loaders.discourse import Discourse, Edit, Span
from coherencegym.manipulations.probes.sentence import Replacement

_Annotation = TypeVar("_Annotation", bound=Any)


def move_annotations(
    discourse: Discourse, move: Callable[[Span], Span | None], **changes: Any
) -> Discourse:
    """The discourse with ``changes`` made, and ``move`` applied to every span of its annotations.

    Where ``move`` returns none the annotation is dropped; a mention whose head alone is lost keeps
    its span and loses the head, and a rhetorical tree that loses a unit is no tree any more. Spans
    that ``move`` returns are of the units in ``changes``.
    """

    def moved(annotations: Iterable[_Annotation], *names: str) -> Iterator[_Annotation]:
        for annotation in annotations:
            new = {}
            for name in names:
                if (span := getattr(annotation, name)) is not None:
                    if (new_span := move(span)) is None:
                        break
                    new[name] = new_span
            else:
                yield dataclasses.replace(annotation, **new)

    tree = discourse.tree
    if tree is not None:
        units = []
        for unit in tree.units:
            if (span := move(unit)) is None:
                break
            units.append(span)
        whole = len(units) == len(tree.units)
        tree = dataclasses.replace(tree, units=tuple(units)) if whole else None
    return dataclasses.replace(
        discourse,
        tree=tree,
        mentions=tuple(
            dataclasses.replace(one, head=None if one.head is None else move(one.head))
            for one in moved(discourse.mentions, "span")
        ),
        relations=tuple(moved(discourse.relations, "arg1", "arg2", "connective")),
        alternatives=tuple(moved(discourse.alternatives, "span")),
        judgements=tuple(moved(discourse.judgements, "span")),
        **changes,
    )


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
    variant: str | None = None,
) -> Discourse:
    """The discourse with ``units[unit].text[start:end]`` replaced by ``after``, and the edit noted.

    ``variant`` is the name of the result; without one the discourse's stays.

    Spans that end before the place stay, those behind it move, those that touch a replaced
    character are dropped. An insertion (``start == end``) drops only spans that it would split.
    The unit has no grammar any more.
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
    changed = text[:start] + after + text[end:]
    units[unit] = dataclasses.replace(units[unit], text=changed, words=())
    edit = Edit(operator, unit, start, text[start:end], after, source_discourse, source_unit)
    named = discourse.variant if variant is None else variant
    edits = (*discourse.edits, edit)
    return move_annotations(discourse, move, units=tuple(units), variant=named, edits=edits)


def replace_places(
    discourse: Discourse, unit: int, replacements: Sequence[Replacement], *, operator: str
) -> Discourse:
    """The discourse with several places of one unit replaced; they are given in their order."""
    for one in reversed(replacements):  # so that places to the left hold
        discourse = replace_text(discourse, unit, one.start, one.end, one.after, operator=operator)
    return discourse


def cut_excerpt(discourse: Discourse, first: int, last: int, **changes: Any) -> Discourse:
    """Units ``first`` to ``last`` of a discourse, with the annotations that lie in them.

    Edits keep to the units that they were made in, so that undoing those of the excerpt gives
    these units as they were. ``changes`` are made, too.
    """
    if not 0 <= first <= last < len(discourse.units):
        raise ValueError(f"{discourse.id}: there are no units {first} to {last}")

    def move(span: Span) -> Span | None:
        for unit, _, _ in span:
            if not first <= unit <= last:
                return None
        return tuple((unit - first, start, end) for unit, start, end in span)

    edits: list[Edit] = []
    begin, end = first, last  # where these units stood before each edit
    for edit in reversed(discourse.edits):
        if begin + edit.removed <= edit.unit <= end:
            edits.insert(0, dataclasses.replace(edit, unit=edit.unit - begin))
        begin += edit.removed and edit.unit <= begin
        end += edit.removed and edit.unit <= end
    units = discourse.units[first : last + 1]
    return move_annotations(discourse, move, units=units, edits=tuple(edits), **changes)


def last_edit(discourse: Discourse, operator: str) -> Edit | None:
    """The last edit that an operator of this name made."""
    edits = reversed(discourse.edits)
    return next((edit for edit in edits if edit.operator == operator), None)


def text_around(discourse: Discourse, unit: int, start: int, end: int) -> tuple[str, str, str]:
    """The whole text before some characters of a unit, the characters, and the text after them."""
    offset = sum(len(text) + 1 for text in discourse.texts[:unit])
    start, end, text = start + offset, end + offset, discourse.text
    return text[:start], text[start:end], text[end:]
