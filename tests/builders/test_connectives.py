"""The connectives suite: one row a segment, two families of predictions, aggregates apart."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.marked_texts import parsed, related
from support.suites import Sample

from coherencegym.builders.connectives import HEADLINE, SUITE
from coherencegym.builders.registry import load_suite
from coherencegym.builders.suite import GeneratedItem
from coherencegym.cards.render import dataset_card
from coherencegym.eval.kinds.items import ITEMS, SuiteError
from coherencegym.loaders.discourse import Discourse, Relation, Span, Unit
from coherencegym.manipulations.operator import Context

CONFIG, CROSSED, *_ = SUITE.configs


def generated(text: str, sense: str, source: str = "pdtb3") -> GeneratedItem:
    made: GeneratedItem
    (made,) = CONFIG.generator(related(text, sense, source), Context())
    ITEMS.check(made.item)
    return made


def predictions(made: GeneratedItem) -> dict[str, tuple[str, ...]]:
    """Formula, in short, -> groups."""
    found = {}
    for prediction in made.item.predictions:
        short = prediction.formula.replace("(3;%", "").replace("%)", "")
        found[short] = prediction.groups
    return found


def test_one_row_with_every_replacement() -> None:
    made = generated("It rained. / [However], we went out.", "Comparison.Contrast")
    item = made.item
    assert item.item_id == "d/u1c0"
    assert [c.condition_name for c in item.conditions] == [
        *("original", "although", "as", "since", "though", "while", "yet"),
        *("for_example", "instead", "then", "therefore"),
    ]
    assert item.condition("for_example").content == "It rained. For example, we went out."
    assert item.condition("since").content == "It rained. Since, we went out."
    for condition in item.conditions:
        assert condition.regions[0].content == "It rained."
        assert condition.regions[2].content == ", we went out."
    assert item.extra["connective"] == "however"
    assert item.extra["meaning"] == "contrast"
    assert item.extra["sense"] == "Comparison.Contrast"
    assert made.views["original"] == ("however",)


def test_the_two_families() -> None:
    found = predictions(generated("We sang [as] we left town.", "Contingency.Cause.Reason"))
    row = "as_causal"
    assert found["although > original"] == (f"{row} → although", HEADLINE)
    assert found["since > original"] == (f"{row} → since", "same sense, same syntax")
    assert found["however > original"] == (f"{row} → however", "different sense, other syntax")
    different = (f"{row}: different > same", "different > same, same syntax")
    assert found["though > since"] == different
    assert found["yet > since"] == (different[0], "different > same, other syntax")
    # Time for a cause: a family of its own.
    assert found["while > original"] == (f"{row} → while", "time for cause, same syntax")
    assert found["while > since"] == (
        f"{row}: time for cause > same",
        "time for cause > same, same syntax",
    )
    # `since` alone of the replacements is causal: each of the five others against it.
    assert sum(": " in groups[0] for groups in found.values()) == 5
    assert "therefore > original" not in found
    assert len(found) == 6 + 5


def test_time_that_differs_is_neither_the_same_nor_a_different_sense() -> None:
    made = generated("We sang [while] they left us.", "Temporal.Synchronous")
    found = predictions(made)
    assert found["since > original"][1] == "sense in part, same syntax"
    assert found["as > original"][1] == "same sense, same syntax"
    assert not any(formula.startswith("since > a") for formula in found)
    listed = {s["replacement"]: s["same_sense"] for s in made.item.extra["substitutions"]}
    assert listed["since"] is None
    assert listed["although"] is None
    assert found["although > original"][1] == "concession for time, same syntax"
    assert found["although > as"] == (
        "while_temporal: concession for time > same",
        "concession for time > same, same syntax",
    )
    assert HEADLINE not in {group for groups in found.values() for group in groups}


def headline(text: str, sense: str) -> set[str]:
    """The replacements of a segment that are in the headline."""
    found = predictions(generated(text, sense))
    return {formula.split()[0] for formula, groups in found.items() if HEADLINE in groups}


def test_however_and_yet_reach_the_headline_where_they_begin_a_clause() -> None:
    contrast, concession = "Comparison.Contrast", "Comparison.Concession"
    found = predictions(generated("It rained. / [However], we went out.", contrast))
    assert {word: found[f"{word} > original"][1] for word in ("instead", "therefore", "then")} == {
        "instead": HEADLINE,
        "therefore": "result for contrast, same syntax",
        "then": "time for contrast, same syntax",
    }
    assert found["for_example > original"][1] == "instance for contrast, same syntax"
    assert found["instead > yet"][1] == "different > same, same syntax"
    assert headline("It rained. / [However], we went out.", concession) == {"instead", "therefore"}
    assert headline("It rained. / [Yet] we went out.", concession) == {"instead", "therefore"}
    # What is so comes instead of what is denied, whatever the contrast.
    assert headline("It didn't rain. / [Yet] we all stayed.", concession) == {"therefore"}
    # Behind other words they set these off, and read as well.
    behind = generated("It rained. / We, [however], all went out.", concession)
    assert not any(HEADLINE in groups for groups in predictions(behind).values())
    assert "therefore > original" not in predictions(behind)


@pytest.mark.parametrize(
    ("text", "sense", "expected"),
    [
        ("We left [as] it rained hard.", "Contingency.Cause", {"although", "though"}),
        ("We left ([as] it rained hard).", "Contingency.Cause", set()),
        ("[As] it rained hard, {we all left}.", "Contingency.Cause", set()),
        ("[Although] it rained, {we all left}.", "Comparison.Concession", {"as", "since"}),
        ("[Although] it may rain, {we all left}.", "Comparison.Concession", set()),
        ("We sang, [while] it rained hard.", "Comparison.Concession", {"since"}),
        ("We sang, [though] it rained hard.", "Comparison.Contrast", {"since"}),
    ],
)
def test_where_either_sense_may_hold_is_not_in_the_headline(
    text: str, sense: str, expected: set[str]
) -> None:
    assert headline(text, sense) == expected


def test_grammar_finds_a_clause_that_words_do_not_show() -> None:
    discourse = related("They fell [although] different roads lead there.")
    guessed = predictions(next(iter(CONFIG.generator(discourse, Context()))))
    assert guessed["since > original"][1] == "different sense, other syntax"
    grammar = "They:nsubj:1 fell:root: although:mark:5 different:amod:4 roads:nsubj:5"
    grammar += " lead:advcl:1:VerbForm=Fin there:advmod:5"
    units = (replace(discourse.units[0], words=parsed(grammar).words),)
    known = predictions(next(iter(CONFIG.generator(replace(discourse, units=units), Context()))))
    assert known["since > original"][1] == HEADLINE


def test_a_clause_that_comes_first_is_no_part_of_what_is_scored() -> None:
    made = generated("[Although] it rained, {we all left early}.", "Comparison.Concession")
    assert made.item.extra["fronted"] is True
    for condition in made.item.conditions:
        before, clause, scored = (region.content for region in condition.regions)
        word = condition.condition_name.replace("original", "although").capitalize()
        assert (before, clause, scored) == ("", f"{word} it rained,", "we all left early.")
        assert condition.content == f"{clause} {scored}"
    found = predictions(made)
    assert found["since > original"] == ("although_concession → since", HEADLINE)
    assert made.views["since"] == ("since",)
    assert (
        generated("We left [as] it rained hard.", "Contingency.Cause").item.extra["fronted"]
        is False
    )


def test_the_grammar_of_a_first_clause_is_its_own() -> None:
    # A verb of the main clause does not make a clause of `useful`.
    made = generated("[Although] useful {such tools are rarely bought}.", "Comparison.Concession")
    found = predictions(made)
    assert found["since > original"][1] == "different sense, other syntax"
    assert found["though > original"][1] == "same sense, same syntax"


@pytest.mark.parametrize(
    ("text", "sense", "row"),
    [
        ("She works [as] a nurse in town.", "prep", "as_prep"),
        ("We have [yet] to see it.", "adv", "yet_adv"),
    ],
)
def test_words_that_are_no_connectives_are_in_no_aggregate(text: str, sense: str, row: str) -> None:
    found = predictions(generated(text, sense, "disco"))
    assert found
    assert all(len(groups) == 1 and groups[0].startswith(row) for groups in found.values())


def test_nothing_fits_in_the_place_of_an_as_of_comparison() -> None:
    found = predictions(generated("We sing [as] they always have sung.", "Comparison.Similarity"))
    assert {groups[1] for groups in found.values()} == {"different sense, other syntax"}


def test_a_sense_that_nobody_knows_names_the_item() -> None:
    with pytest.raises(SuiteError, match=r"test/d/u0c8: sense 'Causal' is not known of pdtb3"):
        generated("We left [as] it rained hard.", "Causal")


def crossed(*segments: tuple[str, str]) -> list[GeneratedItem]:
    """The items of a document of these segments, each with the sense of its connective."""
    units: tuple[Unit, ...] = ()
    relations = []
    for text, sense in segments:
        own = related(text, sense)
        relations += [_moved(relation, len(units)) for relation in own.relations]
        units += own.units
    meta = {"split": "test", "sense_source": "pdtb3"}
    discourse = Discourse("d", "test", units, relations=tuple(relations), meta=meta)
    return list(CROSSED.generator(discourse, Context()))


def _moved(relation: Relation, by: int) -> Relation:
    assert relation.connective is not None

    def moved(span: Span) -> Span:
        return tuple((unit + by, start, end) for unit, start, end in span)

    spans = moved(relation.connective), moved(relation.arg1), moved(relation.arg2)
    return Relation(relation.type, *spans, relation.senses)


def unbalanced(made: GeneratedItem) -> set[str]:
    """Words and pairs of words that the sides of an item's prediction do not have as often."""
    count: Counter[str] = Counter()
    (contrast,) = made.contrasts
    for sign, names in ((1, contrast.worse), (-1, contrast.better)):
        for text in (text for name in names for text in made.views[name]):
            words = re.findall(r"\w+", text.lower())
            for seen in {*words, *(f"{one} {next_one}" for one, next_one in pairwise(words))}:
                count[seen] += sign
    return {seen for seen, number in count.items() if number}


