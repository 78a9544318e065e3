"""Salience: is what a text is about expected more than what is as given in it?

Readers keep in mind what a text is about. Lin and Zeldes (2025) grade it: the more of a text's
summaries mention an entity, the more salient it is in the whole text. Salient entities are also
mentioned more often and more recently, which alone makes them easier to expect (Ariel 1990). So
two mentions are compared of which one is of a salient entity and the other is not, and which are
equally given: both entities are of the same type, gender and number, were mentioned about as often
and as recently, last in a like form and role, and are in no title.

Names differ in how likely they are at all. Each mention is therefore scored in two contexts: the
*document* up to it, and the *near* end of that, from the sentence of the last mention on. What the
rest of the document adds is to help the salient entity more::

    bits(salient | document) + bits(other | near) < bits(other | document) + bits(salient | near)

Every mention and every context is once on each side, so that names cancel, and slots.

Both mentions stand where their authors put them; nothing is exchanged, and all text is natural. To
put both into one place was tried, and dropped: see the limitations.

    coherencegym build salience --corpus gum --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

from coherencegym.builders.crossing.balance import Option, choose_balanced, side
from coherencegym.builders.crossing.generator import (
    CROSSED_BREAKDOWNS,
    Crossed,
    condition_of,
    crossed_columns,
)
from coherencegym.builders.crossing.partners import Couple, Partner
from coherencegym.builders.crossing.shuffled import with_shuffled_contexts
from coherencegym.builders.suite import Column, Config, Suite, Use
from coherencegym.eval.kinds.items import FAMILY
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.given_places import (
    MORE_SALIENT,
    GivenPlace,
    are_equally_given,
    given_places,
)

#: Words that the document has before the near context, at least.
_FEWEST = 20
#: Items that may be left over of one side.
_SLACK = 1


def given_partners(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give the places of a discourse; parts are document, near context, mention, rest."""
    for place in given_places(discourse, context):
        if place.words_before < _FEWEST:
            context.skipped[f"fewer than {_FEWEST} words before the near context"] += 1
        else:
            texts = (place.document, place.near, place.mention, place.rest)
            yield Partner(discourse, texts, place.name, columns={"place": place})


def couple_equally_given(partners: Sequence[Partner], context: Context) -> list[Couple]:
    """Couple places of a salient and of another entity that were given alike, best first.

    A document gives at most one salient mention and one other. Over all couples the salient entity
    is as often the one with more mentions, the nearer one, and the one with more text before it.
    Couples that documents connect are of one family.
    """
    options: dict[Option, Couple] = {}
    for (i, one), (j, two) in permutations(enumerate(partners), 2):
        salient, other = _place(one), _place(two)
        if not _may_couple(one, two):
            continue
        differences = (
            salient.mentions - other.mentions,
            other.distance - salient.distance,
            salient.words_before - other.words_before,
        )
        lot = context.random(one.discourse, "Salience", one=one.name, two=two.key).random()
        uses = frozenset({("salient", one.discourse.id), ("other", two.discourse.id)})
        option = Option((*map(abs, differences), lot, i, j), uses, tuple(map(side, differences)))
        options[option] = Couple(one, two)
    return _with_families([options[one] for one in choose_balanced(options, _SLACK)])


def _place(partner: Partner) -> GivenPlace:
    place: GivenPlace = partner.columns["place"]
    return place


def _may_couple(one: Partner, two: Partner) -> bool:
    salient, other = _place(one), _place(two)
    return (
        salient.summaries - other.summaries >= MORE_SALIENT
        and one.discourse.meta["summaries"] == two.discourse.meta["summaries"]
        and are_equally_given(salient, other)
        # Of two mentions in one sentence the text is the same.
        and (one.discourse.id != two.discourse.id or _whole_text(one) != _whole_text(two))
    )


def _whole_text(partner: Partner) -> str:
    document, _, mention, rest = partner.parts
    return condition_of("", (document, mention, rest)).content


def _with_families(couples: Sequence[Couple]) -> list[Couple]:
    families: dict[str, str] = {}
    for _ in couples:  # as many times as a family could have links
        for couple in couples:
            ids = [one.discourse.id for one in (couple.first, couple.second)]
            least = min(families.get(name, name) for name in ids)
            families |= dict.fromkeys(ids, least)
    return [
        replace(
            couple,
            first=replace(
                couple.first,
                columns={**couple.first.columns, FAMILY: families[couple.first.discourse.id]},
            ),
        )
        for couple in couples
    ]


def context_mention_rest(context: Partner, target: Partner) -> tuple[str, str, str]:
    """Three regions of a target: a context, the mention, the rest.

    The salient partner as the context stands for the document, the other one for its near end.
    """
    document, near, mention, rest = target.parts
    return document if _place(context).summaries >= MORE_SALIENT else near, mention, rest


def couple_columns(couple: Couple) -> dict[str, Any]:
    """The columns of an item; of lists the salient entity's value is the first."""
    pair = [_place(one) for one in (couple.first, couple.second)]
    forms = {"name": "name", "the": "phrase", "bare": "phrase"}
    return {
        FAMILY: couple.first.columns.get(FAMILY, couple.first.discourse.id),
        "summarised_by": couple.first.discourse.meta.get("summaries", ""),
        "form": forms.get(pair[0].form, "pronoun"),
        "entity": pair[0].entity,
        "summaries": [one.summaries for one in pair],
        "mentions_before": [one.mentions for one in pair],
        "distance_sentences": [one.distance for one in pair],
        "words_before_near": [one.words_before for one in pair],
        "genre": couple.first.discourse.meta.get("genre", ""),
    }


