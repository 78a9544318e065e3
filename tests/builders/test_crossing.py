"""Crossed items: four conditions in which every text stands once on each side."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.suites import Sample, build_from, rows

from coherencegym.builders.crossing.generator import Crossed, condition_of
from coherencegym.builders.crossing.partners import (
    LeastRepeating,
    MostSimilar,
    Partner,
    narrative_tense,
    repeated_more,
    stems,
)
from coherencegym.builders.judgement.questions import condition_pairs
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.story_cloze import SUITE as STORIES
from coherencegym.builders.story_cloze import stories, under_one_name
from coherencegym.builders.suite import GeneratedItem
from coherencegym.builders.winograd import SUITE as SCHEMAS
from coherencegym.builders.winograd import are_twins
from coherencegym.eval.kinds.formula import parse_formula
from coherencegym.eval.kinds.items import ITEMS, evaluate
from coherencegym.eval.statistics.pair_baselines import partial_input_decisions
from coherencegym.loaders.corpora.stories import STORYCLOZE
from coherencegym.loaders.discourse import Alternative, Discourse, Unit
from coherencegym.loaders.read import read
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.named_people import names_in


def text(identifier: str, *units: str, **meta: str) -> Discourse:
    return Discourse(identifier, "t", tuple(map(Unit, units)), meta=meta)


def last_of_all(discourse: Discourse, context: Context) -> Iterator[Partner]:
    *context_units, target = discourse.texts
    if not context_units:
        context.skipped["nothing before it"] += 1
        return
    yield Partner(discourse, (" ".join(context_units), target))


def every_next(discourse: Discourse, context: Context) -> Iterator[Partner]:
    for number in range(0, len(discourse.texts) - 1, 2):
        yield Partner(discourse, discourse.texts[number : number + 2], name=str(number))


ACROSS = Crossed(partners=last_of_all, operators="last", couple=LeastRepeating(), across=True)
WITHIN = Crossed(partners=every_next, operators="next", couple=LeastRepeating())


def generated(generator: Crossed, *discourses: Discourse, seed: int = 0) -> list[GeneratedItem]:
    fitted = generator.fit(discourses, Context(seed), Fits())
    return [made for one in discourses for made in fitted(one, Context(seed))]


def test_two_contexts_and_two_targets_make_four_conditions() -> None:
    (made,) = generated(
        ACROSS, text("a", "Ann ran.", "She fell."), text("b", "It rained.", "We left.")
    )
    assert {c.condition_name: c.content for c in made.item.conditions} == {
        "context_1_target_1": "Ann ran. She fell.",
        "context_2_target_2": "It rained. We left.",
        "context_1_target_2": "Ann ran. We left.",
        "context_2_target_1": "It rained. She fell.",
    }
    (prediction,) = made.item.predictions
    assert prediction.metric == "sum"
    assert prediction.formula == (
        "(2;%context_1_target_2%) + (2;%context_2_target_1%) > "
        "(2;%context_1_target_1%) + (2;%context_2_target_2%)"
    )
    assert made.item.item_id == "a/crossed/b"
    assert (made.item.cluster, made.item.extra["partner_discourse"]) == ("a × b", "b")
    assert [(e.condition_name, e.before, e.after) for e in made.item.edits] == [
        ("context_1_target_2", "She fell.", "We left."),
        ("context_2_target_1", "We left.", "She fell."),
    ]
    assert ACROSS.recipe == "last | Crossed(partners within a split)"


def test_documents_of_one_genre_are_crossed_each_text_in_one_item() -> None:
    """Also those of one document; similar ones first, but where others would be left alone."""

    def of_a_story(discourse: Discourse, context: Context) -> Iterator[Partner]:
        for partner in every_next(discourse, context):
            yield replace(partner, columns={"texts": partner.parts})

    couple = MostSimilar(within=True)
    genres = Crossed(
        partners=of_a_story, operators="next", couple=couple, across=True, among="genre"
    )

    def of_genre(identifier: str, genre: str, *texts: str) -> Discourse:
        made = text(identifier, *texts)
        return replace(made, meta={**made.meta, "genre": genre})

    sea = of_genre("a", "sea", "The boat sailed off.", "The sea was calm.")
    again = of_genre("b", "sea", "The boat sailed away.", "The wind rose.")
    law = of_genre("c", "law", "The boat was sold.", "The court rose.")
    (made,) = generated(genres, sea, again, law)
    assert {made.item.discourse_id, made.item.extra["partner_discourse"]} == {"a", "b"}
    assert genres.recipe == "next | Crossed(partners within genre)"
    other = of_genre("d", "law", "A judge came in.", "They all sat down.")
    both = [one.item.cluster for one in generated(genres, sea, again, law, other)]
    assert sorted(both) == ["a × b", "c × d"]
    same = of_genre("c", "law", "The boat sailed off.", "The court rose.")
    assert len(generated(genres, sea, again, same, other)) == 1


def test_partners_of_one_discourse_are_crossed_with_each_other() -> None:
    made = generated(
        WITHIN, text("a", "One.", "Two words.", "Three.", "Four more words.", "Five.", "6.")
    )
    (one,) = made
    assert one.item.item_id == "a/0/crossed/a/2"
    assert one.item.cluster == "a"
    context = Context()
    generator = WITHIN.fit([], Context(), Fits())
    list(generator(text("b", "One.", "Two."), context))
    assert context.skipped == {"no remaining partner fits": 1}


def test_partners_of_a_family_are_crossed_with_each_other_alone() -> None:
    generator = Crossed(
        partners=last_of_all, operators="last", couple=LeastRepeating(), family="family"
    )
    texts = [text(name, f"{name}.", f"End {name}.", family=family) for name, family in
             (("a", "x"), ("b", "y"), ("c", "x"), ("d", "y"))]  # fmt: skip
    made = generated(generator, *texts)
    assert [one.item.item_id for one in made] == ["a/crossed/c", "b/crossed/d"]
    assert [one.item.cluster for one in made] == ["x", "y"]


def test_what_a_discourse_says_of_itself_is_counted_once() -> None:
    discourses = [text("a", "One.", "Two."), text("b", "Alone."), text("c", "Three.", "Four.")]
    fitted = ACROSS.fit(discourses, Context(), Fits())
    context = Context()
    assert sum(len(list(fitted(one, context))) for one in discourses) == 1
    assert context.skipped == {"nothing before it": 1}


def test_couples_of_equal_texts_are_left_out_and_counted() -> None:
    texts = text("a", "One.", "Two."), text("b", "Other.", "Two.")
    assert generated(ACROSS, *texts) == []
    careless = replace(ACROSS, couple=LeastRepeating(lambda one, other: True))
    context = Context(0)
    fitted = careless.fit(texts, Context(0), Fits())
    assert [made for one in texts for made in fitted(one, context)] == []
    assert context.skipped["two conditions have the same text"] == 1


def test_partners_are_alike_and_nearest_in_length() -> None:
    def one(identifier: str, target: str, **values: Any) -> Partner:
        return Partner(text(identifier, "x"), (identifier, target), **values)

    partners = [
        one("a", "w", alike=(1,)),
        one("b", "w w", alike=(2,)),
        one("c", "w " * 9, alike=(1,)),
    ]
    assert [(c.first.key, c.second.key) for c in LeastRepeating()(partners, Context())] == [
        (("a", ""), ("c", ""))
    ]
    partners = [
        one(name, "w " * number, alike=(1,))
        for name, number in zip("abcd", (1, 9, 2, 8), strict=True)
    ]
    couples = LeastRepeating()(partners, Context())
    assert [(c.first.key[0], c.second.key[0]) for c in couples] == [("a", "c"), ("b", "d")]


def test_those_come_first_that_repeat_more_of_each_other() -> None:
    things = ("boat", "horse", "lamp", "mill")
    straight = [Partner(text(x, x), (f"The {x}.", f"A {x} fell.")) for x in things[:2]]
    (one, other) = (
        Partner(text(f"{x} {y}", x), (f"The {x}.", f"A {y} fell."))
        for x, y in (things[2:], things[:1:-1])
    )
    assert repeated_more(*straight) == 2
    assert repeated_more(one, other) == -2
    assert repeated_more(one, straight[0]) == 1
    couples = LeastRepeating()([one, *straight, other], Context())
    assert [(c.first, c.second) for c in couples] == [(one, other), tuple(straight)]


def test_similar_contexts_are_crossed_first() -> None:
    def one(identifier: str, context: str) -> Partner:
        return Partner(text(identifier, context), (context, f"{identifier} ended."))

    partners = [
        one("a", "The boat sailed across the stormy sea."),
        one("b", "The bread burned in the kitchen oven."),
        one("c", "A boat lay far out on the stormy sea."),
        one("d", "She baked bread in her kitchen oven."),
    ]
    couples = MostSimilar()(partners, Context())
    assert [(c.first.key[0], c.second.key[0]) for c in couples] == [("a", "c"), ("b", "d")]
    assert all(c.similarity and 0 < c.similarity < 1 for c in couples)
    assert MostSimilar()(partners[:1], Context()) == []


WORDS = st.lists(st.sampled_from(["boat", "horse", "lamp", "mill"]), min_size=1, max_size=4)
PARTNERS = st.lists(
    st.tuples(WORDS, WORDS, st.frozensets(st.integers(0, 20), min_size=1, max_size=2)),
    max_size=10,
)


@given(PARTNERS, st.booleans(), st.randoms(use_true_random=False))
def test_no_text_is_in_two_couples_and_the_order_of_partners_does_not_matter(
    drawn: list[tuple[list[str], list[str], frozenset[int]]], similar: bool, chance: Random
) -> None:
    partners = [
        Partner(
            text(str(number), f"story {number}"),
            (" ".join(before), " ".join(after)),
            columns={"texts": texts},
        )
        for number, (before, after, texts) in enumerate(drawn)
    ]

    def apart(one: Partner, other: Partner) -> bool:
        return bool(one.columns["texts"].isdisjoint(other.columns["texts"]))

    coupled = MostSimilar(apart, within=True) if similar else LeastRepeating(apart)
    couples = coupled(partners, Context())
    used = [name for c in couples for each in (c.first, c.second) for name in each.columns["texts"]]
    assert len(used) == len(set(used))
    assert coupled(partners, Context()) == couples
    mixed = chance.sample(partners, len(partners))
    assert {frozenset({c.first.key, c.second.key}) for c in coupled(mixed, Context())} == {
        frozenset({c.first.key, c.second.key}) for c in couples
    }
    # Nothing that would still fit is left.
    left = [one for one in partners if one.columns["texts"].isdisjoint(used)]
    assert not [two for two in combinations(left, 2) if apart(*two)]


def test_partners_are_fitted_to_each_other_only_when_it_is_their_turn() -> None:
    partners = [Partner(text(x, x), (f"The {x}.", f"{x} fell.")) for x in "abcdef"]
    asked = []

    def adapt(one: Partner, other: Partner, context: Context) -> tuple[Partner, Partner] | None:
        asked.append((one.key, other.key))
        return None if len(asked) == 1 else (one, other)

    couples = LeastRepeating(adapt=adapt)(partners, Context())
    assert len(asked) == len(couples) + 1 == 4


def test_crossed_endings_repeat_equally_many_stems(built_sample: Sample) -> None:
    for row in rows(built_sample(STORIES.name)[0], "sample_crossed"):
        repeated = [
            len(stems(story.content) & stems(ending.content))
            for story, ending in (c.regions for c in ITEMS.from_row(row).conditions)
        ]
        assert sum(repeated[:2]) == sum(repeated[2:])


@pytest.mark.parametrize(
    ("texts", "content"),
    [
        (("Ann ran", ".", "She fell."), "Ann ran. She fell."),
        (("", "The cat", ", she said"), "The cat, she said"),
        (("One.", "", "“Two.”"), "One. “Two.”"),
    ],
)
def test_marks_that_close_follow_without_a_space(texts: tuple[str, ...], content: str) -> None:
    made = condition_of("c", texts)
    assert made.content == content
    assert len(made.region_offsets) == len(texts)


TEXTS = st.lists(
    st.tuples(st.text("ab .", min_size=1, max_size=6), st.text("cd .", min_size=1, max_size=6)),
    min_size=2,
    max_size=8,
    unique=True,
)


@given(TEXTS, st.integers(0, 3))
def test_what_reads_regions_alone_always_ties(parts: list[tuple[str, str]], seed: int) -> None:
    discourses = [text(f"d{i}", *pair) for i, pair in enumerate(parts)]
    fitted = ACROSS.fit(discourses, Context(seed), Fits())
    coupled = Counter[str]()
    for couples, _ in fitted.found.values():
        for couple in couples:
            coupled.update([couple.first.discourse.id, couple.second.discourse.id])
            (one, end), (other, ending) = couple.first.parts, couple.second.parts
            joined = (one + end, other + ending, one + ending, other + end)
            if len({text.replace(" ", "") for text in joined}) < 4:
                continue  # an exchange of equal texts is refused
            # Not stripped, so that texts of nothing but spaces are regions too.
            (made,) = [Crossed._generate(fitted, couple)]
            conditions = {c.condition_name: c for c in made.item.conditions}

            def reads_alone(region: Any, name: str, conditions: Any = conditions) -> float:
                return float(hash(conditions[name].regions[1].content) % 1009)

            (prediction,) = made.item.predictions
            outcome = evaluate(parse_formula(prediction.formula), reads_alone)
            assert outcome.tie
            assert outcome.margin == 0
    assert set(coupled.values()) <= {1}
    again = ACROSS.fit(discourses, Context(seed), Fits())
    assert again.found == fitted.found


def test_a_classifier_of_regions_is_at_chance_by_construction() -> None:
    words = [f"w{i}" for i in range(60)]
    texts = [
        text(f"d{w}", f"{w} begins {'badly' * (i % 2)}.", f"It ends with {w}.")
        for i, w in enumerate(words)
    ]
    decisions = partial_input_decisions(generated(ACROSS, *texts))
    assert len(decisions) == 30
    assert {decision.value for decision in decisions} == {0.5}


def test_crossed_stories_hold_both_right_endings(
    built_sample: Sample,
) -> None:
    folder, manifest = built_sample(STORIES.name)
    entry = manifest["configs"]["sample_crossed"]
    made = rows(folder, "sample_crossed")
    assert entry["splits"]["test"]["rows"] == len(made) > 20
    (score,) = [s for s in entry["quality"]["test"]["partial_input"] if not s["group"]]
    assert score["score"] == 0.5
    assert score["ci_low"] < 0.5 < score["ci_high"]
    assert entry["quality"]["test"]["length_difference"]["mean_absolute"] == 0
    used = [d for row in made for d in (row["discourse_id"], row["partner_discourse"])]
    assert len(set(used)) == len(used)
    for row in made:
        item = ITEMS.from_row(row)
        own = [[region.content for region in c.regions] for c in item.conditions[:2]]
        assert narrative_tense(own[0][0]) == narrative_tense(own[1][0]) != ""


def test_a_published_set_is_whole_and_only_crossing_leaves_stories_out(tmp_path: Path) -> None:
    columns = (f"InputSentence{number}" for number in range(1, 5))
    endings = ("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2")
    table = [("InputStoryid", *columns, *endings, "AnswerRightEnding")]
    for wrong in ("He swam.", "Mary swam."):
        story = ("Terry got up.", "He met Ann.", "They fished.", "It rained.")
        table.append((wrong[:2], *story, wrong, "He ate fish.", "2"))
    file = tmp_path / "cloze_test_test__spring2016 - cloze_test_ALL_test.csv"
    file.write_text("\n".join(map(",".join, table)))
    (tmp_path / "out").mkdir()
    build_from(STORIES, "storycloze", tmp_path / "out", data_dir=tmp_path)
    assert [row["discourse_id"] for row in rows(tmp_path / "out", "storycloze")] == ["He", "Ma"]
    context = Context()
    read_again = read(STORYCLOZE, data_dir=tmp_path)
    crossed = [partner for discourse in read_again for partner in stories(discourse, context)]
    assert [partner.discourse.id for partner in crossed] == ["He"]
    assert context.skipped == {"an ending about a person whom the story does not name": 1}


def test_an_ending_names_nobody_but_people_of_its_story() -> None:
    def partners(*units: str) -> tuple[list[Partner], Counter[str]]:
        context = Context()
        return list(stories(text("a", *units), context)), context.skipped

    story = ("Amara slept.", "She woke.", "It rained.", "It stopped.")
    assert partners(*story, "Then Bo called.") == (
        [],
        {"the ending names somebody who is not in the story": 1},
    )
    assert partners(*story, "Amara left for Rome.")[0] == []
    assert len(partners(*story, "Amara left on Sunday.")[0]) == 1
    made, skipped = partners("Al and Alan slept.", "He woke.", "It rained.", "Al called.")
    assert made == []
    assert skipped == {"a name in the ending: a name in several forms": 1}
    (named,), _ = partners(*story, "Amara left.")
    (unnamed,), _ = partners(*story, "She left.")
    (other,), _ = partners("Bo slept.", "He woke.", "It rained.", "It stopped.", "He left.")
    assert named.alike == unnamed.alike != other.alike
    (told,), _ = partners("The cat slept.", "I woke.", "It stopped.", "The cat ran, I saw.")
    assert told.parts[1] == "The cat ran, I saw."


def test_people_whom_an_ending_names_have_one_name_in_both_stories() -> None:
    def adapted(*pair: tuple[str, str]) -> tuple[Partner, Partner] | None:
        one, other = (
            Partner(text(name, *parts), parts) for name, parts in zip("ab", pair, strict=True)
        )
        return under_one_name(one, other, Context())

    ann, joan = ("Ann saw Bob. She ran.", "Ann fell."), ("Joan and Jim met.", "She left.")
    one, other = adapted(ann, joan) or pytest.fail("they fit together")
    (new,) = {given.split(" > ")[1] for given in (*one.columns["names"], *other.columns["names"])}
    assert one.parts == (f"{new} saw Bob. She ran.", f"{new} fell.")
    assert other.parts == (f"{new} and Jim met.", "She left.")
    assert {"Ann", "Joan"}.isdisjoint({new})
    # Neither ending names anybody.
    assert adapted(joan, ("Mia sat.", "She slept."))[0].parts == joan  # type: ignore[index]
    # Nobody is named in one, it begins with a man, and the first person tells it.
    for story in ("The cat sat.", "Jim met Joan.", "I met Joan.", "Zork met Joan. He saw Zork."):
        assert adapted(ann, (story, "She left.")) is None
    # There is no second man.
    assert adapted(("Bob met Jim.", "Jim left."), ("Tom ran.", "He fell.")) is None
    one, other = adapted(("Bob met Jim.", "Jim left."), ("Tom met Joe.", "Joe fell."))  # type: ignore[misc]
    assert one.parts[0][:4] == "Bob "
    assert one.parts[1].split()[0] == other.parts[1].split()[0]


def test_crossed_stories_have_no_names_of_each_other(built_sample: Sample) -> None:
    made = rows(built_sample(STORIES.name)[0], "sample_crossed")
    assert any(row["names"] for row in made)
    for row in made:
        item = ITEMS.from_row(row)
        first, second = (condition.regions[0].content for condition in item.conditions[:2])
        for condition in item.conditions:
            story, ending = (region.content for region in condition.regions)
            named = names_in(ending, [first if story == first else second])
            assert all(re.search(rf"\b{name}\b", story) for name in named)
        for change in row["names"]:
            before, after = change.split(" > ")
            assert after in first
            assert after in second
            assert before not in item.conditions[0].content + item.conditions[1].content


@pytest.mark.parametrize(
    ("ending", "left"),
    [
        ("Mary was glad to be home.", True),
        ("In the evening Mary's phone rang.", True),
        ("He married Mary.", False),
        ("His sister Mary was glad.", False),
        ("Terri was glad to be home.", False),
        ("Grass grew there.", False),
    ],
)
def test_an_ending_about_somebody_else_by_name_is_not_crossed(ending: str, left: bool) -> None:
    story = ("Terry was late.", "He ran.", "It rained.", "The bus left.")
    right = "He walked on."
    alternative = Alternative(((4, 0, len(right)),), (right, ending), 0)
    told = replace(text("a", *story, right), alternatives=(alternative,))
    assert len(list(STORIES.configs[0].generator(told, Context()))) == 1  # as it was published
    reason = "an ending about a person whom the story does not name"
    # Who tells of themself may come to anybody.
    nameless = replace(told, units=tuple(map(Unit, ("We were late.", "I ran.", *story[2:], right))))
    for one, is_left in ((told, left), (nameless, False), (text("a", *story, ending), left)):
        context = Context()
        made = list(stories(one, context))
        assert context.skipped[reason] == is_left
        assert not (is_left and made)


def test_an_ending_about_a_woman_who_is_not_in_the_story_is_not_crossed() -> None:
    story, context = ("Daniel was late.", "He ran.", "It rained.", "The bus left."), Context()
    assert list(stories(text("a", *story, "He married, and she was glad."), context)) == []
    assert context.skipped.total() == 1
    for told in ("He saw her.", "He saw Mary."):
        ending = text("a", *story[:3], told, "He married, and she was glad.")
        assert len(list(stories(ending, context))) == 1


def test_stories_are_exchanged_within_a_tense() -> None:
    def partners(ending: str, *story: str) -> tuple[list[Partner], Context]:
        context = Context()
        return list(stories(text("a", *story, ending), context)), context

    past = ("Bo slept.", "He woke up.", "It rained.", "The roof leaked.")
    present = ("Bo sleeps.", "He wakes up.", "It rains.", "The roof drips.")
    endings = ("He laughed.", "Now he laughs.", "He will laugh.")
    made = [partners(ending, *story)[0] for story in (past, present) for ending in endings]
    assert len({one.alike for (one,) in made}) == 6
    (unclear,), _ = partners("The lights go on.", *present)
    (clear,), _ = partners("The cat purrs, and it sleeps.", *present)
    assert unclear.alike == clear.alike
    for ending, story in (("The lights go on.", past), ("He laughed.", (*past[:2], *present[2:]))):
        none, context = partners(ending, *story)
        assert none == []
        assert context.skipped == {"the tense of the story or the ending is not clear": 1}


def test_twins_exchange_their_candidates(
    built_sample: Sample,
) -> None:
    for row in rows(built_sample(SCHEMAS.name)[0], "sample_crossed"):
        item = ITEMS.from_row(row)
        one, two, first, second = ([r.content for r in c.regions] for c in item.conditions)
        assert (one[0], one[2], first[1]) == (first[0], first[2], two[1])
        assert (two[0], two[2], second[1]) == (second[0], second[2], one[1])
        assert item.cluster == row["family"] != ""


def test_nearly_all_schemas_of_the_challenge_have_a_twin(
    real_build: Callable[[str, str], Path],
) -> None:
    built = real_build("winograd", "winograd")
    entry = json.loads((built / "manifest.json").read_text())["configs"]["winograd_crossed"]
    assert entry["splits"]["test"]["rows"] == 134
    assert entry["skipped"]["test"] == {"no remaining partner fits": 5}
    # Four neighbours with the same candidates, of which two and two are twins.
    found = {row["item_id"] for row in rows(built, "winograd_crossed")}
    assert {"wsc-203/crossed/wsc-204", "wsc-205/crossed/wsc-206"} <= found


@pytest.mark.parametrize(
    ("one", "other", "twins"),
    [
        (
            ("Ann told Bo the news because", "asked."),
            ("Ann told Bo the news because", "left."),
            True,
        ),
        (("Ann hired Bo to help", "."), ("Ann hired herself out to Bo to help", "."), True),
        (("Ann hired Bo to help", "."), ("Ann told Bo to leave, so", "left."), False),
        (("Ann lent Bo a coat, as", "was kind."), ("Ann lent Bo a coat, as", "froze."), True),
    ],
)
def test_twins_differ_in_a_phrase(
    one: tuple[str, str], other: tuple[str, str], twins: bool
) -> None:
    first, second = (
        Partner(text(str(n), *parts), (parts[0], right, parts[1], wrong))
        for n, (parts, right, wrong) in enumerate([(one, "Ann", "Bo"), (other, "Bo", "Ann")])
    )
    assert are_twins(first, second) == are_twins(second, first) == twins
    assert not are_twins(first, replace(second, parts=(*second.parts[:3], "Cy")))


def test_a_couple_may_have_columns_of_its_own() -> None:
    def partners(discourse: Discourse, context: Context) -> Iterator[Partner]:
        for name, sense in (("0", "cause"), ("1", "contrast")):
            parts = (f"{sense} before", f"{sense} after")
            yield Partner(discourse, parts, name, columns={"sense": sense})

    generator = Crossed(
        partners=partners,
        operators="two",
        couple=LeastRepeating(),
        columns=lambda couple: {
            "senses": [c.columns["sense"] for c in (couple.first, couple.second)]
        },
    )
    (made,) = generated(generator, text("a", "x"))
    assert made.item.extra["senses"] == ["cause", "contrast"]


def test_people_judge_each_context_with_either_target(
    built_sample: Sample,
) -> None:
    item = ITEMS.from_row(rows(built_sample(STORIES.name)[0], "sample_crossed")[0])
    assert [(pair.coherent, pair.incoherent) for pair in condition_pairs(item)] == [
        ("story_1_ending_1", "story_1_ending_2"),
        ("story_2_ending_2", "story_2_ending_1"),
    ]
    for row in rows(built_sample(SCHEMAS.name)[0], "sample_crossed"):
        names = [(pair.coherent, pair.incoherent) for pair in condition_pairs(ITEMS.from_row(row))]
        assert names == [
            ("text_1_candidate_1", "text_1_candidate_2"),
            ("text_2_candidate_2", "text_2_candidate_1"),
        ]
