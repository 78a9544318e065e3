"""Two sentences of distant places of one text that change places."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.suites import Sample, rows

from coherencegym.builders.command.show import build_grid
from coherencegym.builders.crossing.partners import (
    Partner,
    far_apart,
    followed_alike,
    narrative_tense,
    persons_in,
    repeated_more,
    slots,
    stems,
)
from coherencegym.builders.intruder_sentences import SAME_DOCUMENT, SUITE
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.suite import GeneratedItem
from coherencegym.cards.render import baseline_score
from coherencegym.eval.data.dataset import LEXICAL_OVERLAP
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.manipulations.operator import Context

#: Two paragraphs on different matters; the sentences 2, 3, 10 and 11 have like lengths.
FIRST = (
    "The harbour of Lund lay empty.",
    "A storm had broken the pier.",
    "Fishermen carried their nets over the dunes by hand.",
    "Nobody knew how long the repairs would really take.",
    "Gulls sat on the stones.",
    "Boats were sold.",
    "Winter came.",
)
SECOND = (
    "Far from there a girl read a book on engines.",
    "Its pages smelled of oil.",
    "Her uncle owned a mill.",
    "Pictures of wheels covered every wall of the room.",
    "Teachers laughed about what was drawn during their lessons.",
    "She went on.",
)


def document(*paragraphs: tuple[str, ...], marked: bool = True, **meta: str) -> Discourse:
    texts = [text for paragraph in paragraphs for text in paragraph]
    begins = [sum(map(len, paragraphs[:i])) for i in range(len(paragraphs))]
    where = {"paragraphs": " ".join(map(str, begins))} if marked else {}
    return Discourse("d", "t", tuple(map(Unit, texts)), meta=where | meta)


def partners(discourse: Discourse, context: Context | None = None) -> dict[int, Partner]:
    found = slots(discourse, context or Context())
    return {int(partner.name): partner for partner in found}


def test_what_follows_one_sentence_alone_is_left_out() -> None:
    found = partners(document(FIRST[:3], SECOND))
    last, other = found[2], found[6]
    assert last.parts[1] == ""
    assert other.parts[1]
    one, two = followed_alike(last, other, Context())
    assert one == last
    assert two.parts == (other.parts[0], "", other.parts[2])
    assert followed_alike(other, other, Context()) == (other, other)


def generated(discourse: Discourse) -> list[GeneratedItem]:
    generator = SAME_DOCUMENT.generator
    return list(generator.fit([discourse], Context(), Fits())(discourse, Context()))  # type: ignore[attr-defined]


def test_sentences_change_places_with_what_follows_left_where_it_is() -> None:
    made = generated(document(FIRST, SECOND))
    item = made[0].item
    regions = {c.condition_name: [r.content for r in c.regions] for c in item.conditions}
    assert regions["context_1_sentence_1"] == [" ".join(FIRST[:2]), *FIRST[2:4]]
    assert regions["context_2_sentence_2"] == [" ".join(SECOND[:3]), *SECOND[3:5]]
    assert regions["context_1_sentence_2"] == [" ".join(FIRST[:2]), SECOND[3], FIRST[3]]
    assert regions["context_2_sentence_1"] == [" ".join(SECOND[:3]), FIRST[2], SECOND[4]]
    assert [(p.groups, p.formula[:5]) for p in item.predictions] == [
        (("slot",), "(2;%c"),
        (("following",), "(3;%c"),
    ]
    assert item.extra["slots"] == [2, 10]
    assert item.extra["sentence_count"] == 13
    assert len(made) == 2


def test_nothing_is_scored_behind_the_end_of_a_paragraph() -> None:
    made = generated(document(FIRST[:3], FIRST[4:], SECOND[:2], SECOND[2:4]))
    assert made == []  # too near
    made = generated(document(FIRST[:3], FIRST[4:], ("It rained.", "It rained on."), SECOND[:4]))
    (one,) = made
    assert [p.groups for p in one.item.predictions] == [("slot",)]
    assert all(len(c.regions) == 2 for c in one.item.conditions)
    # The partial-input classifier has a bag of words for what others have there.
    assert {len(view) for view in one.views.values()} == {3}


def test_why_a_sentence_stays() -> None:
    context = Context()
    text = (
        "A heading",
        "One day the whole town stood at the river.",
        "It had rained.",
        "Where had all the other people gone that night?",
        "Too short.",
        "“He said that it was a long way to go.",
        "In 1990 the bridge [12] was closed to all traffic.",
        "The bridge was closed for the whole of that year.",
    )
    found = partners(document(text, headings="0"), context)
    assert not found
    assert context.skipped == {
        "a heading, or debris of extraction": 1,
        "fewer than 2 sentences of prose before it": 2,
        "no statement": 1,
        "not 8 to 35 words": 1,
        "a quotation that begins or ends elsewhere": 1,
        # One with a reference, and one that comes after it.
        "references, a list or no whole sentence": 2,
    }
    context = Context()
    typed = document(FIRST[:3], sentence_types="decl frag decl")
    assert not partners(typed, context)
    assert context.skipped["a fragment before it"] == 1
    asked = document(FIRST[:3], sentence_types="decl decl q")
    assert not partners(asked, context)
    assert context.skipped["no statement"] == 1


def test_slots_are_far_from_each_other() -> None:
    both = partners(document(FIRST, SECOND))
    assert sorted(both) == [2, 3, 10, 11]
    assert far_apart(both[2], both[10])
    assert far_apart(both[10], both[2])
    assert not far_apart(both[3], both[10])  # seven sentences
    one = partners(document(FIRST + SECOND))
    assert not far_apart(one[2], one[10])  # of one paragraph
    unmarked = partners(document(FIRST, SECOND, marked=False))
    assert far_apart(unmarked[2], unmarked[10])


def partner(context: str, target: str, place: int = 0) -> Partner:
    columns = {"place": place, "paragraph": 0}
    return Partner(document(FIRST), (context, "", target), str(place), columns=columns)


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        (("Cats sleep.", "They dream of large fish."), ("Rain fell.", "It filled two pots."), True),
        (("Cats sleep.", "Same."), ("Rain fell.", "Same."), False),
        (("Cats sleep long.", "Fine."), ("Cats sleep deep.", "Good."), False),
    ],
)
def test_who_may_change_places(one: tuple[str, str], other: tuple[str, str], fits: bool) -> None:
    assert far_apart(partner(*one), partner(*other, place=9)) is fits


def test_words_repeated_of_the_other_context_weigh_against_those_of_the_own() -> None:
    own = partner("The bridge was old.", "Its stones came from a quarry, and the bridge stood.")
    other = partner("The quarry was deep.", "Men worked there, and the quarry grew.")
    assert repeated_more(own, other) == 1
    other = partner("A hole was deep.", "Men dug the hole.")
    assert repeated_more(own, other) == 2


def test_what_texts_may_have_in_common() -> None:
    assert persons_in("She gave me their book.") == (True, False, False, True, True)
    assert persons_in("The heron this year") == (False,) * 5
    assert stems("The bridges of the bridge were bridged") == {"bridge"}


@pytest.mark.parametrize(
    ("told", "tense"),
    [
        ("She came up laughing and asked whether she could do it again.", "past"),
        ("He said, \u201cShe is here, and it rains, and I am glad.\u201d", "past"),
        ("She has ironed her uniform and has never forgotten it; it is the locked one.", "present"),
        ("She wants to put it away.", "present"),
        ("He drags the door aside.", "present"),
        ("My son blames himself and will not come down.", "present"),
        ("Soon there will be eggs on the bank.", "future"),
        ("I came in last, and nobody will forget it.", ""),
        ("The books lie on the tables of the others.", ""),
    ],
)
def test_the_tense_that_a_text_tells_in(told: str, tense: str) -> None:
    assert narrative_tense(told) == tense


def test_what_follows_has_baselines_of_its_own(built_sample: Sample) -> None:
    manifest = built_sample(SUITE.name)[1]
    entry = manifest["configs"]["sample_same_document"]
    following = baseline_score(entry["quality"]["test"], LEXICAL_OVERLAP, "following")
    assert following is not None
    assert following["n"] <= entry["splits"]["test"]["rows"]
    (row,) = (one for one in build_grid(manifest).rows if "same_document, " in one.cells[0])
    assert row.cells[-2:] == ("", "") or entry["quality"]["test"]["control"]["word"] in row.cells


def test_the_sample_is_at_chance(
    built_sample: Sample,
) -> None:
    folder, manifest = built_sample(SUITE.name)
    entry = manifest["configs"]["sample_same_document"]
    # Nobody is trained on talks, so that none of them is kept for training.
    assert {s: counts["rows"] for s, counts in entry["splits"].items()} == {"test": 61}
    (score,) = [s for s in entry["quality"]["test"]["partial_input"] if not s["group"]]
    assert score["score"] == 0.5
    for row in rows(folder, "sample_same_document"):
        item = ITEMS.from_row(row)
        assert item.cluster == row["discourse_id"] == row["partner_discourse"]
        assert row["similarity"] is None
        contents = [condition.content for condition in item.conditions]
        assert len(set(contents)) == 4


@pytest.mark.parametrize(
    ("name", "items", "documents", "skipped"),
    [
        ("gum", 296, 45, {"the first sentence of a text or paragraph": 452, "no statement": 126}),
        ("tedmdb", 104, 6, {"not 8 to 35 words": 123, "no statement": 13}),
    ],
)
def test_real_texts(
    real_build: Callable[[str, str], Path],
    name: str,
    items: int,
    documents: int,
    skipped: dict[str, int],
) -> None:
    folder = real_build("intruder_sentences", name)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    control = f"{name}_same_document_shuffled_context"
    assert set(manifest["configs"]) == {f"{name}_same_document", control}
    entry = manifest["configs"][f"{name}_same_document"]
    counts = entry["splits"]["test"]
    assert (counts["rows"], counts["discourses"]) == (items, documents)
    assert skipped.items() <= entry["skipped"]["test"].items()
    used = [(row["discourse_id"], slot) for row in rows(folder, f"{name}_same_document")
            for slot in row["slots"]]  # fmt: skip
    assert len(set(used)) == len(used) == 2 * items
