"""Span coherence: is a model that is right about a text right about its parts, too?

Storks and Chai 2021. A row is a text of several units with the right answer for the whole and for
each stretch of consecutive units. ``conversational_entailment`` and ``abduction`` are the paper's
items with its annotation; of other texts the answers follow from how they were made: documents
with an intruder, and what somebody says with a contradiction in it. Any table with units,
hypothesis, label and evidence is read, too (``--hub-dataset ... --genre spans``).

    coherencegym build span_coherence --corpus verifiable --data-dir PATH
"""

from __future__ import annotations

from typing import Any

from coherencegym.builders.intruder_sentences import INTRUDER_CORPORA
from coherencegym.builders.pipeline.fitting import Division
from coherencegym.builders.spans.annotated import (
    CHOICE_COLUMNS,
    ENTAILMENT_COLUMNS,
    Abduction,
    Asks,
    Entailment,
)
from coherencegym.builders.spans.contradictions import CONTRADICTION_COLUMNS, Contradictions
from coherencegym.builders.spans.denials import Denials
from coherencegym.builders.spans.intruders import INTRUDER_COLUMNS, IntruderSpans
from coherencegym.builders.spans.splits import AskedSplits
from coherencegym.builders.suite import Config, Suite
from coherencegym.eval.kinds.spans import SPANS
from coherencegym.loaders.corpora.citations import cited
from coherencegym.manipulations.intruders.intruder_sentence import IntruderSentence


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
    version="3.0.0",
    hypothesis=(
        "A model that is right about a text for the right reason is right about its parts: it says "
        "of a part what the part itself bears out, and no more."
    ),
    description=(
        "Texts of several units with the right answer for the whole and for each stretch of "
        "consecutive units. **Strict coherence** is the share of texts of which a model is right "
        "about the whole and about every part; **lenient** the mean share of parts that it is "
        "right about."
    ),
    conditions={
        "positive": "the span entails the hypothesis, is incoherent, or contradicts itself",
        "negative": "it does not",
        "answer": "of a choice: the span of one alternative is the better one",
        "none": "of a choice: the spans of both are as good",
    },
    limitations=(
        "**Saying no to everything is hard to beat.** Most spans are negative: compare with the "
        "constants under Quality, which stand beside every score.",
        "Of a text of one unit strict coherence is accuracy; scores are broken down by `one_unit` "
        "where there are such texts.",
        "Gold by rule takes it that nothing else in the text supports the answer, and that more "
        "text never takes support away.",
        "A language model that read spans twice, blind (version 2.0.0), was as the rule says on "
        "all 28 of intruders in DiscoEval's Wikipedia and arXiv, on 8 and 9 of 14 in its chat, "
        "where an intruder often fits the part in which it stands, on all 28 of denials in "
        "PersonaChat, which show by their wording, and on all 18 of the sample's contradictions "
        "(`docs/quality.md` of the toolkit).",
        "What is denied in a `denials` config is denied in nearly its own words, by who said it or "
        "by the other: a model that sees the repetition and not who speaks is right half of the "
        "time.",
    ),
    citation=cited("storks-chai-2021-beyond-tip"),
    divide=AskedSplits(Division(0.2, 0.1)),
    configs=(
        _config(
            name="conversational_entailment",
            one_corpus=True,
            corpora=("verifiable",),
            select=Asks("entailment"),
            summary="does a stretch of a telephone conversation entail the hypothesis?",
            **_ENTAILMENT,
        ),
        _config(
            name="abduction",
            one_corpus=True,
            corpora=("verifiable",),
            select=Asks("choice"),
            generator=Abduction(),
            columns=CHOICE_COLUMNS,
            summary="which of two stories, told with one or another sentence, is more plausible?",
            task_defaults={"question": "choice"},
        ),
        _config(
            prefix="entailment",
            corpora=(),
            genre="spans",
            summary="does a stretch of the text entail the hypothesis?",
            **_ENTAILMENT,
        ),
        _config(
            prefix="intruder",
            by="domain",
            corpora=INTRUDER_CORPORA,
            genre="documents",
            generator=IntruderSpans(IntruderSentence()),
            columns=INTRUDER_COLUMNS,
            summary=(
                "documents in half of which one sentence is another document's: is a stretch of "
                "sentences incoherent?"
            ),
            task_defaults={"question": "coherence", "positive": "incoherent"},
        ),
        _contradiction(
            corpora=("dialoguenli",),
            generator=Contradictions(),
            summary=(
                "utterances of one person, two of which are a pair of DialogueNLI: does a stretch "
                "of them contradict itself?"
            ),
        ),
        _contradiction(
            corpora=("personachat",),
            name="denials",
            genre="dialogue",
            generator=Denials(),
            summary=(
                "dialogues in which something that was said is denied later, by who said it or by "
                "the other: does a speaker contradict himself or herself in a stretch of it?"
            ),
        ),
    ),
    tags=("entailment", "contradiction", "intruder-sentence-detection"),
    task_categories=("text-classification",),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
