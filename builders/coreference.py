"""Coreference: a noun phrase said again, where a pronoun would do, is more surprising.

Beyer, Loáiciga and Schlangen 2021, section 4.4: of two sentences that follow one another, the
second takes up something of the first by a pronoun, which is replaced by the noun phrase or name
that stands there. Beyond the paper, the phrase may stand up to three sentences before, if those
between have pronouns for it, too: what a text goes on with is hardly named again (Gordon, Grosz and
Gilliom 1993). There is a pair of configs for each genre of a corpus: one as in the paper, one
(``spillover``) that compares only what follows, which is the same text in both conditions.

    coherencegym build coreference --corpus gum --data-dir PATH
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coherencegym.builders.suite import (
    BEYER_2021,
    GENRE,
    Column,
    Config,
    Contrast,
    MinimalPairs,
    Suite,
    Use,
    context_and_last,
    last_alone,
)
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.reference.antecedents import (
    PronounRepetition,
    repeated_mention,
    replaced_place,
    replaced_pronoun,
)
from coherencegym.manipulations.reference.english import bare_text

_CORPORA = ("arrau", "parcor", "ontonotes", "gum")
PRONOUN, REPETITION = "pronoun", "repetition"
#: Sentences before the pronoun's in which the antecedent may stand.
_SENTENCES = 3
_OPERATOR = PronounRepetition(sentences=_SENTENCES)


def around_mention(discourse: Discourse) -> tuple[str, str, str, str]:
    """Four regions: the sentences before, and of the sentence what is before, in and after."""
    *context, sentence = discourse.texts
    start, end = replaced_place(discourse)
    return " ".join(context), sentence[:start].rstrip(), sentence[start:end], sentence[end:].strip()


def mention_columns(original: Discourse, manipulated: Discourse) -> dict[str, Any]:
    """The columns of an item, from the excerpt in which the pronoun still stands."""
    pronoun = replaced_pronoun(original)
    source = repeated_mention(original, pronoun, _OPERATOR.max_words, _SENTENCES)
    return {
        "gender": pronoun.features.gender,
        "number": pronoun.features.number,
        "antecedent_kind": source.kind,
        "antecedent_distance": len(original.units) - 1,
        "antecedent_words": len(bare_text(original, source).split()),
        "genre": original.meta.get("genre", ""),
    }


_COLUMNS = {
    "gender": Column(
        "string", "gender of the pronoun: `masculine`, `feminine`, `neuter`; empty for the plural"
    ),
    "number": Column("string", "number of the pronoun: `singular` or `plural`"),
    "antecedent_kind": Column(
        "string", "what is repeated: `proper` (a name) or `nominal` (another noun phrase)"
    ),
    "antecedent_distance": Column(
        "int32",
        "sentences from the antecedent to the pronoun: 1 as in the paper; if more, the sentences "
        "between refer to the entity only by pronouns",
    ),
    "antecedent_words": Column("int32", "number of words that are repeated"),
    "genre": GENRE,
}


def mention_config(spillover: bool) -> Config:
    """The pairs of all genres: the whole sentence is compared, or what follows the mention."""
    operator = replace(_OPERATOR, continued=spillover)
    return Config(
        name="spillover" if spillover else "",
        corpora=_CORPORA,
        generator=MinimalPairs(
            versions={PRONOUN: replace(operator, repeat=False), REPETITION: operator},
            regions=around_mention if spillover else context_and_last,
            contrasts=(
                (Contrast(REPETITION, PRONOUN, 4),)
                if spillover
                else (
                    Contrast(REPETITION, PRONOUN, 2, groups=("mean",)),
                    Contrast(REPETITION, PRONOUN, 2, metric="sum", groups=("sum",)),
                )
            ),
            columns=mention_columns,
            view=last_alone,
        ),
        summary=(
            "the rest of the sentence after the pronoun or the repetition is scored"
            if spillover
            else "the sentence of the pronoun or of the repetition is scored, by mean and by sum"
        ),
        regions=(
            (
                "the sentences before, from the antecedent's on",
                "the sentence up to the pronoun (empty where the pronoun begins it)",
                "the pronoun, or what is repeated in its place",
                "the rest of the sentence, the same text in both conditions",
            )
            if spillover
            else ("the sentences before, from the antecedent's on", "the sentence")
        ),
        columns=_COLUMNS,
        breakdowns=("antecedent_kind", "antecedent_distance", "genre"),
        headline="" if spillover else "mean",
        length_confound=not spillover,
        partial_input=("a bag of words of the sentence alone, without the one before"),
    )


SUITE = Suite(
    name="coreference",
    title="Coreference",
    version="4.0.0",
    hypothesis=(
        "A model that notices incoherence finds a sentence more surprising if it repeats a noun "
        "phrase or name of the previous sentence instead of using a pronoun."
    ),
    description=(
        "Minimal pairs of neighbouring sentences from documents annotated for coreference. In the "
        "last sentence, a third-person pronoun refers to an entity that the first one names; the "
        "other version repeats the noun phrase or name instead."
    ),
    conditions={
        PRONOUN: "the sentences of the corpus",
        REPETITION: (
            "the same, with the pronoun replaced by its antecedent: the last suitable noun phrase "
            "or name of the first sentence"
        ),
    },
    uses=(
        Use(
            "",
            "is a pronoun more expected than a repeated noun phrase",
            "whether the model expects a pronoun in this text or in every text",
        ),
    ),
    limitations=(
        "The main config scores the mean over the sentence, as the paper does. A model copies the "
        "tokens of a repetition well, so the mean favours the longer condition, against the "
        "prediction. The sum grows with every token and nearly always meets it.",
        "A repeated name is often good English, and `spillover`, whose scored text is the same in "
        "both conditions, may favour the more informative phrase: a perfect reader does not reach "
        "100 %.",
        "Rules make the repetitions from the annotation (`his` becomes `the man's`); pronouns for "
        "which they would give bad English are left out. Annotation errors remain.",
        "The partial-input baseline is high by construction: its classifier sees a pronoun in one "
        "version and a noun in the other.",
    ),
    headline=("",),
    citation=BEYER_2021,
    configs=(mention_config(spillover=False), mention_config(spillover=True)),
    one_split=True,
    tags=("coreference", "pronouns", "repeated-name-penalty"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
