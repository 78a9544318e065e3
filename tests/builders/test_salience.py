"""The salience suite: what a text is about against what is as given in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.marked_texts import annotated
from support.suites import Sample, rows

from coherencegym.builders.crossing.partners import Partner
from coherencegym.builders.salience import SUITE, couple_equally_given, given_partners
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus, sample_of
from coherencegym.manipulations.operator import Context

WEATHER = (
    "It had rained for days, and the wind from the hills had not let up since the first of May."
)
TEXT = f"{WEATHER} / [The mill|1 entity=place] stood empty. / [The mill|1 entity=place] burned."


def discourse(salience: str, name: str, text: str = TEXT, **meta: str) -> Discourse:
    """A document with graded salience."""
    about = {"salience": salience, "summaries": "human", **meta}
    return annotated(text, id=name, meta=about)


def coupled(*discourses: Discourse) -> list[tuple[str, str]]:
    """The documents of the couples: of the salient mention, and of the other one."""
    partners: list[Partner] = [p for one in discourses for p in given_partners(one, Context())]
    couples = couple_equally_given(partners, Context())
    return [(one.first.discourse.id, one.second.discourse.id) for one in couples]


def test_a_salient_mention_is_coupled_with_one_as_given() -> None:
    salient, other = discourse("1:5", "a"), discourse("2:5", "b")
    assert coupled(salient, other) == [("a", "b")]


def test_what_is_not_as_given_is_not_coupled() -> None:
    salient = discourse("1:5", "a")
    unlike: dict[str, dict[str, Any]] = {
        "type": {"text": TEXT.replace("entity=place", "entity=person")},
        "form": {"text": TEXT.replace("|1 entity", "|1 proper entity")},
        "as salient": {"salience": "1:3"},
        "title": {"headings": "1"},
        "summaries": {"summaries": "mixed"},
        "role": {"text": TEXT.replace("|1 entity", "|1 function=nsubj entity")},
    }
    for name, changes in unlike.items():
        assert coupled(salient, discourse(**{"salience": "2:5", "name": "b", **changes})) == [], (
            name
        )


def test_documents_without_summaries_are_counted() -> None:
    context = Context()
    assert list(given_partners(discourse("", "a"), context)) == []
    assert context.skipped == {"no summaries of the document": 1}


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
    assert len(found) == 3
    for row in found:
        texts = {
            c["condition_name"]: [r["content"] for r in c["regions"]] for c in row["conditions"]
        }
        for whose in ("salient", "other"):
            document, near = texts[f"document_{whose}"], texts[f"near_{whose}"]
            assert document[0].endswith(near[0])
            assert document[1:] == near[1:]
        assert row["summaries"][0] - row["summaries"][1] >= 3


def test_two_mentions_of_one_sentence_are_not_coupled() -> None:
    """The text up to the end of the sentence is the same, whichever of them it is about."""
    (salient,) = given_partners(discourse("1:5", "a"), Context())
    (other,) = given_partners(discourse("2:5", "b"), Context())
    assert len(couple_equally_given([salient, other], Context())) == 1
    of_one = [salient, replace(other, discourse=salient.discourse)]
    assert couple_equally_given(of_one, Context()) == []
