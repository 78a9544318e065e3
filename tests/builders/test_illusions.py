"""The illusions suite: who has the pronoun's gender, the person that it means or another one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.suites import Sample, rows

from coherencegym.builders.illusions import SUITE
from coherencegym.eval.kinds.items import Item
from coherencegym.loaders.discourse import Alternative, Discourse, Unit
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.mention_rules import gender_of_name

(CONFIG,) = SUITE.configs


def schema(text: str, pronoun: str = "she", right: str = "Ann", wrong: str = "Mary") -> Discourse:
    """A schema whose pronoun stands between stars."""
    before, _, rest = text.partition("*")
    span = ((0, len(before), len(before) + len(pronoun)),)
    unit = Unit(f"{before}{pronoun}{rest}")
    return Discourse("s", "winograd", (unit,), alternatives=(Alternative(span, (right, wrong), 0),))


def item_of(discourse: Discourse, context: Context | None = None) -> Item:
    """The one item of a schema."""
    (one,) = CONFIG.generator(discourse, context or Context())
    assert isinstance(one.item, Item)
    return one.item


TEXT = "Mary thanked Ann for Ann's help, as * had given it."


def test_every_person_has_one_name_of_each_gender() -> None:
    item = item_of(schema(TEXT))
    names: dict[tuple[str, str], str] = {}
    for condition in item.conditions:
        antecedent, distractor, gender = condition.condition_name.split("_")
        other, _, person, _, again, *_ = condition.regions[0].content.replace("'s", "").split()
        assert person == again
        assert (gender_of_name(person) == gender) == (antecedent == "present")
        assert (gender_of_name(other) == gender) == (distractor == "matching")
        assert condition.regions[1].content == {"masculine": "he", "feminine": "she"}[gender]
        assert condition.regions[2].content == "had given it."
        names |= {("person", gender_of_name(person)): person}
        names |= {("other", gender_of_name(other)): other}
    assert len(names) == len(set(names.values())) == len({name[0] for name in names.values()}) == 4
    assert {len(name) for name in names.values()} == {5}


def test_both_sides_of_an_effect_have_the_same_words() -> None:
    item = item_of(schema(TEXT))
    assert item.predictions[0].formula == (
        "(2;%absent_mismatching_masculine%) + (2;%absent_mismatching_feminine%) > "
        "(2;%absent_matching_masculine%) + (2;%absent_matching_feminine%)"
    )
    for contrast in CONFIG.generator.contrasts:
        sides = [
            Counter(word for name in side for word in item.condition(name).content.split())
            for side in (contrast.worse, contrast.better)
        ]
        assert sides[0] == sides[1]


@pytest.mark.parametrize(
    ("discourse", "reason"),
    [
        (schema("Mary told Ann that her dog saw *."), "another pronoun for a man or a woman"),
        (schema("Mary told Ann's mother what * knew."), "noun of one gender, or a third person's"),
        (schema("The boss told Ann what * knew.", wrong="The boss"), "not two given names"),
        (schema("Ann knew that * had lost Mary."), "candidate that stands after the pronoun"),
        (schema("Mary told Ann about *.", "her"), "nothing follows"),
    ],
)
def test_what_else_tells_a_gender_is_left_out(discourse: Discourse, reason: str) -> None:
    context = Context()
    assert not list(CONFIG.generator(discourse, context))
    (found,) = context.skipped
    assert found.startswith(reason)


def test_the_sample_has_items_whose_words_tell_nothing(built_sample: Sample) -> None:
    folder, manifest = built_sample(SUITE.name)
    assert len(rows(Path(folder), "sample")) == 26
    quality = manifest["configs"]["sample"]["quality"]["test"]
    for name in ("partial_input", "lexical_overlap"):
        assert {one["score"] for one in quality[name]} == {0.5}
