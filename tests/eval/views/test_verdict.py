"""The verdict says no more than intervals allow."""

from __future__ import annotations

from typing import Any

import pytest

from coherencegym.eval.tasks.headline import Headline, verdict


def said(score: float, low: float, high: float, **more: Any) -> tuple[str, str]:
    numbers: dict[str, Any] = {"score": score, "ci_low": low, "ci_high": high}
    found = verdict(Headline(over=("c",), **numbers, **more))
    assert found is not None
    return f"{found.found}: {found.reasons}", found.bearing


@pytest.mark.parametrize(
    ("numbers", "more", "expected", "bearing"),
    [
        ((0.7, 0.6, 0.8), {}, "chance 50.0: the whole interval is above chance", "shows"),
        (
            (0.7, 0.6, 0.8),
            {"partial_input_score": 0.55},
            "is above chance and the partial-input baseline",
            "shows",
        ),
        (
            (0.7, 0.6, 0.8),
            {"partial_input_score": 0.7},
            "no better than the partial-input baseline",
            "open",
        ),
        ((0.5, 0.4, 0.6), {"partial_input_score": 0.3}, "no better than chance", "open"),
        ((0.3, 0.2, 0.4), {}, "the whole interval is below chance", "below"),
        ((0.7, 0.6, 0.8), {"human_score": 0.95}, "human performance 95.0", "shows"),
        ((0.7, 0.6, 0.8), {"n": 9}, "fewer than 30 items (!): read the interval", "shows"),
        ((0.7, 0.6, 0.8), {"metric": "AUC"}, "AUC 70.0 [60.0, 80.0] %", "shows"),
        (
            (0.5, 0.4, 0.6),
            {"chance_name": "best constant answer"},
            "no better than the best constant answer",
            "open",
        ),
        (
            (0.5, 0.3, 0.7),
            {"metric": "Spearman", "chance": 0.0, "lexical_overlap_score": -0.9},
            "is no better than the repeated words",
            "open",
        ),
        (
            (0.5, 0.3, 0.7),
            {"metric": "Spearman", "chance": 0.0, "surface_score": 0.2},
            "above chance and the length",
            "shows",
        ),
        (
            (0.5, 0.4, 0.6),
            {"metric": "accuracy", "partial_input_score": 0.55, "chance": 0.2},
            "bag of words 55.0, chance 20.0: the score is no better than the bag of words",
            "open",
        ),
    ],
)
def test_words_follow_from_the_interval(
    numbers: tuple[float, float, float], more: dict[str, Any], expected: str, bearing: str
) -> None:
    text, found = said(*numbers, **{"n": 100, **more})
    assert expected in text
    assert found == bearing


def test_without_an_interval_nothing_is_said_to_be_above() -> None:
    one = Headline(
        over=("c",), n=40, score=0.7, ci_low=None, ci_high=None, ci_method="mean of 2 seeds"
    )
    found = verdict(one)
    assert found is not None
    assert (found.bearing, found.reasons) == ("open", "mean of 2 seeds has no interval")


def test_no_score_has_no_verdict() -> None:
    one = Headline(over=(), n=0, score=None, ci_low=None, ci_high=None)
    assert verdict(one) is None


@pytest.mark.parametrize(
    ("ends", "expected", "bearing"),
    [
        ((0.1, 0.2), "the whole interval is above chance", "shows"),
        ((0.1, -0.1), "its margins are not shown to be larger than in the controls", "open"),
        ((0.1, None), "its margins are not shown to be larger than in the controls", "open"),
        ((None, None), "the whole interval is above chance", "shows"),
    ],
)
def test_a_score_with_controls_is_judged_by_them(
    ends: tuple[float | None, ...], expected: str, bearing: str
) -> None:
    """Chance is no baseline where the change of the text moves surprisals by itself."""
    numbers: dict[str, Any] = {"score": 0.9, "ci_low": 0.8, "ci_high": 0.95}
    one = Headline(over=("c",), n=100, partial_input_score=0.5, **numbers)
    found = verdict(one, ends)
    assert found is not None
    assert found.reasons.startswith(expected)
    assert found.bearing == bearing
