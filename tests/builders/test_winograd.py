"""The Winograd suite: two substitutions of one text, three regions, one of them maybe empty."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.suites import Sample, build_from, rows

from coherencegym.builders.winograd import SUITE
from coherencegym.cards.render import dataset_card
from coherencegym.eval.kinds.items import ITEMS, Item
from coherencegym.loaders.discourse import Alternative, Discourse, Unit
from coherencegym.manipulations.operator import Context

FULL, PARTIAL, *_ = SUITE.configs


def generated(discourse: Discourse) -> list[Any]:
    return list(FULL.generator(discourse, Context()))


def schema(text: str, pronoun: str, *options: str) -> Discourse:
    start = text.index(pronoun)
    place = Alternative(((0, start, start + len(pronoun)),), options, 0)
    return Discourse("d", "t", (Unit(text),), alternatives=(place,), meta={"family": "f"})


@pytest.fixture(scope="module")
def built(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    """The suite built from the project's own schemas."""
    return built_sample(SUITE.name)


def test_both_conditions_are_substitutions() -> None:
    (one,) = generated(schema("Ann fed the cat until it slept.", "it", "The cat", "The dog"))
    target, distractor = one.item.conditions
    assert target.content == "Ann fed the cat until the cat slept."
    assert [r.content for r in target.regions] == ["Ann fed the cat until", "the cat", "slept."]
    assert [r.content for r in distractor.regions][1] == "the dog"
    assert one.item.item_id == "d/distractor"
    assert [edit.condition_name for edit in one.item.edits] == ["target", "distractor"]
    assert one.views == {"target": ("the cat",), "distractor": ("the dog",)}
    assert one.item.cluster == "f"
    assert FULL.generator.recipe == (
        "target: CandidateSubstitution(candidate='target'); distractor: CandidateSubstitution()"
    )


def test_a_candidate_at_the_start_leaves_an_empty_region_before_it() -> None:
    (one,) = generated(schema("It fell.", "It", "The cat", "The dog"))
    for condition in one.item.conditions:
        assert condition.regions[0].content == ""
        assert condition.region_offsets == ((0, 0), (0, 7), (8, 13))


def test_punctuation_follows_without_a_space() -> None:
    (one,) = generated(schema("I saw it.", "it", "the cat", "the dog"))
    target = one.item.conditions[0]
    assert [region.content for region in target.regions] == ["I saw", "the cat", "."]
    assert target.region_offsets == ((0, 5), (6, 13), (13, 14))
    assert one.item.extra == {"family": "f", "region3_words": 0, "region3_has_words": False}


def test_what_cannot_be_substituted_is_counted_once() -> None:
    context = Context()
    discourse = schema("He saw her mother.", "her", "Ann", "Bo")
    assert list(FULL.generator(discourse, context)) == []
    assert context.skipped == {"'her' may be object or possessive": 1}


def test_marks_are_no_words() -> None:
    (one,) = generated(schema('I said it "was" - late.', "it", "a", "b"))
    assert one.item.extra == {"family": "f", "region3_words": 2, "region3_has_words": True}


