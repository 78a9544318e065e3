"""Winograd: a text with the wrong meaning of its pronoun spelt out is more surprising.

Beyer, Loáiciga and Schlangen 2021, section 4.3, on the Winograd Schema Challenge (Levesque et al.
2012). ``full`` compares the whole texts, by mean as in the paper and by sum as in Trinh and Le
(2018); ``partial`` only what follows the candidate, which is the same text in both conditions.
``crossed`` takes a schema with its twin: both texts with both candidates, so that how likely a
candidate is, and how likely the rest, cancel (compare the paired scores of Abdou et al. 2020).

    coherencegym build winograd --corpus winograd --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from coherencegym.builders.crossing.generator import (
    Crossed,
    crossed_columns,
    with_shuffled_contexts,
)
from coherencegym.builders.crossing.partners import LeastRepeating, Partner
from coherencegym.builders.sentence_order import familiarity_config
from coherencegym.builders.suite import (
    BEYER_2021,
    Column,
    Config,
    Contrast,
    MinimalPairs,
    Suite,
    Use,
)
from coherencegym.eval.kinds.items import FAMILY
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.schemas import (
    CandidateSubstitution,
    around_candidate,
)

_CORPORA = ("winograd", "winogrande")
TARGET, DISTRACTOR = "target", "distractor"


def schema_columns(target: Discourse, distractor: Discourse) -> dict[str, Any]:
    """Give, as columns, which schemas are twins, and how much text follows the candidate."""
    continuation = around_candidate(target)[2]
    words = sum(any(c.isalnum() for c in word) for word in continuation.split())
    return {
        FAMILY: target.meta.get("family", ""),
        "region3_words": words,
        "region3_has_words": words > 0,
    }


_COLUMNS = {
    FAMILY: Column(
        "string",
        "an id shared by twin schemas, which differ in a word or two (neighbours in the file that "
        "share a candidate); intervals are clustered by family",
    ),
    "region3_words": Column(
        "int32", "the number of words after the candidate, punctuation not counted"
    ),
    "region3_has_words": Column(
        "bool",
        "whether a word follows the candidate; if not, region 3 says next to nothing about the "
        "candidate",
    ),
}


def winograd_config(name: str, contrasts: tuple[Contrast, ...], summary: str) -> Config:
    """One of the suite's configs; the items are the same, what is compared is not."""
    return Config(
        name=name,
        corpora=_CORPORA,
        generator=MinimalPairs(
            versions={
                TARGET: CandidateSubstitution(TARGET),
                DISTRACTOR: CandidateSubstitution(DISTRACTOR),
            },
            regions=around_candidate,
            contrasts=contrasts,
            columns=schema_columns,
            view=lambda discourse: (around_candidate(discourse)[1],),
        ),
        summary=summary,
        regions=(
            "the text before the candidate (empty where the candidate begins the text)",
            "the candidate in the place of the pronoun",
            "the text after the candidate, the same in both conditions",
        ),
        columns=_COLUMNS,
        breakdowns=("region3_has_words",) if name == "partial" else (),
        length_confound=name == "full",
        partial_input="a bag of words of the candidate",
    )


def schemas(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give a schema for its twin: the text around the candidate, the right one, and the others."""
    targets = list(CandidateSubstitution(TARGET)(discourse, context))
    others = CandidateSubstitution(DISTRACTOR)(discourse, Context(context.seed, context.suite))
    wrong = tuple(around_candidate(other)[1] for other in others)
    for target in targets:
        yield Partner(discourse, around_candidate(target) + wrong)


def are_twins(one: Partner, other: Partner) -> bool:
    """Tell whether schemas differ in a phrase, and in which of their candidates is right.

    That is: what is right in one is a wrong candidate in the other, to the letter, and the words
    with which the texts begin and end alike are more than those between, in the shorter text.
    """
    words, others = (f"{text.parts[0]} _ {text.parts[2]}".split() for text in (one, other))
    shorter = min(len(words), len(others))
    alike = _begun_alike(words, others)
    alike += min(_begun_alike(words[::-1], others[::-1]), shorter - alike)
    return (
        one.parts[1] in other.parts[3:]
        and other.parts[1] in one.parts[3:]
        and alike > shorter - alike
    )


def _begun_alike(words: list[str], others: list[str]) -> int:
    pairs = zip(words, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


SUITE = Suite(
    name="winograd",
    title="Winograd",
    version="4.0.0",
    hypothesis=(
        "A model that notices incoherence finds a text more surprising if a pronoun is replaced by "
        "the wrong candidate referent than by the right one."
    ),
    description=(
        "Minimal pairs from Winograd schemas: the pronoun is replaced by its referent, and by the "
        "other candidate. Both candidates are grammatical; the text decides which one is meant."
    ),
    conditions={
        TARGET: "the candidate that the pronoun means, in place of the pronoun",
        DISTRACTOR: "the other candidate in place of the pronoun",
        "text_1_candidate_1": "crossed: a text with its right candidate",
        "text_2_candidate_2": "crossed: the text's twin with the twin's right candidate",
        "text_1_candidate_2": "crossed: the text with the twin's right candidate",
        "text_2_candidate_1": "crossed: the twin with the text's right candidate",
    },
    uses=(
        Use(
            "partial",
            "which candidate a pronoun means, by knowledge of the world",
            "whether the model infers the answer or remembers a published schema",
        ),
        Use(
            "crossed",
            "which candidate a pronoun means, if frequent candidates have no advantage",
            "whether the model infers the answer or remembers a published schema",
        ),
    ),
    limitations=(
        "World knowledge decides nearly every item; a model without it is at chance.",
        "`full` compares texts with different words: the sum favours the shorter candidate, and "
        "the mean the longer candidate with likelier words. `partial` avoids this, but if only "
        "punctuation follows the candidate, it compares two full stops: see the scores for "
        "`region3_has_words=true`.",
        "Schemas come in twins that differ in a word or two, so items are not independent: the "
        "column `family` identifies twins, and intervals are clustered by family.",
        "In both conditions, the repeated noun phrase is less usual than a pronoun.",
    ),
    headline=("partial",),
    citation=BEYER_2021,
    configs=with_shuffled_contexts(
        winograd_config(
            "full",
            (
                Contrast(DISTRACTOR, TARGET, "*"),
                Contrast(DISTRACTOR, TARGET, "*", metric="sum"),
            ),
            "the whole text is scored, by mean and by sum",
        ),
        winograd_config(
            "partial",
            (Contrast(DISTRACTOR, TARGET, 3),),
            "the text after the candidate is scored",
        ),
        Config(
            name="crossed",
            corpora=_CORPORA,
            generator=Crossed(
                partners=schemas,
                operators="CandidateSubstitution(candidate='target')",
                couple=LeastRepeating(are_twins),
                family="family",
                join=lambda text, candidate: (text.parts[0], candidate.parts[1], text.parts[2]),
                last=3,
                names=("text", "candidate"),
            ),
            summary=(
                "twins: two texts that differ in a phrase, each with both candidates; the "
                "candidate and the text after it are scored in all four combinations"
            ),
            regions=(
                "the text before the candidate (empty where the candidate begins the text)",
                "the candidate in the place of the pronoun",
                "the text after the candidate",
            ),
            columns=crossed_columns(),
            partial_input="bags of words of the text before the candidate, the candidate and "
            "the rest",
        ),
        familiarity_config(_CORPORA),
    ),
    tags=("winograd", "coreference", "commonsense"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
