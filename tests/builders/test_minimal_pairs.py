"""How an item generator makes conditions, and how a config selects discourses."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.toy import SUITE, last_unit, stories, toy_corpus

from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus
from coherencegym.builders.suite import Contrast, MinimalPairs
from coherencegym.eval.kinds.items import SuiteError
from coherencegym.loaders.discourse import Discourse, Edit, Unit
from coherencegym.manipulations.editing import replace_text
from coherencegym.manipulations.operator import Context, Operator, Pipeline
from coherencegym.manipulations.units import Shuffle, SpeakerSeparator

TEXT = Discourse("d", "toy", (Unit("One."), Unit("Two."), Unit("Three.")))


@dataclass(frozen=True)
class Put(Operator):
    """Puts each word in the place of the first unit; counts where it has no word, or not two."""

    words: tuple[str, ...]

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        if not self.words:
            context.skipped["no word"] += 1
        elif len(self.words) < 2:
            context.skipped["only one word"] += 1
        for word in self.words:
            text = discourse.units[0].text
            put = replace_text(discourse, 0, 0, len(text), word, operator="Put")
            yield dataclasses.replace(put, variant=word.lower())


def pairs(**settings: Any) -> MinimalPairs:
    return MinimalPairs(
        regions=lambda discourse: [list(range(len(discourse.units)))],
        contrasts=(Contrast("b", "a", 1),),
        view=last_unit,
        **settings,
    )


@dataclass(frozen=True)
class Written:
    """The units as they are given, with these edits noted; no ``Operator``."""

    texts: tuple[str, ...]
    edits: tuple[Edit, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        yield dataclasses.replace(discourse, units=tuple(map(Unit, self.texts)), edits=self.edits)


def contents(generator: MinimalPairs, context: Context | None = None) -> list[dict[str, str]]:
    generated = generator(TEXT, context or Context())
    return [{c.condition_name: c.content for c in made.item.conditions} for made in generated]


def test_every_version_is_made_from_the_discourse() -> None:
    generator = pairs(versions={"a": Put(("A",)), "b": Put(("B",)), "c": Pipeline()})
    assert contents(generator) == [
        {"a": "A Two. Three.", "b": "B Two. Three.", "c": "One. Two. Three."}
    ]
    (made,) = generator(TEXT, Context())
    assert made.item.item_id == "d/c"
    assert set(made.views) == {"a", "b", "c"}
    assert {edit.condition_name for edit in made.item.edits} == {"a", "b"}
    assert generator.recipe == "a: Put(words=('A',)); b: Put(words=('B',)); c: unchanged"


def test_an_operator_need_not_be_composable() -> None:
    part = Written(("One.", "Two."))
    generator = pairs(versions={"a": Pipeline(), "b": part}, both=Put(("A",)))
    assert contents(generator) == [{"a": "A Two. Three.", "b": "A Two."}]
    recipe = "Written(texts=('One.', 'Two.'), edits=()) | Put(words=('A',))"
    assert generator.recipe == f"a: Put(words=('A',)); b: {recipe}"


@pytest.mark.parametrize(
    "written",
    [
        Written(("One.", "Deux.", "Three.")),
        Written(("Two.", "One.", "Three.")),
        Written(("Four.",)),
        Written(("One.", "Deux.", "Three."), (Edit("Written", 1, 0, "Two", "Dos"),)),
    ],
    ids=["a word", "an order", "another text", "a wrong edit"],
)
def test_edits_that_do_not_give_back_the_text_are_refused(written: Written) -> None:
    generator = pairs(versions={"a": Pipeline(), "b": written})
    with pytest.raises(SuiteError, match="d: the edits of 'b' do not give back the original text"):
        contents(generator)


def test_each_result_needs_a_variant_of_its_own() -> None:
    generator = pairs(versions={"a": Pipeline(), "b": Put(("B", "b"))})
    with pytest.raises(SuiteError, match=r"d: several results of Put\(.*\) have the variant 'b';"):
        contents(generator)


def test_one_result_goes_with_each_of_several() -> None:
    generator = pairs(versions={"a": Put(("A",)), "b": Put(("B", "C"))})
    assert contents(generator) == [
        {"a": "A Two. Three.", "b": "B Two. Three."},
        {"a": "A Two. Three.", "b": "C Two. Three."},
    ]
    assert [made.item.item_id for made in generator(TEXT, Context())] == ["d/b", "d/c"]
    generator = pairs(versions={"a": Put(("A", "B")), "b": Put(("C", "D"))})
    assert [list(made.values()) for made in contents(generator)] == [
        ["A Two. Three.", "C Two. Three."],
        ["B Two. Three.", "D Two. Three."],
    ]
    with pytest.raises(SuiteError, match="d: a: 2, b: 3 versions; expected one or equally many"):
        contents(pairs(versions={"a": Put(("A", "B")), "b": Put(("C", "D", "E"))}))


@pytest.mark.parametrize(
    "versions", [{"a": Put(("A", "B")), "b": Put(())}, {"a": Put(()), "b": Put(())}]
)
def test_an_item_needs_every_condition_and_a_reason_counts_once(versions: dict[str, Put]) -> None:
    context = Context()
    assert contents(pairs(versions=versions), context) == []
    assert context.skipped == {"no word": 1}
    assert contents(pairs(versions=versions), context) == []
    assert context.skipped == {"no word": 2}


def test_a_reason_that_holds_for_several_conditions_counts_once() -> None:
    context = Context()
    assert len(contents(pairs(versions={"a": Put(("A",)), "b": Put(("B",))}), context)) == 1
    assert context.skipped == {"only one word": 1}


def test_what_is_applied_to_both_comes_last_and_counts_once() -> None:
    both = pairs(versions={"a": Pipeline(), "b": Shuffle()}, both=SpeakerSeparator())
    assert both.recipe == "a: SpeakerSeparator(); b: Shuffle() | SpeakerSeparator()"
    (made,) = contents(both)
    assert made["a"] == "One. [SEP] Two. [SEP] Three."
    assert made["b"].count("[SEP]") == 2
    context = Context()
    assert list(both(Discourse("d", "toy", (Unit("A."),)), context)) == []
    assert context.skipped == {"only one utterance": 1}


def test_the_context_keeps_its_seed() -> None:
    orders = {
        contents(pairs(versions={"a": Pipeline(), "b": Shuffle()}), Context(seed))[0]["b"]
        for seed in range(20)
    }
    assert len(orders) > 1


def test_conditions_are_declared() -> None:
    with pytest.raises(ValueError, match="no versions; expected the operator of each condition"):
        pairs(versions={})


def test_a_config_takes_the_discourses_that_it_selects(tmp_path: Path) -> None:
    (config,) = SUITE.configs
    even = dataclasses.replace(config, name="even", select=lambda d: int(d.id[1:]) % 2 == 0)
    none = dataclasses.replace(config, name="none", select=lambda d: False)
    suite = dataclasses.replace(SUITE, configs=(config, even, none))
    corpus = toy_corpus("toy", {"test": stories(0, 25), "train": {"s25": ["A.", "B.", "C."]}})
    manifest = build(suite, [PlannedCorpus(corpus, suite.configs)], BuildOptions(), tmp_path)
    assert list(manifest["configs"]) == ["toy_context", "toy_even"]
    entry = manifest["configs"]["toy_even"]
    assert {split: counts["rows"] for split, counts in entry["splits"].items()} == {"test": 13}
    assert entry["skipped"] == {"test": {}, "train": {}}
    assert entry["licences"] == {"CC0-1.0": 13}
