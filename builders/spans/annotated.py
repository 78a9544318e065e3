"""Rows of texts whose corpus says what is asked, what is right, and which units say so.

Storks and Chai 2021, section 3: spans are all stretches of consecutive units, the whole included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.builders.suite import Column, Contrast
from coherencegym.eval.kinds.documents import (
    NEGATIVE,
    POSITIVE,
    SPANS,
    UNDECIDED,
    GoldSpan,
    SpanText,
)
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.loaders.corpora.judged import ENTAILED, EVIDENCE
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

#: First and last unit, from 0.
UnitSpan = tuple[int, int]

#: The rule of a row of which nobody said which units carry the answer.
WHOLE_ONLY = "whole"

#: Makers of the gold of a row, by the name that its column ``rule`` has.
RULES = {
    "annotated": "a span is positive iff it covers the units that annotators named",
    WHOLE_ONLY: "only the answer for the whole is known",
    "choice": "the choice table of Storks and Chai 2021, from the annotated conflict",
    "intruder": "a span of two units or more is positive iff it holds the intruder",
    "contradiction": "a span is positive iff it covers both of the contradicting units",
}

RULE_COLUMNS = {
    "unit_count": Column("int32", "how many units the text has, or each alternative"),
    "one_unit": Column("bool", "whether the whole text is the only span"),
    "rule": Column(
        "string",
        "the source of the answers for spans: "
        + "; ".join(f"`{name}`: {what}" for name, what in RULES.items()),
    ),
}


def rule_columns(units: int, rule: str) -> dict[str, Any]:
    """The columns of every row of the suite."""
    return {"unit_count": units, "one_unit": units == 1, "rule": rule}


def unit_spans(units: int, fewest: int = 1) -> Iterator[UnitSpan]:
    """All stretches of at least ``fewest`` of so many units, the earlier beginning first."""
    for start in range(units):
        for end in range(start + fewest - 1, units):
            yield start, end


def covering_gold(
    units: int, evidence: Sequence[UnitSpan], fewest: int = 1
) -> tuple[GoldSpan, ...]:
    """Gold of a property: a span has it iff it covers one of the stretches of evidence."""

    def answer(start: int, end: int) -> int:
        covers = any(start <= first and last <= end for first, last in evidence)
        return POSITIVE if covers else NEGATIVE

    return tuple(GoldSpan(*span, answer(*span)) for span in unit_spans(units, fewest))


def whole_gold(units: int, label: int) -> tuple[GoldSpan, ...]:
    """Gold of a text of which nobody said which part carries the answer: the whole alone."""
    return (GoldSpan(0, units - 1, label),)


#: Conflict -> the spans of two sentences or more, and (1, 1), that have the answer of the whole.
_DECIDED: dict[UnitSpan, frozenset[UnitSpan]] = {
    (1, 2): frozenset({(0, 2), (1, 2)}),
    (0, 1): frozenset({(0, 2), (0, 1)}),
    (1, 1): frozenset({(0, 2), (0, 1), (1, 2), (1, 1)}),
    (0, 2): frozenset({(0, 2)}),
}


def choice_gold(
    conflict: UnitSpan, second_pair_plausible: bool | None, label: int
) -> tuple[GoldSpan, ...]:
    """Gold of two texts of three sentences that differ in the second one.

    Args:
        conflict: the sentences of the less plausible text between which the conflict lies.
        second_pair_plausible: true where the less plausible second sentence goes with the
            third, as is asked of a conflict of the first two; false: the last two have the answer,
            too.
        label: the answer of the whole.
    """
    decided = _DECIDED[conflict]
    if conflict == (0, 1) and second_pair_plausible is False:
        decided |= {(1, 2)}
    spans = unit_spans(3)
    return tuple(GoldSpan(*span, label if span in decided else UNDECIDED) for span in spans)


ENTAILMENT_COLUMNS = {
    FAMILY: Column(
        "string", "the conversation; rows of one conversation form one cluster in intervals"
    ),
    "type": Column(
        "string", "what the hypothesis is about in the corpus; empty if the corpus does not say"
    ),
    **RULE_COLUMNS,
}
CHOICE_COLUMNS = {
    "second_pair": Column(
        "string",
        "`true` if annotators found the worse hypothesis plausible with the text after it, "
        "otherwise `false`; empty if they were not asked",
    ),
    **RULE_COLUMNS,
}


@dataclass(frozen=True)
class Asks:
    """Selects the texts of which this is asked."""

    question: str

    def __call__(self, discourse: Discourse) -> bool:
        """Tell whether it is what the corpus asks of the text."""
        return discourse.meta.get("question") == self.question


def evidence_of(discourse: Discourse) -> tuple[UnitSpan, ...]:
    """The stretches that carry the answer, as annotators marked them."""
    spans = [j.span for j in discourse.judgements if j.label == EVIDENCE and j.span]
    return tuple((span[0][0], span[-1][0]) for span in spans)


@dataclass(frozen=True)
class Entailment:
    """A text and a hypothesis: a span entails it iff it covers the evidence."""

    recipe: str = "the text as it stands; a span is positive iff it covers the evidence"
    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the row."""
        entailed = any(j.span is None and j.label == ENTAILED for j in discourse.judgements)
        label = POSITIVE if entailed else NEGATIVE
        units, meta = len(discourse.units), discourse.meta
        evidence = evidence_of(discourse) if entailed else ()
        known = meta["spans"] == "known"
        speakers = tuple(unit.speaker or "" for unit in discourse.units)
        row = SpanText(
            item_id=discourse.id,
            units=discourse.texts,
            speakers=speakers if all(speakers) else (),
            hypothesis=meta["hypothesis"],
            alternatives=(),
            label=label,
            evidence=evidence,
            gold=covering_gold(units, evidence) if known else whole_gold(units, label),
            discourse_id=discourse.id,
            corpus=discourse.corpus,
            extra={
                FAMILY: meta.get("source", ""),
                "type": meta.get("type", ""),
                **rule_columns(units, "annotated" if known else WHOLE_ONLY),
            },
        )
        SPANS.check(row)
        yield row


@dataclass(frozen=True)
class Abduction:
    """Two texts of three sentences that differ in the second: which is the more plausible?"""

    recipe: str = "both texts as they stand; spans after the annotated conflict"
    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the row."""
        ((place, _, _),) = discourse.alternatives[0].span
        texts, second = discourse.texts, discourse.meta["second_pair"]
        (conflict,) = evidence_of(discourse)
        label = discourse.alternatives[0].right
        row = SpanText(
            item_id=discourse.id,
            units=(),
            speakers=(),
            hypothesis="",
            alternatives=tuple(
                (*texts[:place], option, *texts[place + 1 :])
                for option in discourse.alternatives[0].options
            ),
            label=label,
            evidence=(conflict,),
            gold=choice_gold(conflict, second == "true" if second else None, label),
            discourse_id=discourse.id,
            corpus=discourse.corpus,
            extra={"second_pair": second, **rule_columns(len(texts), "choice")},
        )
        SPANS.check(row)
        yield row
