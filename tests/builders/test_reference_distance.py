"""The suite of reference distance: cuts of the text before a mention."""

from __future__ import annotations

from typing import Any

import pytest
from support.marked_texts import annotated
from support.suites import Sample, rows

from coherencegym.builders.reference_distance import (
    AGAINST_FULL,
    FULL,
    KEPT,
    LENGTHS,
    LOST,
    SUITE,
    CutsInFullContext,
)
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.antecedent_cuts import (
    DIFFERENCE,
    TOLERANCE,
    antecedent_cuts,
    context_cuts,
)

FILLER = " / ".join(f"Nobody knew why the road to the {n} mill was closed." for n in "abcdefgh")
OPENING = "The snow fell early. / [Ann Lee|1 proper entity=person] left the old town by coach."
TEXT = f"{OPENING} / {FILLER} / Then the gate fell and [Ann Lee|1 proper entity=person] came in."


def cut(text: str, **settings: Any) -> tuple[list[Any], Context]:
    """The cuts at 64 words of a marked text, and what was counted."""
    context = Context()
    return list(antecedent_cuts(annotated(text, **settings), 64, context)), context


def test_the_two_texts_differ_in_their_first_sentences() -> None:
    (one, *_), _ = cut(TEXT)
    assert one.kept.texts[0] == "Ann Lee left the old town by coach."
    assert one.kept.texts[1:] == one.lost.texts[-one.shared :]
    assert not any("Ann" in text for text in one.lost.texts[:-1])
    assert one.way["form"] == "name"
    assert one.way["distance_sentences"] == 9
    assert one.way["earlier_mentions"] == one.way["same_words_before"] == 1
    assert one.distant.words == 6 + 8 * 11 + 5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (TEXT.replace("the d mill", "the [Lee|1 proper] mill"), "an antecedent within the cut"),
        (TEXT.replace("the h mill", "the Lee mill"), "a word of its name within the cut"),
        (TEXT.replace("The snow fell early. / ", ""), "antecedent in the first sentence"),
        (TEXT.replace("left the old town", "left, uh, the"), "English of the antecedent's"),
        (TEXT.replace("Ann Lee|1 proper", "she|1"), "no name or noun phrase before it"),
        (TEXT.replace("Then the gate", "b: Then the gate"), "another speaker"),
    ],
)
def test_mentions_that_are_left_out(text: str, reason: str) -> None:
    found, context = cut(text)
    assert not found
    assert any(told.startswith(reason) for told in context.skipped), context.skipped


def test_headings_are_in_neither_text() -> None:
    found, _ = cut(TEXT, meta={"headings": "5"})
    assert found
    assert not any("the d mill" in one.lost.text + one.kept.text for one in found)


LONG = TEXT.replace(FILLER, f"{FILLER} / {FILLER} / {FILLER} / {FILLER}")


def test_all_of_the_text_before_a_mention_and_its_cuts() -> None:
    context = Context()
    (one,) = context_cuts(annotated(LONG), (64, 128, 256, 512), 128, context)
    assert one.full.texts == annotated(LONG).texts
    # The antecedent is 363 words away.
    assert one.distant.words == 6 + 32 * 11 + 5
    assert list(one.lost) == [64, 128, 256]
    assert list(one.kept) == [64, 128, 256]
    for words, lost in one.lost.items():
        kept = one.kept[words]
        assert lost.texts == one.full.texts[-len(lost.texts) :]
        assert kept.texts[0] == "Ann Lee left the old town by coach."
        assert kept.texts[1:] == one.full.texts[-len(kept.texts) + 1 :]
        lengths = [len(text.text.split()) - 2 for text in (lost, kept)]
        assert all(abs(length - words) <= TOLERANCE * words for length in lengths)
        assert abs(lengths[0] - lengths[1]) <= DIFFERENCE


@pytest.mark.parametrize(
    ("text", "settings", "reason"),
    [
        (LONG, {"meta": {"headings": "1"}}, "antecedent in a heading"),
        (LONG.replace("The snow", "b: The snow"), {}, "another speaker"),
        (TEXT, {}, "an antecedent within the cut"),
    ],
)
def test_full_texts_that_are_left_out(text: str, settings: Any, reason: str) -> None:
    context = Context()
    assert not list(context_cuts(annotated(text, **settings), (64, 128), 128, context))
    assert context.skipped[reason] == 1


def test_a_cut_with_a_name_of_the_referent_ends_the_lengths() -> None:
    # Eight sentences, 93 words, before the mention.
    sentences = LONG.split(" / ")
    sentences[-9] = "Nobody knew why the road to the Lee mill was closed."
    text, context = annotated(" / ".join(sentences)), Context()
    (one,) = context_cuts(text, (64, 128, 256), 64, context)
    assert list(one.lost) == [64]
    assert not list(context_cuts(text, (64, 128, 256), 128, context))
    assert context.skipped["a word of its name within the cut"] == 1


def test_an_item_has_the_predictions_of_its_lengths() -> None:
    (item,) = CutsInFullContext(64)(annotated(LONG), Context())
    groups = [prediction.groups for prediction in item.item.predictions]
    assert groups[0] == (f"{AGAINST_FULL}, words 64", AGAINST_FULL)
    assert len(groups) == 9
    names = {condition.condition_name for condition in item.item.conditions}
    assert {FULL, f"{LOST}_256", f"{KEPT}_64"} < names
    assert f"{LOST}_512" not in names
    assert item.item.extra["distance_tokens"] > item.item.extra["distance_words"]
    assert len(set(item.views.values())) == 1


def test_the_sample(built_sample: Sample) -> None:
    folder, manifest = built_sample(SUITE.name)
    assert list(manifest["configs"]) == ["sample_64", "sample_full_64"]
    found = rows(folder, "sample_64")
    longer = 0
    for row in found:
        lost, kept = ([r["content"] for r in c["regions"]] for c in row["conditions"])
        assert [c["condition_name"] for c in row["conditions"]] == [LOST, KEPT]
        assert lost[1:] == kept[1:]
        lengths = [len(f"{one[0]} {one[1]}".split()) for one in (lost, kept)]
        assert abs(lengths[0] - lengths[1]) <= DIFFERENCE
        assert all(abs(n - LENGTHS[0]) <= TOLERANCE * LENGTHS[0] for n in lengths)
        longer += (lengths[0] > lengths[1]) - (lengths[0] < lengths[1])
    assert found
    assert abs(longer) <= 1
