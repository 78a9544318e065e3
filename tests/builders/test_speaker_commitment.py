"""Speaker commitment: the same two utterances with and without a change of speaker."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import TEXTS
from support.suites import Sample, build_from, rows

from coherencegym.builders.pipeline.build import generate_items
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.speaker_commitment import SUITE, Interaction, has_label
from coherencegym.loaders.corpora.dialogues import NLI_LABELS
from coherencegym.loaders.corpus import NEVER_RUN
from coherencegym.loaders.discourse import Discourse, HumanJudgement, Unit
from coherencegym.manipulations.operator import Context

INTERACTION, CONTRADICTION = SUITE.configs[:2]
KINDS = ("contradiction", "entailment", "neutral")


def pair(*texts: str, label: str = "negative") -> Discourse:
    meta = {name: f"the {name}" for name in CONTRADICTION.columns} | {
        "split": "test",
        "label": label,
    }
    return Discourse(
        "p1", "test", tuple(map(Unit, texts)), judgements=(HumanJudgement(None, label),), meta=meta
    )


@pytest.fixture(scope="module")
def built(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    return built_sample(SUITE.name)


def test_an_item_is_the_same_pair_with_and_without_separator() -> None:
    (made,) = CONTRADICTION.generator(pair("I am a nurse.", "I am a cook."), Context())
    item = made.item
    assert item.item_id == "p1/same_speaker"
    change, same = item.conditions
    assert (change.condition_name, same.condition_name) == ("speaker_change", "same_speaker")
    assert change.content == "I am a nurse. [SEP] I am a cook."
    assert same.content == "I am a nurse. I am a cook."
    assert [region.content for region in change.regions] == ["I am a nurse. [SEP]", "I am a cook."]
    assert [region.content for region in same.regions] == ["I am a nurse.", "I am a cook."]
    (prediction,) = item.predictions
    assert prediction.formula == "(2;%same_speaker%) > (2;%speaker_change%)"
    assert prediction.metric == "mean"
    assert item.extra["triple2"] == "the triple2"
    (edit,) = item.edits
    assert (edit.condition_name, edit.after) == ("speaker_change", " [SEP]")


@given(st.tuples(TEXTS, TEXTS))
def test_conditions_differ_in_the_separator_alone(texts: tuple[str, str]) -> None:
    (made,) = CONTRADICTION.generator(pair(*texts), Context())
    change, same = made.item.conditions
    assert change.content.count("[SEP]") == 1
    assert change.content.replace(" [SEP]", "") == same.content == " ".join(texts)
    assert change.regions[1] == same.regions[1]
    assert made.views["speaker_change"] == made.views["same_speaker"] == texts


def test_a_text_with_the_separator_is_skipped_and_counted_once() -> None:
    discourses = [pair("A [SEP] token.", "B."), pair("A.", "B.")]
    generated, skipped = generate_items(CONTRADICTION.generator, discourses, seed=0, suite="s")
    assert len(generated) == 1
    assert skipped == {"the text itself contains [SEP]": 1}
    context = Context()
    assert list(CONTRADICTION.generator(discourses[0], context)) == []
    assert context.skipped == {"the text itself contains [SEP]": 1}


def test_a_label_is_one_of_the_whole_discourse() -> None:
    assert has_label(pair("A.", "B."), "negative")
    assert not has_label(pair("A.", "B."), "neutral")
    part = Discourse(
        "d", "t", (Unit("A."),), judgements=(HumanJudgement(((0, 0, 1),), "negative"),)
    )
    assert not has_label(part, "negative")


def test_every_config_has_the_pairs_of_its_label(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    assert list(manifest["configs"]) == [
        "sample_interaction",
        "sample_contradiction",
        "sample_neutral",
        "sample_entailment",
    ]
    assert [e["default"] for e in manifest["configs"].values()] == [True, False, False, False]
    ids = set()
    for name, entry in list(manifest["configs"].items())[1:]:
        read = rows(folder, name)
        assert len(read) == entry["splits"]["test"]["rows"] == 60
        assert entry["skipped"] == {"test": {}}  # the pairs of other labels are no loss
        assert entry["separator"]
        assert entry["operators"] == "speaker_change: SpeakerSeparator(); same_speaker: unchanged"
        for row in read:
            assert f"sample_{NLI_LABELS[row['label']]}" == name
            ids.add(row["item_id"])
    assert len(ids) == 180


def test_an_interaction_has_each_second_utterance_on_both_sides(
    built: tuple[Path, dict[str, Any]],
) -> None:
    controls: list[str] = []
    lengths = []
    for row in rows(built[0], "sample_interaction"):
        texts = {c["condition_name"]: c["regions"] for c in row["conditions"]}
        assert len(texts) == 6
        for kind in KINDS:
            same, change = texts[f"{kind}_same_speaker"], texts[f"{kind}_speaker_change"]
            assert same[1] == change[1]
            assert f"{same[0]['content']} [SEP]" == change[0]["content"]
        assert [p["formula"] for p in row["predictions"]] == [
            f"(2;%contradiction_same_speaker%) + (2;%{kind}_speaker_change%) > "
            f"(2;%contradiction_speaker_change%) + (2;%{kind}_same_speaker%)"
            for kind in ("entailment", "neutral")
        ]
        controls += [row["entailment"], row["neutral"]]
        lengths.append([len(texts[f"{kind}_same_speaker"][1]["content"].split()) for kind in KINDS])
    assert len(set(controls)) == len(controls) == 120
    # The shortest stand with the shortest: no other pairing has smaller differences.
    assert list(zip(*sorted(lengths), strict=True)) == [
        tuple(sorted(own)) for own in zip(*lengths, strict=True)
    ]


def test_what_uses_up_the_controls_leaves_the_others_without() -> None:
    pairs = [replace(pair(f"I am {i}.", "I am not."), id=f"c{i}") for i in range(3)]
    control = replace(pair("I am.", "So I am.", label="positive"), id="e")
    generator = Interaction().fit([*pairs, control], Context(1, "s"), Fits())
    context = Context(1, "s")
    made = [item for one in (*pairs, control) for item in generator(one, context)]
    assert [one.item.extra["entailment"] for one in made] == ["e"]
    assert context.skipped == {"no control is left": 2}


def test_the_partial_input_score_is_chance_by_construction(
    built: tuple[Path, dict[str, Any]],
) -> None:
    for entry in built[1]["configs"].values():
        quality = entry["quality"]["test"]
        assert quality["partial_input"][0]["score"] == 0.5
        assert quality["length_difference"]["mean_absolute"] == 0


def test_the_card_shows_the_separator_and_names_the_controls(
    built: tuple[Path, dict[str, Any]],
) -> None:
    card = (built[0] / "README.md").read_text()
    assert "I work as a nurse at the children's hospital downtown. **\\[SEP\\]** " in card
    assert "Read `sample_contradiction` beside `sample_neutral`, `sample_entailment`: " in card


def test_the_manifest_names_the_controls_of_the_same_corpus(
    built: tuple[Path, dict[str, Any]],
) -> None:
    assert {name: entry["controls"] for name, entry in built[1]["configs"].items()} == {
        "sample_interaction": [],
        "sample_contradiction": ["sample_neutral", "sample_entailment"],
        "sample_neutral": [],
        "sample_entailment": [],
    }


def test_a_control_must_be_another_config_of_the_suite() -> None:
    for wrong in ("contradiction", "neither"):
        config = replace(CONTRADICTION, controls=(wrong,))
        with pytest.raises(ValueError, match=f"'{wrong}', a control of 'contradiction'"):
            replace(SUITE, configs=(INTERACTION, config, *SUITE.configs[2:]))


def test_the_verified_set_as_its_authors_give_it(tmp_path: Path) -> None:
    """One array on one line, tokenised lower-case text, no ids."""
    folder = tmp_path / "dnli" / "dialogue_nli"
    folder.mkdir(parents=True)
    records = [
        {
            "label": label,
            "sentence1": f"i ' m a nurse , number {i} .",
            "sentence2": "i don ' t work .",
            "triple1": ["i", "has_profession", "nurse"],
            "triple2": ["i", "job_status", "unemployed"],
            "dtype": "e2swap_up",
            "annotation1": label,
        }
        for i, label in enumerate(["negative", "neutral", "negative"])
    ]
    (folder / "dialogue_nli_verified_test.jsonl").write_text(json.dumps(records))
    out = tmp_path / "out"
    out.mkdir()
    manifest = build_from(SUITE, "dialoguenli", out, data_dir=tmp_path / "dnli")
    assert list(manifest["configs"]) == [
        "dialoguenli_interaction",
        "dialoguenli_contradiction",
        "dialoguenli_neutral",
    ]
    # Of two contradictions one has the only control, which is neutral.
    interaction = manifest["configs"]["dialoguenli_interaction"]
    assert interaction["skipped"] == {"verified_test": {"no control is left": 1}}
    (row,) = rows(out, "dialoguenli_interaction", "verified_test")
    assert row["entailment"] == ""
    assert [prediction["groups"] for prediction in row["predictions"]] == [["neutral"]]
    first, second = rows(out, "dialoguenli_contradiction", "verified_test")
    assert first["conditions"][0]["content"] == "i'm a nurse, number 0. [SEP] i don't work."
    assert second["item_id"] == "verified_test-000003/same_speaker"
    assert first["origin"] == "utterance, persona"
    # The third label is not in the file, so its config is not there, and the card does not name it.
    card = (out / "README.md").read_text()
    assert "Read `dialoguenli_contradiction` beside `dialoguenli_neutral`: the difference" in card
    assert "dialoguenli_entailment" not in card
    assert not manifest["configs"]["dialoguenli_neutral"]["republishable"]
    assert manifest["configs"]["dialoguenli_neutral"]["corpus"]["proven"] == NEVER_RUN
