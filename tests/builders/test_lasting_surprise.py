"""The suite lasting_surprise: what follows is the same, after three versions of one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.suites import Sample, rows

from coherencegym.builders.lasting_surprise import CURVES, SUITE, DeniedStatements, Intruders
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.eval.kinds.items import Item
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.manipulations.operator import Context

SAID = (
    *(
        "hello there.",
        "my sister is a doctor. do you travel?",
        "sometimes.",
        "lovely. we ski a lot in winter.",
    ),
    "that is nice.",
    *("oh really.", "yes, it is fun.", "is it far?", "not at all.", "i see."),
)


def dialogue(*texts: str) -> Discourse:
    """A dialogue of two people who speak by turns."""
    units = tuple(Unit(text, speaker="ab"[n % 2]) for n, text in enumerate(texts))
    return Discourse("d", "personachat", units)


def contents(item: Item, condition: str) -> list[str]:
    """The regions of a condition."""
    return [region.content for region in item.condition(condition).regions]


def test_a_denial_takes_the_place_of_a_sentence() -> None:
    (one,) = DeniedStatements()(dialogue(*SAID[:9]), Context())
    made = {name: contents(one.item, name) for name in ("original", "manipulated", "left_out")}
    before = " [SEP] ".join((*SAID[:3], "lovely."))
    assert made["original"][:2] == [before, "we ski a lot in winter. [SEP]"]
    assert made["manipulated"][:2] == [before, "my sister is not a doctor. [SEP]"]
    assert made["left_out"][:2] == [f"{before} [SEP]", ""]
    following = [*(f"{text} [SEP]" for text in SAID[4:8]), SAID[8]]
    assert {tuple(regions[2:]) for regions in made.values()} == {tuple(following)}
    assert one.item.item_id == "d/0-8/manipulated"
    assert one.item.discourse_id == "d"
    assert one.item.extra == {"statement": "my sister is a doctor.", "distance": 2}
    # Nothing tells the conditions apart but what stands before.
    assert len(set(one.views.values())) == 1


@pytest.mark.parametrize(
    ("later", "reason"),
    [
        ("is that so?", "ends in a statement"),
        ("we ski a lot in winter.", "several sentences"),
        ("lovely. we ski.", "ends in a statement"),  # too short
        ("lovely. do you ski a lot.", "ends in a statement"),  # a question without its mark
        ("lovely. we all ski with the doctor.", "says more about the subject"),
    ],
)
def test_only_a_statement_behind_another_sentence_is_replaced(later: str, reason: str) -> None:
    context = Context()
    texts = (*SAID[:3], later, *SAID[4:9])
    assert not list(DeniedStatements()(dialogue(*texts), context))
    ((found, number),) = context.skipped.items()
    assert reason in found
    assert number == 1


def test_a_negation_denies_one_clause_only() -> None:
    context = Context()
    texts = (SAID[0], "my sister is a doctor and i ski.", *SAID[2:9])
    assert not list(DeniedStatements()(dialogue(*texts), context))
    assert context.skipped == {"statement with a second clause": 1}


def test_a_dialogue_that_ends_soon_has_fewer_predictions() -> None:
    without_stop = "lovely. we ski a lot in winter"
    (one,) = DeniedStatements()(dialogue(*SAID[:3], without_stop, *SAID[4:7]), Context())
    assert contents(one.item, "original")[1:] == [
        "we ski a lot in winter. [SEP]",
        *(f"{text} [SEP]" for text in SAID[4:6]),
        SAID[6],
    ]
    assert [c.region for c in one.contrasts] == [3, 4, 5, 3, 4, 5, 2]
    assert {len(view) for view in one.views.values()} == {5}
    assert not list(DeniedStatements()(dialogue(*SAID[:6]), Context()))


def test_a_statement_is_denied_once_and_an_utterance_has_one_denial() -> None:
    more = (*SAID[:2], "oh.", SAID[3], "my brother is a lawyer.", "right. it rained all day.")
    items = [one.item for one in DeniedStatements()(dialogue(*more, *SAID[4:9]), Context())]
    assert len(items) == len({one.extra["statement"] for one in items}) == 1
    both = (SAID[0], "my sister is a doctor. my old car is bright red.", *more[2:])
    items = [one.item for one in DeniedStatements()(dialogue(*both, *SAID[4:9]), Context())]
    assert {one.extra["distance"] for one in items} == {2, 4}
    assert len({one.extra["statement"] for one in items}) == 2


def test_each_distance_has_two_predictions() -> None:
    last, first = CURVES[4:6]
    assert last.formula == "(7;%manipulated%) > (7;%left_out%)"
    assert last.groups == ("against left out, sentence 5", "against left out")
    assert first.formula == "(3;%manipulated%) > (3;%original%)"
    assert first.groups == ("against original, sentence 1", "against original")


def document(subject: str) -> Discourse:
    """A document of 18 sentences, the first of which has no end."""
    ends = ("", *"." * 17)
    units = tuple(
        Unit(f"{subject} of kind {n} are {n} years old{end}") for n, end in enumerate(ends)
    )
    return Discourse(subject, "documents", units)


def test_an_intruder_is_followed_by_five_sentences() -> None:
    texts, context = [document(one) for one in ("Ships", "Mills", "Trams")], Context()
    generator = Intruders().fit(texts, context, Fits())
    items = [one.item for text in texts for one in generator(text, context)]
    assert 3 <= len(items) <= 6
    for item in items:
        original, manipulated, left_out = (
            contents(item, name) for name in ("original", "manipulated", "left_out")
        )
        assert original[0] == manipulated[0] == left_out[0]
        assert original[2:] == manipulated[2:] == left_out[2:]
        assert len(original) == 7
        assert left_out[1] == ""
        assert manipulated[1].split()[0] != original[1].split()[0]
        assert item.discourse_id == item.item_id.split("/")[0]
    # Windows do not overlap, nor have a sentence without its end.
    extents = Intruders().wanted(texts[0], Context())
    places = [place for first, end in extents for place in range(first, end)]
    assert len(places) == len(set(places)) >= 8
    assert 0 not in places


def test_the_sample_has_both(built_sample: Sample) -> None:
    folder, manifest = built_sample(SUITE.name)
    assert set(manifest["configs"]) == {"sample_intruder", "sample_contradiction"}
    for config in manifest["configs"]:
        made = rows(Path(folder), config)
        assert len(made) >= 3
        for row in made:
            first, *others = (
                [region["content"] for region in condition["regions"]][2:]
                for condition in row["conditions"]
            )
            assert others == [first, first]