_COLUMNS = crossed_columns(
    summarised_by=Column(
        "string",
        "who wrote the five summaries of the documents: `human`, or `mixed`: one person and four "
        "language models",
    ),
    form=Column("string", "`name`, `phrase` or `pronoun`: that of both mentions"),
    entity=Column("string", "the type of both entities, as the corpus has it"),
    summaries=Column(["int32"], "how many summaries mention the salient and the other entity"),
    mentions_before=Column(["int32"], "how often each was mentioned before"),
    distance_sentences=Column(["int32"], "sentences from the last mention of each"),
    words_before_near=Column(["int32"], "words of each document before its near end"),
    genre=Column("string", "the genre of the salient entity's document"),
)


LIN_ZELDES_2025 = """@article{lin-zeldes-2025-gumsage,
    title = "{GUM}-{SAGE}: A Novel Dataset and Approach for Graded Entity Salience Prediction",
    author = "Lin, Jessica and Zeldes, Amir",
    journal = "arXiv preprint arXiv:2504.10792",
    year = "2025",
}

@book{ariel-1990-accessing,
    title = "Accessing Noun-Phrase Antecedents",
    author = "Ariel, Mira",
    publisher = "Routledge",
    address = "London",
    year = "1990",
}"""

SUITE = Suite(
    name="salience",
    title="Salience",
    version="1.0.0",
    hypothesis=(
        "A model that knows what a text is about expects mentions of its salient entities more "
        "than mentions of other entities that were mentioned about as often and as recently."
    ),
    description=(
        "Two mentions, one of an entity that most summaries of its document mention and one of an "
        "entity that hardly any does. Both entities are of the same type, gender and number, and "
        "were mentioned about as often and as recently before; neither is in a title or heading. "
        "Each mention is scored after the whole document up to it, and after its near end alone: "
        "from the sentence of the last mention on. The whole document should help the salient "
        "mention more. The probabilities of names and places cancel."
    ),
    conditions={
        "document_salient": "the mention of the salient entity after the document up to it",
        "near_other": "the mention of the other entity after the near end of its document",
        "document_other": "the mention of the other entity after the document up to it",
        "near_salient": "the mention of the salient entity after the near end of its document",
    },
    uses=(
        Use(
            "",
            "does a document make mentions of its salient entities more expected",
            "whether salience matters or a property that goes with it, such as position or topic",
        ),
    ),
    limitations=(
        f"Of five summaries, at least {MORE_SALIENT} more mention the salient entity than the "
        "other one. Of most documents, one summary is a person's and four are language models': "
        "what models find salient may be what models expect. The documents with five summaries by "
        "people are the check: read the breakdown `summarised_by`. Items never pair the two kinds.",
        "Equally given means: of the same type, number and (of persons) gender; as names, definite "
        "phrases, bare plurals or the same pronoun; both subjects or neither; last mentioned both "
        "by a pronoun or neither, both as subjects or neither. The numbers of mentions differ by "
        "one, or by half of the smaller; the distances to the last mention by two sentences, or "
        "half; the words before the near end by 100, or half. The salient entity has more mentions "
        "in half of the items, give or take one; likewise the nearer last mention and the longer "
        "document.",
        "The two mentions stand in two places, mostly of two documents. Each is compared with "
        "itself, so the probabilities of names and places largely cancel. A mention that is "
        "unlikely in its near context has more to gain from the document; this gain is not "
        "matched.",
        "To put both mentions into one place, one of them instead of the author's, was tried on "
        "the 80 documents of GUM and dropped. Only 17 places had another entity that was as "
        "given, of other salience, and had a fitting form; in 14 the author's was the salient one. "
        "Half of each leaves 6 items, and in 3 of them the exchanged mention reads badly (`each "
        "ant was dipped in the food with medicine`).",
        "The contexts are long: a document up to a mention has hundreds of words. Texts that are "
        "longer than a model's context are left out of its score, and counted.",
        "Headings and captions are left out of the texts. GUM is the only corpus with graded "
        "salience; 80 of its documents give few items, and few with summaries by people.",
    ),
    citation=LIN_ZELDES_2025,
    headline=("given",),
    configs=with_shuffled_contexts(
        Config(
            name="given",
            corpora=("gum",),
            generator=Crossed(
                partners=given_partners,
                operators="given_places",
                couple=couple_equally_given,
                across=True,
                join=context_mention_rest,
                names=(("document", "near"), ("salient", "other")),
                columns=couple_columns,
            ),
            summary="two mentions in their own places, mostly of two documents",
            regions=(
                "the text before the mention: of the document, or of its near end",
                "the mention",
                "the rest of the sentence (empty where the mention ends it)",
            ),
            columns=_COLUMNS,
            breakdowns=(*CROSSED_BREAKDOWNS, "summarised_by", "form"),
            partial_input="bags of words of the text before the mention, the mention and the rest",
        ),
    ),
    one_split=True,
    tags=("coreference", "salience", "summarization"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