BUT = ("It rained all day, [but] we were in town.", "Comparison.Concession.Arg2-as-denier")
SO = ("The car was cold, [so] they took the train.", "Contingency.Cause.Result")


def test_two_segments_exchange_their_connectives() -> None:
    (made,) = crossed(BUT, SO)
    assert [condition.content for condition in made.item.conditions] == [
        "It rained all day, but we were in town.",
        "The car was cold, so they took the train.",
        "It rained all day, so we were in town.",
        "The car was cold, but they took the train.",
    ]
    (prediction,) = made.item.predictions
    assert prediction.formula == (
        "(3;%segment_1_connective_2%) + (3;%segment_2_connective_1%) > "
        "(3;%segment_1_connective_1%) + (3;%segment_2_connective_2%)"
    )
    assert made.item.extra["connectives"] == ["but", "so"]
    assert made.item.extra["meanings"] == ["concession", "result"]
    assert unbalanced(made) == set()  # the partial-input baseline is 50 by construction


def test_a_first_clause_goes_with_the_connective() -> None:
    although = ("[Although] it rained, {we all left early}.", "Comparison.Concession")
    because = ("[Because] so much fell, {they all stayed here}.", "Contingency.Cause.Reason")
    (made,) = crossed(although, because)
    exchanged = made.item.condition("segment_1_connective_2")
    assert [region.content for region in exchanged.regions] == [
        *("", "Because it rained,", "we all left early."),
    ]
    # Here a classifier may see the connective beside another word.
    assert unbalanced(made) == {"although it", "because so", "although so", "because it"}


