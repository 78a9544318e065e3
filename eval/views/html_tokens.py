"""A condition's text in pieces, one for each token, for the page of items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from coherencegym.eval.kinds.items import Condition
from coherencegym.eval.surprisal import ScoredCondition
from coherencegym.eval.text.regions import SPECIAL

#: Characters shown of a text that was not scored.
MOST_UNSCORED = 2_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text.

    Attributes:
        text: as it stands in the condition; empty for a token of no width that a region counts.
        bits: surprisals (bits) of its tokens that have one: several where they share a character,
            and none for text between tokens and where no prediction reads it.
        region: the number of its region; between regions, that of the one before.
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


def packed(name: str, pieces: Sequence[Piece]) -> dict[str, Any]:
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
        "r": list(_runs(pieces)),
    }


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    for (has_bits, region), run in groupby(pieces, key=lambda p: (bool(p.bits), p.region)):
        if has_bits:
            yield from run
        else:
            yield Piece("".join(piece.text for piece in run), (), region)


def _bits(bits: tuple[float, ...]) -> float | list[float] | None:
    rounded = [round(value, 2) for value in bits]
    return rounded if len(rounded) > 1 else rounded[0] if rounded else None


def _runs(pieces: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    for region, run in groupby(piece.region for piece in pieces):
        yield region, len(list(run))
