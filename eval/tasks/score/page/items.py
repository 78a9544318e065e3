"""The items of a run as the page's script reads them: chosen, cut into tokens, packed."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.formula import RegionRef
from coherencegym.eval.kinds.items import Condition, Item
from coherencegym.eval.kinds.table_kind import of_modest_length
from coherencegym.eval.surprisal import ScoredCondition
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.metrics import EvaluatedPrediction
from coherencegym.eval.tasks.score.outcomes import group_names
from coherencegym.eval.tasks.score.page.item_view import read_values, reads, state
from coherencegym.eval.tasks.score.results import shown_tables
from coherencegym.eval.tasks.score.scoring import Scored, ScoredItem
from coherencegym.eval.text.encode import SPECIAL

#: Predictions of a table and aggregation at either end, around zero, and without a margin.
LIMITS = (200, 100, 50, 20, 10, 5, 2, 1)
#: Predictions at either end of each group and column value, for each so many of the limit.
PER_GROUP = 40


@dataclass(frozen=True, slots=True)
class PageSelection:
    """The predictions of one table and aggregation that are shown, and those that are not.

    Margins by different aggregations (a mean, a sum) do not compare: each has its own ends.

    Attributes:
        total: all of its predictions.
        limit: predictions that are kept at either end, around zero, and without a margin.
        kept: the places of those that are shown, in the order of the table.
    """

    config: str
    split: str
    aggregation: str
    total: int
    limit: int
    kept: tuple[int, ...]

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
                *(config, split, aggregation, len(places), limit),
                tuple(sorted({*kept, *unmeasured[:limit]})),
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


_WORD = re.compile(r"\w+|[^\w\s]")
#: A span of unmoved text begins after white space and the mark of a change of speaker.
_BEFORE_UNIT = re.compile(r"\s*(\[SEP\]\s*)?")


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
    """The words in which two texts differ."""
    ours, theirs = ([match.span() for match in _WORD.finditer(text)] for text in (left, right))
    words = [left[slice(*span)] for span in ours], [right[slice(*span)] for span in theirs]
    blocks = [
        block for kind, *block in SequenceMatcher(None, *words).get_opcodes() if kind != "equal"
    ]
    return (
        [Mark(ours[i][0], ours[j - 1][1]) for i, j, _, _ in blocks if i < j],
        [Mark(theirs[i][0], theirs[j - 1][1]) for _, _, i, j in blocks if i < j],
    )


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
    """The texts of two conditions, cut at their marks: units where any are moved, else words."""
    left, right = texts = [item.condition(name).content for name in names]
    marks = [unit_marks(item, name) for name in names]
    if not all(marks):
        marks = list(difference_marks(left, right))
    return [tuple(segments(text, own)) for text, own in zip(texts, marks, strict=True)]


#: Characters of each text of the example, where there is such an item.
_MODEST = 450


def example_of(found: Results) -> dict[str, Any] | None:
    """An item to show what a suite asks: its conditions with their texts, cut where they differ.

    The first item of modest length of the first table whose prediction has two conditions, with the
    bits of what the prediction reads; ``held`` says what became of it.
    """
    for (table, scored), own in zip(shown_tables(found), found.details, strict=True):
        readable = [
            (one, names)
            for one in own.predictions
            if one.outcome is not None
            and len(names := list(dict.fromkeys(name for _, name in reads(one)))) == 2
        ]
        if readable:
            prediction, names = of_modest_length(
                readable,
                lambda pair: max(len(pair[0].item.condition(n).content) for n in pair[1]),
                _MODEST,
            )
            item = prediction.item
            read = next(one for one in scored.items if one.item.item_id == item.item_id)
            names.sort(key=[condition.condition_name for condition in item.conditions].index)
            values = {name: value for _, name, value in read_values(prediction, read, scored.rules)}
            texts = zip(names, marked(item, names), strict=True)
            return {
                "config": table.config,
                "split": table.split,
                "item_id": item.item_id,
                "conditions": [(name, text, values[name]) for name, text in texts],
                "margin": margin(prediction),
                "held": state(prediction),
            }
    return None


#: Characters of text in a page, about; more, and each table shows fewer items.
MOST_CHARACTERS = 2_500_000
#: Characters shown of a text that was not scored.
MOST_UNSCORED = 2_000
#: Characters of a column's value that is shown with its item.
MOST_EXTRA = 80


@dataclass(frozen=True, slots=True)
class PageItems:
    """``data`` is for JSON; ``selections`` say what it has and what it leaves out."""

    data: dict[str, Any]
    selections: tuple[PageSelection, ...]


def collect(found: Results, most_characters: int = MOST_CHARACTERS) -> PageItems:
    """The items that a page shows: as many as have so many characters, and at least a few."""
    tables = [
        (*own, one.predictions) for own, one in zip(shown_tables(found), found.details, strict=True)
    ]
    for limit in LIMITS:
        selections = [_select(table, evaluated, limit) for table, _, evaluated in tables]
        kept = [sorted(place for one in own for place in one.kept) for own in selections]
        if sum(map(_characters, (own for *_, own in tables), kept)) <= most_characters:
            break
    packer = _Packer()
    for (table, scored, evaluated), places in zip(tables, kept, strict=True):
        packer.add_table(table, scored, evaluated, places)
    return PageItems(packer.data, tuple(one for own in selections for one in own))


def _select(
    table: ItemTable, evaluated: Sequence[EvaluatedPrediction], limit: int
) -> list[PageSelection]:
    columns = _columns(table)
    return select_shown(
        table.config, table.split, evaluated, limit, lambda j: group_names(j, columns)
    )


def _characters(evaluated: Sequence[EvaluatedPrediction], places: Sequence[int]) -> int:
    compared = {
        (evaluated[place].item.item_id, name): len(evaluated[place].item.condition(name).content)
        for place in places
        for _, name in reads(evaluated[place])
    }
    return sum(compared.values())


def _columns(table: ItemTable) -> list[str]:
    # Those with more than one value.
    return [
        column
        for column in table.breakdowns
        if len({str(item.extra[column]) for item in table.items}) > 1
    ]


class _Packer:
    # Texts stand in ``data`` once, names as numbers.
    def __init__(self) -> None:
        names = ("tables", "kinds", "groups", "items", "predictions")
        self.data: dict[str, Any] = {name: [] for name in names}
        self._numbers: dict[tuple[str, str], int] = {}

    def add_table(
        self,
        table: ItemTable,
        scored: Scored,
        evaluated: Sequence[EvaluatedPrediction],
        places: Sequence[int],
    ) -> None:
        number, columns = len(self.data["tables"]), _columns(table)
        self.data["tables"].append([table.config, table.split])
        by_id = {one.item.item_id: one for one in scored.items}
        items: dict[str, int] = {}
        for place in places:
            prediction = evaluated[place]
            item_id = prediction.item.item_id
            if item_id not in items:
                items[item_id] = len(self.data["items"])
                self.data["items"].append(_item(by_id[item_id], number, columns))
            own = self.data["items"][items[item_id]]
            self._add_conditions(own, prediction, by_id[item_id])
            self.data["predictions"].append(
                {
                    "i": items[item_id],
                    "k": self._number("kinds", f"{prediction.formula} {prediction.aggregation}"),
                    "g": [
                        self._number("groups", name) for name in group_names(prediction, columns)
                    ],
                    "m": _rounded(margin(prediction)),
                    "s": state(prediction),
                    "w": prediction.reason,
                    "c": int(prediction.too_close),
                    "v": _values(prediction, by_id[item_id], scored),
                }
            )

    def _number(self, kind: str, name: str) -> int:
        number = self._numbers.setdefault((kind, name), len(self.data[kind]))
        if number == len(self.data[kind]):
            self.data[kind].append(name)
        return number

    def _add_conditions(
        self, own: dict[str, Any], prediction: EvaluatedPrediction, scored: ScoredItem
    ) -> None:
        there = {condition["n"] for condition in own["c"]}
        for name in dict.fromkeys(name for _, name in reads(prediction)):
            if name not in there:
                condition = scored.item.condition(name)
                if (one := scored.conditions.get(name)) is not None:
                    marks = unit_marks(scored.item, name)
                    pieces = with_units(scored_pieces(one, condition.content), marks)
                else:
                    marks, pieces = [], unscored_pieces(condition)
                own["c"].append(packed(name, pieces, marks))
        order = [condition.condition_name for condition in scored.item.conditions]
        own["c"].sort(key=lambda condition: order.index(condition["n"]))


def _item(scored: ScoredItem, number: int, grouped: Sequence[str]) -> dict[str, Any]:
    item = scored.item
    return {
        "id": item.item_id,
        "d": item.discourse_id,
        "t": number,
        "cut": scored.truncated,
        "x": [
            [name, text]
            for name, value in item.extra.items()
            if name not in grouped and (text := _shown(value))
        ],
        "c": [],
    }


def _values(prediction: EvaluatedPrediction, item: ScoredItem, scored: Scored) -> list[list[Any]]:
    # Tokens are those with a surprisal.
    return [
        [region, name, _rounded(value), _tokens_of(item, name, region)]
        for region, name, value in read_values(prediction, item, scored.rules)
    ]


def _tokens_of(item: ScoredItem, name: str, region: RegionRef) -> int:
    condition = item.conditions.get(name)
    return len(condition.region_bits(region)) if condition else 0


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _shown(value: Any) -> str:
    # Empty where it is no short scalar.
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.4g}"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value) if isinstance(value, str | int) else ""
    return text if len(text) <= MOST_EXTRA else ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment of the text; empty for a token of no width that a region counts.

    ``bits`` are the surprisals of its tokens: several where they share a character, and none for
    text between tokens and where no prediction reads it. Between regions, ``region`` is the number
    of the one before. ``unit`` is the place of its mark among those of the text, -1 before all.
    """

    text: str
    bits: tuple[float, ...]
    region: int
    unit: int = -1


