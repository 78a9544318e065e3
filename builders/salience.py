"""Salience: is what a text is about expected more than what is as given in it?

Readers keep in mind what a text is about. Lin and Zeldes (2025) grade it: the more of a text's
summaries mention an entity, the more salient it is in the whole text. Salient entities are also
mentioned more often and more recently, which alone makes them easier to expect (Ariel 1990). So
two entities are compared at a place where they are equally given: both are of the same type, gender
and number, and were mentioned about as often and as recently, last in a like form and role. The
place is the beginning of a sentence, where either could be mentioned next.

Names differ in how likely they are at all. Each mention is therefore scored in two contexts: the
*document* up to the place, and the *near* end of that, from the sentence on that has the earlier
one of their last mentions. What the rest of the document adds is to help the salient entity more::

    bits(salient | document) + bits(other | near) < bits(other | document) + bits(salient | near)

Every mention and every context is once on each side. What the text's author mentions next is the
salient entity as often as the other one, over all items.

    coherencegym build salience --corpus gum --data-dir PATH
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherencegym.builders.crossing.generator import (
    CROSSED_BREAKDOWNS,
    Crossed,
    context_and_target,
    crossed_columns,
    repeated_in,
)
from coherencegym.builders.crossing.partners import Couple, Option, Partner, choose_balanced, side
from coherencegym.builders.crossing.shuffled import with_shuffled_contexts
from coherencegym.builders.suite import Column, Config, Suite, Use
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.shared_places import (
    MORE_SALIENT,
    GivenEntity,
    SharedPlace,
    shared_places,
)

#: Words that the document has before the near context, at least.
_FEWEST = 10
#: Items that may be left over of one side.
_SLACK = 1
_NEXT = {1: "salient", -1: "other", 0: ""}
_repeated = repeated_in(context_and_target, 2)


def given_partners(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give two partners for each place.

    The document with the salient mention, and the near end with the other one.
    """
    for place in shared_places(discourse, context):
        if place.words_before < _FEWEST:
            context.skipped[f"fewer than {_FEWEST} words before the near context"] += 1
            continue
        for text, given in ((place.document, place.salient), (place.near, place.other)):
            name = f"u{place.unit}-{given.name}"
            yield Partner(discourse, (text, given.text), name, columns={"place": place})


def couple_equally_given(partners: Sequence[Partner], context: Context) -> list[Couple]:
    """Choose among the places, those first at which the two are given most alike.

    A pair of entities and a place are in one item. Over all items the salient entity is as often
    the one with more mentions, the nearer one, the one whose words the contexts repeat more, and
    the one that the text mentions next.
    """
    options: dict[Option, Couple] = {}
    for one, two in zip(partners[::2], partners[1::2], strict=True):
        place = _place(one)
        salient, other = place.salient, place.other
        differences = salient.mentions - other.mentions, other.distance - salient.distance
        repeats = _repeated(one, one) + _repeated(two, two)
        repeats -= _repeated(one, two) + _repeated(two, one)
        lot = context.random(one.discourse, "Salience", one=one.name, two=two.name).random()
        furthest = max(salient.distance, other.distance)
        identifier = one.discourse.id
        uses = frozenset({(identifier, place.unit), (identifier, salient.chain, other.chain)})
        leans = tuple(map(side, (*differences, place.next, repeats)))
        cost = (*map(abs, differences), furthest, lot, one.key, two.key)
        options[Option(cost, uses, leans)] = Couple(one, two)
    return [options[one] for one in choose_balanced(options, _SLACK)]


def _place(partner: Partner) -> SharedPlace:
    place: SharedPlace = partner.columns["place"]
    return place


def couple_columns(couple: Couple) -> dict[str, Any]:
    """The columns of an item; of lists the salient entity's value is the first."""
    place, meta = _place(couple.first), couple.first.discourse.meta
    pair: tuple[GivenEntity, GivenEntity] = (place.salient, place.other)
    return {
        "summarised_by": meta.get("summaries", ""),
        "form": place.salient.form if place.salient.form == place.other.form else "both",
        "in_title": place.in_title,
        "entity": place.entity,
        "summaries": [one.summaries for one in pair],
        "mentions_before": [one.mentions for one in pair],
        "distance_sentences": [one.distance for one in pair],
        "words_before_near": place.words_before,
        "next": _NEXT[place.next],
        "genre": meta.get("genre", ""),
    }


