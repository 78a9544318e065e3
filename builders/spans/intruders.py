"""Documents with and without an intruder: a part is incoherent if the intruder is in company."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.builders.discourse.released import FAMILY_COLUMN
from coherencegym.builders.intruder_sentences import IntruderView
from coherencegym.builders.spans.annotated import RULE_COLUMNS, covering_gold, rule_columns
from coherencegym.builders.suite import Column, Contrast
from coherencegym.eval.kinds.spans import NEGATIVE, POSITIVE, SPANS, SpanText
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

#: One sentence alone cannot be incoherent.
_FEWEST = 2

INTRUDER_COLUMNS = {
    **FAMILY_COLUMN,
    "domain": Column("string", "the domain of the document, where its corpus has several"),
    "replaced": Column("string", "the original sentence, which the intruder replaces"),
    "source_discourse": Column("string", "the document that the intruder is from"),
    "similarity": Column(
        "float64", "TF-IDF cosine of the intruder and the sentence that it replaces"
    ),
    **RULE_COLUMNS,
}


@dataclass(frozen=True)
class IntruderSpans(IntruderView):
    """All documents; a span of two sentences or more is incoherent iff it holds the intruder."""

    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the document, intruded or coherent."""
        if self.drops(discourse, context):
            return
        units = len(discourse.units)
        if units < _FEWEST:
            context.skipped["fewer than two sentences"] += 1
            return
        # Documents that stay coherent are rows too: they are counted, and not left out.
        intruded, choice = self.intruded(discourse, Context(context.seed, context.suite))
        pairs = ((choice.slot - 1, choice.slot), (choice.slot, choice.slot + 1)) if choice else ()
        evidence = tuple(pair for pair in pairs if pair[0] >= 0 and pair[1] < units)
        row = SpanText(
            item_id=discourse.id,
            units=intruded.texts,
            speakers=(),
            hypothesis="",
            alternatives=(),
            label=POSITIVE if choice else NEGATIVE,
            evidence=evidence,
            gold=covering_gold(units, evidence, _FEWEST),
            discourse_id=discourse.id,
            corpus=discourse.corpus,
            extra={
                FAMILY: self.family[discourse.id],
                "domain": discourse.meta.get("domain", ""),
                "replaced": discourse.texts[choice.slot] if choice else "",
                "source_discourse": choice.intruder.discourse if choice else "",
                "similarity": choice.intruder.similarity if choice else None,
                **rule_columns(units, "intruder"),
            },
        )
        SPANS.check(row)
        yield row
