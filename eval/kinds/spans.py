"""Texts whose parts carry a decision: the table kind ``spans``.

Storks and Chai 2021: a classifier that is right about a whole text should be right about each of
its consecutive parts. A row is a text as its units, or several alternatives of one, the right
answer for the whole, and the right answer for each of its spans, written down by whoever built it.
Two questions have this shape:

- **one text**: does it have a property, such as entailing the hypothesis, or holding a sentence
  that does not belong there? Answers are :data:`POSITIVE` and :data:`NEGATIVE`.
- **a choice** between ``alternatives`` of equally many units: which is the better one? Answers are
  their numbers from 0, and :data:`UNDECIDED` where a span is as good in any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import StrictInt

from coherencegym.eval.kinds.table_kind import (
    FROM_CORPUS,
    FROM_DISCOURSE,
    ROW_ID,
    Clustered,
    Row,
    RowName,
    TableKind,
    column,
)

NEGATIVE, POSITIVE = 0, 1
#: The answer for a span that is as good in any alternative.
UNDECIDED = -1


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """The right answer for the units from ``start`` to ``end``, both from 0 and both included."""

    start: StrictInt
    end: StrictInt
    answer: StrictInt


@dataclass(frozen=True)
class SpanText(Clustered):
    """A text, or alternatives of one, with the right answers for its spans.

    ``evidence`` are units from first to last; any one of several suffices. In ``gold`` each span
    stands once, the whole among them.
    """

    item_id: RowName = field(metadata=ROW_ID)
    units: tuple[str, ...] = field(
        metadata=column(["string"], "the units of the text, in order; empty for a choice")
    )
    speakers: tuple[str, ...] = field(
        metadata=column(["string"], "the speaker of each unit; empty if the text names no speaker")
    )
    hypothesis: str = field(
        metadata=column("string", "the hypothesis of the question; empty without one")
    )
    alternatives: tuple[tuple[str, ...], ...] = field(
        metadata=column(
            [["string"]], "the texts to choose from; empty for a question about one text"
        )
    )
    label: StrictInt = field(
        metadata=column(
            "int32",
            "the answer for the whole text: 1 or 0; for a choice, the better alternative (from 0)",
        )
    )
    evidence: tuple[tuple[StrictInt, StrictInt], ...] = field(
        metadata=column(
            [["int32"]], "the first and last unit of each part on which the answer rests"
        )
    )
    gold: tuple[GoldSpan, ...] = field(
        metadata=column(
            [{"start": "int32", "end": "int32", "answer": "int32"}],
            "the answer for each span of units; -1 if the alternatives are equally good on it",
        )
    )
    discourse_id: RowName = field(metadata=FROM_DISCOURSE)
    corpus: RowName = field(metadata=FROM_CORPUS)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of units of the text, or of each alternative."""
        return len(self.alternatives[0] if self.alternatives else self.units)

    @property
    def is_choice(self) -> bool:
        """It is a choice between alternatives."""
        return bool(self.alternatives)

    @property
    def texts(self) -> Iterator[str]:
        """All units, and the hypothesis where there is one."""
        yield from self.units
        for alternative in self.alternatives:
            yield from alternative
        if self.hypothesis:
            yield self.hypothesis


def _problems(value: SpanText) -> Iterator[str]:
    sizes = {len(alternative) for alternative in value.alternatives}
    if bool(value.units) == value.is_choice or 0 in sizes or len(value.alternatives) == 1:
        yield "expected either units, or two alternatives or more, none of them empty"
        return
    if len(sizes) > 1:
        yield f"alternatives of {min(sizes)} and of {max(sizes)} units; expected equally many"
    if value.is_choice and len({*value.alternatives}) == 1:
        yield "all alternatives have the same text; expected a difference"
    if not all(text.strip() for text in value.texts):
        yield "a unit is empty; expected text"
    if len(value.speakers) not in (0, value.size):
        yield f"{len(value.speakers)} speakers of {value.size} units; expected one each, or none"
    answers = range(len(value.alternatives)) if value.is_choice else (NEGATIVE, POSITIVE)
    if value.label not in answers:
        yield f"label {value.label}; expected {answers[0]} to {answers[-1]}"
    for first, last in value.evidence:
        if not 0 <= first <= last < value.size:
            yield f"evidence [{first}, {last}]; expected units from 0 to {value.size - 1}"
    seen: dict[tuple[int, int], int] = {}
    for one in value.gold:
        place = one.start, one.end
        if not 0 <= one.start <= one.end < value.size:
            yield f"span {[*place]}; expected units from 0 to {value.size - 1}"
        if place in seen:
            yield f"span {[*place]} stands twice; expected each once"
        if one.answer not in (*answers, *((UNDECIDED,) if value.is_choice else ())):
            yield f"answer {one.answer} for the span {[*place]}; expected one of the question's"
        seen[place] = one.answer
    if seen.get((0, value.size - 1)) != value.label:
        yield "the span of all units has another answer than the whole; expected the label"


def _length(row: Row) -> int:
    texts = row["units"] or [unit for one in row["alternatives"] for unit in one]
    return sum(map(len, texts))


SPANS = TableKind(
    name="spans",
    row=(
        "a text divided into units, or alternative versions of a text, with the right answer for "
        "each span."
    ),
    schema=SpanText,
    mark="gold",
    texts=lambda value: value.texts,
    problems=_problems,
    length=_length,
    shown=lambda row: bool(row["evidence"]) and len(row["gold"]) > 1,
    task="spans",
    command="coherencegym spans",
    ask="Test whether a model is also right about the parts",
)
