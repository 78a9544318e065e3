"""Texts with a triangle each, which has a cell for each span: its first unit down, its last across.

Cells are shaded by probability; right answers that are positive are outlined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coherencegym.eval.kinds.spans import NEGATIVE, UNDECIDED
from coherencegym.eval.report.grid import share_cell
from coherencegym.eval.tasks.spans.coherence import SpanPlace, TextPrediction
from coherencegym.eval.tasks.spans.data import unit_texts
from coherencegym.eval.tasks.spans.figure import accuracy_by_place, usual_size
from coherencegym.eval.tasks.spans.results import Answered

#: Texts of each table that are on the page, and units of the longest.
_MOST_TEXTS, _MOST_UNITS = 100, 20
#: Pixels of a cell.
CELL = 22


@dataclass(frozen=True)
class SpanCell:
    """A cell of a triangle: where it is, how it looks, and what it says in words.

    ``shade`` is from 0, the paper, to 1, the full colour.
    """

    x: int
    y: int
    shade: float
    gold: bool
    wrong: bool
    said: str


def described_triangle(one: Answered) -> str:
    """The triangle of a config in words."""
    size = usual_size(one.judged)
    shares = ", ".join(
        f"units {start + 1} to {end + 1}: {100 * share:.0f} %"
        for (start, end), (share, _) in accuracy_by_place(one, size).items()
    )
    return f"{one.table.table.config}, right answers to spans of texts of {size} units: {shares}"


def triangles_of(one: Answered) -> dict[str, Any]:
    """The texts of a table; first those that are right for the wrong parts, worst first."""
    thresholds = one.at["strict"]
    order = sorted(
        range(len(one.judged)),
        key=lambda n: (
            not one.judged[n].right,
            one.judged[n].metric("lenient", thresholds[n]),
            one.judged[n].text.item_id,
        ),
    )
    shown = [n for n in order if one.judged[n].text.size <= _MOST_UNITS][:_MOST_TEXTS]
    return {
        "name": one.table.table.name,
        "total": len(one.judged),
        "positive": one.table.positive,
        "rows": [_row(one.judged[n], thresholds[n], one.table.positive) for n in shown],
    }


def _row(own: TextPrediction, threshold: float, positive: str) -> dict[str, Any]:
    text = own.text
    alternatives = range(max(1, len(text.alternatives)))
    return {
        "name": text.item_id,
        "right": own.right,
        "state": _state(own, threshold),
        "hypothesis": text.hypothesis,
        "units": [
            [unit_texts(text, number)[unit] for number in alternatives] for unit in range(text.size)
        ],
        "size": text.size,
        "cells": list(_cells(own, threshold, positive)),
    }


def _state(own: TextPrediction, threshold: float) -> str:
    rights = own.span_rights(threshold)
    parts = f"{sum(rights)} of {len(rights)} spans right"
    return f"{'right' if own.right else 'wrong'}, {parts}"


def _cells(own: TextPrediction, threshold: float, positive: str) -> Iterator[SpanCell]:
    none = UNDECIDED if own.text.is_choice else NEGATIVE
    for place, gold in own.gold.items():
        answer = own.answer(place, threshold)
        yield SpanCell(
            x=place[1] * CELL + 2,
            y=place[0] * CELL + 2,
            shade=round(own.predicted[place].probability, 3),
            gold=gold != none,
            wrong=answer != gold,
            said=_said(own, place, answer, gold, positive),
        )


def _said(own: TextPrediction, place: SpanPlace, answer: int, gold: int, positive: str) -> str:
    def name(number: int) -> str:
        if not own.text.is_choice:
            return positive if number else f"not {positive}"
        return "undecided" if number == UNDECIDED else f"text {number + 1}"

    predicted = own.predicted[place]
    return (
        f"units {place[0] + 1} to {place[1] + 1}: {name(answer)} "
        f"({share_cell(predicted.probability)} %); right is {name(gold)}"
    )
