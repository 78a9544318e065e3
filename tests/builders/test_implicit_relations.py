"""The implicit relations suite: adverbials that change places, and adverbials for each way."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.marked_texts import parsed
from support.suites import Sample, rows

from coherencegym.builders.implicit_relations import (
    ASKED,
    BEST,
    BOTH,
    CONSISTENT,
    CONVERSE,
    REST,
    SUITE,
    TOGETHER,
)
from coherencegym.builders.suite import GeneratedItem
from coherencegym.eval.kinds.formula import parse_formula
from coherencegym.eval.kinds.items import ITEMS, Prediction, evaluate
from coherencegym.loaders.discourse import Discourse, Relation, Unit
from coherencegym.manipulations.operator import Context

CROSSED, CLOZE, _ = SUITE.configs
RESULT, CONTRAST = "Contingency.Cause.Result", "Comparison.Contrast"
TEXTS = (
    "The dairy lost its largest customer.",
    "The farmers of the valley were angry.",
    "The price of milk is high.",
    "The price of butter has fallen.",
)


def document(*implied: tuple[int, str, str], texts: tuple[str, ...] = TEXTS) -> Discourse:
    """A document with an implicit relation before each of these sentences."""
    spans = [((i, 0, len(text)),) for i, text in enumerate(texts)]
    relations = tuple(
        Relation("Implicit", None, spans[unit - 1], spans[unit], (sense,), implied=word)
        for unit, word, sense in implied
    )
    return Discourse("d", "test", tuple(map(Unit, texts)), relations=relations)


def crossed(discourse: Discourse) -> list[GeneratedItem]:
    return list(CROSSED.generator(discourse, Context()))


def test_two_relations_exchange_their_adverbials() -> None:
    (made,) = crossed(document((1, "as a result", RESULT), (3, "but", CONTRAST)))
    assert [condition.content for condition in made.item.conditions] == [
        f"{TEXTS[0]} As a result, the farmers of the valley were angry.",
        f"{TEXTS[2]} However, the price of butter has fallen.",
        f"{TEXTS[0]} However, the farmers of the valley were angry.",
        f"{TEXTS[2]} As a result, the price of butter has fallen.",
    ]
    (prediction,) = made.item.predictions
    assert prediction.metric == "sum"
    assert prediction.formula.startswith("(2;%relation_1_connective_2%) + (3;%relation_1_con")
    assert made.item.extra["connectives"] == ["as a result", "however"]
    assert made.item.extra["annotated"] == ["as a result", "but"]
    assert made.item.extra["ways"] == ["result", "contrast"]


def test_relations_that_may_hold_together_are_not_crossed() -> None:
    then = "Temporal.Asynchronous.Precedence"
    assert not crossed(document((1, "as a result", RESULT), (3, "then", then)))
    assert not crossed(document((1, "as a result", RESULT), (2, "but", CONTRAST)))
    said = (*TEXTS[:3], "The price of butter, however, has fallen.")
    assert not crossed(document((1, "so", RESULT), (3, "but", CONTRAST), texts=said))
    said = (TEXTS[0], "The farmers, however, were angry.", *TEXTS[2:])
    assert not crossed(document((1, "so", RESULT), (3, "but", CONTRAST), texts=said))


def cloze(*implied: tuple[int, str, str], texts: tuple[str, ...] = TEXTS) -> GeneratedItem:
    made: GeneratedItem
    (made,) = CLOZE.generator(document(*implied, texts=texts), Context())
    return made


def test_an_adverbial_for_each_way_that_is_wrong_there() -> None:
    made = cloze((1, "but", CONTRAST))
    names = [condition.condition_name for condition in made.item.conditions]
    assert names == [
        *("however", "as_a_result", "for_example"),
        *("converse_however", "converse_after_all", "converse_more_generally"),
    ]
    assert made.item.extra["alternatives"] == ["result", "instance"]
    assert made.item.extra["converse"] is True
    converse = made.item.condition("converse_after_all")
    assert converse.content == f"{TEXTS[1]} After all, the dairy lost its largest customer."
    assert {condition.regions[2].content for condition in made.item.conditions[:3]} == {
        "the farmers of the valley were angry."
    }


def test_a_sentence_that_points_back_cannot_come_first() -> None:
    made = cloze((1, "but", CONTRAST), texts=(TEXTS[0], "Its farmers were very angry."))
    assert made.item.extra["converse"] is False
    assert len(made.item.conditions) == 3
    groups = {group for prediction in made.item.predictions for group in prediction.groups}
    assert REST in groups
    assert not groups & {ASKED, CONVERSE, BOTH, CONSISTENT}


def test_what_may_hold_as_well_is_no_alternative() -> None:
    # What is so because of something may also be in contrast to it, or an example of it.
    made = cloze((1, "so", RESULT))
    assert made.item.extra["alternatives"] == ["substitution"]
    assert made.item.extra["converse"] is False  # nothing to compare it with
    denied = ("The dairy was not sold.", TEXTS[1])
    context = Context()
    assert not list(CLOZE.generator(document((1, "so", RESULT), texts=denied), context))
    assert context.skipped == {"no adverbial that is plainly wrong": 1}
    detail = (1, "specifically", "Expansion.Level-of-detail.Arg2-as-detail")
    assert cloze(detail).item.extra["alternatives"] == ["sequence", "substitution"]
    told = document(detail)
    grammar = "The:det:1 farmers:nsubj:5 of:case:4 the:det:4 valley:nmod:1 angry:root:"
    grammar += " were:cop:5:Tense=Past|VerbForm=Fin"
    units = (told.units[0], Unit(told.texts[1], words=parsed(grammar).words), *told.units[2:])
    (past,) = CLOZE.generator(replace(told, units=units), Context())
    assert past.item.extra["alternatives"] == ["substitution"]


def met(prediction: Prediction, bits: dict[tuple[int, str], float]) -> bool:
    tree = parse_formula(prediction.formula)
    return evaluate(tree, lambda region, condition: bits[int(region), condition], 0.0).met


@pytest.mark.parametrize(
    ("asked", "converse", "both", "alike"),
    [
        (True, True, True, True),
        (True, False, False, False),
        (False, True, False, False),
        (False, False, False, True),
    ],
)
def test_a_converse_question_gets_the_matching_answer(
    asked: bool, converse: bool, both: bool, alike: bool
) -> None:
    item = cloze((1, "but", CONTRAST)).item
    bits = {(r, c.condition_name): 5.0 for c in item.conditions for r in (1, 2, 3)}
    bits[3, "however"] = 1.0 if asked else 9.0
    bits[3, "converse_however"] = 1.0 if converse else 9.0
    for group, expected in (
        (ASKED, asked),
        (CONVERSE, converse),
        (BOTH, both),
        (CONSISTENT, alike),
        (BEST, asked),
        (TOGETHER, asked),
    ):
        of_group = [one for one in item.predictions if group in one.groups]
        assert of_group
        assert {met(one, bits) for one in of_group} == {expected}, group


@pytest.fixture(scope="module")
def built(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    """The suite built from the project's own texts."""
    return built_sample(SUITE.name)


