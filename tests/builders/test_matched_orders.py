"""Sentence order with matched orders: windows, columns, all splits at once, real corpora."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.suites import Sample, no_classifiers, rows

from coherencegym.__main__ import main
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.sentence_order import SUITE, MatchedOrders
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.manipulations.matched_order import MatchedOrder
from coherencegym.manipulations.operator import Context

NAMES = ("matched_narration", "matched_dialogue", "matched_documents")
ANY = MatchedOrder(caliper=1e9)


@pytest.fixture(scope="module")
def built(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    return built_sample(SUITE.name)


def chat(name: str, speakers: str, split: str = "test") -> Discourse:
    units = tuple(
        Unit(f"{word} says the number {name} {i}.", word) for i, word in enumerate(speakers)
    )
    return Discourse(name, "test", units, meta={"split": split})


def windows(generator: MatchedOrders, *discourses: Discourse) -> list[str]:
    fitted = generator.fit_corpus(discourses, Context(0, "s"), Fits())
    return [window.id for one in discourses for window in fitted.chosen.windows[one.id]]


def test_the_sample_through_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    no_classifiers(monkeypatch)
    out = tmp_path / "out"
    assert main(["build", "sentence_order", "--corpus", "sample", "--output", str(out)]) == 0
    assert "sample_matched_documents, test" in capsys.readouterr().out
    manifest = json.loads((out / "manifest.json").read_text())
    counts = {name: manifest["configs"][f"sample_{name}"]["splits"]["test"] for name in NAMES}
    assert [counts[name]["rows"] for name in NAMES] == [106, 62, 81]
    card = (out / "README.md").read_text()
    assert "The score of `sample_matched_narration`, `sample_matched_dialogue`, `sample_" in card
    assert "counts only predictions of the group `whole`." in card
    assert "The headline score is the mean over the marked configs, controlled if" in card


def test_ends_stay_and_places_give_nothing_away(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    for name in NAMES:
        entry = manifest["configs"][f"sample_{name}"]
        assert entry["headline"] == "whole"
        for row in rows(folder, f"sample_{name}"):
            original, shuffled = (one["regions"] for one in row["conditions"])
            assert (original[0], original[2]) == (shuffled[0], shuffled[2])
            assert original[1] != shuffled[1]
            assert row["kendall_tau"] <= 0
            assert sorted(row["permutation"]) == list(range(len(row["permutation"])))
            assert row["discourse_id"] == row["family"]
        (whole,) = (
            score
            for score in entry["quality"]["test"]["partial_input"]
            if score["group"] == "whole"
        )
        assert whole["ci_low"] < 0.5 < whole["ci_high"]


def test_turns_are_marked_in_both_orders(built: tuple[Path, dict[str, Any]]) -> None:
    for name, marks in (("matched_dialogue", 5), ("matched_documents", 0)):
        assert built[1]["configs"][f"sample_{name}"]["separator"] == bool(marks)
        for row in rows(built[0], f"sample_{name}"):
            contents = [condition["content"] for condition in row["conditions"]]
            assert [text.count(" [SEP] ") for text in contents] == [marks, marks]
            turns = [sorted(text.split(" [SEP] ")) for text in contents]
            assert turns[0] == turns[1] or not marks
    (threads,) = (config for config in SUITE.configs if config.name == "matched_threads")
    log = chat("log", "ABABAB" * 4)
    fitted = threads.generator.fit_corpus([log], Context(), Fits())  # type: ignore[attr-defined]
    for one in fitted(log, Context()):
        assert all(" [SEP] " in c.content for c in one.item.conditions)
        assert not any("[SEP]" in text for view in one.views.values() for text in view)


def test_what_counts_in_the_one_number_is_in_the_manifest(
    built: tuple[Path, dict[str, Any]],
) -> None:
    """No config counts only some of its items: those that say more are groups."""
    found = {name: entry for name, entry in built[1]["configs"].items() if entry["in_headline"]}
    # The sample has one item of threads.
    matched = {f"sample_{name}" for name in NAMES}
    context = {"sample_narration_context", "sample_dialogue_context"}
    assert found.keys() == matched | context
    assert {name for name, entry in found.items() if entry["headline"]} == matched
    for name in context:
        counts = found[name]["splits"]["test"]
        groups = {f"last_context_unit_moved={value}" for value in ("false", "true")}
        assert counts["groups"].keys() == groups
        assert sum(counts["groups"].values()) == counts["rows"]


def test_windows_do_not_overlap_and_keep_to_stretches_of_prose() -> None:
    one = chat("d", "abababababababab")
    broken = [*one.units]
    broken[7] = Unit("Yes.", "b")  # fits anywhere
    two = Discourse("e", "test", tuple(broken), meta=one.meta)
    for name in windows(MatchedOrders(5, operator=ANY), one, two):
        document, _, place = name.partition("/")
        first, last = map(int, place.split("-"))
        assert last - first == 4
        assert document == "d" or not first <= 7 <= last
    starts = sorted(
        int(name.split("/")[1].split("-")[0])
        for name in windows(MatchedOrders(5, operator=ANY), one)
    )
    assert all(after - before >= 5 for before, after in pairwise(starts))


def test_windows_of_two_speakers_have_two_speakers() -> None:
    one = chat("d", "aaaaabbacbaabaabc")
    assert windows(MatchedOrders(5, 2, operator=ANY), one) == ["d/1-5", "d/9-13"]
    context = Context(0, "s")
    two = chat("e", "aaaaaaa")
    fitted = MatchedOrders(5, 2, operator=ANY).fit_corpus([two], context, Fits())
    assert list(fitted(two, context)) == []
    assert context.skipped == {"no 5 units of prose in a row by 2 speakers": 1}


def test_chat_without_speakers_is_no_document() -> None:
    documents = [config for config in SUITE.configs if config.name == "matched_documents"]
    (config,) = (config for config in documents if "insted" in config.corpora)
    assert config.select(Discourse("d", "t", (Unit("A."),), meta={"domain": "wikipedia"}))
    assert not config.select(Discourse("d", "t", (Unit("A."),), meta={"domain": "chat"}))


def test_a_window_of_prose_has_no_half_sentences() -> None:
    def story(name: str, third: str, **meta: str) -> Discourse:
        others = (f"The {word} of {name} is old." for word in ("cat", "dog", "cow", "pig", "hen"))
        first, second, *rest = others
        units = tuple(map(Unit, (first, second, third, *rest)))
        return Discourse(name, "test", units, meta={"split": "test", **meta})

    texts = [
        story("a", "She won the final between 1."),
        story("b", "He was asked by the U.S."),
        story("c", "He lived through World War I."),
        story("d", "He was asked by the U.S.", domain="chat"),
        story("e", "I am the master of my fate,", domain="chat"),
        story("f", 'He wrote, "It was late.'),
    ]
    generator = MatchedOrders(6, operator=ANY)
    fitted = generator.fit_corpus(texts, Context(0, "s"), Fits())
    kept = [one.id for one in texts if fitted.chosen.windows[one.id]]
    assert kept == ["c", "d"]
    assert fitted.chosen.reasons["a"] == {"a window with a badly split sentence": 1}
    spoken = replace(texts[1], units=tuple(replace(u, speaker="Bo") for u in texts[1].units))
    assert len(windows(generator, spoken, texts[0])) == 1


@pytest.mark.parametrize(
    ("corpus", "config", "expected"),
    [
        ("gum", "gum_matched_documents", {"test": 204}),
        ("irc", "irc_matched_threads", {"test": 12}),
        ("personachat", "personachat_matched_dialogue", {"unsplit": 102}),
    ],
)
def test_real_corpora(
    real_build: Callable[[str, str], Path], corpus: str, config: str, expected: dict[str, int]
) -> None:
    manifest = json.loads((real_build("sentence_order", corpus) / "manifest.json").read_text())
    splits = manifest["configs"][config]["splits"]
    assert {split: counts["rows"] for split, counts in splits.items()} == expected


def test_orders_of_annotated_documents_break_more_transitions(
    real_build: Callable[[str, str], Path],
) -> None:
    folder = real_build("sentence_order", "gum")
    for row in rows(folder, "gum_matched_documents"):
        assert row["broken_transitions"] > 0


def test_transitions_are_those_that_gum_has(shared: Path, real_gum: list[Discourse]) -> None:
    from coherencegym.manipulations.matched_order import forward_centers, transitions

    folder = shared / "corpora" / "gum"
    same = number = 0
    for discourse in real_gum:
        lines = (folder / "conllu" / f"{discourse.id}.conllu").read_text().splitlines()
        said = [line.split(" = ")[1] for line in lines if line.startswith("# transition = ")]
        found = transitions(forward_centers(discourse))
        assert len(found) == len(said) - 1
        # A sentence without an entity has a name of its own there.
        told = ["null" if one == "zero" else one for one in said[1:]]
        same += sum(one == other for one, other in zip(found, told, strict=True))
        number += len(found)
    assert (same, number) == (4290, 4624)
