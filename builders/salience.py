"""Salience: is what a text is about expected more than what is as given in it?

Readers keep in mind what a text is about. Lin and Zeldes (2026) grade it: the more of a text's
summaries mention an entity, the more salient it is in the whole text. Salient entities are also
mentioned more often and more recently, which alone makes them easier to expect (Ariel 1990). So
two mentions are compared of which one is of a salient entity and the other is not, and which are
equally given: both entities are of the same type, gender and number, were mentioned about as often
and as recently, last in the same form and role, and are in no title.

Names differ in how likely they are at all. Each mention is therefore scored in two contexts: the
*document* up to it, and the *near* end of that, from the sentence of the last mention on. What the
rest of the document adds is to help the salient entity more::

    bits(salient | document) + bits(other | near) < bits(other | document) + bits(salient | near)

Every mention and every context is once on each side, so that names cancel, and slots.

- *own_places*: both mentions stand where their authors put them, in two documents. All text is
  natural.
- *one_place*: both stand in one place of one document, of which one is the author's. In half of the
  items that is the other one: else the score would be the author's wording. Few places allow it.

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
    crossed_columns,
)
from coherencegym.builders.crossing.partners import Couple, Partner
from coherencegym.builders.suite import Column, Config, Suite, Use
from coherencegym.eval.kinds.items import FAMILY
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.given_places import (
    MORE_SALIENT,
    GivenPlace,
    given_places,
    is_about,
    mismatch,
    shared_places,
)

#: Words that the document has before the near context, at least.
_FEWEST = 20
#: Items that may be left over of one side.
_SLACK = 1


def _partner(discourse: Discourse, place: GivenPlace, near: str, name: str = "") -> Partner:
    return Partner(
        discourse,
        (place.document, near, place.mention, place.rest),
        name=f"{place.variant}{name}",
        columns={"place": place, "is_salient": place.summaries >= MORE_SALIENT},
    )


def places(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give the places of a discourse; parts are document, near context, mention, rest."""
    for place in given_places(discourse, context):
        if place.words_before < _FEWEST:
            context.skipped[f"fewer than {_FEWEST} words before the near context"] += 1
        else:
            yield _partner(discourse, place, place.near)


