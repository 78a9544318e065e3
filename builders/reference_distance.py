"""Reference distance: how far back does a model look for what a mention takes up?

A name, a definite phrase or a pronoun takes up a referent that may have been mentioned long before.
Language models use the order of words in some 50 tokens before a word, and of those further back
hardly more than the topic (Khandelwal et al. 2018). An item is a mention whose last antecedent is
more than 64, 256 or 1,024 words away, after two texts of that length:

- *antecedent_lost*: the sentences before it, which do not mention its referent;
- *antecedent_kept*: the last sentence that names its referent, and behind it fewer of the same.

The mention, and the nearest text, are the same in both. What is compared is its surprisal:
``bits(mention | antecedent_lost) > bits(mention | antecedent_kept)``. Each length is a config, so
that their scores side by side are a curve. Only a few mentions have antecedents that are 1,024
words away: the breakdown ``reach`` holds the mentions fixed from one config to the other.

The configs ``full_...`` compare the same texts with all of the document before the mention. Where a
cut no longer makes the mention more surprising than the full text, the model makes no use of what
is further away; where the text that keeps the antecedent does not either, what was lost is the
antecedent.

    coherencegym build reference_distance --corpus litbank --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coherencegym.builders.antecedents import (
    around_scored,
    count_tokens,
    count_words,
    scored_in,
)
from coherencegym.builders.crossing.partners import Balanced, stems
from coherencegym.builders.discourse.inferred_connectives import in_dutch
from coherencegym.builders.suite import (
    Column,
    Config,
    Contrast,
    GeneratedItem,
    Suite,
    Use,
    generate_item,
)
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.languages.registry import language_of
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.antecedent_cuts import (
    DIFFERENCE,
    TOLERANCE,
    AntecedentCut,
    ContextCuts,
    antecedent_cuts,
    context_cuts,
)

LOST, KEPT, FULL = "antecedent_lost", "antecedent_kept", "full_context"
#: Words of the texts before a mention.
LENGTHS = (64, 256, 1024)
#: The same, where they are compared with the full text: points of a curve.
CURVE_LENGTHS = (64, 128, 256, 512, 1024)
#: The group that the score of these configs is taken over: all lengths together.
AGAINST_FULL = "cut against full"


@dataclass(frozen=True)
class MentionsAfterCuts:
    """Two texts before every mention whose antecedents are further away than so many words."""

    words: int

    @property
    def recipe(self) -> str:
        """The operators, as the manifest records them."""
        return f"antecedent_cuts(words={self.words})"

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The predictions, as the manifest records them."""
        return (Contrast(LOST, KEPT, 3, "sum"),)

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the items of a discourse; what has none is counted by reason."""
        for cut in antecedent_cuts(discourse, self.words, context):

            def opening(version: Discourse, shared: int = cut.shared) -> tuple[str, ...]:
                # What the two texts differ in.
                return (" ".join(version.texts[: len(version.units) - shared]),)

            yield generate_item(
                cut.lost.variant,
                {LOST: cut.lost, KEPT: cut.kept},
                around_scored,
                self.contrasts,
                opening,
                cut_columns(discourse, cut),
            )


@dataclass(frozen=True)
class CutsInFullContext:
    """The text before every mention whose antecedents are so many words away, and its cuts."""

    beyond: int

    @property
    def recipe(self) -> str:
        """The operators, as the manifest records them."""
        return f"context_cuts(beyond={self.beyond})"

    @property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The predictions, as the manifest records them; an item has those of its own lengths."""
        return tuple(
            Contrast(worse, better, 3, "sum", groups=(f"{name}, words {words}", name))
            for words in CURVE_LENGTHS
            for worse, better, name in (
                (f"{LOST}_{words}", FULL, AGAINST_FULL),
                (f"{KEPT}_{words}", FULL, "kept against full"),
                (f"{LOST}_{words}", f"{KEPT}_{words}", "cut against kept"),
            )
        )

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the items of a discourse; what has none is counted by reason."""
        for cuts in context_cuts(discourse, CURVE_LENGTHS, self.beyond, context):
            versions = {FULL: cuts.full}
            for words, lost in cuts.lost.items():
                versions[f"{LOST}_{words}"] = lost
                if words in cuts.kept:
                    versions[f"{KEPT}_{words}"] = cuts.kept[words]
            columns = distance_columns(discourse, cuts)
            yield generate_item(
                cuts.full.variant,
                versions,
                around_scored,
                tuple(c for c in self.contrasts if {*c.worse, *c.better} <= versions.keys()),
                scored_text,
                columns,
            )


def scored_text(version: Discourse) -> tuple[str, ...]:
    """Give what the partial-input classifier sees: the mention, the same in all conditions."""
    return (around_scored(version)[2],)


def reach(words: int) -> str:
    """Name the longest of the cuts that loses an antecedent so many words away.

    >>> reach(65), reach(300)
    ('64', '256')
    """
    return str(max(length for length in LENGTHS if length < words))


def cut_columns(discourse: Discourse, cut: AntecedentCut) -> dict[str, Any]:
    """The columns of an item of two cuts."""
    columns = distance_columns(discourse, cut)
    code = language_of(discourse).code
    repeats = not stems(columns["mention"], code).isdisjoint(stems(cut.kept.texts[0], code))
    return {**columns, "repeats": repeats}


def distance_columns(discourse: Discourse, cut: AntecedentCut | ContextCuts) -> dict[str, Any]:
    """The columns of every item: the mention, and the way back to its last antecedent."""
    unit, start, end = cut.distant.mention.span[0]
    return {
        "mention": discourse.units[unit].text[start:end],
        "reach": reach(cut.distant.words),
        "distance_tokens": count_tokens(cut.distant.between),
        "genre": discourse.meta.get("genre", ""),
        **cut.way,
    }


_COLUMNS = {
    "mention": Column("string", "the mention that is scored"),
    "form": Column("string", "`name`, `phrase` (a definite one) or `pronoun`"),
    "reach": Column(
        "string",
        "the longest cut that loses all antecedents: `64`, `256` or `1024`; all configs up to "
        "this length have the same mentions, except mentions that no cut fits",
    ),
    "distance_words": Column("int32", "words between the last antecedent and the mention"),
    "distance_tokens": Column(
        "int32",
        "words and punctuation marks between the last antecedent and the mention: about the "
        "number of tokens",
    ),
    "distance_sentences": Column("int32", "sentences from the last antecedent to the mention"),
    "distance_mentions": Column(
        "int32", "mentions of any entity between the last antecedent and the mention"
    ),
    "competitors": Column(
        "int32",
        "entities mentioned between the last antecedent and the mention that the mention could "
        "also mean, by number, gender and type, as far as annotated",
    ),
    "earlier_mentions": Column(
        "int32", "the number of earlier mentions of the referent in the document"
    ),
    "same_words_before": Column(
        "int32", "the number of earlier mentions with the same words as the scored mention"
    ),
    "genre": Column("string", "the genre of the document in the corpus"),
}
_REPEATS = {
    "repeats": Column(
        "bool", "whether the sentence of the kept antecedent contains a content word of the mention"
    ),
}
_CORPORA = ("litbank", "gum", "ontonotes")
_REGIONS = (
    "the sentences before",
    "the sentence up to the mention (empty where the mention begins it)",
    "the mention, the same text in all conditions",
    "the rest of the sentence, the same text in all conditions",
)


def cut_config(words: int) -> Config:
    """The config with texts of so many words before the mention."""
    return Config(
        name=str(words),
        corpora=_CORPORA,
        generator=Balanced(
            generator=MentionsAfterCuts(words),
            measures=(count_words, count_tokens, len),
            one_of=scored_in,
            reason="left out to balance the lengths of texts",
        ),
        summary=f"the text before the mention has about {words:,} words",
        regions=_REGIONS,
        columns={**_COLUMNS, **_REPEATS},
        breakdowns=("reach", "form", "repeats"),
        partial_input="a bag of words of the sentences in which the two texts differ",
        # It is no test of coherence: both texts may be coherent.
        choice=None,
    )


def full_config(beyond: int) -> Config:
    """The config of mentions whose last antecedent is more than so many words away."""
    return Config(
        name=f"full_{beyond}",
        corpora=_CORPORA,
        generator=CutsInFullContext(beyond),
        summary=(
            f"mentions whose last antecedent is more than {beyond} words away: the full text "
            "before the mention is compared with its cuts"
        ),
        regions=_REGIONS,
        columns=_COLUMNS,
        breakdowns=("reach", "form"),
        headline=AGAINST_FULL,
        is_diagnostic=True,
        partial_input="the mention, which is the same text in all conditions",
    )


_CONFIGS = (*map(cut_config, LENGTHS), *map(full_config, (64, 256)))

KHANDELWAL_2018 = """@inproceedings{khandelwal-etal-2018-sharp,
    title = "Sharp Nearby, Fuzzy Far Away: How Neural Language Models Use Context",
    author = "Khandelwal, Urvashi and He, He and Qi, Peng and Jurafsky, Dan",
    booktitle = "Proceedings of the 56th Annual Meeting of the Association for Computational Linguistics",
    year = "2018",
    pages = "284--294",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/P18-1027",
}"""  # noqa: E501

SUITE = Suite(
    name="reference_distance",
    title="Reference distance",
    version="2.0.0",
    hypothesis=(
        "A model that looks far enough back finds a mention less surprising if the text before it "
        "has an antecedent than if it has none, however long that text is."
    ),
    description=(
        "Mentions from documents annotated for coreference. The last antecedent of a mention is "
        "more than 64, 256 or 1,024 words away. The mention is scored after two texts of that "
        "length. One text has the sentences directly before the mention, none of which mentions "
        "the referent. The other text begins with the last earlier sentence that names the "
        "referent and continues with the sentences nearest to the mention. The two texts differ "
        "only in their first sentences. Headings are left out of both."
    ),
    conditions={
        LOST: "the sentences directly before the mention, without an antecedent",
        KEPT: "the last earlier sentence that names the referent, then the sentences directly "
        "before the mention",
        FULL: "all of the document before the mention",
        **{f"{LOST}_{n}": f"`{LOST}` with about {n} words" for n in CURVE_LENGTHS},
        **{f"{KEPT}_{n}": f"`{KEPT}` with about {n} words" for n in CURVE_LENGTHS},
    },
    uses=(
        Use(
            "",
            "at which distance does an earlier mention still make a mention less surprising",
            "whether the model finds the person or thing or only expects a repeated word",
        ),
        Use(
            "full_256",
            "from which length on does more context no longer make a mention less surprising",
            "whether the earlier mention or other text that was cut off made the difference",
        ),
    ),
    limitations=(
        "In `antecedent_kept`, the first sentence is followed by a sentence that did not follow "
        "it in the document. Two blind readers found this text less coherent in 11 of 12 pairs, "
        "which works against the prediction. The suite measures the effect of a distant "
        "antecedent, not coherence.",
        "In the configs `full_…`, a cut loses more than the antecedent: the topic, other "
        "mentions, and the words themselves. The group `kept against full` shows what is lost "
        "although the antecedent is kept; the group `cut against kept` shows the contribution of "
        "the antecedent. Cuts up to the length in the config's name have the same mentions; "
        "longer cuts have fewer. A full text is always longer than its cuts.",
        "Lengths are counted in words between spaces, because a suite does not depend on a "
        "tokenizer: 64 words are about 80 to 90 tokens. A length covers all text before the "
        "mention, including the beginning of the mention's sentence. Texts are cut at the "
        f"beginnings of sentences, so a text may be up to {TOLERANCE:.0%} shorter or longer than "
        f"its config says. The two texts of an item differ by at most {DIFFERENCE} words; the text "
        "without the antecedent is the longer one in half of a config's items, give or take one.",
        "The scores of the configs form a curve over the distance of the kept antecedent, which "
        "opens the text. This distance is not the distance in the document (column "
        "`distance_words`). Compare configs within one `reach`: different mentions have "
        "antecedents at different distances.",
        "Most mentions are names, and the kept sentence usually has the same name: a model that "
        "copies a word seen once meets the prediction. A met prediction shows that the model "
        "looks this far back, not that it knows who is meant. See the breakdowns `form` and "
        "`repeats`. Pronouns this far from an antecedent are rare.",
        "The antecedent's sentence may also introduce the topic of the mention. The partial-input "
        "classifier sees only the sentences in which the two texts differ.",
        "Coreference chains may be incomplete: the text without the antecedent may contain a "
        "mention that was not annotated. Texts that share a capitalised word with any name of the "
        "referent are therefore left out. LitBank's files do not give entity types, so the reader "
        "infers names from capitals.",
        "Mentions with a reach of 1,024 words need long texts: GUM's documents have about 1,000 "
        "words, LitBank's excerpts 2,000 tokens.",
    ),
    citation=KHANDELWAL_2018,
    headline=("64", "256"),
    configs=(*_CONFIGS, *map(in_dutch, _CONFIGS)),
    one_split=True,
    tags=("coreference", "long-context", "reference"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
