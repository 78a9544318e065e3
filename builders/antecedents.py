"""Antecedents: a pronoun is more surprising where what it takes up was not introduced.

A definite noun phrase, of which a pronoun is the barest, takes up a referent that the text has
introduced; where there is none the text fails (Heim 1982) or its reader has to make one up, which
is easier for a description than for a pronoun (Prince 1992). Of an excerpt of three sentences the
first two are the last one that names a referent and a neighbour that does not mention it; the third
takes it up. One of the two is replaced by a stand-in, a sentence of the same text that mentions
neither the referent nor anything else that the mention could mean, and that opens the excerpt:

- *original*: both sentences, as they stand in the text;
- *antecedent_removed*: the stand-in and the neighbour;
- *control_removed*: the stand-in and the sentence with the antecedent.

The scored mention is the same text after the same words in all three. To lose a sentence may harm
by itself, so that the headline is a difference of differences: the harm of losing the antecedent is
larger than that of losing the neighbour. The original stands on both sides of it and cancels, and
what is left is ``bits(mention | antecedent_removed) > bits(mention | control_removed)``: two texts
that differ in one sentence, in one place, and nothing else.

    coherencegym build antecedents --corpus gum --data-dir PATH
"""

from __future__ import annotations

from typing import Any

from coherencegym.builders.discourse.inferred_connectives import in_dutch
from coherencegym.builders.suite import GENRE, Column, Config, Contrast, MinimalPairs, Suite, Use
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.reference.antecedents import (
    AntecedentRemoval,
    ScoredKind,
    scored_mention,
    scored_place,
)

_CORPORA = ("arrau", "parcor", "ontonotes", "gum", "litbank")
ORIGINAL, REMOVED, CONTROL = "original", "antecedent_removed", "control_removed"
#: The group that a config's score is taken over.
AGAINST_CONTROL = "against control"


def around_scored(discourse: Discourse) -> tuple[str, str, str, str]:
    """Four regions: the two sentences; of the third what is before, in and after the mention."""
    *context, sentence = discourse.texts
    start, end = scored_place(discourse)
    before, mention, after = sentence[:start], sentence[start:end], sentence[end:]
    return " ".join(context), before.rstrip(), mention, after.strip()


def removal_columns(original: Discourse, removed: Discourse) -> dict[str, Any]:
    """The columns of an item, from the excerpt as it stands."""
    mention = scored_mention(original)
    features, (unit, start, end) = mention.features, mention.span[0]
    antecedent = next(one for one in original.mentions if one.chain == mention.chain)
    return {
        "mention": original.units[unit].text[start:end],
        "entity": features.entity,
        "number": features.number,
        "antecedent_first": antecedent.span[0][0] == 0,
        "genre": original.meta.get("genre", ""),
    }


_COLUMNS = {
    "mention": Column("string", "the pronoun or phrase that is scored"),
    "entity": Column("string", "the entity type of the mention's referent in the corpus"),
    "number": Column("string", "`singular` or `plural`; empty if unknown"),
    "antecedent_first": Column(
        "bool",
        "whether the sentence with the antecedent comes before the neighbour in the text; if not, "
        "it stands directly before the scored sentence",
    ),
    "genre": GENRE,
}


def removal_config(scored: ScoredKind, summary: str) -> Config:
    """The config in which pronouns or phrases are scored."""
    return Config(
        name=scored,
        corpora=_CORPORA,
        generator=MinimalPairs(
            versions={
                ORIGINAL: AntecedentRemoval(scored),
                REMOVED: AntecedentRemoval(scored, "antecedent"),
                CONTROL: AntecedentRemoval(scored, "control"),
            },
            regions=around_scored,
            contrasts=(
                Contrast(REMOVED, CONTROL, 3, groups=(AGAINST_CONTROL,)),
                Contrast(REMOVED, ORIGINAL, 3, groups=("against original",)),
                Contrast(REMOVED, CONTROL, 3, "sum", groups=("rest of the sentence",), last=4),
            ),
            columns=removal_columns,
            # The sentence before the target that the two removals differ in.
            view=lambda discourse: (discourse.texts[1],),
        ),
        summary=summary,
        regions=(
            "the two sentences before",
            "the sentence up to the mention (empty where the mention begins it)",
            "the mention, the same text in all conditions",
            "the rest of the sentence, the same text in all conditions",
        ),
        columns=_COLUMNS,
        breakdowns=("entity",),
        headline=AGAINST_CONTROL,
        partial_input=("a bag of words of the one sentence that differs, without the mention"),
    )


HEIM_1982 = """@phdthesis{heim-1982-semantics,
    title = "The Semantics of Definite and Indefinite Noun Phrases",
    author = "Heim, Irene",
    school = "University of Massachusetts Amherst",
    year = "1982",
}

@incollection{prince-1992-zpg,
    title = "The {ZPG} Letter: Subjects, Definiteness, and Information-Status",
    author = "Prince, Ellen F.",
    editor = "Mann, William C. and Thompson, Sandra A.",
    booktitle = "Discourse Description: Diverse Linguistic Analyses of a Fund-Raising Text",
    year = "1992",
    pages = "295--325",
    publisher = "John Benjamins",
}"""

_CONFIGS = (
    removal_config("pronoun", "a pronoun of the third person is scored"),
    removal_config(
        "phrase", "a definite phrase is scored; it shares no word with the antecedent's sentence"
    ),
)

SUITE = Suite(
    name="antecedents",
    title="Antecedents",
    version="4.0.0",
    hypothesis=(
        "A model that notices incoherence finds a pronoun or a definite phrase more surprising "
        "after the removal of the sentence that introduces its referent than after the removal of "
        "another sentence."
    ),
    description=(
        "Excerpts of three sentences from documents annotated for coreference. The last sentence "
        "mentions a referent that only one of the two before it mentions. Either that sentence or "
        "the other one is replaced by a stand-in from the same document, which opens the excerpt "
        "and mentions nothing that the scored pronoun or phrase could mean. The mention, and the "
        "text before it in its sentence, are the same in all conditions."
    ),
    conditions={
        ORIGINAL: "the sentence that introduces the referent, and its neighbour, in their order",
        REMOVED: "a stand-in from elsewhere in the document, and the neighbour",
        CONTROL: "the same stand-in, and the sentence that introduces the referent",
    },
    uses=(
        Use(
            "pronoun",
            "is a mention more expected if the text introduces the person or thing",
            "whether the model finds the right person or any person of the same gender and number",
        ),
    ),
    limitations=(
        "A config's score counts the group `against control`: the effect of removing the "
        "antecedent minus that of removing the neighbour. The group `against original` is "
        "confounded, because a foreign sentence harms any text.",
        "The scored text is the same in both conditions; the one sentence that differs can reveal "
        "the answer (other topics make `she` less likely), so the partial-input classifier sees "
        "it.",
        "A model need not find the right referent: any possible one avoids surprise. Neither the "
        "neighbour nor the stand-in mentions one, as far as the corpus annotates entities.",
        "`antecedent_removed` lacks everything else that the sentence said; a definite phrase in "
        "the rest of the scored sentence may refer back to it.",
        "Expect a weaker effect in `phrase`: readers can often accommodate a referent for a "
        "definite phrase (`the city`), but seldom for a pronoun.",
    ),
    headline=("pronoun",),
    citation=HEIM_1982,
    configs=(*_CONFIGS, *map(in_dutch, _CONFIGS)),
    one_split=True,
    tags=("coreference", "pronouns", "definiteness"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
