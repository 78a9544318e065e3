"""Answers of people in the rows of a build: columns, and figures for the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coherencegym.builders.judgement.asked import (
    AskedRow,
    RowPlace,
    answer_of,
    asked_of,
    position_of,
)
from coherencegym.builders.judgement.figures import human_figures, row_figures
from coherencegym.builders.judgement.match import JudgedRow, Matcher, human_ok
from coherencegym.builders.judgement.questions import JUDGED_UNITS
from coherencegym.builders.suite import Column, Config
from coherencegym.eval.kinds.documents import DOCUMENTS, HUMAN, Document
from coherencegym.eval.kinds.examples import EXAMPLES
from coherencegym.eval.kinds.items import ITEMS, Item
from coherencegym.eval.kinds.spans import SPANS
from coherencegym.eval.kinds.table_kind import HUMAN_OK

HUMAN_COLUMN = Column(
    ["int32"], "the answer of each annotator: the position of the intruder, or -1 for none"
)
_NULL = "; null if nobody judged the row"

#: Kind -> the columns that its rows have where people judged some of them.
JUDGED_COLUMNS: Mapping[str, Mapping[str, Column]] = {
    ITEMS.name: {
        HUMAN_OK: Column(
            "bool",
            "whether, in each judged pair of the item's conditions, most annotators found both "
            "texts grammatical English and the incoherent text less coherent; null if no pair of "
            "the item was judged on all three questions",
        )
    },
    SPANS.name: {
        HUMAN_OK: Column(
            "bool",
            "whether most annotators who judged a span of the text, without the surrounding text, "
            "gave its answer in `gold`; null if no span of the text was judged",
        )
    },
    DOCUMENTS.name: {
        HUMAN: HUMAN_COLUMN,
        HUMAN_OK: Column("bool", f"whether most annotators named `intruder_position`{_NULL}"),
    },
    EXAMPLES.name: {
        HUMAN_OK: Column("bool", f"whether most annotators chose a right label{_NULL}")
    },
}


def judge_rows(
    matcher: Matcher | None,
    place: RowPlace,
    config: Config,
    values: Iterable[Any],
    rows: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Put what people said into rows, and give the figures for the manifest; empty if nothing.

    Args:
        matcher: has the answers; none: only those that a corpus has (the column ``human`` of
            documents) make figures, and no row changes.
        values: the rows as values of their kind.

    Raises:
        CorpusError: an answer is none of those that there are, or an annotator's second one.
    """
    if matcher is None and config.kind is not DOCUMENTS:
        return {}
    if matcher is not None and config.kind is ITEMS:
        return _judge_items(matcher, place, config, values, rows)
    said: list[JudgedRow] = []
    unit = JUDGED_UNITS[config.kind.name]
    for value, row in zip(values, rows, strict=True):
        known, own = _known_votes(value), []
        if matcher is None and not known:
            continue
        for asked in asked_of(config.kind.name, place, value):
            given = matcher.votes(unit, asked) if matcher is not None else {}
            if votes := {**known, **given}:
                own.append(JudgedRow(value, asked, votes))
            if matcher is not None and isinstance(value, Document):
                # In their order by place: who said what is not kept.
                row[HUMAN] = [*row.get(HUMAN, ()), *sorted(map(position_of, given.values()))]
        if matcher is not None:
            row[HUMAN_OK] = all(one.is_ok for one in own) if own else None
        said += own
    digests = () if matcher is None else matcher.answers.digests
    return row_figures(said, config.breakdowns, digests) if said else {}


def _judge_items(
    matcher: Matcher,
    place: RowPlace,
    config: Config,
    items: Iterable[Item],
    rows: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    judged = [matcher.judged(place.config, place.split, item) for item in items]
    for row, own in zip(rows, judged, strict=True):
        row[HUMAN_OK] = human_ok(own)
    said = [pair for own in judged for pair in own]
    return human_figures(config, said, matcher.answers.digests) if said else {}


def _known_votes(value: AskedRow) -> dict[str | int, str]:
    known = value.extra.get(HUMAN) or () if isinstance(value, Document) else ()
    return {number: answer_of(position) for number, position in enumerate(known, start=1)}
