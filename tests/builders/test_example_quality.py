"""Labelled examples: rare classes, and the figures that an accuracy is read beside."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from coherencegym.builders.discourse.relations import RELATIONS
from coherencegym.builders.pipeline.build import Generated, measured_examples
from coherencegym.builders.release.quality import example_quality, without_rare_classes
from coherencegym.eval.kinds.documents import LabelledExample, Slot
from coherencegym.eval.statistics.bag_of_words import slot_bags


def example(
    label: str, *slots: str, also: tuple[str, ...] = (), name: str = "i"
) -> LabelledExample:
    return LabelledExample(
        item_id=name,
        slots=tuple(Slot((slot,)) for slot in slots or ("a", "b")),
        text=(),
        places=(-1,) * len(slots or "ab"),
        label=label,
        discourse_id="d",
        corpus="test",
        also=also,
    )


def labels(rows: list[LabelledExample]) -> list[tuple[str, ...]]:
    return [(row.label, *row.also) for row in rows]


def test_classes_that_are_rare_or_never_tested_are_left_out_by_reason() -> None:
    train = [example(label) for label in "aaabbbcd"] + [example("c", also=("a",))]
    test = [example("a"), example("b"), example("d"), example("d", also=("b", "c"))]
    kept, skipped = without_rare_classes({"train": train, "test": test, "test2": [example("c")]}, 3)
    assert labels(kept["train"]) == [("a",)] * 3 + [("b",)] * 3 + [("a",)]
    assert labels(kept["test"]) == [("a",), ("b",), ("b",)]
    reason = "of a class with fewer than 3 rows in train"
    assert skipped == {
        "train": Counter({f"{reason}: c": 1, f"{reason}: d": 1}),
        "test": Counter({f"{reason}: d": 1}),
        "test2": Counter({f"{reason}: c": 1}),
    }


def test_a_class_has_to_occur_where_it_is_tested_and_not_in_other_genres() -> None:
    train = [example(label) for label in "aabbcc"]
    test = [example("a"), example("b")]
    kept, skipped = without_rare_classes({"train": train, "test": test, "test2": test[:1]}, 2)
    assert skipped["train"] == {"of a class without a row in test: c": 2}
    assert len(kept["train"]) == 4


def test_a_single_class_is_nothing_to_learn() -> None:
    kept, skipped = without_rare_classes({"train": [example("a")] * 3, "test": [example("a")]}, 2)
    assert kept == {"train": [], "test": []}
    assert skipped["test"] == {"of the only class that is frequent enough: a": 1}


@pytest.mark.parametrize(("splits", "fewest"), [(("test",), 10), (("train", "test"), 0)])
def test_all_classes_stay_without_training_or_where_that_is_asked(
    splits: tuple[str, ...], fewest: int
) -> None:
    rows = {split: [example("a"), example("b")] for split in splits}
    kept, skipped = without_rare_classes(rows, fewest)
    assert kept == rows
    assert not any(skipped.values())


def test_figures() -> None:
    long = "this has five words here"
    train = [example("yes", "good day", "some words")] * 30 + [
        example("no", "bad night", "some words")
    ] * 25
    test = [
        example("yes", "good day", "some words"),
        example("no", "good day", "some words"),
        example("no", "bad night", "other", also=("yes",)),
        example("yes", long, long),
    ]
    splits = {"train": [*train, example("yes", long, "other")], "test": test}
    quality = example_quality(splits, ("one", "other"))["test"]
    assert quality["labels"] == {"no": 2, "yes": 2}
    assert (quality["ceiling"], quality["recurring"]) == (0.75, 0.25)
    assert quality["most_frequent"] == {"accuracy": 0.5, "any_label": 0.75, "label": "yes"}
    words = quality["bag_of_words"]
    assert list(words) == ["all", "one", "other"]
    assert words["all"] == words["one"]
    assert (words["all"]["accuracy"], words["all"]["any_label"]) == (0.75, 0.75)
    assert words["all"]["ci_low"] < 0.75 < words["all"]["ci_high"]
    assert words["other"]["accuracy"] == 0.5
    assert example_quality(splits, ())["test"]["bag_of_words"].keys() == {"all", "slot 1", "slot 2"}


def test_bags_are_of_the_words_of_a_corpus_without_spaces() -> None:
    train = [
        replace(example(label, f"{name}{word}{name}", "。"), discourse_id=f"d{number}")
        for number, name in enumerate("甲乙丙丁戊己庚辛壬癸" * 3)
        for label, word in (("yes", "但"), ("no", "却"))
    ]
    splits = {
        "train": train,
        "test": [example("yes", "子但丑", "。"), example("no", "寅却卯", "。")],
    }
    made = {split: Generated([], rows, {}) for split, rows in splits.items()}
    accuracy = [
        measured_examples(RELATIONS[0], made, words)["test"].measured["bag_of_words"]["all"][
            "accuracy"
        ]
        for words in (frozenset({"子丑"}), frozenset[str]())
    ]
    assert accuracy == [1.0, 0.5]


def test_without_training_there_is_no_bag_of_words() -> None:
    quality = example_quality({"test": [example("a")], "validation": []}, ())
    assert list(quality) == ["test"]
    assert quality["test"]["no_bag_of_words"] == "no train split"
    assert (quality["test"]["most_frequent"], quality["test"]["recurring"]) == ({}, None)


def test_of_many_rows_a_bag_of_words_learns_from_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole documents, the same ones again, and the figures say how many rows that are."""
    train = [
        replace(example(label, f"{label} day", "some words"), discourse_id=f"d{n // 4}")
        for n, label in enumerate(["yes", "no"] * 60)
    ]
    splits = {"train": train, "test": train[:4]}
    assert example_quality(splits, ())["train"]["bag_learned_from"] == 120
    seen = []

    def counted(texts: Any, words: Any) -> Any:
        seen.append(len(texts["train"]))
        return slot_bags(texts, words)

    monkeypatch.setattr("coherencegym.builders.release.quality._MOST_ROWS", 70)
    monkeypatch.setattr("coherencegym.builders.release.quality.slot_bags", counted)
    quality = example_quality(splits, ())
    assert {*seen} == {68}
    assert quality["train"]["bag_learned_from"] == 68  # 17 documents of four rows
    assert quality["test"]["bag_of_words"]["all"]["accuracy"] == 1.0
    assert quality == example_quality(splits, ())
