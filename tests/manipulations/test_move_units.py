"""A unit to the front, and two exchanged: the rest keeps its order, and it can be undone."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import discourses

from coherencegym.loaders.discourse import Discourse, Unit, undo
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.units import Exchange, MoveToFront, moved_from


def story(*texts: str, name: str = "d") -> Discourse:
    return Discourse(name, "test", tuple(map(Unit, texts)))


@given(discourses(), st.integers(0, 9))
def test_a_unit_comes_first_and_the_others_keep_their_order(
    discourse: Discourse, seed: int
) -> None:
    context = Context(seed, "s")
    results = list(MoveToFront()(discourse, context))
    assert len(results) == (len(discourse.units) > 1)
    assert bool(context.skipped) != bool(results)
    for result in results:
        place = moved_from(result)
        assert result.units[0] == discourse.units[place]
        assert result.units[1:] == discourse.units[:place] + discourse.units[place + 1 :]
        assert undo(result) == discourse.texts
        assert (result.edits == ()) == (place == 0)


def test_all_places_are_drawn_alike() -> None:
    stories = [story(*"abcde", name=f"d{number}") for number in range(2000)]
    places = Counter(
        moved_from(moved) for each in stories for moved in MoveToFront()(each, Context(1))
    )
    assert set(places) == set(range(5))
    assert all(abs(count - 400) < 80 for count in places.values())  # more than four deviations


@given(discourses(), st.integers(0, 6))
def test_two_neighbours_are_exchanged(discourse: Discourse, unit: int) -> None:
    context = Context()
    results = list(Exchange(unit)(discourse, context))
    texts = list(discourse.texts)
    differ = unit + 1 < len(texts) and texts[unit] != texts[unit + 1]
    assert len(results) == differ
    assert bool(context.skipped) != differ
    for result in results:
        texts[unit], texts[unit + 1] = texts[unit + 1], texts[unit]
        assert result.texts == tuple(texts)
        assert undo(result) == discourse.texts
        assert result.variant == "exchanged"


def test_what_is_not_exchanged_is_counted_by_reason() -> None:
    context = Context()
    for texts in ("aab", "aa", "b", "a", "abb"):
        list(Exchange()(story(*texts), context))
    assert context.skipped == {"both units have the same text": 2, "no two units to exchange": 2}


def test_a_negative_unit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unit is -1; expected 0 or more"):
        Exchange(-1)