def test_the_sample(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    more = ["sample_crossed", "sample_familiarity", "sample_crossed_shuffled_context"]
    assert list(manifest["configs"]) == ["sample_full", "sample_partial", *more]
    full, partial = rows(folder, "sample_full"), rows(folder, "sample_partial")
    assert len(full) == len(partial) == 74
    for one, two in zip(full, partial, strict=True):
        assert one["conditions"] == two["conditions"]
        (before, a, after), (before2, b, after2) = (
            [region["content"] for region in condition["regions"]]
            for condition in one["conditions"]
        )
        assert (before, after) == (before2, after2)
        assert a != b
        assert one["region3_has_words"] == (after != ".") == (one["region3_words"] > 0)
    assert {(p["formula"], p["metric"]) for row in full for p in row["predictions"]} == {
        ("(*;%distractor%) > (*;%target%)", "mean"),
        ("(*;%distractor%) > (*;%target%)", "sum"),
    }
    assert {(p["formula"], p["metric"]) for row in partial for p in row["predictions"]} == {
        ("(3;%distractor%) > (3;%target%)", "mean")
    }
    groups = manifest["configs"]["sample_partial"]["splits"]["test"]["groups"]
    assert groups == {"region3_has_words=false": 2, "region3_has_words=true": 72}


def test_twins_are_one_family_in_the_rows(built: tuple[Path, dict[str, Any]]) -> None:
    items = [ITEMS.from_row(row) for row in rows(built[0], "sample_full")]
    assert len({item.discourse_id for item in items}) == 74
    families: dict[str, list[Item]] = {}
    for item in items:
        families.setdefault(item.cluster, []).append(item)
    assert len(families) == 37
    for one, two in families.values():
        # What is right in one twin is wrong in the other.
        target, distractor = (c.regions[1].content.lower() for c in one.conditions)
        assert [c.regions[1].content.lower() for c in two.conditions] == [distractor, target]


def test_only_full_reports_length(built: tuple[Path, dict[str, Any]]) -> None:
    configs = built[1]["configs"]
    confounded = [name for name in configs if configs[name]["length_confound"]]
    assert confounded == ["sample_full", "sample_familiarity"]
    card = dataset_card(built[1])
    assert "the manipulation changes the length of the scored text" in card


def test_the_candidate_gives_nothing_away_where_schemas_are_twins(
    built: tuple[Path, dict[str, Any]],
) -> None:
    """Right in one twin is wrong in the other, so that any rule for candidates is half right.

    With twins on both sides of a fold the classifier would learn each answer's opposite.
    """
    configs = built[1]["configs"]
    for entry in (configs[name] for name in configs if not name.endswith("familiarity")):
        for score in entry["quality"]["test"]["partial_input"]:
            assert score["score"] == 0.5


def test_the_card_marks_the_candidate(built: tuple[Path, dict[str, Any]]) -> None:
    card = dataset_card(built[1])
    assert "> *target*: The violin would not go into the suitcase, since the **violin**" in card
    assert "since the **suitcase**" in card


def test_the_real_collection_gives_273_items_in_each_config(shared: Path, tmp_path: Path) -> None:
    data = shared / "corpora" / "winograd"
    manifest = build_from(SUITE, "winograd", tmp_path, data_dir=data)
    for config in ("winograd_full", "winograd_partial"):
        entry = manifest["configs"][config]
        assert entry["splits"]["test"]["rows"] == 273
        assert entry["skipped"] == {"test": {}}
        assert abs(entry["quality"]["test"]["partial_input"][0]["score"] - 0.5) < 0.02
    groups = manifest["configs"]["winograd_partial"]["splits"]["test"]["groups"]
    assert groups == {"region3_has_words=false": 18, "region3_has_words=true": 255}
    items = [ITEMS.from_row(row) for row in rows(tmp_path, "winograd_full")]
    assert Counter(Counter(item.cluster for item in items).values()) == {2: 115, 3: 1, 4: 8, 8: 1}
    texts = {
        row["discourse_id"]: [condition["content"] for condition in row["conditions"]]
        for row in rows(tmp_path, "winograd_full")
    }
    assert texts["wsc-001"][0].endswith("because the city councilmen feared violence.")
    assert texts["wsc-246"] == [
        "The woman held the girl against the girl's will.",
        "The woman held the girl against the woman's will.",
    ]
    assert texts["wsc-233"][0] == "Stretching the woman's back, the woman smiled at the girl."
    assert texts["wsc-005"][0].endswith("for all the help Joan had received.")
    assert texts["wsc-192"][0].endswith("there were simply too many of the chairs.")
    capital = re.compile(r"[^.!] The ")
    assert not [text for pair in texts.values() for text in pair if capital.search(text)]


def test_twins_that_are_one_text_when_filled_are_left_out(tmp_path: Path) -> None:
    schemas = [
        ("Ann met Bo at the old mill because _ liked Bo.", "1"),
        ("Ann met Bo at the old mill because Ann liked _.", "2"),
        ("Cy waited for Di for an hour, so _ was cold.", "1"),
        ("Cy waited for Di for an hour, so _ was sorry.", "2"),
    ]
    file = tmp_path / "winogrande" / "winogrande_1.1" / "dev.jsonl"
    file.parent.mkdir(parents=True)
    lines = []
    for number, (sentence, answer) in enumerate(schemas):
        one, two = ("Ann", "Bo") if number < 2 else ("Cy", "Di")
        record = {"qID": f"q{number}", "sentence": sentence, "answer": answer}
        lines.append(json.dumps(record | {"option1": one, "option2": two}) + "\n")
    file.write_text("".join(lines))
    manifest = build_from(SUITE, "winogrande", tmp_path / "out", data_dir=tmp_path)
    crossed = manifest["configs"]["winogrande_crossed"]
    assert crossed["splits"]["validation"]["rows"] == 1
    assert crossed["skipped"] == {"validation": {"two conditions have the same text": 1}}
