"""Marks in the texts of an item: sentences that were moved, or words in which two texts differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain, combinations

from coherencegym.eval.kinds.items import Item

_WORD = re.compile(r"\w+|[^\w\s]")
#: A span of unmoved text begins after white space and the mark of a change of speaker.
_BEFORE_UNIT = re.compile(r"\s*(\[SEP\]\s*)?")
#: Words that two differences are apart at least: fewer, and they are one.
_APART = 4
#: Words of two texts, multiplied, that are compared word by word; of longer ones all is different.
_MOST_COMPARED = 400_000


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters of a text: a unit by its number in the original, or (no label) a difference."""

    start: int
    end: int
    label: str = ""
    moved: bool = True


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a text; ``kind``: ``moved``, ``unit``, ``different``, or nothing."""

    text: str
    kind: str = ""
    label: str = ""


def unit_marks(item: Item, name: str) -> list[Mark]:
    """The units of a condition whose order is changed in it or in another; none where none is.

    Unmoved units stand between the moved ones: several beside each other have one mark.
    """
    moves = [
        edit
        for edit in item.edits
        if edit.source_unit is not None and edit.source_discourse == item.discourse_id
    ]
    own = {edit.unit: edit for edit in moves if edit.condition_name == name}
    placed = {unit: (edit.after, edit.source_unit) for unit, edit in own.items()}
    if not own:  # the original: where the units came from
        placed = {
            e.source_unit: (e.after, e.source_unit) for e in moves if e.source_unit is not None
        }
    order = item.extra.get("permutation")
    total = len(order) if isinstance(order, list | tuple) else 0
    content = item.condition(name).content if placed else ""
    marks: list[Mark] = []
    place, before = 0, -1
    for unit, (text, source) in sorted(placed.items()):
        start = content.find(text, place)
        if start < 0:
            return []
        marks += _between(content, place, start, before + 1, unit)
        marks.append(Mark(start, start + len(text), f"{(source or 0) + 1}"))
        place, before = start + len(text), unit
    last = max(total, before + 2) if content[place:].strip() else before + 1
    return [*marks, *_between(content, place, len(content), before + 1, last)]


def _between(content: str, start: int, end: int, first: int, stop: int) -> Iterator[Mark]:
    found = _BEFORE_UNIT.match(content, start, end)
    start = found.end() if found else start
    if first < stop and content[start:end].strip():
        label = f"{first + 1}" if stop == first + 1 else f"{first + 1}–{stop}"
        yield Mark(start, start + len(content[start:end].rstrip()), label, moved=False)


def difference_marks(left: str, right: str) -> tuple[list[Mark], list[Mark]]:
    """The words in which two texts differ; what is the same for a few words only is in it."""
    ours, theirs = ([match.span() for match in _WORD.finditer(text)] for text in (left, right))
    a, b = [left[slice(*span)] for span in ours], [right[slice(*span)] for span in theirs]
    same = next((n for n, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), None)
    first = min(len(a), len(b)) if same is None else same
    back = 0
    while back < min(len(a), len(b)) - first and a[-1 - back] == b[-1 - back]:
        back += 1
    blocks = [[first, len(a) - back, first, len(b) - back]]
    if (len(a) - first) * (len(b) - first) <= _MOST_COMPARED:
        found = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
        blocks = []
        for kind, *places in found:
            if kind == "equal":
                continue
            if blocks and places[0] - blocks[-1][1] < _APART:
                blocks[-1] = [blocks[-1][0], places[1], blocks[-1][2], places[3]]
            else:
                blocks.append(places)
    return (
        [Mark(ours[i][0], ours[j - 1][1]) for i, j, _, _ in blocks if i < j],
        [Mark(theirs[i][0], theirs[j - 1][1]) for _, _, i, j in blocks if i < j],
    )


def _differences(texts: Sequence[str]) -> list[list[Mark]]:
    beside: list[list[list[Mark]]] = [[] for _ in texts]
    for (left, one), (right, other) in combinations(enumerate(texts), 2):
        for place, own in zip((left, right), difference_marks(one, other), strict=True):
            beside[place].append(own)
    joined = [_joined(own) for own in beside]
    if any(2 * _marked(own) > len(text) for text, own in zip(texts, joined, strict=True)):
        return [min(own, key=_marked, default=[]) for own in beside]
    return joined


def _joined(several: Iterable[Sequence[Mark]]) -> list[Mark]:
    # Marks that touch are one.
    found: list[Mark] = []
    for mark in sorted(chain.from_iterable(several), key=lambda mark: mark.start):
        if found and mark.start <= found[-1].end:
            found[-1] = replace(found[-1], end=max(mark.end, found[-1].end))
        else:
            found.append(mark)
    return found


def _marked(marks: Iterable[Mark]) -> int:
    return sum(mark.end - mark.start for mark in marks)


def segments(text: str, marks: Sequence[Mark]) -> Iterator[Segment]:
    """A text cut at its marks, which are in order; joined, the segments are the text again."""
    place = 0
    for mark in marks:
        if mark.start > place:
            yield Segment(text[place : mark.start])
        kind = "different" if not mark.label else "moved" if mark.moved else "unit"
        yield Segment(text[mark.start : mark.end], kind, mark.label)
        place = mark.end
    if place < len(text):
        yield Segment(text[place:])


def marked(item: Item, names: Sequence[str]) -> list[tuple[Segment, ...]]:
    """The texts of some conditions, cut at their marks: units where any are moved, else words.

    Of several texts the words are marked that not all of them have; where most of a text would be,
    as in two stories with either ending, those that it has not from the text that is most like it.
    """
    texts = [item.condition(name).content for name in names]
    marks = [unit_marks(item, name) for name in names]
    if not all(marks):
        marks = _differences(texts)
    return [tuple(segments(text, own)) for text, own in zip(texts, marks, strict=True)]