def scored_pieces(scored: ScoredCondition, content: str) -> list[Piece]:
    """The text of a condition, cut where tokens begin; joined, the pieces are the text again."""
    encoding = scored.encoding
    pieces: list[Piece] = []
    place = 0
    region = next((number for number in encoding.regions if number > 0), 0)
    for start, end, number, bits in zip(
        encoding.starts, encoding.ends, encoding.regions, scored.bits.tolist(), strict=True
    ):
        if number == SPECIAL:
            continue  # of no width, and in no score
        own = () if math.isnan(bits) else (bits,)
        if start > place:
            pieces.append(Piece(content[place:start], (), region))
            place = start
        region = number if number > 0 else region
        if start < end <= place and pieces:
            # A part of a character: the surprisal of the character is the sum of its tokens'.
            last = pieces[-1]
            pieces[-1] = Piece(last.text, last.bits + own, last.region)
        else:
            pieces.append(Piece(content[place:end], own, region))
            place = max(place, end)
    if place < len(content):
        pieces.append(Piece(content[place:], (), region))
    return pieces


def unscored_pieces(condition: Condition) -> list[Piece]:
    """The regions of a text that was not scored; no more than its beginning."""
    pieces, place = [], 0
    for region, (_, end) in zip(condition.regions, condition.region_offsets(), strict=True):
        text = condition.content[place : min(end, MOST_UNSCORED)]
        place += len(text)
        if text:
            pieces.append(Piece(text, (), region.region_number))
    if len(condition.content) > MOST_UNSCORED:
        pieces.append(Piece(" …", (), pieces[-1].region))
    return pieces


