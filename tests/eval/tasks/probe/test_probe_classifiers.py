"""Probes: what they learn, what they cannot, and where they say so."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import LabelledExample, Slot
from coherencegym.eval.tasks.probe import classifiers
from coherencegym.eval.tasks.probe.classifiers import (
    INVERSE_PENALTIES,
    PROTOCOLS,
    Fit,
    PublishedSettings,
    accuracy_of,
    as_published,
    linear,
    protocol_of,
    rounds,
)
from coherencegym.eval.tasks.probe.probe import (
    best_layer,
    control_labels,
    type_of,
)


def made(rows: int, classes: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 12 numbers, one of which has the class in it, and their classes."""
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=rows)
    x = random.normal(size=(rows, 12), scale=noise)
    x[np.arange(rows), y] += 1
    return (100 * x + 7).astype(np.float32), y


@pytest.mark.parametrize("classes", [2, 5])
def test_a_probe_learns_what_is_there(classes: int) -> None:
    (x, y), (test_x, test_y) = made(300, classes, 0.05), made(100, classes, 0.05, seed=1)
    valid = made(60, classes, 0.05, seed=2)
    model = linear((x, y), valid, test_x, classes)
    found = model.log_probabilities
    assert found.shape == (100, classes)
    assert np.exp(found).sum(axis=1) == pytest.approx(1)
    assert accuracy_of(found, test_y) == 1
    assert model.validation == 1
    again = linear((x, y), valid, test_x, classes)
    assert (again.log_probabilities == found).all()


def test_features_stay_single_and_are_left_as_they_were() -> None:
    x, y = made(100, 3, 0.1)
    before = x.copy()
    linear((x, y), (x, y), x, 3)
    assert x.dtype == np.float32
    assert (x == before).all()


def test_rows_to_choose_by_choose_and_teach_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifiers, "INVERSE_PENALTIES", (1e-2,))
    train, (x, y) = made(64, 3, 0.3), made(30, 3, 0.3, seed=1)
    for valid in ((x, y), (1000 * x - 5, y), (x[:1], y[:1])):
        model = linear(train, valid, valid[0], 3)
        assert model.validation == accuracy_of(model.log_probabilities, valid[1])
        found, expected = (linear(train, own, x, 3) for own in (valid, train))
        assert (found.log_probabilities == expected.log_probabilities).all()


def test_the_layer_is_chosen_on_validation() -> None:
    fits = {layer: Fit(1.0, own, np.empty((0, 2))) for layer, own in enumerate((0.5, 0.7, 0.7))}
    assert best_layer(fits) == 1  # the lowest of equals


def test_shuffled_labels_are_not_learned() -> None:
    (x, y), (test_x, test_y) = made(600, 2, 0.1), made(400, 2, 0.1, seed=1)
    shuffled = np.random.default_rng(3).permutation(y)
    model = linear((x, shuffled), (test_x, test_y), test_x, 2)
    found = accuracy_of(model.log_probabilities, test_y)
    assert abs(found - 0.5) < 3 * math.sqrt(0.25 / 400)


def test_a_class_that_training_has_not_gets_no_probability() -> None:
    x, y = made(100, 4, 0.1)
    known = y < 3
    model = linear((x[known], y[known]), (x, y), x, 4)
    assert (model.log_probabilities[:, 3] == -np.inf).all()


def test_features_that_do_not_vary_give_the_most_frequent_class() -> None:
    x, y = np.full((10, 4), 3.7, dtype=np.float32), np.array([1] * 7 + [0] * 3)
    model = linear((x, y), (x, y), x, 2)
    assert model.constant
    assert model.validation == 0.7
    assert (model.log_probabilities.argmax(axis=1) == 1).all()


