"""Decisions, thresholds and what they are worth, against what can be counted by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.metrics import ratio_of

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.label_metrics import F1, Ratio
from coherencegym.eval.statistics.estimators import area, ratio_difference
from coherencegym.eval.statistics.intervals import Estimate, share_interval
from coherencegym.eval.tasks.detect.documents import (
    DECISIONS,
    Decision,
    Parts,
    best_threshold,
    decision_parts,
    highest,
    intruders,
    mean_parts,
)

OPENING = -math.inf


def columns(parts: Sequence[Parts], metric: str) -> tuple[list[float], list[float]]:
    """What documents add to a metric, and the wholes."""
    pairs = [one[metric] for one in parts]
    return [part for part, _ in pairs], [whole for _, whole in pairs]


def measure_of_f1(parts: Sequence[Parts], clusters: Sequence[str]) -> Estimate:
    return ratio_of(F1("F1"), *columns(parts, "f1"), clusters)


def f1_difference(
    before: Sequence[Parts], after: Sequence[Parts], clusters: Sequence[str]
) -> Estimate:
    return ratio_difference(columns(before, "f1"), columns(after, "f1"), clusters)


def f1_of(
    scores: Sequence[Sequence[float]],
    positions: Sequence[int],
    threshold: float,
    decision: Decision,
) -> float:
    parts = [
        decision_parts(intruders(own, threshold, decision), position)
        for own, position in zip(scores, positions, strict=True)
    ]
    hits, wholes = columns(parts, "f1")
    return math.fsum(hits) / math.fsum(wholes)


def test_the_two_decisions() -> None:
    scores = [OPENING, 0.5, 2.0, 1.0]
    assert highest(scores) == 2
    assert intruders(scores, 0.7, "argmax") == (2,)
    assert intruders(scores, 0.7, "independent") == (2, 3)
    assert intruders(scores, 2.0, "argmax") == intruders(scores, 2.0, "independent") == ()


#: Documents with scores, few of them different, so that there are ties.
SCORED = st.lists(
    st.tuples(
        st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=4), st.integers(0, 4)
    ).map(lambda pair: ([OPENING, *pair[0]], pair[1] if 0 < pair[1] <= len(pair[0]) else -1)),
    min_size=1,
    max_size=8,
)


@given(SCORED, st.sampled_from(DECISIONS))
def test_no_threshold_has_a_better_f1(documents: list[Any], decision: Decision) -> None:
    scores, positions = [own for own, _ in documents], [position for _, position in documents]
    if max(positions) < 0:
        with pytest.raises(EvaluationError, match="no document with an intruder"):
            best_threshold(scores, positions, decision)
        return
    chosen, best = best_threshold(scores, positions, decision)
    tried = [f1_of(scores, positions, step / 2, decision) for step in range(-9, 9)]
    found = f1_of(scores, positions, chosen, decision)
    assert found == best == pytest.approx(max(tried))
    # And no more sentences are called intruders than that takes.
    calls = [intruders(own, chosen, decision) for own in scores]
    for step in range(-9, 9):
        if step / 2 > chosen and calls != [intruders(own, step / 2, decision) for own in scores]:
            assert f1_of(scores, positions, step / 2, decision) < found
    assert found or not any(calls)


def test_a_threshold_is_halfway_between_scores() -> None:
    scores = [[OPENING, 3.0, 0.0], [OPENING, 1.0, 0.5]]
    assert best_threshold(scores, [1, -1], "argmax") == (2.0, 1.0)
    assert best_threshold(scores, [1, 2], "independent") == (0.25, 0.8)
    close = [[OPENING, 1.0], [OPENING, math.nextafter(1.0, 0)]]
    assert best_threshold(close, [1, -1], "argmax") == (close[1][1], 1.0)


def test_outcomes() -> None:
    def values(predicted: tuple[int, ...], position: int) -> list[tuple[float, float]]:
        names = ("document_accuracy", "exact_accuracy", "f1", "precision", "recall")
        return [decision_parts(predicted, position)[name] for name in names]

    assert values((2,), 2) == [(1, 1), (1, 1), (2, 2), (1, 1), (1, 1)]
    # An intruder, but not where it is.
    assert values((1,), 2) == [(1, 1), (0, 1), (0, 2), (0, 1), (0, 1)]
    assert values((1, 2), 2) == [(1, 1), (0, 1), (2, 3), (1, 2), (1, 1)]
    assert values((), 2) == [(0, 1), (0, 1), (0, 1), (0, 0), (0, 1)]
    assert values((), -1) == [(1, 1), (1, 1), (0, 0), (0, 0), (0, 0)]
    assert values((1,), -1) == [(0, 1), (0, 1), (0, 1), (0, 1), (0, 0)]
    half = mean_parts([decision_parts((2,), 2), decision_parts((), 2)])
    assert (half["f1"], half["recall"], half["place"]) == ((1, 1.5), (0.5, 1), (0.5, 1))


@given(SCORED)
def test_measures_are_those_of_scikit_learn(documents: list[Any]) -> None:
    from sklearn.metrics import f1_score, precision_score, roc_auc_score

    scores, positions = [own for own, _ in documents], [position for _, position in documents]
    clusters = [str(number) for number in range(len(documents))]
    truth = [
        place == p
        for own, p in zip(scores, positions, strict=True)
        for place in range(len(own))
        if place
    ]
    flat = [score for own in scores for score in own[1:]]
    names = [name for name, own in zip(clusters, scores, strict=True) for _ in own[1:]]
    auc = area(flat, truth, names)
    if 0 < sum(truth) < len(truth):
        assert auc.value == pytest.approx(roc_auc_score(truth, flat))
        assert auc.low is not None
        assert auc.high is not None
        assert 0 <= auc.low <= auc.high <= 1
    else:
        assert auc.value is None
    called = [score > 0.5 for score in flat]
    outcomes = [
        decision_parts(intruders(own, 0.5, "independent"), position)
        for own, position in zip(scores, positions, strict=True)
    ]
    measured = measure_of_f1(outcomes, clusters)
    if measured.value is not None:
        assert measured.value == pytest.approx(f1_score(truth, called, zero_division=0.0))
    precision = ratio_of(Ratio("precision"), *columns(outcomes, "precision"), clusters)
    if any(called):
        assert precision.value == pytest.approx(precision_score(truth, called))
    else:
        assert precision.value is None


def test_intervals_are_as_wide_as_the_documents_vary() -> None:
    draw = random.Random(0)
    outcomes = [decision_parts((1,) if draw.random() < 0.6 else (2,), 1) for _ in range(400)]
    clusters = [str(number) for number in range(400)]
    f1 = measure_of_f1(outcomes, clusters)
    places = [one["place"][0] for one in outcomes]
    exact = share_interval(places, clusters)
    # With one call a document, F1 is the share of hits: the intervals are of one width.
    assert f1.value == pytest.approx(sum(places) / len(places))
    assert (f1.method, exact.method) == ("korn-graubard", "clopper-pearson")
    assert f1.low == pytest.approx(exact.low, abs=0.01)
    assert f1.high == pytest.approx(exact.high, abs=0.01)
    pairs = [str(number // 4) for number in range(400)]
    assert measure_of_f1(outcomes, pairs).low != f1.low
    perfect = measure_of_f1([decision_parts((1,), 1)] * 9, clusters[:9])
    assert perfect.value == 1.0
    assert perfect.low is not None
    assert perfect.low < 0.8  # nine documents say no more
    assert perfect.method == "clopper-pearson"


def test_the_difference_of_two_f1_is_paired() -> None:
    draw = random.Random(1)
    before = [decision_parts((1,) if draw.random() < 0.5 else (2,), 1) for _ in range(200)]
    clusters = [str(number) for number in range(200)]
    same = f1_difference(before, before, clusters)
    assert same.value == 0.0
    assert same.low is not None
    assert same.high is not None
    # Of 200 documents none changed; no more than 1.8 % of all would, either way.
    assert -0.04 < same.low < -0.01
    assert same.high == pytest.approx(-same.low)
    after = [
        decision_parts((2,), 1) if number % 10 == 0 else one for number, one in enumerate(before)
    ]
    fewer = f1_difference(before, after, clusters)
    lost = sum(b["place"][0] - a["place"][0] for b, a in zip(before, after, strict=True)) / 200
    assert fewer.value == pytest.approx(-lost)
    assert fewer.low is not None
    assert fewer.high is not None
    # Unpaired it would be about 0.2 wide.
    assert fewer.low < -lost < fewer.high < 0
    assert fewer.high - fewer.low < 0.1


def test_nothing_to_measure_is_no_number() -> None:
    assert ratio_of(Ratio("precision"), [0.0], [0.0], ["a"]).value is None
    none = [decision_parts((), -1)]
    assert f1_difference(none, none, ["a"]).value is None
    assert area([1.0], [False], ["a"]).value is None
