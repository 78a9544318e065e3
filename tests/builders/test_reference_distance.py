"""The suite of reference distance: cuts of the text before a mention."""

from __future__ import annotations

from typing import Any

import pytest
from support.marked_texts import annotated
from support.suites import Sample, rows

from coherencegym.builders.reference_distance import KEPT, LENGTHS, LOST, SUITE
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.antecedent_cuts import (
    DIFFERENCE,
    TOLERANCE,
    antecedent_cuts,
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
    far = one.distant
    assert (far.form, far.sentences, far.earlier, far.repeated) == ("name", 9, 1, 1)
    assert far.words == 6 + 8 * 11 + 5


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


def test_the_sample(built_sample: Sample) -> None:
    folder, manifest = built_sample(SUITE.name)
    assert list(manifest["configs"]) == ["sample_64"]
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
