"""What a probe's accuracy means, in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from coherencegym.eval.tasks.probe.report import _meaning
from coherencegym.eval.tasks.probe.results import OverBaseline, ProbeScores
from coherencegym.eval.tasks.probe.study import Curve, LayerFit


def scores(accuracy: float, bag: float, over: float, random: float) -> ProbeScores:
    return ProbeScores(
        config="c",
        split="test",
        train=100,
        validation=20,
        test=100,
        labels=("a", "b"),
        layers=(0, 1),
        layer=1,
        normed=True,
        setting=0.1,
        accuracy=accuracy,
        macro_f1=accuracy,
        most_frequent=0.5,
        bag_of_words=bag,
        over_bag=OverBaseline(accuracy - bag, over, 1.0, 0.01),
        random=(random - 0.1, random),
        control=None,
        subsamples=(),
        compression=None,
        control_compression=None,
        frequency_compression=None,
        embeddings=None,
        with_embeddings=None,
        surprisal=None,
        first_near_best=0,
        expected_layer=None,
        people=None,
    )


@pytest.mark.parametrize(
    ("own", "low", "said"),
    [
        (scores(0.8, 0.6, 0.1, 0.7), 0.75, "a bag of words and random init"),
        (scores(0.8, 0.6, 0.1, 0.75), 0.65, "but the lead over random init is not significant"),
        (scores(0.8, 0.7, -0.1, 0.6), 0.75, "but the lead over a bag of words is not significant"),
        (scores(0.8, 0.7, 0.01, 0.6), 0.65, "the most frequent label, a bag of words and random i"),
        (scores(0.7, 0.7, -0.1, 0.6), 0.65, "no more than a bag of words (70.0 %): no evidence"),
        (scores(0.4, 0.3, 0.1, 0.2), 0.35, "no more than the most frequent label (50.0 %)"),
    ],
)
def test_an_accuracy_is_held_against_every_baseline(
    own: ProbeScores, low: float, said: str
) -> None:
    sentence = _meaning(own, "model", low)
    assert said in sentence
    assert sentence.startswith("c: layer 1 of model predicts ")
    assert ("chance" in sentence) == ("chance" in said)


def test_of_several_draws_the_mean_is_named_as_in_the_table() -> None:
    own = replace(scores(0.4, 0.3, 0.1, 0.2), random=(0.35, 0.55, 0.45), most_frequent=0.2)
    sentence = _meaning(own, "model", 0.35)
    assert "no more than random init (45.0 %): no evidence beyond" in sentence


def test_layers_near_the_best_depend_on_the_number_of_rows() -> None:
    fits = tuple(
        LayerFit(layer, 1.0, accuracy, accuracy, np.zeros((1, 2)))
        for layer, accuracy in enumerate((0.6, 0.75, 0.7))
    )
    assert Curve(fits).near_best(20) == [1, 2]
    assert Curve(fits).near_best(20, 1.96) == [0, 1, 2]
    assert Curve(fits).near_best(2000, 1.96) == [1]
