"""Rows of texts whose corpus says what is asked, what is right, and which units say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.builders.spans.gold import (
    RULE_COLUMNS,
    WHOLE_ONLY,
    UnitSpan,
    choice_gold,
    covering_gold,
    rule_columns,
    whole_gold,
)
from coherencegym.builders.suite import Column, Contrast
from coherencegym.eval.kinds.spans import NEGATIVE, POSITIVE, SpanText, validate_span_text
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.loaders.corpora.verifiable import ENTAILED, EVIDENCE
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

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
        validate_span_text(row)
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
        validate_span_text(row)
        yield row
