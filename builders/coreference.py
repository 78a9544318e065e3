"""Coreference: a noun phrase said again, where a pronoun would do, is more surprising.

Beyer, Loáiciga and Schlangen 2021, section 4.4: of two sentences that follow one another, the
second takes up something of the first by a pronoun, which is replaced by the noun phrase or name
that stands there. There is a pair of configs for each genre of a corpus: one as in the paper, one
(``spillover``) that compares only what follows, which is the same text in both conditions.

    coherencegym build coreference --corpus gum --data-dir PATH
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from coherencegym.builders.suite import BEYER_2021, Column, Config, Contrast, MinimalPairs, Suite
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.reference.antecedents import antecedent, bare_text
from coherencegym.manipulations.reference.pronoun_repetition import (
    PronounRepetition,
    replaced_place,
    replaced_pronoun,
)

_CORPORA = ("arrau", "parcor", "ontonotes", "gum")
PRONOUN, REPETITION = "pronoun", "repetition"


def two_sentences(discourse: Discourse) -> list[list[int]]:
    """Two regions: the sentence before, and the sentence."""
    return [[0], [1]]


def around_mention(discourse: Discourse) -> tuple[str, str, str, str]:
    """Four regions: the sentence before, and of the sentence what is before, in and after."""
    context, sentence = discourse.texts
    start, end = replaced_place(discourse)
    return context, sentence[:start].rstrip(), sentence[start:end], sentence[end:].strip()


def _sentence_alone(discourse: Discourse) -> tuple[str, ...]:
    return (discourse.texts[1],)


@dataclass(frozen=True)
class MentionColumns:
    """Columns with the corpus's annotation of the pronoun and of what it takes up."""

    max_words: int

    def __call__(self, original: Discourse, manipulated: Discourse) -> dict[str, Any]:
        """The columns of an item, from the excerpt in which the pronoun still stands."""
        pronoun = replaced_pronoun(original)
        source = antecedent(original, pronoun, self.max_words)
        return {
            "gender": pronoun.features.gender,
            "number": pronoun.features.number,
            "antecedent_kind": source.kind,
            "antecedent_words": len(bare_text(original, source).split()),
            "genre": original.meta.get("genre", ""),
        }


_COLUMNS = {
    "gender": Column(
        "string", "of the pronoun: `masculine`, `feminine`, `neuter`; empty for the plural"
    ),
    "number": Column("string", "of the pronoun: `singular` or `plural`"),
    "antecedent_kind": Column(
        "string", "what is repeated: `proper` (a name) or `nominal` (another noun phrase)"
    ),
    "antecedent_words": Column("int32", "its words"),
    "genre": Column("string", "the document's genre, as the corpus calls it"),
}


def mention_config(max_words: int, spillover: bool) -> Config:
    """The pairs of one genre: the whole sentence is compared, or what follows the mention."""
    operator = PronounRepetition(max_words=max_words, continued=spillover)
    return Config(
        name="spillover" if spillover else "",
        by="genre",
        corpora=_CORPORA,
        drafter=MinimalPairs(
            versions={PRONOUN: replace(operator, repeat=False), REPETITION: operator},
            regions=around_mention if spillover else two_sentences,
            contrasts=(
                (Contrast(REPETITION, PRONOUN, 4),)
                if spillover
                else (
                    Contrast(REPETITION, PRONOUN, 2, groups=("mean",)),
                    Contrast(REPETITION, PRONOUN, 2, metric="sum", groups=("sum",)),
                )
            ),
            columns=MentionColumns(max_words),
            view=_sentence_alone,
        ),
        summary=(
            "what follows the pronoun or the repetition in its sentence is scored"
            if spillover
            else "the sentence of the pronoun or of the repetition is scored, by mean and by sum"
        ),
        regions=(
            (
                "the sentence before",
                "the sentence up to the pronoun (empty where the pronoun begins it)",
                "the pronoun, or what is repeated in its place",
                "the rest of the sentence, the same text in both conditions",
            )
            if spillover
            else ("the sentence before", "the sentence")
        ),
        columns=_COLUMNS,
        breakdowns=("antecedent_kind",),
        headline="" if spillover else "mean",
        length_confound=not spillover,
        artefact=(
            "a bag of words of the sentence alone, without the one before (one classifier for all "
            "genres of a corpus)"
        ),
    )