def with_units(pieces: Sequence[Piece], marks: Sequence[Mark]) -> list[Piece]:
    """The pieces, each in the marked unit that its first visible character is in."""
    found, place, unit = [], 0, -1
    starts = [mark.start for mark in marks]
    for piece in pieces:
        if piece.text.strip():
            visible = place + len(piece.text) - len(piece.text.lstrip())
            unit = bisect_right(starts, visible) - 1
        found.append(replace(piece, unit=unit))
        place += len(piece.text)
    return found


def packed(name: str, pieces: Sequence[Piece], marks: Sequence[Mark] = ()) -> dict[str, Any]:
    """A condition as the page's script reads it, text without surprisal in one piece.

    Returns:
        ``n`` its name, ``t`` the texts of its pieces, ``b`` their bits (null, a number or several),
        ``r`` their regions as runs of (number, pieces), and where units are marked ``u``, those as
        runs of (number, moved, pieces).
    """
    pieces = list(_joined(pieces))
    units = [
        [marks[unit].label, int(marks[unit].moved), len(list(run))]
        if unit >= 0
        else ["", 0, len(list(run))]
        for unit, run in groupby(piece.unit for piece in pieces)
    ]
    return {
        **({"u": units} if marks else {}),
        "n": name,
        "t": [piece.text for piece in pieces],
        "b": [_bits(piece.bits) for piece in pieces],
        "r": [(region, len(list(run))) for region, run in groupby(p.region for p in pieces)],
    }


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    runs = groupby(pieces, key=lambda p: (bool(p.bits), p.region, p.unit))
    for (has_bits, region, unit), run in runs:
        if has_bits:
            yield from run
        else:
            yield Piece("".join(piece.text for piece in run), (), region, unit)


def _bits(bits: tuple[float, ...]) -> float | list[float] | None:
    rounded = [round(value, 2) for value in bits]
    return rounded if len(rounded) > 1 else rounded[0] if rounded else None
