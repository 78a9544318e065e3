"""The antecedents suite: a mention without the sentence that introduces its referent."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.marked_texts import annotated
from support.suites import Sample, rows

from coherencegym.builders.antecedents import SUITE, count_tokens, count_words
from coherencegym.builders.crossing.partners import Balanced, side
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.cards.render import dataset_card
from coherencegym.eval.data.source import read_manifest
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.manipulations.operator import Context

PRONOUN, PHRASE = SUITE.configs[:2]
TEXT = (
    "The mill stood empty for years. / The roof had come down in a storm. / "
    "[Ann Lee|1 proper entity=person] bought the bakery. / "
    "In May [she|1 entity=person] opened the doors."
)


@pytest.fixture(scope="module")
def built(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    """The suite built from the project's own documents."""
    return built_sample(SUITE.name)


def test_an_item_has_the_same_mention_in_three_contexts() -> None:
    (one,) = PRONOUN.generator(annotated(TEXT), Context())
    item = one.item
    assert item.item_id == "d/u3c7-10"
    original, removed, control = item.conditions
    for condition in item.conditions:
        assert [r.content for r in condition.regions][1:] == ["In May", "she", "opened the doors."]
    mill, roof, ann = annotated(TEXT).texts[:3]
    assert original.regions[0].content == f"{roof} {ann}"
    assert removed.regions[0].content == f"{mill} {roof}"
    assert control.regions[0].content == f"{mill} {ann}"
    assert [(p.formula, p.metric, p.groups) for p in item.predictions] == [
        ("(3;%antecedent_removed%) > (3;%control_removed%)", "mean", ("against control",)),
        ("(3;%antecedent_removed%) > (3;%original%)", "mean", ("against original",)),
        (
            "(3;%antecedent_removed%) + (4;%antecedent_removed%) > "
            "(3;%control_removed%) + (4;%control_removed%)",
            "sum",
            ("rest of the sentence",),
        ),
    ]
    assert item.extra == {
        "mention": "she",
        "entity": "person",
        "number": "singular",
        "antecedent_first": False,
        "genre": "fiction",
    }
    # The scored text is the same: what a classifier may see is the sentence that differs.
    assert one.views["antecedent_removed"] == (roof,)
    assert one.views["control_removed"] == (ann,)


def test_a_sentence_in_between_is_said() -> None:
    mill, roof, ann, she = TEXT.split(" / ")
    (one,) = PRONOUN.generator(annotated(" / ".join((mill, ann, roof, she))), Context())
    assert one.item.extra["antecedent_first"] is True


def test_a_mention_may_begin_or_end_its_sentence() -> None:
    (one,) = PRONOUN.generator(annotated(TEXT.replace("In May [she", "[She")), Context())
    assert [r.content for r in one.item.conditions[0].regions][1:3] == ["", "She"]
    ending = TEXT.replace("[she|1 entity=person] opened the doors", "we saw [her|1 entity=person]")
    (one,) = PRONOUN.generator(annotated(ending), Context())
    assert [r.content for r in one.item.conditions[0].regions][2:] == ["her", "."]


