"""The lexical-overlap baseline: which side repeats more of the words before it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.builders.release.quality import baseline_scores
from coherencegym.builders.suite import Contrast, GeneratedItem
from coherencegym.eval.kinds.items import Item, Region, joined_condition
from coherencegym.eval.statistics.overlap import content_words, cosine, overlap
from coherencegym.eval.statistics.pair_baselines import overlap_decisions


def condition(*regions: str, name: str = "c") -> Any:
    return joined_condition(name, [Region(i, text) for i, text in enumerate(regions, start=1)])


def test_content_words_are_stems_without_closed_classes() -> None:
    words = content_words("The boats didn't sail, and a boat that sailed was theirs: 12 boats.")
    assert words == {"boat": 3, "sail": 2, "12": 1}


def test_a_region_is_held_against_the_text_before_it() -> None:
    two = condition("A boat sailed.", "It was late.", "The boat sank.")
    assert overlap(two, 3) == pytest.approx(1 / math.sqrt(3 * 2))  # boat, sail, late; boat, sink
    assert overlap(two, 2) == 0


def test_a_stretch_that_begins_the_text_is_held_against_itself() -> None:
    text = "The boat sank. A boat burned. It rained."
    expected = (0.5 + 0) / 2
    assert overlap(condition(text), 1) == overlap(condition(text), "*") == pytest.approx(expected)
    assert overlap(condition("", text), 2) == pytest.approx(expected)
    assert overlap(condition("One sentence alone."), "*") == 0
    turns = condition("I saw a boat [SEP] what boat [SEP]")
    assert overlap(turns, "*") == pytest.approx(1 / math.sqrt(2))


def generated_item(
    number: int, contrasts: tuple[Contrast, ...], **conditions: tuple[str, ...]
) -> GeneratedItem:
    made = tuple(condition(*regions, name=name) for name, regions in conditions.items())
    predictions = tuple(c.prediction for c in contrasts)
    item = Item(f"d{number}/x", 0, made, predictions, f"d{number}", "t", extra={"even": True})
    return GeneratedItem(item, contrasts, dict.fromkeys(conditions, ("",)))


def test_the_side_that_repeats_more_is_called_coherent() -> None:
    contrasts = (Contrast("bad", "good", 2), Contrast("good", "bad", 2, groups=("wrong",)))
    generated = [
        generated_item(
            0, contrasts, good=("A boat.", "The boat sank."), bad=("A car.", "The boat sank.")
        ),
        generated_item(1, contrasts, good=("A hut.", "It burned."), bad=("A car.", "It burned.")),
    ]
    decisions = overlap_decisions(generated)
    assert [(d.prediction.groups, d.value) for d in decisions] == [
        ((), 1.0),
        (("wrong",), 0.0),
        ((), 0.5),
        (("wrong",), 0.5),
    ]
    (score,) = baseline_scores(decisions, ["wrong"])
    assert (score["group"], score["score"]) == ("wrong", 0.25)


def test_of_an_interaction_both_sides_are_added_up() -> None:
    contrast = Contrast(("c", "d"), ("a", "b"), 2, "sum")
    texts = {
        "a": ("A boat.", "The boat sank."),
        "b": ("A hut.", "It burned."),
        "c": ("A boat.", "It burned."),
        "d": ("A hut.", "The boat sank."),
    }
    (decision,) = overlap_decisions([generated_item(0, (contrast,), **texts)])
    assert decision.value == 1.0


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 9)),
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 9)),
)
def test_cosines_are_symmetric_and_at_most_one(one: dict[str, int], other: dict[str, int]) -> None:
    assert cosine(one, other) == pytest.approx(cosine(other, one))
    assert 0 <= cosine(one, other) <= 1 + 1e-12
    assert cosine(one, one) == pytest.approx(1 if one else 0)
