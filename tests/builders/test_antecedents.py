"""The antecedents suite: a mention without the sentence that introduces its referent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.marked_texts import annotated, told_by_somebody
from support.suites import Sample, rows

from coherencegym.builders.antecedents import SUITE
from coherencegym.cards.render import dataset_card, quality_json
from coherencegym.eval.data.source import read_manifest
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context

PRONOUN, PHRASE = SUITE.configs[:2]
TEXT = (
    "The mill stood empty for years. / The roof had come down in a storm. / "
    "[Ann Lee|1 proper entity=person] bought the bakery. / "
    "In May [she|1 entity=person] opened the doors."
)


def told(text: str) -> Discourse:
    """A document in each sentence of which there is somebody whom no mention can mean."""
    return told_by_somebody(annotated(text))


@pytest.fixture(scope="module")
def built(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    """The suite built from the project's own documents."""
    return built_sample(SUITE.name)


def test_an_item_has_the_same_mention_in_three_contexts() -> None:
    (one,) = PRONOUN.generator(told(TEXT), Context())
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
    (one,) = PRONOUN.generator(told(" / ".join((mill, ann, roof, she))), Context())
    assert one.item.extra["antecedent_first"] is True


def test_a_mention_may_begin_or_end_its_sentence() -> None:
    (one,) = PRONOUN.generator(told(TEXT.replace("In May [she", "[She")), Context())
    assert [r.content for r in one.item.conditions[0].regions][1:3] == ["", "She"]
    ending = TEXT.replace("[she|1 entity=person] opened the doors", "we saw [her|1 entity=person]")
    (one,) = PRONOUN.generator(told(ending), Context())
    assert [r.content for r in one.item.conditions[0].regions][2:] == ["her", "."]


def test_the_sample(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    counts = {name: entry["splits"]["test"]["rows"] for name, entry in manifest["configs"].items()}
    assert counts == {"sample_pronoun": 1, "sample_phrase": 3}
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
    assert found["SAMPLE_voyage_harbour/u6c0-4"][1] == (
        "The driver will stop wherever you ask him to. The fish market opens at five in the "
        "morning. They belong to nobody and are fed by everyone."
    )


def test_the_card(built: tuple[Path, dict[str, Any]]) -> None:
    card = dataset_card(built[1])
    assert "counts only predictions of the group `against control`" in card
    assert "no sentence that could be the control" in quality_json(built[1])


def test_the_real_documents(real_build: Callable[[str, str], Path]) -> None:
    folder = real_build("antecedents", "gum")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    entries = manifest["configs"]
    counts = {name: entry["splits"]["test"]["rows"] for name, entry in entries.items()}
    assert counts == {"gum_pronoun": 29, "gum_phrase": 12}
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
    found = {row["item_id"]: row for name in counts for row in rows(folder, name)}
    item = found["GUM_bio_fillmore/u42c7-9"]
    original, removed, control = (
        condition["regions"][0]["content"] for condition in item["conditions"]
    )
    # The neighbour mentions "different researchers", of another number.
    assert original.startswith("Over time, construction grammar developed into a research area")
    stand_in = "In FrameNet, words are described in terms of the frames they evoke."
    assert removed.startswith(stand_in)
    assert "Fillmore" not in removed
    assert control.startswith(stand_in)
    assert control.endswith("joined Berkeley's International Computer Science Institute.")


def test_the_real_novels(real_build: Callable[[str, str], Path]) -> None:
    folder = real_build("antecedents", "openboek")
    manifest = dict(read_manifest(folder / "manifest.json"))
    entries = manifest["configs"]
    counts = {name: entry["splits"]["test"]["rows"] for name, entry in entries.items()}
    assert counts == {"openboek_nl_pronoun": 74, "openboek_nl_phrase": 4}
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
