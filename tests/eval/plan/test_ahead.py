"""What is made one step ahead: by the order of events, not by time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import pytest

from coherencegym.eval.plan.plan import one_ahead


def test_the_next_is_made_while_one_is_worked_with() -> None:
    made = [threading.Event() for _ in range(4)]

    def make(number: int) -> int:
        made[number].set()
        return number

    found = []
    for value in one_ahead([partial(make, number) for number in range(4)]):
        # This work does not end before the next value is made, and so it is made meanwhile.
        if value < 3:
            assert made[value + 1].wait(60)
        assert not any(event.is_set() for event in made[value + 2 :])
        found.append(value)
    assert found == [0, 1, 2, 3]


def test_where_there_is_one_processor_for_both_nothing_is_made_ahead() -> None:
    events: list[str] = []

    def make(name: str) -> str:
        events.append(f"make {name}")
        return name

    for name in one_ahead([partial(make, "a"), partial(make, "b")], ahead=False):
        events.append(f"use {name}")
    assert events == ["make a", "use a", "make b", "use b"]
    assert list(one_ahead([])) == []


@pytest.mark.parametrize("ahead", [True, False])
def test_an_error_comes_in_its_place(ahead: bool) -> None:
    def wrong() -> str:
        raise ValueError("the second is wrong")

    found: list[str] = []
    makes: list[Callable[[], str]] = [lambda: "a", wrong, lambda: "c"]
    with pytest.raises(ValueError, match="the second is wrong"):
        found.extend(one_ahead(makes, ahead=ahead))
    assert found == ["a"]


def test_who_stops_asking_leaves_no_thread() -> None:
    values = one_ahead([lambda: 1, lambda: 2, lambda: 3])
    assert next(values) == 1
    values.close()  # type: ignore[attr-defined]
    assert not [each for each in threading.enumerate() if each.name.startswith("ahead")]