def two_of_a_place(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give two partners for each place: what stands there, and what could."""
    for place, rival in shared_places(discourse, context):
        if rival.words_before < _FEWEST:
            context.skipped[f"fewer than {_FEWEST} words before the near context"] += 1
        else:
            # Of both the near context is the one in which both were mentioned.
            yield _partner(discourse, place, rival.near)
            yield _partner(discourse, rival, rival.near, "-other")


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
            salient.given.mentions - other.given.mentions,
            other.given.distance - salient.given.distance,
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
        and (salient.form, salient.is_subject) == (other.form, other.is_subject)
        and is_about(salient.words_before, other.words_before, 100)
        and not mismatch(salient.given, other.given)
    )


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


def couple_of_a_place(partners: Sequence[Partner], context: Context) -> list[Couple]:
    """Couple the partners of places, the author's mention as often the salient one as not."""
    options: dict[Option, Couple] = {}
    for own, rival in zip(partners[::2], partners[1::2], strict=True):
        lean = side(_place(own).summaries - _place(rival).summaries)
        lot = context.random(own.discourse, "Salience", place=own.name).random()
        couple = Couple(own, rival) if lean > 0 else Couple(rival, own)
        options[Option((lot, *own.key), frozenset({own.key}), (lean,))] = couple
    return [options[option] for option in choose_balanced(options)]


def context_mention_rest(context: Partner, target: Partner) -> tuple[str, str, str]:
    """Three regions of a target: a context, the mention, the rest.

    The salient partner as the context stands for the document, the other one for its near end.
    """
    which = 0 if context.columns["is_salient"] else 1
    return target.parts[which], target.parts[2], target.parts[3]


def couple_columns(couple: Couple) -> dict[str, Any]:
    """The columns of an item; of lists the salient entity's value is the first."""
    pair = [_place(one) for one in (couple.first, couple.second)]
    forms = {"name": "name", "the": "phrase", "bare": "phrase"}
    return {
        FAMILY: couple.first.columns.get(FAMILY, couple.first.discourse.id),
        "summarised_by": couple.first.discourse.meta.get("summaries", ""),
        "form": forms.get(pair[0].form, "pronoun"),
        "entity": pair[0].given.entity,
        "summaries": [one.summaries for one in pair],
        "mentions_before": [one.given.mentions for one in pair],
        "distance_sentences": [one.given.distance for one in pair],
        "words_before_near": [one.words_before for one in pair],
        "author_wrote": (
            "both"
            if couple.first.discourse.id != couple.second.discourse.id
            or pair[0].variant != pair[1].variant
            else "other" if couple.first.name.endswith("-other") else "salient"
        ),
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
    author_wrote=Column(
        "string", "`both`; of one place the mention that stands there: `salient` or `other`"
    ),
    genre=Column("string", "the genre of the salient entity's document"),
)


def salience_config(one_place: bool) -> Config:
    """The items of two places of two documents, or of two mentions for one place."""
    return Config(
        name="one_place" if one_place else "own_places",
        corpora=("gum",),
        generator=Crossed(
            partners=two_of_a_place if one_place else places,
            operators="shared_places" if one_place else "given_places",
            couple=couple_of_a_place if one_place else couple_equally_given,
            across=True,
            join=context_mention_rest,
            names=(("document", "near"), ("salient", "other")),
            columns=couple_columns,
        ),
        summary=(
            "two mentions in one place of a document, of which the author wrote one"
            if one_place
            else "two mentions in their own places of two documents"
        ),
        regions=(
            "the text before the mention: of the document, or of its near end",
            "the mention",
            "the rest of the sentence (empty where the mention ends it)",
        ),
        columns=_COLUMNS,
        breakdowns=(*CROSSED_BREAKDOWNS, "summarised_by", "form"),
        partial_input="bags of words of the text before the mention, the mention and the rest",
    )


LIN_ZELDES_2026 = """@inproceedings{lin-zeldes-2026-salience,
    title = "Graded Salience of Entities in {GUM}",
    author = "Lin, Jessica and Zeldes, Amir",
    year = "2026",
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
        "than mentions of others that are as given."
    ),
    description=(
        "Two mentions, one of an entity that most summaries of its document mention and one of an "
        "entity that hardly any does. Both entities are of the same type, gender and number, were "
        "mentioned about as often and as recently before, and last in the same form and role; "
        "neither is in a title or heading. Each mention is scored after the whole document up to "
        "it, and after its near end alone: from the sentence of the last mention on. The document "
        "is to help the salient mention more. Names and slots cancel."
    ),
    conditions={
        "document_salient": "the mention of the salient entity after the document up to it",
        "near_other": "the mention of the other entity after the near end of its document",
        "document_other": "the mention of the other entity after the document up to it",
        "near_salient": "the mention of the salient entity after the near end of its document",
    },
    uses=(
        Use(
            "own_places",
            "does a document make mentions of what it is about more expected than others",
            "salience from what goes with it and is not matched, such as position and topic",
        ),
    ),
    limitations=(
        f"Salient is what at least {MORE_SALIENT} of five summaries mention; the other entity of "
        f"`own_places` is in none, that of `one_place` in at least {MORE_SALIENT} fewer. Of most "
        "documents, one summary is a person's and four are language models': what models find "
        "salient may be what models expect. The documents with five summaries by people are the "
        "check: read the breakdown `summarised_by`. Items never pair the two kinds.",
        "About as often means: the numbers differ by one, or by half of the smaller; about as "
        "recently the same with two sentences; the words before the near end with 50 words. In "
        "`own_places`, the salient entity has more mentions in half of the items, give or take "
        "one; likewise the nearer last mention and the longer document.",
        "The interaction of `own_places` compares two places of, mostly, two documents. A mention "
        "that is unlikely in its near context has more to gain from the document. Frequency is "
        "not matched; it is on both sides, but its gain need not cancel.",
        "`one_place` is strict and very small: the card counts the reasons. Most "
        "salient entities are in the title, and most places that would be left have no other "
        "entity of that type, gender and number that was given alike. Exchanged mentions make "
        "false statements, and some odd ones (`librettos in Composition`).",
        "The contexts are long: a document up to a mention has hundreds of words. Texts that are "
        "longer than a model's context are left out of its score, and counted.",
        "Headings and captions are left out of the texts. GUM is the only corpus with graded "
        "salience; its 80 documents that are at hand give few items with summaries by people.",
    ),
    citation=LIN_ZELDES_2026,
    headline=("own_places",),
    configs=(salience_config(one_place=False), salience_config(one_place=True)),
    one_split=True,
    tags=("coreference", "salience", "summarization"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
