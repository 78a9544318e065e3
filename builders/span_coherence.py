"""Span coherence: is a model that is right about a text right about its parts, too?

Storks and Chai 2021. A row is a text of several units with the right answer for the whole and for
each stretch of consecutive units. ``conversational_entailment`` and ``abduction`` are the paper's
items with its annotation; of other texts the answers follow from how they were made: documents
with an intruder, and what somebody says with a contradiction in it. Any table with units,
hypothesis, label and evidence is read, too (``--hub-dataset ... --genre spans``).

    coherencegym build span_coherence --corpus verifiable --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.builders.intruder_sentences import (
    DOCUMENT_COLUMNS,
    INTRUDER_CORPORA,
    IntruderView,
)
from coherencegym.builders.pipeline.kinds import Division
from coherencegym.builders.spans import (
    CHOICE_COLUMNS,
    CONTRADICTION_COLUMNS,
    ENTAILMENT_COLUMNS,
    RULE_COLUMNS,
    Abduction,
    Contradictions,
    Denials,
    Entailment,
    covering_gold,
    span_row,
)
from coherencegym.builders.suite import ANY_LANGUAGE, Config, Contrast, Suite
from coherencegym.eval.kinds.documents import NEGATIVE, POSITIVE, SPANS, SpanText
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.loaders.corpus import cited
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence
from coherencegym.manipulations.operator import Context

#: One sentence alone cannot be incoherent.
_FEWEST = 2

#: Columns of :mod:`builders.intruder_sentences` that spans have, too.
_SHARED = (FAMILY, "domain", "replaced", "source_discourse", "similarity")


@dataclass(frozen=True)
class IntruderSpans(IntruderView):
    """All documents; a span of two sentences or more is incoherent iff it holds the intruder."""

    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[SpanText]:
        """Yield the document, intruded or coherent."""
        if not list(self.kept(discourse, context)):
            return
        units = len(discourse.units)
        if units < _FEWEST:
            context.skipped["fewer than two sentences"] += 1
            return
        # Documents that stay coherent are rows too: they are counted, and not left out.
        intruded, choice = self.intruded(discourse, Context(context.seed, context.suite))
        pairs = ((choice.slot - 1, choice.slot), (choice.slot, choice.slot + 1)) if choice else ()
        evidence = tuple(pair for pair in pairs if pair[0] >= 0 and pair[1] < units)
        yield span_row(
            discourse,
            "intruder",
            POSITIVE if choice else NEGATIVE,
            evidence,
            covering_gold(units, evidence, _FEWEST),
            {name: self.document_columns(discourse, choice)[name] for name in _SHARED},
            units=intruded.texts,
        )


@dataclass(frozen=True)
class AskedSplits:
    """The corpus's own splits of texts that it asks something of, and a division of all others.

    The division is that of :mod:`builders.intruder_sentences`, so that a document is in one split
    in both suites.
    """

    division: Division

    def __call__(self, discourses: Sequence[Discourse], seed: int) -> dict[str, list[Discourse]]:
        """The discourses by split, in their order."""
        own: dict[str, list[Discourse]] = {}
        for discourse in discourses:
            if "question" in discourse.meta:
                own.setdefault(discourse.meta["split"], []).append(discourse)
        others = [discourse for discourse in discourses if "question" not in discourse.meta]
        for split, divided in (self.division(others, seed) if others else {}).items():
            own.setdefault(split, []).extend(divided)
        return own


def _config(**settings: Any) -> Config:
    return Config(**{"name": "", "kind": SPANS, "regions": (), **settings})


def _contradiction(**settings: Any) -> Config:
    return _config(
        prefix="contradiction",
        columns=CONTRADICTION_COLUMNS,
        task_defaults={"question": "coherence", "positive": "contradictory"},
        **settings,
    )


_ENTAILMENT: dict[str, Any] = {
    "generator": Entailment(),
    "columns": ENTAILMENT_COLUMNS,
    "breakdowns": ("one_unit",),
    "task_defaults": {"question": "entailment", "positive": "entailed"},
}

SUITE = Suite(
    name="span_coherence",
    title="Span coherence",
    version="4.0.0",
    hypothesis=(
        "A model that is right about a text for the right reason is also right about the text's "
        "parts: for each part, it gives the answer that the part itself supports."
    ),
    description=(
        "Texts of several units with the right answer for the whole and for each span of "
        "consecutive units. **Strict coherence** is the share of texts for which a model is right "
        "about the whole and every part. **Lenient coherence** is the mean share of parts that it "
        "is right about."
    ),
    conditions={
        "positive": "the span entails the hypothesis, is incoherent, or contradicts itself",
        "negative": "it does not",
        "answer": "for a choice: the span of one alternative is the better one",
        "none": "for a choice: the spans of both are equally good",
    },
    limitations=(
        "**Answering no to everything is hard to beat**, because most spans are negative. Compare "
        "with the constant answers under Quality, which every report shows beside the scores.",
        "For a text of one unit, strict coherence equals accuracy; scores are broken down by "
        "`one_unit` where such texts exist.",
        "Gold answers by rule assume that nothing else in the text supports the answer, and that "
        "more text never removes support.",
        "In a `denials` config, either speaker denies a statement in nearly its own words: a model "
        "that sees the repetition but not the speaker is right half of the time.",
    ),
    citation=cited("storks-chai-2021-beyond-tip"),
    divide=AskedSplits(Division(0.2, 0.1)),
    configs=(
        _config(
            name="conversational_entailment",
            one_corpus=True,
            corpora=("verifiable",),
            select=lambda discourse: discourse.meta.get("question") == "entailment",
            summary="does a span of a telephone conversation entail the hypothesis?",
            **_ENTAILMENT,
        ),
        _config(
            name="abduction",
            one_corpus=True,
            corpora=("verifiable",),
            select=lambda discourse: discourse.meta.get("question") == "choice",
            generator=Abduction(),
            columns=CHOICE_COLUMNS,
            summary="which of two stories, which differ in one sentence, is more plausible?",
            task_defaults={"question": "choice"},
        ),
        _config(
            prefix="entailment",
            corpora=(),
            genre="spans",
            languages=ANY_LANGUAGE,
            summary="does a span of the text entail the hypothesis?",
            **_ENTAILMENT,
        ),
        _config(
            prefix="intruder",
            by="domain",
            corpora=INTRUDER_CORPORA,
            genre="documents",
            languages=ANY_LANGUAGE,
            generator=IntruderSpans(IntruderSentence()),
            columns={name: DOCUMENT_COLUMNS[name] for name in _SHARED} | RULE_COLUMNS,
            summary=(
                "documents, half of them with a sentence of another document: is a span of "
                "sentences incoherent?"
            ),
            task_defaults={"question": "coherence", "positive": "incoherent"},
        ),
        _contradiction(
            corpora=("dialoguenli",),
            generator=Contradictions(),
            summary=(
                "utterances of one person, including a pair that is known to contradict itself or "
                "not to: does a span of utterances contradict itself?"
            ),
        ),
        _contradiction(
            corpora=("personachat",),
            name="denials",
            genre="dialogue",
            generator=Denials(),
            summary=(
                "dialogues in which a later utterance, by the same speaker or the other, denies an "
                "earlier one: does a speaker contradict himself or herself within a span?"
            ),
        ),
    ),
    tags=("entailment", "contradiction", "intruder-sentence-detection"),
    task_categories=("text-classification",),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