def test_a_fit_that_got_to_no_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not cost the others: the weights are those that it had."""
    x, y = made(200, 4, 0.1)
    assert linear((x, y), (x, y), x, 4).finished
    monkeypatch.setattr(classifiers, "_MOST_ITERATIONS", 1)
    found = linear((x, y), (x, y), x, 4)
    assert not found.finished
    assert np.isfinite(found.log_probabilities).all()


def test_a_fit_of_one_step_may_be_right() -> None:
    """Of balanced classes and few features the first step often is the end."""
    random = np.random.default_rng(0)
    steps = 0
    for _ in range(20):
        x = random.normal(size=(60, 2)).astype(np.float32)
        y = random.permutation([0, 1] * 30)
        found = linear((x, y), (x, y), x, 2)
        assert found.finished
        whole = (x - x.mean(axis=0)) / x.std(axis=0)
        model = LogisticRegression(C=found.setting, tol=1e-10).fit(whole.astype(np.float64), y)
        known = model.predict_log_proba(whole)
        assert found.log_probabilities == pytest.approx(known, abs=1e-3)
        first = LogisticRegression(C=INVERSE_PENALTIES[0], tol=1e-5).fit(whole, y)
        steps += max(first.n_iter_) <= 1
    assert steps > 2


def test_the_stronger_of_equal_penalties_is_chosen() -> None:
    x, y = made(200, 2, 0.01)
    found = linear((x, y), (x, y), x, 2)  # C = 1e-3 is not enough, 1e-2 and 1e-1 are
    assert (found.validation, found.setting) == (1, INVERSE_PENALTIES[2])


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=30), st.integers(0, 3))
def test_a_control_label_hangs_on_its_type_alone(types: list[str], seed: int) -> None:
    labels = ["x", "x", "y", "z"]
    whole = control_labels([*types, "more"], labels, seed)
    assert {*whole.values()} <= {*labels}
    assert all(control_labels([name], labels[::-1], seed)[name] == whole[name] for name in types)


@pytest.mark.parametrize(
    ("text", "own"), [("However, it rains.", "however,"), ("因为下雨了。", "因为")]
)
def test_the_type_of_a_text_is_its_first_word(text: str, own: str) -> None:
    """Chinese has no spaces: with the whole text as its type, no type would recur."""
    example = LabelledExample("1", (Slot((text,)),), (text,), (0,), "x", "d", "c")
    assert type_of(example, 0) == own


def test_first_words_that_recur_are_memorised_and_labels_are_not() -> None:
    """One-hot first words: the control is learned in full, so that selectivity is nothing."""
    random = np.random.default_rng(0)
    types = random.integers(12, size=600)
    x = np.eye(12, dtype=np.float32)[types]
    labels = control_labels([str(t) for t in types], ["a", "b"])
    control = np.array([int(labels[str(t)] == "a") for t in types])
    assert 0 < control.mean() < 1
    model = linear((x[:400], control[:400]), (x[400:], control[400:]), x, 2)
    assert model.validation == 1


def test_the_published_rule_counts_all_unsuccessful_rounds() -> None:
    found = iter([0.50, 0.60, 0.60, 0.55, 0.61, 0.60, 0.60, 0.59, 0.58, 0.9])
    assert rounds(PublishedSettings(4), lambda: next(found)) == (5, 0.61, 9)


@pytest.mark.parametrize(("task", "most"), [("SP", 51), ("RST", 16), ("DC", 14)])
def test_rounds_at_most(task: str, most: int) -> None:
    growing = iter(range(100))
    assert rounds(PROTOCOLS[task], lambda: float(next(growing)))[2] == most


def test_the_published_classifier_learns_and_its_settings_do_not_leak() -> None:
    x, y = made(1500, 2, 0.05)
    x = (x - 7) / 10
    rows = (x, y), (x, y), x, 2
    alone = as_published(PROTOCOLS["SSP"], *rows)
    as_published(PublishedSettings(1, most_passes=1, hidden=50), *rows)
    after = as_published(PROTOCOLS["SSP"], *rows)
    assert alone.validation == after.validation > 0.95
    assert (alone.log_probabilities == after.log_probabilities).all()
    with pytest.raises(EvaluationError, match="none of the paper's tasks"):
        protocol_of("")


def test_a_hidden_layer_sees_that_two_vectors_fit() -> None:
    signs = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)] * 40, dtype=np.float32)
    fits = (signs.prod(axis=1) > 0).astype(int)
    rows = (signs, fits), (signs, fits), signs, 2
    assert as_published(PublishedSettings(15, tenacity=8, hidden=200), *rows).validation == 1