_COLUMNS = crossed_columns(
    summarised_by=Column(
        "string",
        "the authors of the document's five summaries: `human` (people only) or `mixed` (one "
        "person and four language models)",
    ),
    form=Column(
        "string",
        "the form of both mentions: `name` or `phrase`; `both` if one is a name and the other "
        "a phrase",
    ),
    in_title=Column(
        "bool",
        "whether the title or a heading, which the texts lack, names one of the two entities",
    ),
    entity=Column("string", "the entity type of both entities in the corpus"),
    summaries=Column(
        ["int32"],
        "the number of summaries that mention the salient entity, and the number that mention the "
        "other",
    ),
    mentions_before=Column(
        ["int32"], "the number of earlier mentions of the salient entity, and of the other"
    ),
    distance_sentences=Column(
        ["int32"], "sentences since the last mention of the salient entity, and of the other"
    ),
    words_before_near=Column(
        "int32", "the number of words by which the document exceeds the near context"
    ),
    next=Column(
        "string",
        "the entity that the author's next sentence mentions: `salient`, `other`, or empty for "
        "neither or both",
    ),
    genre=Column("string", "the genre of the document"),
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
    version="2.0.0",
    hypothesis=(
        "A model that knows what a text is about expects mentions of its salient entities more "
        "than mentions of other entities that were mentioned about as often and as recently."
    ),
    description=(
        "Pairs of entities of one document, each mentioned at the beginning of the same sentence. "
        "Most summaries of the document mention the salient entity, and hardly any mentions the "
        "other one. Both entities have the same type, gender and number. The preceding text "
        "mentions both about as often and as recently, and last in a similar form and role. Each "
        "mention is scored after two contexts: the whole document up to the sentence, and the "
        "near context alone. The near context begins with the sentence that has the earlier of "
        "the two last mentions. The rest of the document should help the salient mention more. "
        "Each mention and each context is on both sides of the prediction, so an effect of the "
        "mention alone cancels."
    ),
    conditions={
        "document_salient": "the salient entity, mentioned after the document up to the sentence",
        "near_other": "the other entity, mentioned after the near context",
        "document_other": "the other entity, mentioned after the document up to the sentence",
        "near_salient": "the salient entity, mentioned after the near context",
    },
    uses=(
        Use(
            "",
            "does a document make mentions of its salient (most important) entities more expected",
            "whether salience matters or something that salient entities share, such as the topic",
        ),
    ),
    limitations=(
        f"Of five summaries, at least {MORE_SALIENT} more mention the salient entity than the "
        "other one. For most documents, a person wrote one summary and language models wrote "
        "four: what models find salient may be what models expect. As a check, read the scores "
        "for documents with five summaries by people (breakdown `summarised_by`).",
        "The two entities are matched: they have the same type, number and (for persons) gender, "
        "and were last mentioned both by a pronoun or neither, both as subjects or neither. The "
        "numbers of mentions differ by at most one, or by at most half of the smaller number; the "
        "distances to the last mention differ by at most two sentences, or by at most half. "
        "Across a config, the salient entity has more mentions in half of the items, give or take "
        "one. The same holds for the nearer last mention, and for the number of words that the "
        "contexts repeat.",
        "The scored mention is a name, a definite phrase or a bare plural: the last such mention "
        "of the entity in the text. One entity may have a name and the other a phrase (`form`), "
        "because each mention is compared with itself. A mention that is unlikely after the near "
        "context has more to gain from the whole document; this gain is not matched.",
        "The text ends with the scored mention, although the author continued in another way. In "
        "most items, the author's next sentence mentions neither entity; in the others, it "
        "mentions the salient entity as often as the other one, give or take one (`next`). "
        "Mentions in the middle of a sentence are not tested. Sentences of the authors are hardly "
        "usable: in GUM's 80 documents, only 4 sentences that begin with a mention of one entity "
        "have a second entity that matches it.",
        "The title or a heading may name one of the two entities (`in_title`). The texts lack "
        "titles and headings, so a model that knows the document may expect that entity for this "
        "reason alone. For the strict design, read the group `in_title=false`: 54 of the 94 items "
        "of GUM.",
        "The contexts are long: a document up to a mention has hundreds of words. Texts that "
        "exceed a model's context length are left out of its score and counted.",
        "Headings and captions are left out of the texts. GUM is the only corpus with graded "
        "salience: 31 of its 80 documents give 94 items; people alone wrote the summaries for 21 "
        "of the items.",
    ),
    citation=LIN_ZELDES_2025,
    headline=("given",),
    configs=with_shuffled_contexts(
        Config(
            name="given",
            corpora=("gum",),
            generator=Crossed(
                partners=given_partners,
                operators="shared_places",
                couple=couple_equally_given,
                across=True,
                names=(("document", "near"), ("salient", "other")),
                columns=couple_columns,
            ),
            summary=(
                "two matched entities of a document, each mentioned at the same position after "
                "the whole document and after the near context"
            ),
            regions=(
                "the text before the mention: the whole document up to it, or the near context",
                "the mention, which begins a sentence",
            ),
            columns=_COLUMNS,
            breakdowns=(*CROSSED_BREAKDOWNS, "summarised_by", "in_title", "form", "next"),
            # All texts are coherent: it compares what a longer context adds.
            choice=None,
            partial_input="bags of words of the text before the mention, and of the mention",
        ),
    ),
    one_split=True,
    tags=("coreference", "salience", "summarization"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
