"""Rewrites: a sentence that does not go with its text is more surprising than its rewrite.

Natural pairs from DECOR (Zhang et al. 2024): experts found sentences of learners' essays that are
incoherent in their context, said why, and rewrote them with as few changes as they could. Nobody
made the incoherence for a test. But nobody kept all else equal, either: a rewrite may also be the
better English, and have other words. ``interaction`` therefore asks what the context adds: both
sentences are read after the text and alone, so that whatever either has by itself cancels, as in
the pointwise mutual information of sentence and context.

    coherencegym build rewrites --corpus decor --data-dir PATH
"""

from __future__ import annotations

from typing import Any

from coherencegym.builders.suite import (
    Column,
    Config,
    Contrast,
    MinimalPairs,
    Suite,
    Use,
    context_and_last,
    last_alone,
)
from coherencegym.eval.kinds.items import FAMILY
from coherencegym.loaders.corpora.judged import DECOR, REASONS
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Pipeline
from coherencegym.manipulations.units import EndingSwap, LastUnit

REWRITE, ORIGINAL = "rewrite", "original"
#: The groups in which the corpus asks for its reasons.
_GROUPS = {
    **dict.fromkeys((REASONS["R1"], REASONS["R2"], REASONS["R3"]), "cohesion"),
    REASONS["R4"]: "consistency",
    **dict.fromkeys((REASONS["R5"], REASONS["R6"]), "relevance"),
    REASONS["R7"]: "other",
}
#: The group of a sentence that has reasons of more than one.
_SEVERAL = "several"


def reason_columns(rewrite: Discourse, original: Discourse) -> dict[str, Any]:
    """Give, as columns, the essay, its topic, and why the sentence is incoherent."""
    reasons = rewrite.meta["reasons"]
    groups = {_GROUPS[name] for name in reasons.split(", ") if name}
    return {
        FAMILY: rewrite.meta["essay"],
        "reason": groups.pop() if len(groups) == 1 else _SEVERAL if groups else "",
        "reasons": reasons,
        "topic": rewrite.meta["topic"],
    }


_COLUMNS = {
    FAMILY: Column("string", "the essay of the sentence; intervals are clustered by essay"),
    "reason": Column(
        "string",
        "why the original is incoherent: `cohesion`, `consistency`, `relevance`, `other`, or  "
        f"`{_SEVERAL}` of these",
    ),
    "reasons": Column("string", f"the reason in the corpus's words: {', '.join(REASONS.values())}"),
    "topic": Column("string", "the topic of the essay"),
}


def rewrites_config(name: str, contrasts: tuple[Contrast, ...], summary: str) -> Config:
    """One of the suite's configs; ``interaction`` has the sentences without context, too."""
    original = EndingSwap(ORIGINAL)
    versions = {REWRITE: Pipeline(), ORIGINAL: Pipeline((original,))}
    if name:
        versions |= {
            f"{REWRITE}_alone": Pipeline((LastUnit(),)),
            f"{ORIGINAL}_alone": Pipeline((original, LastUnit())),
        }
    return Config(
        name=name,
        corpora=(DECOR.name,),
        generator=MinimalPairs(
            versions=versions,
            regions=context_and_last,
            contrasts=contrasts,
            columns=reason_columns,
            view=last_alone,
        ),
        # Others were only judged.
        select=lambda discourse: bool(discourse.alternatives),
        summary=summary,
        regions=(
            "the essay up to the sentence" + (" (empty in `..._alone`)" if name else ""),
            "the sentence",
        ),
        columns=_COLUMNS,
        breakdowns=("reason",),
        length_confound=not name,
        choice=(REWRITE,),
        partial_input="a bag of words of the sentence",
    )


SUITE = Suite(
    name="rewrites",
    title="Rewrites",
    version="1.0.0",
    hypothesis=(
        "A model that notices incoherence finds a sentence that does not fit its text more "
        "surprising than the sentence that a person wrote to replace it."
    ),
    description=(
        "Sentences that do not fit the preceding text, and rewrites of these sentences after the "
        "same text. The incoherence is natural: no program made it."
    ),
    conditions={
        REWRITE: "the text with the rewritten sentence",
        ORIGINAL: "the same text with the original sentence",
        f"{REWRITE}_alone": "interaction: the rewritten sentence without the text",
        f"{ORIGINAL}_alone": "interaction: the original sentence without the text",
    },
    uses=(
        Use(
            "",
            "is the better sentence more expected",
            "whether the better sentence is more coherent or only more fluent and grammatical",
        ),
        Use(
            "interaction",
            "is the better sentence more expected in its context",
            "whether the worse sentence is incoherent or has another error, such as a wrong tense",
        ),
    ),
    limitations=(
        "A rewrite differs in more than coherence: it may also be more fluent, longer or shorter, "
        "and free of the original's errors in grammar and spelling. The main config cannot "
        "separate these. In `interaction`, both sentences are also scored without the text, so any "
        "advantage of the rewrite that does not depend on the text cancels. The headline score is "
        "that of `interaction`.",
        "A context contains all sentences before the rewritten one, including those that are "
        "incoherent themselves.",
        "Sentences of one essay share their beginning, so items are not independent: intervals are "
        "clustered by essay (`family`).",
    ),
    headline=("interaction",),
    citation=DECOR.citation,
    configs=(
        rewrites_config(
            "",
            (Contrast(ORIGINAL, REWRITE, 2),),
            "the sentence is scored after the text",
        ),
        rewrites_config(
            "interaction",
            (Contrast((ORIGINAL, f"{REWRITE}_alone"), (REWRITE, f"{ORIGINAL}_alone"), 2),),
            "the sentence is scored after the text and without it; the text should lower the "
            "surprisal of the rewrite by more than that of the original",
        ),
    ),
    tags=("essays", "learners", "human-rewrites"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