_LIMITATIONS = (
    "A repetition makes the sentence longer by tokens that can be copied from the one before. In a "
    "model that copies well they cost less than the sentence's other tokens and bring its mean "
    "down: the paper's measure, the mean over the sentence, then favours the longer condition, "
    "against the prediction, and the more so the longer the phrase. In a model that copies badly "
    "they bring the mean up. The sum over the same sentence grows with every further token, so "
    "that the prediction nearly always holds there, for a model that understands nothing, too. "
    "With two small models (stories260K and this project's demo model) on the 155 items of 80 GUM "
    "documents the correlation (Pearson) of margin and tokens added is +0.09 and +0.10 by the "
    "mean, +0.77 and +0.89 by the sum; the evaluator reports it for every model.",
    "The `spillover` configs compare what follows the mention, the same text in both conditions, "
    "so that the length of the region is no confound. That does not make them the better measure: "
    "what follows a name or a noun phrase may be *less* surprising than what follows a pronoun, as "
    "the phrase says more of what comes. With the same two models it is so in 65 and 63 of the 155 "
    "items, and of the 86 with a name in 41 and 39. A score near 50 % says little about coherence.",
    "To say a name again is often good English, most of all in biographies and news, or "
    "where two persons have been mentioned; then the repetition is no worse. A perfect "
    "reader does not reach 100 %.",
    "Only two sentences are shown. What a pronoun or a name elsewhere in them refers to "
    "may have stood earlier in the document.",
    "The repetitions are made by rules from the corpus's annotation: `a` becomes `the`, "
    "`his` becomes `the man's`, `it's` becomes `the house is`. Pronouns where the rules "
    "would give bad English are left out and counted, and so are sentences of speech that "
    "hesitate or start anew. Errors of the annotation remain, and so does the syntax of "
    "spontaneous speech in both conditions. In corpora without grammar (ParCorFull) the "
    "words alone tell number, predicates and appositions.",
    "The artefact score is high by construction: a classifier sees that one version has a "
    "pronoun and the other a noun. It shows what a preference for pronouns alone would "
    "score, without the sentence before.",
    "Several items come from one document, some from one sentence; the intervals take "
    "documents together.",
)


def _configured(max_words: int) -> dict[str, Any]:
    """The configs with repeated noun phrases of at most ``max_words`` words."""
    return {"configs": tuple(mention_config(max_words, spillover) for spillover in (False, True))}


SUITE = Suite(
    name="coreference",
    title="Coreference",
    version="2.0.0",
    hypothesis=(
        "A model that notices incoherence finds a sentence more surprising when it says again "
        "the noun phrase or name of the sentence before instead of taking it up by a pronoun."
    ),
    description=(
        "Minimal pairs of two neighbouring sentences of a document that is annotated for "
        "coreference. In the second one a pronoun of the third person takes up something of "
        "the first; in the other version the noun phrase or name from there stands in its "
        "place. Both mean the same; the pronoun is the usual way to go on."
    ),
    conditions={
        PRONOUN: "the two sentences as they stand in the corpus",
        REPETITION: "the same, with the pronoun replaced by the noun phrase or name that it "
        "takes up: the last fit one of the sentence before",
    },
    limitations=_LIMITATIONS,
    headline=("",),
    citation=BEYER_2021,
    configure=_configured,
    settings={"max_words": 15},
    **_configured(max_words=15),
    one_split=True,
    tags=("coreference", "pronouns", "repeated-name-penalty"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
