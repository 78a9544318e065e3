"""The suite of relations whose arguments are exchanged."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from related import related
from suites import Sample, rows

from coherencegym.builders.relation_order import SUITE
from coherencegym.cards.render import dataset_card
from coherencegym.eval.kinds.items import item_from_row, validate_item
from coherencegym.manipulations.operator import Context

(CONFIG,) = SUITE.configs
TEXT = "It was cold. / [Because] the river was full of ice|, {the boats stayed in port}."


@pytest.fixture(scope="module")
def built(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    """The suite built from the project's own texts."""
    return built_sample(SUITE.name)


def test_an_item_has_two_orders_of_both_relations() -> None:
    (draft,) = CONFIG.drafter(related(TEXT, "Contingency.Cause.Reason"), Context())
    item = draft.item
    assert item.item_id == "d/u1c0"
    assert {c.condition_name: c.regions[1].content for c in item.conditions} == {
        "main_first": "The boats stayed in port because the river was full of ice.",
        "subordinate_first": "Because the river was full of ice, the boats stayed in port.",
        "exchanged_main_first": "The river was full of ice because the boats stayed in port.",
        "exchanged_subordinate_first": (
            "Because the boats stayed in port, the river was full of ice."
        ),
    }
    assert {c.regions[0].content for c in item.conditions} == {"It was cold."}
    assert [(p.formula, p.metric, p.groups) for p in item.predictions] == [
        (
            "(2;%exchanged_main_first%) > (2;%main_first%)",
            "sum",
            ("main clause first", "exchanged"),
        ),
        (
            "(2;%exchanged_subordinate_first%) > (2;%subordinate_first%)",
            "sum",
            ("subordinate clause first", "exchanged"),
        ),
    ]
    assert item.extra == {
        "relation": "cause",
        "conjunction": "because",
        "sense": "Contingency.Cause.Reason",
        "authored": "subordinate_first",
        "genre": "",
    }
    main, subordinate = "the boats stayed in port", "the river was full of ice"
    assert [tuple(map(str.lower, view)) for view in draft.views.values()] == [
        (main, subordinate),
        (main, subordinate),
        (subordinate, main),
        (subordinate, main),
    ]


def test_each_order_of_the_clauses_is_once_on_each_side() -> None:
    """Who goes by which clause comes first is right in one prediction and wrong in the other."""
    (draft,) = CONFIG.drafter(related(TEXT, "Contingency.Cause.Reason"), Context())
    boats_first = {
        condition.condition_name: condition.content.lower().find("boats")
        < condition.content.lower().find("river")
        for condition in draft.item.conditions
    }
    right = [boats_first[c.incoherent] > boats_first[c.coherent] for c in draft.contrasts]
    wrong = [boats_first[c.incoherent] < boats_first[c.coherent] for c in draft.contrasts]
    assert sum(right) == sum(wrong) == 1


def test_the_sample(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    assert list(manifest["configs"]) == ["sample"]
    found = rows(folder, "sample")
    assert len(found) == 26
    assert Counter(row["relation"] for row in found) == {
        "cause": 13,
        "condition": 5,
        "precedence": 8,
    }
    assert Counter(row["authored"] for row in found) == {"main_first": 11, "subordinate_first": 15}
    for row in found:
        item = item_from_row(row)
        validate_item(item)
        words = [
            sorted(c.regions[1].content.lower().replace(",", "").rstrip(".").split())
            for c in item.conditions
        ]
        assert all(one == words[0] for one in words)
        # The author's order is as the author wrote it.
        assert row["authored"] not in {edit.condition_name for edit in item.edits}
        assert len({edit.condition_name for edit in item.edits}) == 3


def test_the_card(built: tuple[Path, dict[str, Any]]) -> None:
    card = dataset_card(built[1])
    assert "`sample` is over the predictions of the group `exchanged`" in card
    assert "two bags of words, of the main and of the subordinate clause" in card
    (score,) = [
        one
        for one in built[1]["configs"]["sample"]["quality"]["test"]["artefact"]
        if not one["group"] and not one["formula"]
    ]
    assert score["ci_low"] < 0.5 < score["ci_high"]


def test_the_real_documents(real_build: Callable[[str, str], Path]) -> None:
    folder = real_build("relation_order", "gum")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    entry = manifest["configs"]["gum"]
    found = {row["item_id"]: row for row in rows(folder, "gum")}
    assert len(found) == 11
    for reason, least in {
        "words after the clauses": 50,
        "words before the clauses": 30,
        "one clause takes up something of the other": 20,
        "argument in several parts": 20,
        "arguments in several sentences": 20,
        "clauses of different tense or aspect": 10,
        "pronoun for what is not shown": 5,
    }.items():
        assert entry["skipped"]["test"][reason] >= least, reason
    assert entry["skipped"]["test"]["clause of what the speaker thinks"] == 2
    cyclones = found["GUM_interview_cyclone/u20c36"]
    assert [condition["regions"][1]["content"] for condition in cyclones["conditions"]] == [
        "All tropical cyclones lose strength once they make landfall.",
        "Once all tropical cyclones make landfall, they lose strength.",
        "All tropical cyclones make landfall once they lose strength.",
        "Once all tropical cyclones lose strength, they make landfall.",
    ]
    visa = found["GUM_voyage_cuba/u20c0"]
    assert (visa["relation"], visa["authored"]) == ("condition", "subordinate_first")


def test_the_real_talks(real_build: Callable[[str, str], Path]) -> None:
    folder = real_build("relation_order", "tedmdb")
    (row,) = rows(folder, "tedmdb")
    assert row["item_id"] == "talk_2150_en/u37c3"
    assert row["conjunction"] == "if"
