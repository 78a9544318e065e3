"""What a probe's accuracy means, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.probe.classifiers import Fit
from coherencegym.eval.tasks.probe.report import _meaning
from coherencegym.eval.tasks.probe.study import is_uncertain


def score(value: float, system: str = "", low: float | None = None) -> Score:
    about: Any = {"config": "c", "split": "test", "group": "", "level": "all", "n": 100}
    return Score(**about, system=system, score=value, ci_low=low, ci_high=None)


def reached(accuracy: float, bag: float, random: float) -> dict[str, float]:
    return {"": accuracy, "most frequent label": 0.5, "bag of words": bag, "random init": random}


@pytest.mark.parametrize(
    ("known", "over", "low", "said"),
    [
        (reached(0.8, 0.6, 0.7), 0.1, 0.75, "a bag of words and random init"),
        (reached(0.8, 0.6, 0.75), 0.1, 0.65, "but the lead over random init is not significant"),
        (reached(0.8, 0.7, 0.6), -0.1, 0.75, "but the lead over a bag of words is not significant"),
        (
            reached(0.8, 0.7, 0.6),
            0.01,
            0.65,
            "the most frequent label, a bag of words and random i",
        ),
        (reached(0.7, 0.7, 0.6), -0.1, 0.65, "no more than a bag of words (70.0 %): no evidence"),
        (reached(0.4, 0.3, 0.2), 0.1, 0.35, "no more than the most frequent label (50.0 %)"),
    ],
)
def test_an_accuracy_is_held_against_every_baseline(
    known: dict[str, float], over: float, low: float, said: str
) -> None:
    scores = {system: score(value, system, low) for system, value in known.items()}
    own = {"config": "c", "layer": 1, "over_bag": {"low": over}}
    sentence = _meaning(own, scores, "model")
    assert said in sentence
    assert sentence.startswith("c: layer 1 of model predicts ")
    assert ("chance" in sentence) == ("chance" in said)


def test_the_choice_of_a_layer_is_uncertain_over_few_rows() -> None:
    fits = {
        layer: Fit(1.0, accuracy, np.zeros((1, 2)))
        for layer, accuracy in enumerate((0.6, 0.75, 0.7))
    }
    assert is_uncertain(fits, 20)
    assert not is_uncertain(fits, 200)
    assert not is_uncertain(fits, 2000)
