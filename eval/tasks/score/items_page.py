"""The items of a run as the page's script reads them: chosen, cut into tokens, packed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, groupby
from typing import Any

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.formula import RegionRef, read_of
from coherencegym.eval.kinds.items import Condition, Item
from coherencegym.eval.kinds.table_kind import of_modest_length
from coherencegym.eval.outcomes.schema import FLAGS, TIE, TOO_CLOSE, OutcomeRow, name_of_group
from coherencegym.eval.plan.options import Rules
from coherencegym.eval.surprisal import Answer, ScoredCondition
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.outcomes import with_margins
from coherencegym.eval.tasks.score.scoring import RegionValues
from coherencegym.eval.text.encode import SPECIAL

#: The value (bits) of a region in a condition.
RegionValue = tuple[RegionRef, str, float | None]


def read_values(row: OutcomeRow, scored: Answer[Item], rules: Rules) -> list[RegionValue]:
    """The values (bits) of what a prediction reads; None of a condition that was not scored."""
    values, how = RegionValues(scored, rules), row.unit.aggregation
    return [
        (region, name, values.value(region, name, how) if name in scored.conditions else None)
        for region, name in read_of(row.unit.formula)
    ]


def state(row: OutcomeRow) -> str:
    """Whether a prediction holds: ``met``, ``not met``, ``tie`` or ``undefined``."""
    if row.value is None:
        return "undefined"
    return "met" if row.value else "tie" if row.flags & FLAGS[TIE] else "not met"


_WORD = re.compile(r"\w+|[^\w\s]")

#: Pieces of a text, each with whether another text has other words there.
Marked = list[tuple[str, bool]]


def marked(left: str, right: str) -> tuple[Marked, Marked]:
    """Two texts, cut where their words differ; joined, the pieces are the texts again."""
    ours, theirs = ([match.span() for match in _WORD.finditer(text)] for text in (left, right))
    words = [left[slice(*span)] for span in ours], [right[slice(*span)] for span in theirs]
    blocks = [
        block for kind, *block in SequenceMatcher(None, *words).get_opcodes() if kind != "equal"
    ]
    return (
        _cut(left, [(ours[i][0], ours[j - 1][1]) for i, j, _, _ in blocks if i < j]),
        _cut(right, [(theirs[i][0], theirs[j - 1][1]) for _, _, i, j in blocks if i < j]),
    )


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> Marked:
    pieces, place = Marked(), 0
    for start, end in spans:
        pieces += [(text[place:start], False), (text[start:end], True)]
        place = end
    return [piece for piece in (*pieces, (text[place:], False)) if piece[0]]


#: Characters of each text of the example, where there is such an item.
_MODEST = 450


def example_of(found: Results) -> dict[str, Any] | None:
    """An item to show what a suite asks: its conditions with their texts, cut where they differ.

    The first item of modest length of the first table whose prediction has two conditions, with the
    bits of what the prediction reads; ``held`` says what became of it.
    """
    for own in found.details:
        readable = [
            (one, row, margin, names)
            for one, rows in own.shown
            for row, margin in with_margins(rows)
            if row.value is not None
            and len(names := list(dict.fromkeys(name for _, name in read_of(row.unit.formula))))
            == 2
        ]
        if readable:
            scored, row, margin, names = of_modest_length(
                readable,
                lambda each: max(len(each[0].item.condition(name).content) for name in each[3]),
                _MODEST,
            )
            item = scored.item
            names.sort(key=[condition.condition_name for condition in item.conditions].index)
            known = read_values(row, scored, own.rendering.rules)
            values = {name: value for _, name, value in known}
            texts = marked(*(item.condition(name).content for name in names))
            return {
                "config": own.table.config,
                "split": own.table.split,
                "item_id": item.item_id,
                "conditions": [
                    (name, text, values[name]) for name, text in zip(names, texts, strict=True)
                ],
                "margin": margin,
                "held": state(row),
            }
    return None


#: Characters of text in a page, about.
MOST_CHARACTERS = 2_500_000
#: Characters shown of a text that was not scored.
MOST_UNSCORED = 2_000


def collect(
    found: Results, most_characters: int = MOST_CHARACTERS
) -> tuple[dict[str, Any], dict[str, int]]:
    """The items that a page shows: the first of each table, and at least one.

    Returns:
        The items for JSON, in which texts stand once and names are numbers, and how many are left
        out, by table.
    """
    tables: list[list[str]] = []
    items: list[dict[str, Any]] = []
    predictions: list[dict[str, Any]] = []
    kinds: dict[str, int] = {}
    groups: dict[str, int] = {}
    left_out = {}
    for own in found.details:
        sizes = accumulate(_characters(one.item) for one, _ in own.shown)
        room = most_characters / len(found.details)
        number = max(1, sum(size <= room for size in sizes))
        shown, rules = own.shown[:number], own.rendering.rules
        if number < own.n_items:
            left_out[own.table.name] = own.n_items - number
        columns = _columns(own.table, [one for one, _ in shown])
        for scored, rows in shown:
            for row, margin in with_margins(rows):
                kind = f"{row.unit.formula} {row.unit.aggregation}"
                names = [name_of_group(one) for one in row.unit.groups if one[0] in columns]
                predictions.append(
                    {
                        "i": len(items),
                        "k": kinds.setdefault(kind, len(kinds)),
                        "g": [groups.setdefault(name, len(groups)) for name in names],
                        "m": _rounded(margin),
                        "s": state(row),
                        "w": row.reason,
                        "c": int(bool(row.flags & FLAGS[TOO_CLOSE])),
                        "v": _values(row, scored, rules),
                    }
                )
            items.append(_item(scored, len(tables)))
        tables.append([own.table.config, own.table.split])
    named = {"tables": tables, "kinds": [*kinds], "groups": [*groups]}
    return {**named, "items": items, "predictions": predictions}, left_out


def _characters(item: Item) -> int:
    return sum(len(item.condition(name).content) for name in item.reads)


def _columns(table: ItemTable, shown: Sequence[Answer[Item]]) -> set[str]:
    # Those with more than one value, and none, of groups that no column makes.
    return {"", *table.breakdowns} - {
        column
        for column in table.breakdowns
        if len({str(one.item.extra[column]) for one in shown}) == 1
    }


def _item(scored: Answer[Item], number: int) -> dict[str, Any]:
    item = scored.item
    read = item.reads
    return {
        "id": item.item_id,
        "d": item.discourse_id,
        "t": number,
        "cut": scored.truncated,
        "c": [
            packed(one.condition_name, _pieces(scored, one))
            for one in item.conditions
            if one.condition_name in read
        ],
    }


def _pieces(scored: Answer[Item], condition: Condition) -> list[Piece]:
    content = condition.content
    if (own := scored.conditions.get(condition.condition_name)) is not None:
        return scored_pieces(own, content)
    return [Piece(content[:MOST_UNSCORED] + " …" * (len(content) > MOST_UNSCORED), (), 1)]


def _values(row: OutcomeRow, item: Answer[Item], rules: Rules) -> list[list[Any]]:
    # Tokens are those with a surprisal.
    return [
        [region, name, _rounded(value), _tokens_of(item, name, region)]
        for region, name, value in read_values(row, item, rules)
    ]


def _tokens_of(item: Answer[Item], name: str, region: RegionRef) -> int:
    condition = item.conditions.get(name)
    return len(condition.region_bits(region)) if condition else 0


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment of the text; empty for a token of no width that a region counts.

    ``bits`` are the surprisals of its tokens: several where they share a character, and none for
    text between tokens and where no prediction reads it. Between regions, ``region`` is the number
    of the one before.
    """

    text: str
    bits: tuple[float, ...]
    region: int


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


def packed(name: str, pieces: Iterable[Piece]) -> dict[str, Any]:
    """A condition as the page's script reads it, text without surprisal in one piece.

    Returns:
        ``n`` its name, ``t`` the texts of its pieces, ``b`` their bits (null, a number or several),
        ``r`` their regions as runs of (number, pieces).
    """
    pieces = list(_joined(pieces))
    return {
        "n": name,
        "t": [piece.text for piece in pieces],
        "b": [_bits(piece.bits) for piece in pieces],
        "r": [(region, len(list(run))) for region, run in groupby(p.region for p in pieces)],
    }


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    for (has_bits, region), run in groupby(pieces, key=lambda p: (bool(p.bits), p.region)):
        if has_bits:
            yield from run
        else:
            yield Piece("".join(piece.text for piece in run), (), region)


def _bits(bits: tuple[float, ...]) -> float | list[float] | None:
    rounded = [round(value, 2) for value in bits]
    return rounded if len(rounded) > 1 else rounded[0] if rounded else None
