"""What a classifier gets of the vectors of slots, and what it can see in that."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.errors import EvaluationError
from coherencegym.eval.tasks.probe.classifiers import linear
from coherencegym.eval.tasks.probe.probe import INPUTS, input_of


def test_features_by_hand() -> None:
    both = np.array([[[1, 2], [3, -1]], [[3, -1], [1, 2]]])
    assert INPUTS["order"](both).tolist() == [[1, 2, 3, -1, -2, 3], [3, -1, 1, 2, 2, -3]]
    assert INPUTS["pair"](both)[0].tolist() == [1, 2, 3, -1, 3, -2, 2, 3]
    five = np.array([5, 1, 2, 3, 4]).reshape(1, 5, 1)
    assert INPUTS["position"](five).tolist() == [[5, 4, 3, 2, 1]]
    tree = np.array([[[(1 + 3) / 2, (0 + 2) / 2], [2, 2]]])  # a child is the mean of its units
    assert INPUTS["pair"](tree).tolist() == [[2, 1, 2, 2, 4, 2, 0, 1]]
    six = np.arange(12).reshape(1, 6, 2)
    assert INPUTS["concatenation"](six).tolist() == [list(range(12))]
    alone = input_of("first", "position", 5)
    assert alone(five).tolist() == [[5]]


@given(st.integers(1, 6), st.integers(1, 4), st.sampled_from([*INPUTS]))
def test_features_are_made_of_whole_vectors(slots: int, width: int, name: str) -> None:
    if name in ("order", "pair") and slots != 2:
        with pytest.raises(EvaluationError, match="--input"):
            input_of("published", name, slots)
        return
    made = input_of("published", name, slots)(np.zeros((3, slots, width), dtype=np.float32))
    assert len(made) == 3
    assert made.shape[1] % width == 0
    assert made.dtype == np.float32


def test_a_difference_adds_nothing_that_is_linear() -> None:
    random = np.random.default_rng(0)
    pairs = random.normal(size=(40, 2, 3))
    assert np.linalg.matrix_rank(INPUTS["order"](pairs)) == 6
    five = random.normal(size=(40, 5, 3))
    assert np.linalg.matrix_rank(INPUTS["position"](five)) == 15


def test_only_products_see_that_two_vectors_fit() -> None:
    signs = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)] * 50, dtype=np.float32)
    fits = (signs.prod(axis=1) > 0).astype(int)
    x = {name: INPUTS[name](signs[..., None]) for name in ("order", "pair")}
    assert linear((x["pair"], fits), (x["pair"], fits), x["pair"], 2).validation == 1
    blind = linear((x["order"], fits), (x["order"], fits), x["order"], 2)
    assert blind.finished  # without weights: nothing that one vector says changes the odds
    assert np.exp(blind.log_probabilities) == pytest.approx(0.5, abs=1e-3)
    # With some preference to follow: three of the four pairs at most.
    uneven = np.concatenate([np.arange(200), np.arange(0, 200, 4)])
    learned = x["order"][uneven], fits[uneven]
    model = linear(learned, (x["order"], fits), x["order"], 2)
    assert model.validation <= 0.75


def test_an_unknown_input_is_named() -> None:
    with pytest.raises(EvaluationError, match="input 'sum'; expected one of concatenation"):
        input_of("published", "sum", 2)
    assert input_of("published", "", 2) is INPUTS["pair"]
    assert input_of("published", "", 6) is INPUTS["concatenation"]
    with pytest.raises(EvaluationError, match="--input pair: pair is of 2 slots, not of 5"):
        input_of("pair", "position", 5)