def test_the_sample(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    control = "sample_crossed_shuffled_context"
    assert list(manifest["configs"]) == ["sample_crossed", "sample_cloze", control]
    crossed, cloze, _ = manifest["configs"].values()
    assert crossed["splits"]["test"]["rows"] == 19
    (score,) = [s for s in crossed["quality"]["test"]["partial_input"] if not s["group"]]
    assert score["score"] == 0.5
    assert cloze["splits"]["test"]["rows"] == 51
    assert cloze["headline"] == REST
    groups = cloze["splits"]["test"]["groups"]
    assert groups[REST] == groups[BEST] == 51
    assert groups[ASKED] == groups[CONVERSE] == groups[BOTH] == groups[CONSISTENT] == 11
    for name in manifest["configs"]:
        for row in rows(folder, name):
            ITEMS.from_row(row)


@pytest.mark.parametrize(("corpus", "crossed", "cloze"), [("gum", 41, 222), ("tedmdb", 12, 33)])
def test_real_corpora(
    real_build: Callable[[str, str], Path], corpus: str, crossed: int, cloze: int
) -> None:
    folder = real_build("implicit_relations", corpus)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    configs = manifest["configs"]
    assert configs[f"{corpus}_crossed"]["splits"]["test"]["rows"] == crossed
    assert configs[f"{corpus}_cloze"]["splits"]["test"]["rows"] == cloze