@pytest.mark.parametrize(
    "other",
    [
        ("The car was cold, [yet] they took the train.", "Comparison.Contrast"),
        ("The car was cold. / [So] they took the train.", "Contingency.Cause.Result"),
        ("The car was cold but dry, [so] they took the train.", "Contingency.Cause.Result"),
        ("The car was cold, [so] took the train.", "Contingency.Cause.Result"),
        ("The car was, um, cold, [so] they took the train.", "Contingency.Cause.Result"),
        ("The car was cold, [so] then they took the train.", "Contingency.Cause.Result"),
        ("The car was cold, [so] did they take the train?", "Contingency.Cause.Result"),
        ("The car was cold, [so] they took the train.", "Contingency.Cause+Belief.Result+Belief"),
        ("The car was cold, [so] they can take the train.", "Contingency.Cause.Result"),
        ("The car was cold, [so] I'll take the train.", "Contingency.Cause.Result"),
        ("They ran [because] they were late.", "Contingency.Cause.Reason"),
    ],
)
def test_what_differs_in_more_than_the_sense_is_not_crossed(other: tuple[str, str]) -> None:
    assert crossed(BUT, SO)
    assert not crossed(BUT, other)


@pytest.fixture(scope="module")
def built(built_sample: Sample) -> dict[str, Any]:
    """The suite built from the project's own segments."""
    return built_sample(SUITE.name)[1]


def test_the_sample(built: dict[str, Any]) -> None:
    assert list(built["configs"]) == [
        *("sample", "sample_crossed", "sample_crossed_shuffled_context")
    ]
    (exchanged,) = built["configs"]["sample_crossed"]["splits"].values()
    assert exchanged["rows"] == 24
    (of_crossed,) = built["configs"]["sample_crossed"]["quality"].values()
    (partial_input,) = [a for a in of_crossed["partial_input"] if not a["group"]]
    assert partial_input["score"] == 0.5
    config = built["configs"]["sample"]
    (split,) = config["splits"].values()
    assert split["rows"] >= 150
    assert config["headline"] == HEADLINE
    assert HEADLINE in split["groups"]
    assert not any("→" in group for group in split["groups"])
    meanings = {g for g in split["groups"] if g.startswith("meaning=")}
    assert {f"meaning={m}" for m in ("contrast", "concession", "causal", "comparison")} <= meanings
    (quality,) = config["quality"].values()
    # The manifest has no score that its card does not show, however many groups items have.
    assert [score["group"] for score in quality["partial_input"]] == [""]
    card = dataset_card(built)
    assert f"The score of `sample` counts only predictions of the group `{HEADLINE}`." in card
    assert "The headline score is the score of the marked config, controlled if" in card


def test_gum_as_it_is(real_build: Callable[[str, str], Path]) -> None:
    built = real_build("connectives", "gum")
    manifest = json.loads((built / "manifest.json").read_text(encoding="utf-8"))
    (split,) = manifest["configs"]["gum"]["splits"].values()
    assert split["rows"] == 139
    assert sum(n for g, n in split["groups"].items() if g.startswith("genre=")) == 139
    assert sum(n for g, n in split["groups"].items() if g.startswith("meaning=")) == 139
    assert split["groups"]["fronted=true"] == 39
    assert split["groups"]["concession for time, same syntax"] == 26
    (crossed,) = manifest["configs"]["gum_crossed"]["splits"].values()
    assert crossed["rows"] == 43


def test_it_is_registered() -> None:
    assert load_suite("connectives") is SUITE
    assert isinstance(related("We left [as] it rained."), Discourse)
