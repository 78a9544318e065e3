"""Matched orders: ends in place, neighbours apart, and places that give nothing away."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import discourses

from coherencegym.loaders.discourse import Discourse, Features, Mention, Unit, undo
from coherencegym.manipulations.matched_order import (
    MATCHED_ORDER,
    MatchedOrder,
    broken_transitions,
    forward_centers,
    has_centers,
    place_scores,
    transitions,
    unit_features,
)
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.units import kendall_tau, original_positions

#: Takes whatever order fits best.
ANY = MatchedOrder(caliper=1e9)


def text(name: str, *units: str) -> Discourse:
    return Discourse(name, "test", tuple(map(Unit, units)))


def matched(operator: MatchedOrder, *texts: Discourse, seed: int = 0) -> list[Discourse]:
    """The texts, each its own cluster, in their matched orders."""
    context = Context(seed, "s")
    fitted = operator.fit(texts, [one.id for one in texts], context)
    return [made for one in texts for made in fitted(one, context)]


@given(discourses(min_units=2, max_units=7), st.integers(0, 2), st.sampled_from([-0.5, 0.0, 1.0]))
def test_orders_keep_the_ends_and_are_never_the_original(
    discourse: Discourse, most_kept: int, highest_tau: float
) -> None:
    last = len(discourse.units) - 1
    for order in MatchedOrder(most_kept, highest_tau).orders(discourse):
        assert (order[0], order[-1]) == (0, last)
        assert sorted(order) == list(range(last + 1))
        assert [discourse.texts[place] for place in order] != list(discourse.texts)
        assert sum(after == before + 1 for before, after in pairwise(order)) <= most_kept
        assert kendall_tau(order[1:-1]) <= highest_tau


@given(st.lists(discourses(min_units=5, max_units=5), min_size=1, max_size=6), st.integers(0, 9))
def test_results_are_permutations_that_undo_and_come_again(
    drawn: list[Discourse], seed: int
) -> None:
    texts = list({one.id: one for one in drawn}.values())
    made = matched(ANY, *texts, seed=seed)
    assert [one.texts for one in made] == [one.texts for one in matched(ANY, *texts, seed=seed)]
    originals = {one.id: one for one in texts}
    for result in made:
        original = originals[result.id]
        assert result.variant == "matched"
        assert Counter(result.units) == Counter(original.units)
        assert (result.units[0], result.units[-1]) == (original.units[0], original.units[-1])
        assert result.texts != original.texts
        assert undo(result) == original.texts
        places = original_positions(result, MATCHED_ORDER)
        assert [original.texts[place] for place in places] == list(result.texts)


#: Texts in which the middle is always the same: "First ..." comes before "Last ...".
HABITS = [
    text(f"d{i}", f"Start {i}.", f"First a{i}.", f"Then b{i}.", f"Last c{i}.", f"End {i}.")
    for i in range(40)
]


def test_a_habit_is_seen_without_the_text_that_it_is_asked_about() -> None:
    scores = place_scores(HABITS, [one.id for one in HABITS])
    for own in scores:
        assert own[1:-1, 1:-1].argmax(axis=1).tolist() == [0, 1, 2]
        assert not own[0].any()
        assert not own[:, -1].any()
    # Nothing is left to learn from where all are of one cluster.
    assert not any(own.any() for own in place_scores(HABITS, ["one"] * len(HABITS)))


def test_nothing_is_learned_from_the_text_that_is_asked_about() -> None:
    odd = text("odd", "Start.", "Zebra.", "Then y.", "Quagga.", "End.")
    (scores,) = place_scores([*HABITS, odd], [*(one.id for one in HABITS), "odd"])[-1:]
    # Words that no other text has say nothing, wherever this one has them.
    assert (scores[1] == scores[3]).all()
    assert (scores[1] != scores[2]).any()
    # Nor is anything learned from another text of the same cluster.
    both = place_scores([*HABITS, odd, odd], [*(one.id for one in HABITS), "odd", "odd"])
    assert (both[-1][1] == both[-1][3]).all()


def test_where_habits_are_plain_no_order_is_as_good() -> None:
    context = Context()
    fitted = MatchedOrder().fit(HABITS, [one.id for one in HABITS], context)
    assert [made for one in HABITS for made in fitted(one, context)] == []
    assert context.skipped == {"no order as plausible as the original": 40}
    # Without a limit one is taken all the same.
    assert len(matched(ANY, *HABITS)) == 40


def test_orders_that_fit_alike_are_drawn_alike() -> None:
    same = [text(f"d{i}", "s", f"a{i}", f"b{i}", f"c{i}", "e") for i in range(600)]
    fitted = ANY.fit(same, ["one"] * len(same), Context(0, "s"))
    counts = Counter(fitted.chosen.values())
    # Of five other orders those that reverse most.
    assert set(counts) == {(0, 2, 3, 1, 4), (0, 3, 1, 2, 4), (0, 3, 2, 1, 4)}
    # Chi-square with 2 degrees of freedom: 13.8 is passed with probability .001.
    assert sum((n - 200) ** 2 / 200 for n in counts.values()) < 13.8


@pytest.mark.parametrize("units", [("a", "b", "c"), tuple("abcdefghi"), ("a", "b", "b", "c")])
def test_a_text_without_an_order_is_counted(units: tuple[str, ...]) -> None:
    one = text("d", *units)
    context = Context()
    assert list(ANY.fit([one], ["d"], context)(one, context)) == []
    assert context.skipped == {"no order that differs enough from the original": 1}


@pytest.mark.parametrize("wrong", [{"most_kept": -1}, {"highest_tau": 2.0}, {"caliper": 0.0}])
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        MatchedOrder(**wrong)  # type: ignore[arg-type]


def test_features_of_a_unit_are_of_the_unit_alone() -> None:
    found = unit_features("In 1912, Ann left.")
    assert {"word ann", "0 in", "first in 1912", "last .", "digit", "names 1"} <= set(found)
    assert unit_features("") == ["first ", "last ", "length 0", "names 0"]


def mention(
    unit: int, start: int, chain: str, function: str = "", kind: str = "nominal", status: str = ""
) -> Mention:
    features = Features(function=function, status=status)
    return Mention(((unit, start, start + 1),), chain, kind, features=features)


def test_transitions_are_those_of_centering_theory() -> None:
    """Ann and Ben: who is spoken of, and who comes first."""
    centers = [("ann", "ben"), ("ann",), ("ben", "ann"), ("ben",), ("dog", "ben"), ("cat",)]
    assert transitions(centers) == ("establishment", "retain", "smooth-shift", "retain", "null")
    assert transitions([("a",), ("a",), ("a", "b"), ("b", "c"), ("d", "c", "b")]) == (
        "establishment",
        "continue",
        "smooth-shift",
        "retain",
    )
    rough = [("a", "b"), ("a", "b"), ("b",), ("c", "b"), ("d", "c")]
    assert transitions(rough)[-1] == "rough-shift"
    assert broken_transitions(rough) == 1
    assert broken_transitions([("a",), ("b",), (), ("a",)]) == 3


def test_centers_are_ranked_by_status_then_by_function_then_by_place() -> None:
    discourse = Discourse(
        "d",
        "t",
        (Unit("abcdefgh"),),
        mentions=(
            mention(0, 0, "new subject", "nsubj"),
            mention(0, 1, "given", "obl", status="giv:act"),
            mention(0, 2, "object", "obj"),
            mention(0, 3, "object", "nsubj:pass"),
            mention(0, 4, "pronoun", "obl", kind="pronoun", status="giv:act"),
            mention(0, 5, "other", "nmod"),
        ),
    )
    assert forward_centers(discourse) == (("pronoun", "given", "new subject", "object", "other"),)
    assert has_centers(discourse)
    assert not has_centers(Discourse("d", "t", (Unit("a"),), mentions=(mention(0, 0, "c"),)))


def test_where_entities_are_known_an_order_breaks_more_transitions() -> None:
    chain = tuple(
        mention(unit, place, name, "nsubj" if place else "obj", status="giv:act")
        for unit, names in enumerate(("a", "ab", "bc", "cd", "d"))
        for place, name in enumerate(names)
    )
    told = Discourse("d", "t", tuple(Unit(f"{i}...") for i in range(5)), mentions=chain)
    centers = forward_centers(told)
    orders = ANY.orders(told)
    assert orders
    for order in orders:
        moved = [centers[place] for place in order]
        assert broken_transitions(moved) > broken_transitions(centers)
    # All about one thing: no order breaks anything.
    one = tuple(mention(unit, 0, "a", "nsubj", status="giv:act") for unit in range(5))
    assert ANY.orders(Discourse("d", "t", told.units, mentions=one)) == []
