"""The verdict says no more than intervals allow."""

from __future__ import annotations

from typing import Any

import pytest

from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.score.outcomes import Difference
from coherencegym.eval.tasks.verdict import verdict


def said(score: float, low: float, high: float, **more: Any) -> tuple[str, str]:
    numbers: dict[str, Any] = {"score": score, "ci_low": low, "ci_high": high}
    one = Headline(over=("c",), **numbers, **more)
    found = verdict("m", one)
    assert found is not None
    return str(found), found.bearing


@pytest.mark.parametrize(
    ("numbers", "more", "expected", "bearing"),
    [
        ((0.7, 0.6, 0.8), {}, "against chance (50.0 %): without a partial", "shows"),
        (
            (0.7, 0.6, 0.8),
            {"partial_input_score": 0.55},
            "against chance (50.0 %) and the partial",
            "shows",
        ),
        ((0.7, 0.6, 0.8), {"partial_input_score": 0.9}, "does not show that it reads", "open"),
        ((0.7, 0.6, 0.8), {"partial_input_score": 0.7}, "does not show that it reads", "open"),
        (
            (0.5, 0.4, 0.6),
            {"partial_input_score": 0.3},
            "not show that it notices incoherence",
            "open",
        ),
        ((0.3, 0.2, 0.4), {}, "it prefers the incoherent versions", "below"),
        ((0.7, 0.6, 0.8), {"human_score": 0.95}, "human performance is 95.0 %", "shows"),
        ((0.7, 0.6, 0.8), {"n": 9}, "only 9 items", "shows"),
        (
            (0.7, 0.6, 0.8),
            {"metric": "AUC"},
            "m reaches 70.0 % AUC [60.0, 80.0], against",
            "shows",
        ),
    ],
)
def test_words_follow_from_the_interval(
    numbers: tuple[float, float, float], more: dict[str, Any], expected: str, bearing: str
) -> None:
    text, found = said(*numbers, **{"n": 100, **more})
    assert expected in text.replace("\N{NO-BREAK SPACE}", " ")
    assert found == bearing


def test_a_baseline_below_chance_is_no_more_than_chance() -> None:
    below = {"n": 100, "partial_input_score": 0.2, "lexical_overlap_score": 0.323}
    text, _ = said(0.48, 0.42, 0.55, **below)
    assert text == said(0.48, 0.42, 0.55, n=100)[0]
    text, bearing = said(0.7, 0.6, 0.8, **below)
    assert "baseline" not in text
    # They are known, and what they say of a score above chance stays.
    assert (text.rpartition(": ")[2], bearing) == (
        "neither the parts of the items alone nor repeated words explain this",
        "shows",
    )


def test_no_score_has_no_verdict() -> None:
    one = Headline(over=(), n=0, score=None, ci_low=None, ci_high=None)
    assert verdict("m", one) is None


@pytest.mark.parametrize(
    ("ends", "expected", "bearing"),
    [
        ((0.1, 0.2), "its margins are larger than in the controls", "shows"),
        ((0.1, -0.1), "but its margins are not shown to be larger", "open"),
        ((0.1, None), "but its margins are not shown to be larger", "open"),
        ((None, None), "the parts of the items alone", "shows"),
    ],
)
def test_a_score_with_controls_is_judged_by_them(
    ends: tuple[float | None, ...], expected: str, bearing: str
) -> None:
    """Chance is no baseline where the change of the text moves surprisals by itself."""
    numbers: dict[str, Any] = {"score": 0.9, "ci_low": 0.8, "ci_high": 0.95}
    one = Headline(over=("c",), n=100, partial_input_score=0.5, **numbers)
    found = verdict("m", one, differences=[made_difference_with(low) for low in ends])
    assert found is not None
    assert found.shows.startswith(expected)
    assert found.bearing == bearing


def made_difference_with(low: float | None) -> Difference:
    high = None if low is None else low + 1.0
    about: dict[str, Any] = {
        "config": "c",
        "split": "test",
        "control": "neutral",
        "formula": "f",
        "aggregation": "mean",
    }
    return Difference(**about, difference=0.3, ci_low=low, ci_high=high)


def test_of_pairs_that_nobody_made_incoherent_the_version_is_the_worse_one() -> None:
    import coherencegym as cg
    from coherencegym.eval.tasks.results import Results
    from coherencegym.eval.tasks.verdict import verdict_of

    found = cg.score("demo", [("He sat down.", "He down sat."), ("It rained.", "Rained it.")])
    assert isinstance(found, Results)
    said = str(verdict_of(found))
    assert "finds the worse version more surprising" in said
    assert "incoheren" not in said
