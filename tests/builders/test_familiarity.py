"""Texts, and the same texts with other names."""

from __future__ import annotations

from coherencegym.builders.registry import load_suite
from coherencegym.builders.sentence_order import FAMILIARITY, familiarity_config
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.manipulations.operator import Context

CONFIG = familiarity_config(("storycloze",))


def story(*texts: str) -> Discourse:
    return Discourse("s1", "toy", tuple(map(Unit, texts)))


def test_what_is_scored_comes_after_everybody_was_named() -> None:
    told = story(
        "Tom's dog ran off.", 'He asked Ann, "Is it here?"', "Ann found it.", "Tom smiled."
    )
    (made,) = CONFIG.generator(told, Context())
    original, renamed = made.item.conditions
    assert [region.content for region in original.regions] == [
        "Tom's dog ran off. He asked Ann,",
        '"Is it here?" Ann found it. Tom smiled.',
    ]
    before, after = (region.content for region in renamed.regions)
    assert "Tom" not in before + after
    assert "Ann" not in before + after
    (prediction,) = made.item.predictions
    assert prediction.formula == "(2;%renamed%) > (2;%original%)"
    assert prediction.metric == "sum"


def test_texts_that_name_nobody_or_end_with_a_name_are_counted() -> None:
    context = Context()
    assert not list(CONFIG.generator(story("It rained.", "It was cold."), context))
    assert not list(CONFIG.generator(story("He ran.", "His name was Tom."), context))
    assert context.skipped == {"nobody is named": 1, "nothing follows the last name": 1}


def test_it_is_in_no_headline() -> None:
    for name in ("story_cloze", "winograd", "sentence_order"):
        suite = load_suite(name)
        (config,) = (each for each in suite.configs if each.name == FAMILIARITY)
        assert not suite.in_headline(config)
