"""The verdict says no more than intervals allow."""

from __future__ import annotations

from typing import Any

import pytest

from coherencegym.eval.tasks.score.headline import Headline
from coherencegym.eval.views.verdict import verdict


def said(score: float, low: float, high: float, **more: Any) -> tuple[str, str]:
    numbers: dict[str, Any] = {"score": score, "ci_low": low, "ci_high": high}
    one = Headline(over=("c",), n_cells=1, **numbers, **more)
    found = verdict("m", one)
    assert found is not None
    return str(found), found.bearing


@pytest.mark.parametrize(
    ("numbers", "more", "expected", "bearing"),
    [
        ((0.7, 0.6, 0.8), {}, "more often than chance (50.0 %): whether by reading", "shows"),
        ((0.7, 0.6, 0.8), {"artefact_score": 0.55}, "and more often than a classifier", "shows"),
        ((0.7, 0.6, 0.8), {"artefact_score": 0.9}, "but less often than a classifier", "open"),
        ((0.7, 0.6, 0.8), {"artefact_score": 0.7}, "does not show that it reads", "open"),
        ((0.5, 0.4, 0.6), {"artefact_score": 0.3}, "not show that it notices incoherence", "open"),
        ((0.3, 0.2, 0.4), {}, "it prefers the incoherent versions", "below"),
        ((0.7, 0.6, 0.8), {"human_score": 0.95}, "people reach 95.0 %", "shows"),
        ((0.7, 0.6, 0.8), {"n": 9}, "only 9 items", "shows"),
        ((0.7, 0.6, 0.8), {"measure": "AUC"}, "m reaches AUC 70.0 % [60.0, 80.0]", "shows"),
    ],
)
def test_words_follow_from_the_interval(
    numbers: tuple[float, float, float], more: dict[str, Any], expected: str, bearing: str
) -> None:
    text, found = said(*numbers, **{"n": 100, **more})
    assert expected in text.replace("\N{NO-BREAK SPACE}", " ")
    assert found == bearing


def test_no_score_has_no_verdict() -> None:
    one = Headline(over=(), n_cells=0, n=0, score=None, ci_low=None, ci_high=None)
    assert verdict("m", one) is None
