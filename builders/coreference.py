"""Coreference: a noun phrase said again, where a pronoun would do, is more surprising.

Beyer, Loáiciga and Schlangen 2021, section 4.4: of two sentences that follow one another, the
second takes up something of the first by a pronoun, which is replaced by the noun phrase or name
that stands there. Beyond the paper, the phrase may stand up to three sentences before, if those
between have pronouns for it, too: what a text goes on with is hardly named again (Gordon, Grosz and
Gilliom 1993). There is a pair of configs for each genre of a corpus: one as in the paper, one
(``spillover``) that compares only what follows, which is the same text in both conditions.

``crossed`` is not about the preference for pronouns: writers choose the name more often where
somebody else of the same gender has been mentioned, whom the pronoun could mean as well (Ariel
1990; Gordon, Grosz and Gilliom 1993; Arnold 2010). A Winograd schema, which has such a competitor,
and the same text with somebody of the other gender, go on with the pronoun and with the name, and
the interaction is predicted.

    coherencegym build coreference --corpus gum --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from coherencegym.builders.crossing.generator import (
    Crossed,
    crossed_columns,
    with_shuffled_contexts,
)
from coherencegym.builders.crossing.partners import Couple, Partner
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
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.antecedents import (
    PronounRepetition,
    repeated_mention,
    replaced_place,
    replaced_pronoun,
)
from coherencegym.manipulations.reference.english import bare_text
from coherencegym.manipulations.reference.schemas import competed_candidates

_CORPORA = ("arrau", "parcor", "ontonotes", "gum")
PRONOUN, REPETITION = "pronoun", "repetition"
#: Sentences before the pronoun's in which the antecedent may stand.
_SENTENCES = 3
_OPERATOR = PronounRepetition(sentences=_SENTENCES)
_CONTEXTS = ("none", "competitor")


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


def competed_partners(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Yield two partners for the place of a schema where a person is mentioned again.

    The first has the text without a competitor and the pronoun, the second the text with one and
    the name. Their parts are the text before the mention, the mention, and what follows.
    """
    for place in competed_candidates(discourse, context):
        columns = {"gender": place.gender, "competitor_between": place.between}
        for name, *parts in (
            (_CONTEXTS[0], place.none, place.pronoun, place.rest),
            (_CONTEXTS[1], place.competitor, place.name, place.rest),
        ):
            yield Partner(discourse, tuple(parts), f"{place.variant}-{name}", columns=columns)


def crossed_config(spillover: bool) -> Config:
    """The crossed items: the mention is compared with what follows it, or what follows alone."""
    return Config(
        name="crossed_spillover" if spillover else "crossed",
        corpora=("winograd",),
        generator=Crossed(
            partners=competed_partners,
            operators="competed_candidates",
            couple=lambda partners, context: [
                Couple(*two) for two in zip(partners[::2], partners[1::2], strict=True)
            ],
            family="family",
            join=lambda text, target: (text.parts[0], *target.parts[1:3]),
            region=3 if spillover else 2,
            last=0 if spillover else 3,
            names=(_CONTEXTS, (PRONOUN, "name")),
            columns=lambda couple: dict(couple.first.columns),
        ),
        summary=(
            "two texts, with and without a competitor, each with pronoun and name: "
            + (
                "the text after the mention is"
                if spillover
                else ("the mention and the text after it are")
            )
            + " scored in all four combinations"
        ),
        regions=(
            "the text before the mention",
            "the pronoun or the name",
            "the rest of the sentence and of the text",
        ),
        columns=crossed_columns(
            gender=Column("string", "gender of the person mentioned: `masculine` or `feminine`"),
            competitor_between=Column(
                "bool",
                "whether the competitor is mentioned between the person's previous mention and the "
                "scored one; otherwise it is mentioned before both",
            ),
        ),
        breakdowns=("competitor_between",),
        partial_input="bags of words of the text before the mention, the mention and the rest",
    )


_LIMITATIONS = (
    "The main config scores the mean over the sentence, as the paper does. A model copies the "
    "tokens of a repetition well, so the mean favours the longer condition, against the "
    "prediction. The sum grows with every token and nearly always meets it.",
    "A repeated name is often good English, and `spillover`, whose scored text is the same in both "
    "conditions, may favour the more informative phrase: a perfect reader does not reach 100 %.",
    "Rules make the repetitions from the annotation (`his` becomes `the man's`); pronouns for "
    "which they would give bad English are left out. Annotation errors remain.",
    "The partial-input baseline is high by construction: its classifier sees a pronoun in one "
    "version and a noun in the other.",
    "In `crossed`, each form and each preceding text stands once on each side, so a preference for "
    "pronouns cancels: the score shows whether the form depends on who else could be meant. Two "
    "men make `he` more likely whoever is meant, so that a model that understands nothing may be "
    "below 50 %; `crossed_spillover` scores only the text after the mention.",
)


_MENTIONS = (mention_config(spillover=False), mention_config(spillover=True))


SUITE = Suite(
    name="coreference",
    title="Coreference",
    version="4.0.0",
    hypothesis=(
        "A model that notices incoherence finds a sentence more surprising if it repeats a noun "
        "phrase or name of the previous sentence instead of using a pronoun. The preference for "
        "the pronoun weakens where the pronoun could mean somebody else."
    ),
    description=(
        "Minimal pairs of neighbouring sentences from documents annotated for coreference. In the "
        "last sentence, a third-person pronoun refers to an entity that the first one names; the "
        "other version repeats the noun phrase or name instead. The `crossed` configs use Winograd "
        "schemas: a person is mentioned again by pronoun and by name, in a text with another "
        "person of the same gender and in a text without."
    ),
    conditions={
        PRONOUN: "the sentences of the corpus",
        REPETITION: (
            "the same, with the pronoun replaced by its antecedent: the last suitable noun phrase "
            "or name of the first sentence"
        ),
        "none_pronoun": "crossed: the others have the other gender; a pronoun",
        "competitor_name": "crossed: somebody else is of the same gender; the name",
        "none_name": "crossed: the others have the other gender; the name",
        "competitor_pronoun": "crossed: somebody else is of the same gender; a pronoun",
    },
    uses=(
        Use(
            "",
            "is a pronoun more expected than a repeated noun phrase",
            "whether the model expects a pronoun in this text or in every text",
        ),
        Use(
            "crossed",
            "is a name less surprising if the text names another person of the same gender",
            "whether the model prefers pronouns in general, which does not change the score",
        ),
    ),
    limitations=_LIMITATIONS,
    headline=("",),
    citation=BEYER_2021,
    configs=with_shuffled_contexts(
        *_MENTIONS,
        crossed_config(spillover=False),
        crossed_config(spillover=True),
    ),
    one_split=True,
    tags=("coreference", "pronouns", "repeated-name-penalty"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