def test_the_sample(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    counts = {name: entry["splits"]["test"]["rows"] for name, entry in manifest["configs"].items()}
    assert counts == {"sample_pronoun": 5, "sample_phrase": 2}
    for name in counts:
        for row in rows(folder, name):
            item = ITEMS.from_row(row)
            original, removed, control = (c.regions for c in item.conditions)
            assert original[1:] == removed[1:] == control[1:]
            assert len({regions[0].content for regions in (original, removed, control)}) == 3
            assert {edit.condition_name for edit in item.edits} == {
                "antecedent_removed",
                "control_removed",
            }
            assert all(edit.source_discourse == row["discourse_id"] for edit in item.edits)


def test_golden_items_of_the_sample(built: tuple[Path, dict[str, Any]]) -> None:
    found = {
        row["item_id"]: [condition["content"] for condition in row["conditions"]]
        for name in ("pronoun", "phrase")
        for row in rows(built[0], f"sample_{name}")
    }
    assert found["SAMPLE_voyage_lighthouse/u3c19-33"] == [
        "Tickets cost two crowns and are good for the whole day. A white tower with a green door "
        "stands where the rails end. Visitors may climb the lighthouse in summer.",
        "Warm clothes are as useful as tickets in every season. Tickets cost two crowns and are "
        "good for the whole day. Visitors may climb the lighthouse in summer.",
        "Warm clothes are as useful as tickets in every season. A white tower with a green door "
        "stands where the rails end. Visitors may climb the lighthouse in summer.",
    ]
    assert found["SAMPLE_news_flood/u5c0-2"][2] == (
        "The inhabitants of Lower Marsh have voted to move their village. Oskar Brandt, the oldest "
        "man in the village, voted against the plan. He said that he was too old to learn a new "
        "view."
    )


def test_neither_text_is_the_longer_one_too_often() -> None:
    def longer(text: str, number: int) -> list[int]:
        """The sides of the items that are chosen where so many documents have the same text."""
        documents = [replace(annotated(text), id=str(place)) for place in range(number)]
        generator = PRONOUN.generator
        assert isinstance(generator, Balanced)
        fitted = generator.fit(documents, Context(), Fits())
        generated = [one for document in documents for one in fitted(document, Context())]
        assert len({one.item.discourse_id for one in generated}) == len(generated)
        return sorted(
            side(count_words(removed.content) - count_words(control.content))
            for _, removed, control in (one.item.conditions for one in generated)
        )

    short = (
        "The roof had gone. / [Ann Lee|1 proper entity=person] bought the old bakery. / "
        "[She|1 entity=person] opened the doors. / The sign was green."
    )
    # The sentence with the antecedent is the longer one, but for another neighbour.
    assert longer(short, 5) == [-1]
    assert (
        longer(f"The mill by the river had stood empty for a year. / {short}", 5)
        == [-1] * 3 + [1] * 2
    )


def test_the_card(built: tuple[Path, dict[str, Any]]) -> None:
    card = dataset_card(built[1])
    assert "counts only predictions of the group `against control`" in card
    assert "no sentence that could be the control" in card
    assert "a bag of words of the one sentence that differs" in card


def test_the_real_documents(real_build: Callable[[str, str], Path]) -> None:
    folder = real_build("antecedents", "gum")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    entries = manifest["configs"]
    counts = {name: entry["splits"]["test"]["rows"] for name, entry in entries.items()}
    assert counts == {"gum_pronoun": 42, "gum_phrase": 11}
    skipped = entries["gum_pronoun"]["skipped"]["test"]
    for reason, least in {
        "not the first mention in its sentence": 900,
        "no sentence that could be the control": 150,
        "no noun phrase or name in an earlier sentence": 50,
        "the antecedent is more than 5 sentences away": 100,
        "continues a sentence that is left out": 50,
        "refers to a situation": 100,
        "the sentence has another possible antecedent": 10,
        "another pronoun refers to an earlier sentence": 10,
        "no sentence elsewhere that could be the stand-in": 4,
    }.items():
        assert skipped[reason] >= least, reason
    assert entries["gum_phrase"]["skipped"]["test"]["refers to something abstract"] > 1000
    for name in counts:
        texts = [[c["content"] for c in row["conditions"]] for row in rows(folder, name)]
        for measure in (count_words, count_tokens, len):
            longer = [side(measure(removed) - measure(control)) for _, removed, control in texts]
            assert abs(sum(longer)) <= 1
    found = {row["item_id"]: row for name in counts for row in rows(folder, name)}
    item = found["GUM_textbook_cognition/u50c0-3"]
    original, removed, control = (
        condition["regions"][0]["content"] for condition in item["conditions"]
    )
    assert original == (
        "A prototype is the best example or representation of a concept. For example, for the "
        "category of civil disobedience, your prototype could be Rosa Parks."
    )
    stand_in = "The human nervous system is capable of handling endless streams of information."
    assert removed.startswith(stand_in)
    assert "Parks" not in removed
    assert control.startswith(stand_in)
    assert control.endswith("Rosa Parks.")


def test_the_real_novels(real_build: Callable[[str, str], Path]) -> None:
    folder = real_build("antecedents", "openboek")
    manifest = dict(read_manifest(folder / "manifest.json"))
    entries = manifest["configs"]
    counts = {name: entry["splits"]["test"]["rows"] for name, entry in entries.items()}
    assert counts == {"openboek_nl_pronoun": 85, "openboek_nl_phrase": 8}
    skipped = entries["openboek_nl_pronoun"]["skipped"]["test"]
    for reason, least in {
        "no sentence that could be the control": 100,
        "pronoun before its noun phrase": 100,
        "pronoun that rarely refers to a noun": 20,
        "continues a sentence that is left out": 100,
    }.items():
        assert skipped[reason] >= least, reason
    found = {row["item_id"]: row for row in rows(folder, "openboek_nl_pronoun")}
    item = found["Nescio_DeUitvreter/0/u491c0-3"]
    assert [condition["content"] for condition in item["conditions"]][1:] == [
        "Wat moest ik doen? We waren toch allemaal uitvreters. Hij was nog zwaar van 't water.",
        "Wat moest ik doen? Ik haalde zijn jas. Hij was nog zwaar van 't water.",
    ]
    card = dataset_card(manifest)
    assert "language: nl\n" in card
