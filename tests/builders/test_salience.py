"""The salience suite: what a text is about against what is as given in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from support.marked_texts import annotated
from support.suites import Sample, rows

from coherencegym.builders.crossing.partners import side
from coherencegym.builders.salience import SUITE, couple_equally_given, given_partners
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus, sample_of
from coherencegym.manipulations.operator import Context, NotApplicableError
from coherencegym.manipulations.reference.shared_places import SharedPlace, _Text, shared_places

WEATHER = (
    "It had rained for days, and the wind from the hills had not let up since the first of May."
)
MILL = "[The mill|1 entity=place] stood near [an old bridge|2 entity=place]."
BOTH = "[The mill|1 entity=place] burned, and [the old bridge|2 entity=place] fell."
TEXT = f"{WEATHER} / {MILL} / {BOTH} / Nobody came. / So it went."


def discourse(text: str = TEXT, salience: str = "1:5 2:1", **meta: str) -> Discourse:
    """A document with graded salience."""
    return annotated(text, id="a", meta={"salience": salience, "summaries": "human", **meta})


def places(text: str = TEXT, **meta: str) -> dict[int, SharedPlace]:
    return {one.unit: one for one in shared_places(discourse(text, **meta), Context())}


def test_a_place_is_the_beginning_of_a_sentence() -> None:
    found = places()
    assert list(found) == [2, 3, 4]
    place = found[3]
    texts = discourse().texts
    assert place.document == " ".join(texts[:3])
    assert place.near == texts[2]
    assert [one.text for one in (place.salient, place.other)] == ["The mill", "The old bridge"]
    assert [one.summaries for one in (place.salient, place.other)] == [5, 1]
    assert [one.mentions for one in (place.salient, place.other)] == [2, 2]
    assert [one.distance for one in (place.salient, place.other)] == [1, 1]
    assert (place.next, place.in_title, place.entity) == (0, False, "place")
    # The text before the second sentence has one mention of each, of which the other's is said
    # with the article of what is known.
    assert found[2].other.text == "The old bridge"
    assert found[2].words_before == len(WEATHER.split())


def test_what_the_text_mentions_next_is_said() -> None:
    assert places(f"{TEXT} / [The mill|1 entity=place] is gone.")[5].next == 1
    assert places(f"{TEXT} / [The old bridge|2 entity=place] is gone.")[5].next == -1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"text": TEXT.replace("2 entity=place", "2 entity=object")}, "another type or number"),
        ({"text": TEXT.replace("[the old bridge|2", "[it|2 pronoun")}, "another form"),
        ({"text": TEXT.replace("old bridge|2", "old bridge|2 function=nsubj")}, "another role"),
        ({"text": TEXT.replace("The mill|1", "The old mill|1")}, "a word in common"),
        ({"text": TEXT.replace(".", ":")}, "begins no sentence"),
    ],
)
def test_what_is_not_as_given_has_no_place(changes: dict[str, str], reason: str) -> None:
    # At the place behind the first mentions both are given alike, but for what all mentions share.
    context = Context()
    found = [one.unit for one in shared_places(discourse(**changes), context)]
    assert set(found) <= {2}
    if not found:
        assert any(reason in one for one in context.skipped), context.skipped
    text = _Text(discourse(**changes))
    assert reason in (text.unlike("1", "2") or _missing(text))


def _missing(text: _Text) -> str:
    try:
        text.place("1", "2", 4)
    except NotApplicableError as reason:
        return str(reason)
    return ""


def test_less_of_a_difference_is_none() -> None:
    context = Context()
    assert not list(shared_places(discourse(salience="1:3 2:1"), context))
    assert not context.skipped


def test_about_as_often_and_as_recently() -> None:
    again = " / ".join(["[The mill|1 entity=place] stood."] * 4)
    text = f"{WEATHER} / {MILL} / {again} / Nobody came. / So it went."
    assert list(places(text)) == [2, 3]
    later = f"{WEATHER} / {MILL} / {'He saw it. / ' * 4}[The mill|1 entity=place] stood. / He left."
    assert list(places(later)) == [2, 3, 4, 5, 6]


def test_a_title_is_said() -> None:
    headed = f"[The mill|1 entity=place] / {TEXT}"
    assert all(place.in_title for place in places(headed, headings="0").values())
    assert not places(headed, headings="0")[4].document.startswith("The mill")


def test_documents_without_summaries_are_counted() -> None:
    context = Context()
    assert list(given_partners(discourse(salience=""), context)) == []
    assert context.skipped == {"no summaries of the document": 1}


def test_a_pair_has_one_item_at_the_nearest_place() -> None:
    partners = list(given_partners(discourse(), Context()))
    (couple,) = couple_equally_given(partners, Context())
    assert couple.first.parts[1] == "The mill"
    assert couple.second.parts[1] == "The old bridge"
    assert couple.first.columns["place"].salient.distance == 1


def test_gum_grades_salience() -> None:
    sample = sample_of(corpus("gum"))
    assert sample is not None
    meta = {one.id: one.meta for one in read(sample)}
    assert meta["SAMPLE_fiction_ferry"]["salience"] == "1:5 8:4 6:3"
    assert meta["SAMPLE_fiction_ferry"]["summaries"] == "human"
    assert "summaries" not in meta["SAMPLE_fiction_goat"]


def test_the_sample(built_sample: Sample) -> None:
    folder, _ = built_sample(SUITE.name)
    found = rows(folder, "sample_given")
    assert found
    for row in found:
        texts = {
            c["condition_name"]: [r["content"] for r in c["regions"]] for c in row["conditions"]
        }
        for whose in ("salient", "other"):
            document, near = texts[f"document_{whose}"], texts[f"near_{whose}"]
            assert document[0].endswith(near[0])
            assert document[1:] == near[1:]
        assert texts["document_salient"][0] == texts["document_other"][0]
        assert row["summaries"][0] - row["summaries"][1] >= 3


def test_the_real_documents(real_build: Callable[[str, str], Path]) -> None:
    found = rows(real_build("salience", "gum"), "gum_given")
    assert len(found) == 94
    assert sum(not row["in_title"] for row in found) == 54
    for column in ("mentions_before", "distance_sentences"):
        sides = [side(row[column][0] - row[column][1]) for row in found]
        assert abs(sum(sides)) <= 1, column
    following = Counter(row["next"] for row in found)
    assert abs(following["salient"] - following["other"]) <= 1
