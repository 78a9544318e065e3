"""Antecedents: a pronoun is more surprising where what it takes up was not introduced.

A definite noun phrase, of which a pronoun is the barest, takes up a referent that the text has
introduced; where there is none the text fails (Heim 1982) or its reader has to make one up, which
is easier for a description than for a pronoun (Prince 1992). Of an excerpt of three sentences the
first two are the one that introduces a referent and a neighbour that does not mention it; the third
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

import re
from typing import Any

from coherencegym.builders.crossing.balance import Balanced
from coherencegym.builders.suite import Column, Config, Contrast, MinimalPairs, Suite, Use
from coherencegym.eval.kinds.items import Item
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.reference.antecedent_removal import (
    AntecedentRemoval,
    ScoredKind,
    mention_of_excerpt,
    scored_mention,
    scored_place,
)

_TOKEN = re.compile(r"\w+|[^\w\s]")
_CORPORA = ("arrau", "parcor", "ontonotes", "gum")
ORIGINAL, REMOVED, CONTROL = "original", "antecedent_removed", "control_removed"
#: The group that a config's score is taken over.
AGAINST_CONTROL = "against control"


def around_scored(discourse: Discourse) -> tuple[str, str, str, str]:
    """Four regions: the two sentences; of the third what is before, in and after the mention."""
    *context, sentence = discourse.texts
    start, end = scored_place(discourse)
    before, mention, after = sentence[:start], sentence[start:end], sentence[end:]
    return " ".join(context), before.rstrip(), mention, after.strip()


def count_words(text: str) -> int:
    """The number of words in a text, as spaces part them."""
    return len(text.split())


def count_tokens(text: str) -> int:
    """The number of words and of marks in a text, much as tokenizers part them."""
    return len(_TOKEN.findall(text))


def scored_in(item: Item) -> str:
    """Name the mention that an item is about: one item of each is chosen."""
    discourse, _, variant = item.item_id.rpartition("/")
    return f"{discourse}/{mention_of_excerpt(variant)}"


def context_sentence(discourse: Discourse) -> tuple[str, ...]:
    """The sentence before the target that the two removals differ in."""
    return (discourse.texts[1],)


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
    "entity": Column("string", "the type of its referent, as the corpus has it"),
    "number": Column("string", "`singular` or `plural`; empty where nothing tells"),
    "antecedent_first": Column(
        "bool",
        "whether the sentence with the antecedent comes before the neighbour in the text; where it "
        "does not, it stands directly before the scored sentence",
    ),
    "genre": Column("string", "the document's genre, as the corpus calls it"),
}


def removal_config(scored: ScoredKind, summary: str) -> Config:
    """The config in which pronouns or phrases are scored."""
    return Config(
        name=scored,
        corpora=_CORPORA,
        generator=Balanced(
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
                view=context_sentence,
            ),
            measures=(count_words, count_tokens, len),
            one_of=scored_in,
            reason="left out, so that the longer text is as often the one without the antecedent",
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
        partial_input=(
            "a bag of words of the one sentence that differs, without the mention: it shows what "
            "sentences with and without an antecedent look like"
        ),
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

SUITE = Suite(
    name="antecedents",
    title="Antecedents",
    version="2.0.0",
    hypothesis=(
        "A model that notices incoherence finds a pronoun, or a definite phrase, more surprising "
        "where the sentence that introduces its referent was taken away than where another "
        "sentence was."
    ),
    description=(
        "Excerpts of three sentences of a document that is annotated for coreference. The last one "
        "takes up a referent that only one of the two before it mentions. That sentence, or the "
        "other one, is replaced by a third sentence of the same document, about as long, that "
        "mentions neither the referent nor anything else that the pronoun or phrase could mean. It "
        "opens the excerpt, so that what is left of the two stands directly before the last "
        "sentence: `antecedent_removed` and `control_removed` differ in one sentence, in one "
        "place. The mention that is scored, and what stands before it in its sentence, are the "
        "same text in all conditions."
    ),
    conditions={
        ORIGINAL: "the sentence that introduces the referent, and its neighbour, in their order",
        REMOVED: "a sentence from elsewhere in the document, and the neighbour",
        CONTROL: "the same sentence from elsewhere, and the one that introduces the referent",
    },
    uses=(
        Use(
            "pronoun",
            "is a mention expected where its referent was introduced",
            "agreement (is there a singular, a man, a woman) from reference",
        ),
    ),
    limitations=(
        "The score of a config is over `against control`, which is the interaction: the harm of "
        "taking the antecedent away, less that of taking the neighbour away. `bits(original)` is "
        "in both and cancels. The group `against original` has a confound that this one has not: "
        "any text is harmed by a foreign sentence.",
        "The scored text is the same in both conditions, so that nothing in it can give the answer "
        "away. What can is the one sentence that differs: one without any person makes `she` less "
        "likely by its topic alone. The partial-input baseline is that of a classifier that "
        "sees this sentence and not the mention.",
        "A model need not find the right referent: any that the pronoun could have is enough for "
        "it not to be surprised. Sentences that mention one by the annotation (the same number, "
        "gender and type of entity, as far as the corpus says) are neither neighbour nor stand-in; "
        "corpora that do not annotate mentions of things mentioned once (OntoNotes) hide some.",
        "The neighbour is the sentence beside the antecedent's in most items. Where that mentions "
        "the referent or one that the mention could mean, the last fit sentence before it is "
        "taken, and `original` leaves out what stood between. In a few items it is an earlier one: "
        "over a config the longer of the two texts (words, words and marks, characters) is as "
        "often the one without the antecedent, but for one item.",
        "In `antecedent_removed` the referent is missing, and with it whatever else the sentence "
        "said. Sentences of which another pronoun takes up something are left out; definite "
        "phrases in the rest of the sentence may do so.",
        "A reader can often make up a referent for a definite phrase (`the city`), and seldom for "
        "a pronoun: expect a weaker effect in `phrase`. Its phrases share no word with the "
        "antecedent's sentence, so that repeating a word does not help.",
        "Few mentions meet all conditions: of the 80 documents of GUM at hand 40 pronouns and 11 "
        "phrases. Several items come from one document, and may share their stand-in; the "
        "intervals take documents together.",
        "Of 21 pairs of `pronoun` from documents of GUM that were set aside, which a language "
        "model read twice, blind, both texts were good English in 19, and the incoherent side was "
        "found in all (`docs/quality.md` of the toolkit).",
    ),
    headline=("pronoun",),
    citation=HEIM_1982,
    configs=(
        removal_config("pronoun", "a pronoun of the third person is scored"),
        removal_config(
            "phrase",
            "a definite phrase is scored, none of whose words stand in the antecedent's sentence",
        ),
    ),
    one_split=True,
    tags=("coreference", "pronouns", "definiteness"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
